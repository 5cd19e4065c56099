"""Segments: documents of the tail are sorted into one, small ones become one, those that are half dead are written anew.

All of this changes where things are kept, and no answer.
"""

import sqlite3
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dowse.notes.limits import DEAD_SHARE, FULL_TOKENS, SMALL_SEGMENTS
from dowse.notes.notes_postings import Numbers, TokenRun, as_view, blocks_of, joined, numbers, run_from, run_of, without
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.segment_readers import NONE, Ids, QueryShape, ranks_of


@dataclass(frozen=True, slots=True)
class Merge:
    """Segments, and what takes their place."""

    sources: tuple[int, ...]
    ids: Ids
    dropped: tuple[int, ...]
    """Documents that are dead and in none of them any more."""
    run: TokenRun


def flush(connection: sqlite3.Connection, tokenizer: NotesTokenizer, after: int, known: dict[int, list[str]]) -> int:
    """Sort the documents of the tail into a segment; the last of them. `known` spares cutting those once more."""
    rows = connection.execute("SELECT id, doc_id FROM documents WHERE id > ? ORDER BY id", (after,)).fetchall()
    ids = [number for number, _ in rows]
    run = run_of(known[number] if number in known else _cut(connection, tokenizer, number) for number in ids)
    write(connection, np.array(ids, dtype=np.int64), [doc_id for _, doc_id in rows], run)
    return ids[-1] if ids else after


def _cut(connection: sqlite3.Connection, tokenizer: NotesTokenizer, number: int) -> list[str]:
    text: str = connection.execute("SELECT text FROM contents WHERE id = ?", (number,)).fetchone()[0]
    return tokenizer.tokens(text)


def write(connection: sqlite3.Connection, ids: Ids, doc_ids: Sequence[str], run: TokenRun) -> None:
    """Keep a run as a segment."""
    number = connection.execute(
        "INSERT INTO segments (ids, ranks, lengths) VALUES (?, ?, ?)",
        (ids.astype("<i8").tobytes(), as_view(ranks_of(doc_ids)), as_view(run.lengths)),
    ).lastrowid
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                number,
                each.tokens[0],
                "\n".join(each.tokens),
                each.held,
                each.placed,
                each.documents,
                each.counts,
                each.positions,
            )
            for each in blocks_of(run)
        ),
    )


def postings(connection: sqlite3.Connection, segment: int, token: str) -> tuple[Numbers, Numbers]:
    """The documents of a segment that have a token, and how often each."""
    find = "SELECT tokens, held, documents, counts" + _BLOCK
    row = connection.execute(find, (segment, token)).fetchone()
    where = _place(row, token)
    if where is None:
        return NONE, NONE
    # As NumPy counts: it would turn any other numbers into these at every use.
    return _part(row[2], *where).astype(np.intp), _part(row[3], *where)


def positions(connection: sqlite3.Connection, segment: int, token: str) -> Numbers:
    """Where a token stands in a segment."""
    row = connection.execute("SELECT tokens, placed, positions" + _BLOCK, (segment, token)).fetchone()
    where = _place(row, token)
    return _part(row[2], *where) if where else NONE


_BLOCK = " FROM postings WHERE segment = ? AND first <= ? ORDER BY first DESC LIMIT 1"


def _part(data: bytes, start: int, end: int, total: int) -> Numbers:
    """Some numbers of a block, which take as many bytes as they need."""
    return numbers(data, len(data) // total)[start:end]


def _place(row: tuple[Any, ...] | None, token: str) -> tuple[int, int, int] | None:
    """Which numbers of a block are of a token, and how many it has in all."""
    if row is None:
        return None
    tokens = row[0].split("\n")
    place = bisect_left(tokens, token)
    if place == len(tokens) or tokens[place] != token:
        return None
    sizes = numbers(row[1])
    start = int(sizes[:place].sum(dtype=np.int64))
    return start, start + int(sizes[place]), int(sizes.sum(dtype=np.int64))


def outline(connection: sqlite3.Connection, number: int) -> QueryShape:
    """What is known of a segment without its postings."""
    row = connection.execute("SELECT ids, ranks, lengths FROM segments WHERE number = ?", (number,)).fetchone()
    lengths = numbers(row[2]).astype(np.int64)
    return QueryShape(number, np.frombuffer(row[0], dtype="<i8"), numbers(row[1]), np.cumsum(lengths + 1) - 1)


def wanted_merge(sizes: Sequence[tuple[int, int, int, int]]) -> tuple[int, ...]:
    """Which segments to write anew, of (number, tokens, documents, dead documents) each; none when all is well."""
    half_dead = [number for number, _, documents, dead in sizes if dead > DEAD_SHARE * documents]
    if half_dead:
        return (half_dead[0],)
    small = sorted((tokens, number) for number, tokens, _, _ in sizes if tokens < FULL_TOKENS)
    if len(small) < SMALL_SEGMENTS:
        return ()
    chosen: list[int] = []
    total = 0
    for tokens, number in small:
        if len(chosen) > 1 and total + tokens > FULL_TOKENS:
            break
        chosen.append(number)
        total += tokens
    return tuple(sorted(chosen))


def prepared(connection: sqlite3.Connection, sources: Sequence[int], dead: Ids) -> Merge:
    """What segments become; only reads."""
    every, runs, ids = [], [], []
    for number in sources:
        row = connection.execute("SELECT ids, lengths FROM segments WHERE number = ?", (number,)).fetchone()
        find = "SELECT tokens, placed, positions FROM postings WHERE segment = ? ORDER BY first"
        blocks = [(tokens.split("\n"), *rest) for tokens, *rest in connection.execute(find, (number,))]
        run = run_from(blocks, numbers(row[1]))
        held = np.frombuffer(row[0], dtype="<i8").astype(np.int64)
        is_kept = ~np.isin(held, dead)
        every.append(held)
        ids.append(held[is_kept])
        runs.append(without(run, is_kept))
    left = np.concatenate(ids)
    dropped = np.setdiff1d(np.concatenate(every), left)
    return Merge(tuple(sources), left, tuple(dropped.tolist()), joined(runs))


def apply(connection: sqlite3.Connection, merge: Merge) -> bool:
    """Put a prepared merge in its place, unless another process was faster or a document is gone meanwhile."""
    there = {number for (number,) in connection.execute("SELECT number FROM segments")}
    if not there.issuperset(merge.sources):
        return False
    doc_ids = _doc_ids(connection, merge.ids)
    for number in merge.sources:
        connection.execute("DELETE FROM postings WHERE segment = ?", (number,))
        connection.execute("DELETE FROM segments WHERE number = ?", (number,))
    connection.executemany("DELETE FROM dead WHERE id = ?", ((number,) for number in merge.dropped))
    if len(merge.ids):
        write(connection, merge.ids, doc_ids, merge.run)
    return True


def _doc_ids(connection: sqlite3.Connection, ids: Ids) -> list[str]:
    """Their ids; one that died while the merge was prepared goes by none, and is dead in the new segment too."""
    find = "SELECT doc_id FROM documents WHERE id = ?"
    return [row[0] if (row := connection.execute(find, (number,)).fetchone()) else "" for number in ids.tolist()]
