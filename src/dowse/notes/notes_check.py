"""The check of named indexes: their files, each note against its checksum, and what is derived from the notes."""

import contextlib
import sqlite3
from itertools import pairwise

from dowse.column_types import find_mistyped_columns
from dowse.errors import DowseError, NotFound, SnapshotGone, StoreDamaged
from dowse.notes.notes_database import NotesDatabase, check_note
from dowse.notes.notes_search import group_places
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.registry import names_on_disk, open_on_disk
from dowse.types import Finding

_LISTED = 20
_DERIVED = "Run: dowse notes export, then import it under another name."


def check_notes() -> list[Finding]:
    """Return what is wrong with the indexes on disk; change nothing."""
    findings = []
    for name in names_on_disk():
        try:
            with contextlib.closing(open_on_disk(name)) as index:
                problems = find_problems(index.database, index.tokenizer)
        except (NotFound, SnapshotGone):  # it was deleted meanwhile
            continue
        except DowseError as error:
            problems = [str(error)]
        findings += [Finding("notes", f"{name}: {problem}") for problem in problems]
    return findings


def find_problems(database: NotesDatabase, tokenizer: NotesTokenizer) -> list[str]:
    """Return what is wrong with one index."""
    with database.snapshot() as connection:
        found = [problem for (problem,) in connection.execute("PRAGMA integrity_check(20)") if problem != "ok"]
        return found or find_mistyped_columns(connection) or _Comparison(connection, tokenizer).run()


class _Comparison:
    """The comparison of the notes of an index with their checksums, with the counts and with the postings."""

    def __init__(self, connection: sqlite3.Connection, tokenizer: NotesTokenizer) -> None:
        self._connection, self._tokenizer = connection, tokenizer
        self._damaged: list[str] = []
        self._has_wrong_words = False
        self._counted = [0, 0, 0]

    def run(self) -> list[str]:
        starts = [first for (first,) in self._connection.execute("SELECT first FROM batches ORDER BY first")]
        (posted,) = self._connection.execute("SELECT posted FROM state").fetchone()
        for first, end in pairwise([*starts, posted + 1]):
            tokens, is_whole = self._read_notes(first, end)
            stored = dict(self._connection.execute("SELECT token, places FROM postings WHERE batch = ?", (first,)))
            self._has_wrong_words |= is_whole and dict(group_places(tokens)) != stored
        self._read_notes(0, starts[0] if starts else posted + 1)  # those that say nothing have no batch
        self._read_notes(posted + 1, 1 << 62)
        if self._damaged:
            return [f"the note {doc_id} is not what was written. Add it again." for doc_id in self._damaged[:_LISTED]]
        if self._has_wrong_words:
            return [f"its words are not those of its notes. {_DERIVED}"]
        return [] if self._has_right_counts() else [f"its counts are wrong. {_DERIVED}"]

    def _read_notes(self, first: int, end: int) -> tuple[dict[int, list[str]], bool]:
        """Return the tokens of the notes with these ids, and whether all are as they were written."""
        query = (
            "SELECT documents.id, doc_id, text, metadata, tokens, checksum FROM documents LEFT JOIN contents USING (id) "
            "WHERE documents.id >= ? AND documents.id < ? ORDER BY documents.id"
        )
        found, is_whole = dict[int, list[str]](), True
        for number, doc_id, text, metadata, count, checksum in self._connection.execute(query, (first, end)):
            try:
                check_note(doc_id, text, metadata, checksum)
            except StoreDamaged:
                self._damaged.append(doc_id)
                is_whole = False
                continue
            found[number] = self._tokenizer.tokens(text)
            self._counted[0] += 1
            self._counted[1] += count
            self._counted[2] += len(text.encode())
            self._has_wrong_words |= count != len(found[number])
        return found, is_whole

    def _has_right_counts(self) -> bool:
        query = "SELECT documents, tokens, text_bytes FROM state"
        orphans = "SELECT count(*) FROM contents WHERE id NOT IN (SELECT id FROM documents)"
        is_alone = self._connection.execute(orphans).fetchone() == (0,)
        return is_alone and list(self._connection.execute(query).fetchone()) == self._counted
