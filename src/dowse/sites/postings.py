"""Which word stands where: the pages' texts and, for each word, the fields that have it and how often."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dowse.sites.model import Page
from dowse.sites.numbering import Numbering, Numbers
from dowse.sites.tokens import Tokenizer

FIELDS = ("body", "title", "abstract", "topics")
BODY, TITLE, ABSTRACT, TOPICS = range(4)

_BATCH_BYTES = 900_000
"""Text that is taken apart at once; little less than the tokenizer's window."""
_MOST_COUNTED = 65_535


@dataclass(frozen=True, slots=True)
class Texts:
    """The fields' texts in UTF-8, one after the other: as text they would take up to four times the memory."""

    data: tuple[bytes, ...]
    """A batch each."""
    bounds: NDArray[np.int64]
    """Of each field its batch, and where it begins and ends there."""
    words: NDArray[np.int32]
    """The words of all fields, by their numbers."""
    firsts: NDArray[np.int64]
    """Where each field's words begin; one more for the end."""

    def encoded(self, page: int, field: int) -> bytes:
        """One field of one page."""
        batch, start, end = self.bounds[page * len(FIELDS) + field]
        return self.data[int(batch)][int(start) : int(end)]

    def numbers(self, page: int, field: int) -> NDArray[np.int32]:
        """The words of one field of one page."""
        at = page * len(FIELDS) + field
        return self.words[self.firsts[at] : self.firsts[at + 1]]


@dataclass(frozen=True, slots=True)
class Postings:
    """A field of a page is numbered `page * 4 + field` here."""

    pages: int
    texts: Texts
    lengths: NDArray[np.int32]
    """Words of each field."""
    words: list[bytes]
    """By their numbers, in lower case as far as they are ASCII."""
    starts: NDArray[np.int64]
    """Where each word's places begin in the next two; one more for the end."""
    places: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def of(self, word: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """The fields that have a word, and how often."""
        span = slice(self.starts[word], self.starts[word + 1])
        return self.places[span], self.counts[span]


class Poster:
    """Takes pages apart, in batches."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._numbering = Numbering()
        self._words: list[bytes] = []
        self._data: list[bytes] = []
        self._batch = bytearray()
        self._bounds: list[tuple[int, int, int]] = []
        self._first = 0
        self._keys: list[NDArray[np.uint64]] = []
        self._counts: list[NDArray[np.uint16]] = []
        self._lengths: list[NDArray[np.int32]] = []
        self._numbers: list[Numbers] = []

    def add(self, page: Page) -> None:
        """Take in the next page."""
        for text in (page.body, page.title, page.abstract, "\n".join(page.topics)):
            start = len(self._batch)
            self._batch += text.encode("utf-8", "replace")  # JSON can hold half a character
            self._bounds.append((len(self._data), start, len(self._batch)))
            self._batch += b"\n"
        if len(self._batch) > _BATCH_BYTES:
            self._take_apart()

    def done(self) -> Postings:
        """All pages, taken apart."""
        self._take_apart()
        keys, order = _by_word(self._keys)
        counts = np.concatenate([np.zeros(0, np.uint16), *self._counts])[order]
        starts = np.searchsorted(keys >> np.uint64(32), np.arange(len(self._words) + 1, dtype=np.uint64))
        bounds = np.array(self._bounds, np.int64).reshape(-1, 3)
        lengths = np.concatenate([np.zeros(0, np.int32), *self._lengths])
        firsts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        texts = Texts(tuple(self._data), bounds, np.concatenate([np.zeros(0, np.int32), *self._numbers]), firsts)
        places = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
        return Postings(len(bounds) // len(FIELDS), texts, lengths, self._words, starts, places, counts)

    def _take_apart(self) -> None:
        text, bounds = bytes(self._batch), self._bounds[self._first :]
        self._batch.clear()
        if not bounds:
            return
        hashes, starts, ends = self._tokenizer.words(text)
        numbers, new = self._numbering.number(hashes)
        self._words += [text[start:end].lower() for start, end in zip(starts[new], ends[new], strict=True)]
        first_of = np.searchsorted(starts, [start for _, start, _ in bounds])
        lengths = np.diff(np.append(first_of, len(starts)))
        fields = np.repeat(np.arange(self._first, self._first + len(bounds), dtype=np.uint64), lengths)
        keys, counts = _counted(fields, numbers)
        self._keys.append(keys)
        self._counts.append(counts)
        self._lengths.append(lengths.astype(np.int32))
        self._numbers.append(numbers)
        self._data.append(text)
        self._first = len(self._bounds)


def _counted(fields: NDArray[np.uint64], numbers: Numbers) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """How often each word is in each field; word and field in one number, the word first."""
    keys = np.sort((numbers.astype(np.uint64) << np.uint64(32)) | fields)
    first = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
    counts = np.diff(np.append(first, len(keys)))
    return keys[first], np.minimum(counts, _MOST_COUNTED).astype(np.uint16)


def _by_word(batches: list[NDArray[np.uint64]]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The keys of all batches in order; each batch has other fields, so no key is there twice."""
    keys = np.concatenate([np.zeros(0, np.uint64), *batches])
    order = np.argsort(keys, kind="stable")  # merges runs that are in order already
    return keys[order], order
