"""The pages of a site: their texts, and a Tantivy index of their words in memory."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cached_property, lru_cache, partial
from typing import Any

import tantivy

from dowse.sites import site_constants as weights
from dowse.sites.index_check import Page
from dowse.text.analysis import WHOLE_ANALYZER, fold, folded_words
from dowse.text.vocabulary import Vocabulary

FIELDS = ("body", "title", "abstract", "topics")
BODY, TITLE, ABSTRACT, TOPICS = range(4)

Texts = tuple[bytes, bytes, bytes, bytes]
"""The texts of a page's fields in UTF-8; as Python strings they would take up to four times the memory."""

_WRITER_BYTES = 40_000_000
"""Memory of the writer while pages are added; with 100 MB, 10,000 pages are loaded no faster."""

_MAX_WORDS = 4_000_000
"""More words than an index of the maximum size has; Tantivy reserves memory for as many."""


_KEPT_PAGES = 500
"""Pages whose words are kept with their places: splitting the 30 candidates of each search took half of its time."""

Places = dict[str, list[int]]
"""The words of a text, each with its positions."""


class PageIndex:
    """The texts and words of all pages; immutable. A page is known by its number, from 0."""

    def __init__(self, pages: Iterable[Page]) -> None:
        index = tantivy.Index(_SCHEMA)
        index.register_tokenizer("whole", WHOLE_ANALYZER)
        writer = index.writer(_WRITER_BYTES, 1)
        self._texts = texts = [_add_page(writer, number, page) for number, page in enumerate(pages)]
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher: Any = index.searcher()
        self.places = lru_cache(_KEPT_PAGES)(partial(_find_page_places, texts))
        totals = [sum(len(fields[field]) for fields in texts) for field in range(len(FIELDS))]
        self.mean_bytes = [max(1.0, total / max(1, len(texts))) for total in totals]

    def __len__(self) -> int:
        return len(self._texts)

    def texts(self, page: int) -> Texts:
        return self._texts[page]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All words, each with the number of fields that have it."""
        frequencies = Counter[str]()
        for field in FIELDS:
            frequencies.update(dict(self._searcher.terms_with_prefix(field, "", limit=_MAX_WORDS)))
        return Vocabulary(frequencies)

    @cached_property
    def titles(self) -> list[str]:
        """The words of each title."""
        return [" ".join(folded_words(texts[TITLE].decode())) for texts in self._texts]

    def pages(self, query: Any, limit: int) -> tuple[list[int], int]:
        """Return the best pages for a query, best first, and the number of all that match."""
        found = self._searcher.search(query, max(1, limit))
        return self._searcher.fast_field_values("page", [address for _, address in found.hits]), found.count


def _add_page(writer: Any, number: int, page: Page) -> Texts:
    """Add a page to an index, which a thread of Tantivy writes meanwhile; return its texts."""
    texts = (page.body, page.title, page.abstract, "\n".join(page.topics))
    entry = tantivy.Document()
    entry.add_unsigned("page", number)
    entry.add_unsigned("day", day_number(page.date))
    for topic in page.topics:
        entry.add_text("topic", _fold_topic(topic))
    for field, text in zip(FIELDS, texts, strict=True):
        entry.add_text(field, fold(text))
    writer.add_document(entry)
    body, title, abstract, topics = (text.encode("utf-8", "replace") for text in texts)  # JSON has lone surrogates
    return body, title, abstract, topics


def _find_page_places(texts: list[Texts], page: int) -> list[Places] | None:
    """Return the places of the words of each field of a page; None if a field is long."""
    if max(map(len, texts[page])) > weights.MAX_RANKED_BYTES:
        return None
    return [find_places(text.decode()) for text in texts[page]]


def find_places(text: str) -> Places:
    """Return the folded words of a text, each with its positions among them."""
    places: Places = {}
    for at, word in enumerate(folded_words(text)):
        places.setdefault(word, []).append(at)
    return places


def match_words(words: Iterable[str]) -> Any:
    """Return a query for the pages that have one of some words in any field."""
    # A `term_set_query` reads the whole list of terms, which takes 0.9 ms; one word so takes 0.02 ms, and 200 take 2.4 ms.
    return any_of(tantivy.Query.term_query(_SCHEMA, field, word) for word in words for field in FIELDS)


def match_ranked(word: str, weight: float) -> Any:
    """Return a query for the pages that have a word, ranked by field and by how often they have it."""
    return any_of(
        tantivy.Query.boost_query(tantivy.Query.term_query(_SCHEMA, field, word), weight * field_weight)
        for field, field_weight in zip(FIELDS, weights.FIELD_WEIGHTS, strict=True)
    )


def match_text(text: str) -> Any:
    """Return a query for the pages that have a word, or several words in a row in one field; None if there is no word."""
    words = folded_words(text)
    if len(words) < 2:
        return match_words(words) if words else None
    return any_of(tantivy.Query.phrase_query(_SCHEMA, field, list(words)) for field in FIELDS)


def match_pages(pages: Iterable[int]) -> Any:
    """Return a query for some pages."""
    return tantivy.Query.term_set_query(_SCHEMA, "page", list(pages))


def match_filters(topics: Sequence[str], since: date | None, until: date | None) -> list[Any]:
    """Return the queries that a page with one of the topics and a date from `since` to `until` matches."""
    found = []
    if topics:
        found.append(tantivy.Query.term_set_query(_SCHEMA, "topic", [_fold_topic(topic) for topic in topics]))
    if since or until:
        first, last = since.toordinal() if since else 1, until.toordinal() if until else None
        found.append(tantivy.Query.range_query(_SCHEMA, "day", tantivy.FieldType.Unsigned, first, last))
    return found


def any_of(queries: Iterable[Any]) -> Any:
    """Return a query that matches where one of several does."""
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def combine(required: Iterable[Any], excluded: Iterable[Any] = (), optional: Iterable[Any] = ()) -> Any:
    """Return a query that matches where all required queries do and no excluded one does."""
    return tantivy.Query.boolean_query(
        [(tantivy.Occur.Must, tantivy.Query.all_query())]
        + [(tantivy.Occur.Must, query) for query in required]
        + [(tantivy.Occur.MustNot, query) for query in excluded]
        + [(tantivy.Occur.Should, query) for query in optional]
    )


def day_number(text: str) -> int:
    """Return the number of a day; 0 if it is not a valid date."""
    try:
        return date.fromisoformat(text[:10]).toordinal()
    except ValueError:
        return 0


def _fold_topic(topic: str) -> str:
    return " ".join(topic.casefold().split()).encode("utf-8", "replace").decode()


def _build_schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("page", indexed=True, fast=True)
    builder.add_unsigned_field("day", indexed=True, fast=True)
    builder.add_text_field("topic", tokenizer_name="raw", index_option="basic")
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name="whole", index_option="position")
    return builder.build()


_SCHEMA = _build_schema()
