"""Token runs, the tokens of consecutive documents as numbers, and their conversion to postings and back.

A run has one place for every token and a gap after each document, so that tokens of different documents are never
neighbours. The place of a token in the run is its position in the postings.
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
"""A database row per token would take five times as long to write; a block of these sizes is read in 10 µs."""
_UINT32 = np.dtype("<u4")


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Consecutive documents. For each place, `flat` holds the number of its token, or GAP after a document."""

    tokens: list[str]
    flat: Numbers
    lengths: Numbers

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """The place of the gap after each document."""
        return np.cumsum(self.lengths.astype(np.int64) + 1) - 1

    @property
    def documents(self) -> Numbers:
        """The document that each place belongs to."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.uint32), self.lengths.astype(np.int64) + 1)


@dataclass(frozen=True, slots=True)
class PostingBlock:
    """The postings of some consecutive tokens in sorted order, with the numbers packed as bytes."""

    tokens: list[str]
    held: "bytes | memoryview[int]"
    """How many documents contain each token."""
    placed: "bytes | memoryview[int]"
    """How often each token occurs in all documents."""
    documents: "bytes | memoryview[int]"
    """The documents of the first token in ascending order, then those of the second, and so on."""
    counts: "bytes | memoryview[int]"
    """How often the token occurs in each of these documents."""
    positions: "bytes | memoryview[int]"


class TokenNumbers(defaultdict[str, int]):
    """A vocabulary that numbers tokens in order of first use."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__

    def numbers(self, tokens: Iterable[str]) -> "array[int]":
        """Return the numbers of a document's tokens, followed by a gap."""
        numbers = array("I", map(self.__getitem__, tokens))
        numbers.append(GAP)
        return numbers


def build_run(documents: Iterable[Sequence[str]]) -> TokenRun:
    """Return the run of tokenized documents."""
    vocabulary, flat, lengths = TokenNumbers(), array("I"), array("I")
    for tokens in documents:
        flat.extend(vocabulary.numbers(tokens))
        lengths.append(len(tokens))
    return TokenRun(list(vocabulary), _to_numpy(flat), _to_numpy(lengths))


def _to_numpy(numbers: "array[int]") -> Numbers:
    return np.frombuffer(numbers, dtype=np.dtype("u4")) if numbers else np.zeros(0, dtype=np.uint32)


def join_runs(runs: Sequence[TokenRun]) -> TokenRun:
    """Return several runs as one."""
    vocabulary = TokenNumbers()
    flats = []
    for run in runs:
        places = np.minimum(run.flat, len(run.tokens))
        is_used = np.bincount(places, minlength=len(run.tokens) + 1) > 0  # tokens of deleted documents may be unused
        is_used[-1] = False
        used = np.flatnonzero(is_used)
        numbers = np.full(len(run.tokens) + 1, GAP, dtype=np.uint32)
        numbers[used] = [vocabulary[run.tokens[number]] for number in used.tolist()]
        flats.append(numbers[places])
    lengths = [run.lengths for run in runs]
    return TokenRun(list(vocabulary), np.concatenate(flats), np.concatenate(lengths))


def select_documents(run: TokenRun, is_kept: Flags) -> TokenRun:
    """Return a run of the documents that are kept."""
    places = np.repeat(is_kept, run.lengths.astype(np.int64) + 1)
    return TokenRun(run.tokens, run.flat[places], run.lengths[is_kept])


def build_blocks(run: TokenRun) -> Iterator[PostingBlock]:
    """Yield the postings of a run by token; the documents and positions of each token ascend."""
    tokens = sorted(run.tokens)
    ranked = {token: rank for rank, token in enumerate(tokens)}
    rank = np.fromiter(map(ranked.__getitem__, run.tokens), dtype=np.uint64, count=len(tokens))
    places = np.flatnonzero(run.flat != GAP).astype(np.uint64)
    # One sort of integers, with the token in the high bits, is twice as fast as a stable sort of the tokens alone.
    keys = (rank[run.flat[places]] << np.uint64(32)) | places
    keys.sort()
    terms, positions = (keys >> np.uint64(32)).astype(np.uint32), (keys & np.uint64(GAP)).astype(_UINT32)
    holders = run.documents[positions].astype(_UINT32)
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = (terms[1:] != terms[:-1]) | (holders[1:] != holders[:-1])
    first = np.flatnonzero(is_first)
    counts = np.diff(np.append(first, len(keys))).astype(_UINT32)
    every = np.arange(len(tokens) + 1, dtype=np.uint32)
    held, placed = np.searchsorted(terms[first], every), np.searchsorted(terms, every)
    sizes = [pack_numbers(np.diff(starts)) for starts in (held, placed)]
    arrays = (holders[first], counts, positions)
    widths = [_bytes_per_number(values) for values in arrays]
    packed = [pack_numbers(values, width) for values, width in zip(arrays, widths, strict=True)]
    held_at, placed_at = held.tolist(), placed.tolist()
    for start, end in pairwise(_block_bounds(held_at)):
        in_block = slice(4 * start, 4 * end)
        bounds = ((held_at[start], held_at[end]), (held_at[start], held_at[end]), (placed_at[start], placed_at[end]))
        documents, occurrences, where = (
            data[width * begin : width * until]
            for data, width, (begin, until) in zip(packed, widths, bounds, strict=True)
        )
        yield PostingBlock(tokens[start:end], sizes[0][in_block], sizes[1][in_block], documents, occurrences, where)


def _block_bounds(held: list[int]) -> list[int]:
    """Return the block boundaries, given the number of postings before each token.

    A token with many postings has a block of its own.
    """
    cuts, last = [0], len(held) - 1
    while cuts[-1] < last:
        start = cuts[-1]
        full = bisect_right(held, held[start] + BLOCK_POSTINGS) - 1
        cuts.append(min(max(full, start + 1), start + BLOCK_TOKENS, last))
    return cuts


def rebuild_run(blocks: Sequence[tuple[list[str], bytes, bytes]], lengths: Numbers) -> TokenRun:
    """Return the run that postings were built from. A block has its tokens, their counts and their positions."""
    flat = np.full(int(lengths.sum(dtype=np.int64)) + len(lengths), GAP, dtype=np.uint32)
    tokens = [token for block, _, _ in blocks for token in block]
    placed = unpack_numbers(b"".join(placed for _, placed, _ in blocks))
    total = int(placed.sum(dtype=np.int64))
    joined_positions = b"".join(positions for *_, positions in blocks)
    positions = unpack_numbers(joined_positions, len(joined_positions) // total if total else 1)
    flat[positions] = np.repeat(np.arange(len(tokens), dtype=np.uint32), placed)
    return TokenRun(tokens, flat, lengths)


def unpack_numbers(data: bytes, width: int = 4) -> Numbers:
    """Return the numbers that bytes hold."""
    return np.frombuffer(data, dtype=f"<u{width}")


def pack_numbers(values: Any, width: int = 4) -> "memoryview[int]":
    """Return numbers as bytes, little-endian."""
    return memoryview(np.asarray(values, dtype=f"<u{width}").tobytes())


def _bytes_per_number(values: Any) -> int:
    """Return how many bytes the largest number takes: one is often enough, for few documents and low counts."""
    largest = int(values.max()) if len(values) else 0
    return 1 if largest < 2**8 else 2 if largest < 2**16 else 4
