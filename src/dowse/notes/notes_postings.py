"""Texts as numbers: the tokens of some documents in a row, turned into postings and back.

A run has a place for every token and one more after each document, so that no two tokens of different documents
are neighbours. The place of a token in the run is its position in the postings.
"""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.bool_]

GAP = 2**32 - 1
BLOCK_TOKENS = 64
BLOCK_POSTINGS = 2048
"""A row of the database for each token would take five times as long to write; a block of these sizes is read in 10 µs."""
_NUMBER = np.dtype("<u4")


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Documents in a row: `flat` has for each place the number of its token, or GAP after a document."""

    tokens: list[str]
    flat: Numbers
    lengths: Numbers

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """The gap after each document."""
        return np.cumsum(self.lengths.astype(np.int64) + 1) - 1

    @property
    def documents(self) -> Numbers:
        """For each place the document it belongs to."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.uint32), self.lengths.astype(np.int64) + 1)


@dataclass(frozen=True, slots=True)
class PostingBlock:
    """The postings of some tokens that follow each other in order; numbers as bytes."""

    tokens: list[str]
    held: "bytes | memoryview[int]"
    """How many documents have each token."""
    placed: "bytes | memoryview[int]"
    """How often it stands in all of them."""
    documents: "bytes | memoryview[int]"
    """The documents of the first token, ascending, then those of the second, and so on."""
    counts: "bytes | memoryview[int]"
    """How often it stands in each of them."""
    positions: "bytes | memoryview[int]"


class TokenNumbers(defaultdict[str, int]):
    """Numbers for tokens, given as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__

    def numbers(self, tokens: Iterable[str]) -> "array[int]":
        """A document as numbers, and the gap after it."""
        numbers = array("I", map(self.__getitem__, tokens))
        numbers.append(GAP)
        return numbers


def run_of(documents: Iterable[Sequence[str]]) -> TokenRun:
    """The run of documents that were cut into tokens."""
    vocabulary, flat, lengths = TokenNumbers(), array("I"), array("I")
    for tokens in documents:
        flat.extend(vocabulary.numbers(tokens))
        lengths.append(len(tokens))
    return TokenRun(list(vocabulary), _array(flat), _array(lengths))


def _array(numbers: "array[int]") -> Numbers:
    return np.frombuffer(numbers, dtype=np.dtype("u4")) if numbers else np.zeros(0, dtype=np.uint32)


def joined(runs: Sequence[TokenRun]) -> TokenRun:
    """Several runs as one."""
    vocabulary = TokenNumbers()
    flats = []
    for run in runs:
        places = np.minimum(run.flat, len(run.tokens))
        is_used = np.bincount(places, minlength=len(run.tokens) + 1) > 0  # of documents that are gone there are others
        is_used[-1] = False
        used = np.flatnonzero(is_used)
        numbers = np.full(len(run.tokens) + 1, GAP, dtype=np.uint32)
        numbers[used] = [vocabulary[run.tokens[number]] for number in used.tolist()]
        flats.append(numbers[places])
    lengths = [run.lengths for run in runs]
    return TokenRun(list(vocabulary), np.concatenate(flats), np.concatenate(lengths))


def without(run: TokenRun, is_kept: Flags) -> TokenRun:
    """A run of fewer documents."""
    places = np.repeat(is_kept, run.lengths.astype(np.int64) + 1)
    return TokenRun(run.tokens, run.flat[places], run.lengths[is_kept])


def blocks_of(run: TokenRun) -> Iterator[PostingBlock]:
    """The postings of a run, by token; within one the documents ascend, and so do the positions."""
    tokens = sorted(run.tokens)
    ranked = {token: rank for rank, token in enumerate(tokens)}
    rank = np.fromiter(map(ranked.__getitem__, run.tokens), dtype=np.uint64, count=len(tokens))
    places = np.flatnonzero(run.flat != GAP).astype(np.uint64)
    # One sort of whole numbers, token above place, is twice as fast as a stable sort of the tokens alone.
    keys = (rank[run.flat[places]] << np.uint64(32)) | places
    keys.sort()
    terms, positions = (keys >> np.uint64(32)).astype(np.uint32), (keys & np.uint64(GAP)).astype(_NUMBER)
    holders = run.documents[positions].astype(_NUMBER)
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = (terms[1:] != terms[:-1]) | (holders[1:] != holders[:-1])
    first = np.flatnonzero(is_first)
    counts = np.diff(np.append(first, len(keys))).astype(_NUMBER)
    every = np.arange(len(tokens) + 1, dtype=np.uint32)
    held, placed = np.searchsorted(terms[first], every), np.searchsorted(terms, every)
    sizes = [as_view(np.diff(each)) for each in (held, placed)]
    arrays = (holders[first], counts, positions)
    wide = [_width(each) for each in arrays]
    kept = [as_view(each, width) for each, width in zip(arrays, wide, strict=True)]
    held_at, placed_at = held.tolist(), placed.tolist()
    for start, end in pairwise(_cuts(held_at)):
        some = slice(4 * start, 4 * end)
        bounds = ((held_at[start], held_at[end]), (held_at[start], held_at[end]), (placed_at[start], placed_at[end]))
        documents, many, where = (
            each[width * begin : width * until] for each, width, (begin, until) in zip(kept, wide, bounds, strict=True)
        )
        yield PostingBlock(tokens[start:end], sizes[0][some], sizes[1][some], documents, many, where)


def _cuts(held: list[int]) -> list[int]:
    """Where blocks begin and end, by the number of postings before each token; a heavy token has one of its own."""
    cuts, last = [0], len(held) - 1
    while cuts[-1] < last:
        start = cuts[-1]
        full = bisect_right(held, held[start] + BLOCK_POSTINGS) - 1
        cuts.append(min(max(full, start + 1), start + BLOCK_TOKENS, last))
    return cuts


def run_from(blocks: Sequence[tuple[list[str], bytes, bytes]], lengths: Numbers) -> TokenRun:
    """The run that postings were made of: of each block the tokens, how often each stands, and where."""
    flat = np.full(int(lengths.sum(dtype=np.int64)) + len(lengths), GAP, dtype=np.uint32)
    tokens = [token for block, _, _ in blocks for token in block]
    placed = numbers(b"".join(placed for _, placed, _ in blocks))
    total = int(placed.sum(dtype=np.int64))
    joined_positions = b"".join(positions for *_, positions in blocks)
    positions = numbers(joined_positions, len(joined_positions) // total if total else 1)
    flat[positions] = np.repeat(np.arange(len(tokens), dtype=np.uint32), placed)
    return TokenRun(tokens, flat, lengths)


def numbers(data: bytes, width: int = 4) -> Numbers:
    """Numbers that were kept as bytes."""
    return np.frombuffer(data, dtype=f"<u{width}")


def as_view(values: Any, width: int = 4) -> "memoryview[int]":
    """Numbers as they are kept."""
    return memoryview(np.asarray(values, dtype=f"<u{width}").tobytes())


def _width(values: Any) -> int:
    """Bytes that the largest of some numbers takes: most segments have few documents, and most tokens stand there once."""
    most = int(values.max()) if len(values) else 0
    return 1 if most < 2**8 else 2 if most < 2**16 else 4
