"""Texts as numbers: the tokens of some documents in a row, turned into postings and back.

A run has a place for every token and one more after each document, so that no two tokens of different documents
are neighbours. The place of a token in the run is its position in the postings.
"""

from array import array
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
class Run:
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
class Block:
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


class Vocabulary(defaultdict[str, int]):
    """Numbers for tokens, given as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__

    def numbers(self, tokens: Iterable[str]) -> "array[int]":
        """A document as numbers, and the gap after it."""
        numbers = array("I", map(self.__getitem__, tokens))
        numbers.append(GAP)
        return numbers


def run_of(documents: Iterable[Sequence[str]]) -> Run:
    """The run of documents that were cut into tokens."""
    vocabulary, flat, lengths = Vocabulary(), array("I"), array("I")
    for tokens in documents:
        flat.extend(vocabulary.numbers(tokens))
        lengths.append(len(tokens))
    return Run(list(vocabulary), _array(flat), _array(lengths))


def _array(numbers: "array[int]") -> Numbers:
    return np.frombuffer(numbers, dtype=np.dtype("u4")) if numbers else np.zeros(0, dtype=np.uint32)


def joined(runs: Sequence[Run]) -> Run:
    """Several runs as one."""
    vocabulary = Vocabulary()
    flats = []
    for run in runs:
        numbers = np.array([*map(vocabulary.__getitem__, run.tokens), GAP], dtype=np.uint32)
        flats.append(numbers[np.minimum(run.flat, len(run.tokens))])
    lengths = [run.lengths for run in runs]
    return Run(list(vocabulary), np.concatenate(flats), np.concatenate(lengths))


def without(run: Run, is_kept: Flags) -> Run:
    """A run of fewer documents."""
    places = np.repeat(is_kept, run.lengths.astype(np.int64) + 1)
    return Run(run.tokens, run.flat[places], run.lengths[is_kept])


def blocks_of(run: Run) -> Iterator[Block]:
    """The postings of a run, by token; within one the documents ascend, and so do the positions."""
    order = sorted(range(len(run.tokens)), key=run.tokens.__getitem__)
    rank = np.zeros(len(run.tokens), dtype=np.uint64)
    rank[order] = np.arange(len(order), dtype=np.uint64)
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
    every = np.arange(len(order) + 1, dtype=np.uint32)
    held, placed = np.searchsorted(terms[first], every), np.searchsorted(terms, every)
    sizes = [as_view(np.diff(each)) for each in (held, placed)]
    kept = [as_view(each) for each in (holders[first], counts, positions)]
    held_at, placed_at = held.tolist(), placed.tolist()
    for start, end in pairwise(_cuts(held_at)):
        some, here = slice(4 * start, 4 * end), slice(4 * held_at[start], 4 * held_at[end])
        there = slice(4 * placed_at[start], 4 * placed_at[end])
        tokens = [run.tokens[number] for number in order[start:end]]
        yield Block(tokens, sizes[0][some], sizes[1][some], kept[0][here], kept[1][here], kept[2][there])


def _cuts(held: list[int]) -> list[int]:
    """Where blocks begin and end, by the number of postings before each token; a heavy token has one of its own."""
    cuts = [0]
    for number in range(1, len(held)):
        if number - cuts[-1] >= BLOCK_TOKENS or held[number] - held[cuts[-1]] > BLOCK_POSTINGS:
            if number - 1 > cuts[-1] and held[number] - held[number - 1] > BLOCK_POSTINGS:
                cuts.append(number - 1)
            cuts.append(number)
    return cuts if cuts[-1] == len(held) - 1 else [*cuts, len(held) - 1]


def run_from(blocks: Sequence[tuple[list[str], bytes, bytes]], lengths: Numbers) -> Run:
    """The run that postings were made of: of each block the tokens, how often each stands, and where."""
    flat = np.full(int(lengths.sum(dtype=np.int64)) + len(lengths), GAP, dtype=np.uint32)
    tokens = [token for block, _, _ in blocks for token in block]
    placed = numbers(b"".join(placed for _, placed, _ in blocks))
    positions = numbers(b"".join(positions for *_, positions in blocks))
    flat[positions] = np.repeat(np.arange(len(tokens), dtype=np.uint32), placed)
    return Run(tokens, flat, lengths)


def numbers(data: bytes) -> Numbers:
    """Numbers that were kept as bytes."""
    return np.frombuffer(data, dtype=_NUMBER)


def as_view(values: Any) -> "memoryview[int]":
    """Numbers as they are kept."""
    return memoryview(np.asarray(values, dtype=_NUMBER).tobytes())
