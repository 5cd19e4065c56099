"""The postings of a site: the texts of its pages and, for each word, the fields that have it and how often."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dowse.sites.index_model import Page
from dowse.sites.site_tokens import SiteTokenizer
from dowse.sites.word_ids import Ids, WordIds

FIELDS = ("body", "title", "abstract", "topics")
BODY, TITLE, ABSTRACT, TOPICS = range(4)

_BATCH_BYTES = 480_000
"""Bytes of text that are tokenized at once; a little less than the tokenizer's window."""
_FIELD_BITS, _COUNT_BITS = 26, 12
"""A word, a field and a count are packed into 64 bits to be sorted. An index with 2^26 words or fields would exceed
the maximum size of an index."""
_MAX_COUNT = (1 << _COUNT_BITS) - 1


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of all fields in UTF-8; as Python strings they would take up to four times the memory."""

    data: tuple[bytes, ...]
    """The texts, in batches."""
    bounds: NDArray[np.int64]
    """For each field, its batch and its start and end there."""
    words: NDArray[np.int32]
    """The words of all fields, as word ids."""
    firsts: NDArray[np.int64]
    """The start of each field in `words`, and the end of the last one."""

    def field_bytes(self, page: int, field: int) -> bytes:
        """Return the text of one field of one page."""
        batch, start, end = self.bounds[page * len(FIELDS) + field]
        return self.data[int(batch)][int(start) : int(end)]

    def word_ids(self, page: int, field: int) -> NDArray[np.int32]:
        """Return the words of one field of one page."""
        at = page * len(FIELDS) + field
        return self.words[self.firsts[at] : self.firsts[at + 1]]


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of a site and the fields that have them. A field of a page has the number `page * 4 + field`."""

    pages: int
    texts: Texts
    lengths: NDArray[np.int32]
    """The number of words of each field."""
    words: list[bytes]
    """The words by id, with ASCII letters in lower case."""
    starts: NDArray[np.int64]
    """The start of each word in `fields` and `counts`, and the end of the last one."""
    fields: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def fields_with(self, word: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Return the fields that have a word, and how often each has it."""
        span = slice(self.starts[word], self.starts[word + 1])
        return self.fields[span], self.counts[span]


class PostingsBuilder:
    """Builds postings from pages, in batches."""

    def __init__(self, tokenizer: SiteTokenizer) -> None:
        self._tokenizer = tokenizer
        self._word_ids = WordIds()
        self._words: list[bytes] = []
        self._data: list[bytes] = []
        self._batch = bytearray()
        self._bounds: list[tuple[int, int, int]] = []
        self._first_field = 0
        self._packed: list[NDArray[np.uint64]] = []
        self._lengths: list[NDArray[np.int32]] = []
        self._text_words: list[Ids] = []

    def add(self, page: Page) -> None:
        """Add the next page."""
        for text in (page.body, page.title, page.abstract, "\n".join(page.topics)):
            start = len(self._batch)
            self._batch += text.encode("utf-8", "replace")  # JSON can hold lone surrogates
            self._bounds.append((len(self._data), start, len(self._batch)))
            self._batch += b"\n"
        if len(self._batch) > _BATCH_BYTES:
            self._tokenize_batch()

    def build(self) -> Postings:
        """Return the postings of all pages added."""
        self._tokenize_batch()
        packed = np.concatenate([np.zeros(0, np.uint64), *self._packed])
        self._packed.clear()
        packed.sort()
        counts = (packed & np.uint64(_MAX_COUNT)).astype(np.uint16)
        packed >>= np.uint64(_COUNT_BITS)
        fields = (packed & np.uint64((1 << _FIELD_BITS) - 1)).astype(np.int32)
        packed >>= np.uint64(_FIELD_BITS)
        starts = np.searchsorted(packed, np.arange(len(self._words) + 1, dtype=np.uint64))
        bounds = np.array(self._bounds, np.int64).reshape(-1, 3)
        lengths = np.concatenate([np.zeros(0, np.int32), *self._lengths])
        firsts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        texts = Texts(tuple(self._data), bounds, np.concatenate([np.zeros(0, np.int32), *self._text_words]), firsts)
        return Postings(len(bounds) // len(FIELDS), texts, lengths, self._words, starts, fields, counts)

    def _tokenize_batch(self) -> None:
        text, bounds = bytes(self._batch), self._bounds[self._first_field :]
        self._batch.clear()
        if not bounds:
            return
        hashes, starts, ends = self._tokenizer.tokenize(text)
        word_ids, new = self._word_ids.find_or_add(hashes)
        self._words += [text[start:end].lower() for start, end in zip(starts[new], ends[new], strict=True)]
        first_words = np.searchsorted(starts, [start for _, start, _ in bounds])
        lengths = np.diff(np.append(first_words, len(starts)))
        fields = np.repeat(np.arange(self._first_field, self._first_field + len(bounds), dtype=np.uint64), lengths)
        self._packed.append(_count_words(fields, word_ids))
        self._lengths.append(lengths.astype(np.int32))
        self._text_words.append(word_ids)
        self._data.append(text)
        self._first_field = len(self._bounds)


def _count_words(fields: NDArray[np.uint64], word_ids: Ids) -> NDArray[np.uint64]:
    """Count each word in each field; return word, field and count packed into one number."""
    keys = np.sort((word_ids.astype(np.uint64) << np.uint64(_FIELD_BITS)) | fields)
    first = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
    counts = np.minimum(np.diff(np.append(first, len(keys))), _MAX_COUNT).astype(np.uint64)
    return (keys[first] << np.uint64(_COUNT_BITS)) | counts
