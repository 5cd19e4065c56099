"""Which word stands where: the pages' texts and, for each word, the fields that have it and how often."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dowse.sites.index_model import Page
from dowse.sites.site_tokens import SiteTokenizer
from dowse.sites.word_ids import Ids, WordIds

FIELDS = ("body", "title", "abstract", "topics")
BODY, TITLE, ABSTRACT, TOPICS = range(4)

_BATCH_BYTES = 480_000
"""Text that is taken apart at once; little less than the tokenizer's window."""
_FIELD_BITS, _COUNT_BITS = 26, 12
"""A word, a field and a count are one number of 64 bits while they are sorted. No index has 2^26 words or fields:
it would be larger than an index may be."""
_MAX_COUNT = (1 << _COUNT_BITS) - 1


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


class PostingsBuilder:
    """Takes pages apart, in batches."""

    def __init__(self, tokenizer: SiteTokenizer) -> None:
        self._tokenizer = tokenizer
        self._numbering = WordIds()
        self._words: list[bytes] = []
        self._data: list[bytes] = []
        self._batch = bytearray()
        self._bounds: list[tuple[int, int, int]] = []
        self._first = 0
        self._counted: list[NDArray[np.uint64]] = []
        self._lengths: list[NDArray[np.int32]] = []
        self._numbers: list[Ids] = []

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
        counted = np.concatenate([np.zeros(0, np.uint64), *self._counted])
        self._counted.clear()
        counted.sort()
        counts = (counted & np.uint64(_MAX_COUNT)).astype(np.uint16)
        counted >>= np.uint64(_COUNT_BITS)
        places = (counted & np.uint64((1 << _FIELD_BITS) - 1)).astype(np.int32)
        counted >>= np.uint64(_FIELD_BITS)
        starts = np.searchsorted(counted, np.arange(len(self._words) + 1, dtype=np.uint64))
        bounds = np.array(self._bounds, np.int64).reshape(-1, 3)
        lengths = np.concatenate([np.zeros(0, np.int32), *self._lengths])
        firsts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        texts = Texts(tuple(self._data), bounds, np.concatenate([np.zeros(0, np.int32), *self._numbers]), firsts)
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
        self._counted.append(_count_words(fields, numbers))
        self._lengths.append(lengths.astype(np.int32))
        self._numbers.append(numbers)
        self._data.append(text)
        self._first = len(self._bounds)


def _count_words(fields: NDArray[np.uint64], numbers: Ids) -> NDArray[np.uint64]:
    """How often each word is in each field: word, field and count in one number."""
    keys = np.sort((numbers.astype(np.uint64) << np.uint64(_FIELD_BITS)) | fields)
    first = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
    counts = np.minimum(np.diff(np.append(first, len(keys))), _MAX_COUNT).astype(np.uint64)
    return (keys[first] << np.uint64(_COUNT_BITS)) | counts
