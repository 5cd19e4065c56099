"""In how many chunks a term occurs, without the deleted ones that Tantivy counts until it merges them away."""

from functools import cached_property, partial
from typing import Any

import tantivy

from dowse.store.foreign_words import ForeignWords
from dowse.store.lexical_entries import CHUNK_ENTRY, SCHEMA
from dowse.text.vocabulary import rarity
from dowse.types import Field, OtherChunks


class TermStatistics:
    """The frequencies of terms at one state of the lexical index, each counted once."""

    def __init__(self, searcher: Any) -> None:
        self._searcher = searcher
        self._all_entries = sum(searcher.doc_freq("kind", kind) for kind in ("code", "docs"))
        """The entries with those that were deleted and those that fill fields up: each has a kind."""
        self._has_deleted = searcher.num_docs < self._all_entries
        self._counted: dict[tuple[str, str], int] = {}

    def chunks(self) -> int:
        return self.frequency("entry", CHUNK_ENTRY)

    def frequency(self, field: str, term: str) -> int:
        """Return in how many entries a field has a term."""
        if (field, term) not in self._counted:
            if self._has_deleted:
                query = tantivy.Query.term_query(SCHEMA, field, term, "basic")
                count = self._searcher.search(query, 1, count=True).count
            else:
                count = self._searcher.doc_freq(field, term)
            self._counted[field, term] = int(count)
        return self._counted[field, term]

    def terms_with_prefix(self, field: Field, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return terms of a field that begin with a prefix, each with the number of chunks that contain it."""
        if not self._has_deleted:
            return list(self._searcher.terms_with_prefix(field, prefix, limit=limit))
        counted = self._searcher.terms_with_prefix(field, prefix, filter_query=tantivy.Query.all_query(), limit=limit)
        return [(word, count) for word, count in counted if count]

    @cached_property
    def foreign_words(self) -> ForeignWords:
        """The stems of documents that are not in English."""
        return ForeignWords(partial(self.terms_with_prefix, "parts"))

    def scored_term(self, field: Field, term: str, weight: float = 1.0, others: OtherChunks | None = None) -> Any:
        """Return the query for a term that scores by how rare the term is; None where no entry has the term.

        Tantivy multiplies a score by the rarity that the term would have if nothing was deleted and nothing was
        searched beside this index; the boost corrects that.
        """
        frequency = self.frequency(field, term)
        if not frequency:
            return None
        with_deleted = int(self._searcher.doc_freq(field, term)) if self._has_deleted else frequency
        assumed = rarity(with_deleted, self._all_entries)
        chunks = self.chunks()
        if others:
            frequency, chunks = frequency + others.frequency(field, term), chunks + others.chunks
        query = tantivy.Query.term_query(SCHEMA, field, term)
        return tantivy.Query.boost_query(query, weight * rarity(frequency, max(frequency, chunks)) / assumed)
