"""The segments of an index: writing the tail as a segment, merging small segments, rewriting those with many deletions.

None of this changes the result of a search.
"""

import sqlite3
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dowse.notes.limits import FULL_SEGMENT_TOKENS, MAX_DEAD_SHARE, MERGE_SEGMENTS
from dowse.notes.notes_postings import (
    Numbers,
    TokenRun,
    build_blocks,
    build_run,
    join_runs,
    pack_numbers,
    rebuild_run,
    select_documents,
    unpack_numbers,
)
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.segment_readers import NO_NUMBERS, Ids, SegmentOutline, rank_ids


@dataclass(frozen=True, slots=True)
class SegmentMerge:
    """A merge that is ready to be applied: the segments it replaces, and the new one."""

    sources: tuple[int, ...]
    ids: Ids
    dropped: tuple[int, ...]
    """Deleted documents that the new segment no longer contains."""
    run: TokenRun


def flush(connection: sqlite3.Connection, tokenizer: NotesTokenizer, after: int, known: dict[int, list[str]]) -> int:
    """Write the documents of the tail as a segment and return the last id. `known` has tokens already computed."""
    rows = connection.execute("SELECT id, doc_id FROM documents WHERE id > ? ORDER BY id", (after,)).fetchall()
    ids = [number for number, _ in rows]
    run = build_run(
        known[number] if number in known else _tokenize_document(connection, tokenizer, number) for number in ids
    )
    write_segment(connection, np.array(ids, dtype=np.int64), [doc_id for _, doc_id in rows], run)
    return ids[-1] if ids else after


def _tokenize_document(connection: sqlite3.Connection, tokenizer: NotesTokenizer, number: int) -> list[str]:
    text: str = connection.execute("SELECT text FROM contents WHERE id = ?", (number,)).fetchone()[0]
    return tokenizer.tokens(text)


def write_segment(connection: sqlite3.Connection, ids: Ids, doc_ids: Sequence[str], run: TokenRun) -> None:
    """Write a token run as a segment."""
    number = connection.execute(
        "INSERT INTO segments (ids, ranks, lengths) VALUES (?, ?, ?)",
        (ids.astype("<i8").tobytes(), pack_numbers(rank_ids(doc_ids)), pack_numbers(run.lengths)),
    ).lastrowid
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                number,
                block.tokens[0],
                "\n".join(block.tokens),
                block.held,
                block.placed,
                block.documents,
                block.counts,
                block.positions,
            )
            for block in build_blocks(run)
        ),
    )


def read_postings(connection: sqlite3.Connection, segment: int, token: str) -> tuple[Numbers, Numbers]:
    """Return the documents of a segment that contain a token, and its count in each."""
    find = "SELECT tokens, held, documents, counts" + _FIND_BLOCK
    row = connection.execute(find, (segment, token)).fetchone()
    where = _locate_token(row, token)
    if where is None:
        return NO_NUMBERS, NO_NUMBERS
    # NumPy indexes with this type and would convert any other at every use.
    return _slice_numbers(row[2], *where).astype(np.intp), _slice_numbers(row[3], *where)


def read_positions(connection: sqlite3.Connection, segment: int, token: str) -> Numbers:
    """Return the positions of a token in a segment."""
    row = connection.execute("SELECT tokens, placed, positions" + _FIND_BLOCK, (segment, token)).fetchone()
    where = _locate_token(row, token)
    return _slice_numbers(row[2], *where) if where else NO_NUMBERS


_FIND_BLOCK = " FROM postings WHERE segment = ? AND first <= ? ORDER BY first DESC LIMIT 1"


def _slice_numbers(data: bytes, start: int, end: int, total: int) -> Numbers:
    """Return some numbers of a block. Their width follows from the size of the data and the total count."""
    return unpack_numbers(data, len(data) // total)[start:end]


def _locate_token(row: tuple[Any, ...] | None, token: str) -> tuple[int, int, int] | None:
    """Return the range of a token's numbers in a block, and how many numbers the block has in total."""
    if row is None:
        return None
    tokens = row[0].split("\n")
    place = bisect_left(tokens, token)
    if place == len(tokens) or tokens[place] != token:
        return None
    sizes = unpack_numbers(row[1])
    start = int(sizes[:place].sum(dtype=np.int64))
    return start, start + int(sizes[place]), int(sizes.sum(dtype=np.int64))


def read_outline(connection: sqlite3.Connection, number: int) -> SegmentOutline:
    """Return the documents of a segment, without its postings."""
    row = connection.execute("SELECT ids, ranks, lengths FROM segments WHERE number = ?", (number,)).fetchone()
    lengths = unpack_numbers(row[2]).astype(np.int64)
    return SegmentOutline(
        number, np.frombuffer(row[0], dtype="<i8"), unpack_numbers(row[1]), np.cumsum(lengths + 1) - 1
    )


def choose_merge(sizes: Sequence[tuple[int, int, int, int]]) -> tuple[int, ...]:
    """Return the segments to merge or rewrite, if any. A size is (number, tokens, documents, dead documents)."""
    decayed = [number for number, _, documents, dead in sizes if dead > MAX_DEAD_SHARE * documents]
    if decayed:
        return (decayed[0],)
    small = sorted((tokens, number) for number, tokens, _, _ in sizes if tokens < FULL_SEGMENT_TOKENS)
    if len(small) < MERGE_SEGMENTS:
        return ()
    chosen: list[int] = []
    total = 0
    for tokens, number in small:
        if len(chosen) > 1 and total + tokens > FULL_SEGMENT_TOKENS:
            break
        chosen.append(number)
        total += tokens
    return tuple(sorted(chosen))


def prepare_merge(connection: sqlite3.Connection, sources: Sequence[int], dead: Ids) -> SegmentMerge:
    """Return the merge of some segments, without writing anything."""
    all_ids, runs, kept_ids = [], [], []
    for number in sources:
        row = connection.execute("SELECT ids, lengths FROM segments WHERE number = ?", (number,)).fetchone()
        find = "SELECT tokens, placed, positions FROM postings WHERE segment = ? ORDER BY first"
        blocks = [(tokens.split("\n"), *rest) for tokens, *rest in connection.execute(find, (number,))]
        run = rebuild_run(blocks, unpack_numbers(row[1]))
        ids = np.frombuffer(row[0], dtype="<i8").astype(np.int64)
        is_kept = ~np.isin(ids, dead)
        all_ids.append(ids)
        kept_ids.append(ids[is_kept])
        runs.append(select_documents(run, is_kept))
    kept = np.concatenate(kept_ids)
    dropped = np.setdiff1d(np.concatenate(all_ids), kept)
    return SegmentMerge(tuple(sources), kept, tuple(dropped.tolist()), join_runs(runs))


def apply_merge(connection: sqlite3.Connection, merge: SegmentMerge) -> bool:
    """Replace the segments by the prepared merge; return False if another process already replaced one of them."""
    existing = {number for (number,) in connection.execute("SELECT number FROM segments")}
    if not existing.issuperset(merge.sources):
        return False
    doc_ids = _read_doc_ids(connection, merge.ids)
    for number in merge.sources:
        connection.execute("DELETE FROM postings WHERE segment = ?", (number,))
        connection.execute("DELETE FROM segments WHERE number = ?", (number,))
    connection.executemany("DELETE FROM dead WHERE id = ?", ((number,) for number in merge.dropped))
    if len(merge.ids):
        write_segment(connection, merge.ids, doc_ids, merge.run)
    return True


def _read_doc_ids(connection: sqlite3.Connection, ids: Ids) -> list[str]:
    """Return the `doc_id` of each id.

    A document that was deleted during the merge has an empty one; it is still listed as dead in the new segment.
    """
    find = "SELECT doc_id FROM documents WHERE id = ?"
    return [row[0] if (row := connection.execute(find, (number,)).fetchone()) else "" for number in ids.tolist()]
