"""The check of named indexes: their files, each note against its checksum, and what is derived from the notes."""

import contextlib
import sqlite3
from itertools import pairwise

from dowse.column_types import find_mistyped_columns
from dowse.errors import DowseError, NotFound, StoreDamaged
from dowse.notes.named_index import NamedIndex
from dowse.notes.notes_database import check_note
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
                problems = _find_problems(index)
        except NotFound:  # it was deleted meanwhile
            continue
        except DowseError as error:
            problems = [str(error)]
        findings += [Finding("notes", f"{name}: {problem}") for problem in problems]
    return findings


def _find_problems(index: NamedIndex) -> list[str]:
    with index.database.snapshot() as connection:
        found = [problem for (problem,) in connection.execute("PRAGMA integrity_check(20)") if problem != "ok"]
        return found or find_mistyped_columns(connection) or _compare(connection, index.tokenizer)


_NOTES = (
    "SELECT documents.id, doc_id, text, metadata, tokens, checksum FROM documents LEFT JOIN contents USING (id) "
    "WHERE documents.id >= ? AND documents.id < ? ORDER BY documents.id"
)


def _compare(connection: sqlite3.Connection, tokenizer: NotesTokenizer) -> list[str]:
    """Compare the notes of an index with their checksums, and the postings and the counts with the notes."""
    starts = [first for (first,) in connection.execute("SELECT first FROM batches ORDER BY first")]
    (posted,) = connection.execute("SELECT posted FROM state").fetchone()
    damaged, counted, has_wrong_words = list[str](), (0, 0, 0), False
    # Those before the first batch say nothing; those behind the last one are not posted yet.
    for first, end in pairwise([0, *starts, posted + 1, 1 << 62]):
        found, damaged_before = dict[int, list[str]](), len(damaged)
        for number, doc_id, text, metadata, count, checksum in connection.execute(_NOTES, (first, end)):
            try:
                check_note(doc_id, text, metadata, count, checksum)
            except StoreDamaged:
                damaged.append(doc_id)
                continue
            found[number] = tokenizer.tokens(text)
            counted = (counted[0] + 1, counted[1] + count, counted[2] + len(text.encode()))
            has_wrong_words |= count != len(found[number])
        if first <= posted and len(damaged) == damaged_before:
            stored = dict(connection.execute("SELECT token, places FROM postings WHERE batch = ?", (first,)))
            has_wrong_words |= dict(group_places(found)) != stored
    if damaged:
        return [f"the note {doc_id} is not what was written. Add it again." for doc_id in damaged[:_LISTED]]
    if has_wrong_words:
        return [f"its words are not those of its notes. {_DERIVED}"]
    orphans = connection.execute("SELECT count(*) FROM contents WHERE id NOT IN (SELECT id FROM documents)").fetchone()
    counts = connection.execute("SELECT documents, tokens, text_bytes FROM state").fetchone()
    return [] if (orphans, counts) == ((0,), counted) else [f"its counts are wrong. {_DERIVED}"]
