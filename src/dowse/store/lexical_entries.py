"""The entries of the lexical index: its fields, what a document and its chunks put into them, and how often terms occur.

Tantivy scores by BM25, with the mean length of a field over all entries. Deleted entries count until a merge removes
them, so the same files would get other scores after updates than in a new index. Here the entries of each document
are filled up with a word that no query has, until their mean length is the constant below. So the mean over all
entries is that constant too, whatever was deleted.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import nlargest
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import tantivy

from dowse.text.analysis import (
    MARK,
    MIN_PART_CHARACTERS,
    PARTS_ANALYZER,
    WHOLE_ANALYZER,
    Language,
    count_terms,
    detect_language,
    keep_identifiers,
    languages,
    mark_stem,
    mark_stems,
    other_forms,
    rarity,
    remove_separators,
    restore_underscores,
    split_compound,
    split_identifiers,
    stem_words,
)
from dowse.text.vocabulary import Vocabulary
from dowse.types import Chunk, Field, Kind, OtherChunks, StoredChunk

MEAN_LENGTHS: Mapping[Field, int] = {
    "parts": 128,
    "words": 100,
    "symbols": 4,
    "names": 3,
    "headings": 4,
    "path": 1,
    "stem": 1,
    "title": 4,
}
"""The length, in terms, of a text that is neither long nor short."""

PROSE_LENGTH = 1.5
"""A text of prose counts as so many times its length, up to so many times the mean length, which is that of code: titles
and abstracts differ more by their length than the mean of code says. With the table, CISI cut down to titles and texts of 90
words scores 0.356 instead of 0.347 (plain BM25 0.343), SciFact cut down 0.558 instead of 0.560 (0.552), the whole sets 0.420
and 0.697 instead of 0.417 and 0.690; by words 0.344 instead of 0.339, 0.555 instead of 0.554, 0.407 and 0.698 instead of 0.410
and 0.694 (bench/NOTES.md)."""

FILLING = "\u02ce"
"""A letter that is a word of its own and does not occur in practice."""

_EXACT_LENGTH = 40
"""Up to this length, Tantivy keeps the length of a field exactly; above it, four binary digits of what is beyond 24."""


def fill(text: str, count: int, least: int = 0) -> tuple[str, int]:
    """Fill a text of `count` terms up to a length of at least `least` that Tantivy keeps exactly; return both."""
    length = max(count, least)
    length = length if length <= _EXACT_LENGTH else 24 - _round_down(24 - length)
    return text + f" {FILLING}" * (length - count), length


def filling_lengths(lengths: Mapping[Field, int], entries: int) -> list[dict[Field, int]]:
    """Return the lengths of the fields in the entries that a document needs beside those it has.

    `lengths` are the lengths of its fields in all its `entries` together.
    """
    added = max(0, *(-(-lengths.get(field, 0) // mean) - entries for field, mean in MEAN_LENGTHS.items()))
    while True:
        missing = {
            field: _split(mean * (entries + added) - lengths.get(field, 0)) for field, mean in MEAN_LENGTHS.items()
        }
        if all(len(parts) <= added for parts in missing.values()):
            return [{field: parts[at] for field, parts in missing.items() if at < len(parts)} for at in range(added)]
        added += 1


def _split(length: int) -> list[int]:
    """Return lengths with this sum that Tantivy keeps exactly."""
    parts = []
    while length > _EXACT_LENGTH:
        parts.append(24 + _round_down(length - 24))
        length -= parts[-1]
    return [*parts, length] if length else parts


def _round_down(length: int) -> int:
    """Return the highest number up to this one that has four binary digits, and zeros."""
    zeros = max(0, abs(length).bit_length() - 4)
    return length >> zeros << zeros


DOCUMENT_ENTRY = "document"
CHUNK_ENTRY = "chunk"


@dataclass(frozen=True, slots=True)
class LexicalDocument:
    """A document as it is added to the index: its path and its chunks."""

    document_id: int
    kind: Kind
    path: str
    chunks: Sequence[tuple[int, str, Chunk | StoredChunk]]
    """The id of each chunk, its text, and the chunk, which has its names and headings."""
    title: str = ""
    text: str = ""
    """The title, and the text in which words are matched; both are empty in an index that is not searched for them."""


def entries_of(document: LexicalDocument) -> Iterator[Any]:
    """Yield one entry for a document, one for each chunk, and those that fill its fields up to their mean length."""
    lengths, entries = Counter[Field](), 0
    language = _language_of(document)
    for at, (number, texts) in enumerate(_texts_of(document, language)):
        entry = _new_entry(document)
        entry.add_unsigned("place", place_number(document.path, at))
        if number is None:
            entry.add_text("entry", DOCUMENT_ENTRY)
        else:
            entry.add_text("entry", CHUNK_ENTRY)
            entry.add_unsigned("chunk", number)
        for field, text in texts.items():
            count, is_prose = count_terms(text, _ANALYZERS[field]), document.kind == "docs" and field in _TEXT_FIELDS
            least = int(PROSE_LENGTH * min(count, MEAN_LENGTHS[field])) if is_prose else 0
            filled, length = fill(text, count, least)
            entry.add_text(field, filled)
            lengths[field] += length
        if number is None and document.text:
            entry.add_text("text", _parts_of(document.text, language))
        entries += 1
        yield entry
    for filling in filling_lengths(lengths, entries):
        entry = _new_entry(document)
        for field, length in filling.items():
            entry.add_text(field, f"{FILLING} " * length)
        yield entry


def _new_entry(document: LexicalDocument) -> Any:
    entry = tantivy.Document()
    entry.add_unsigned("document", document.document_id)
    entry.add_text("kind", document.kind)
    return entry


def place_number(path: str, at: int) -> int:
    """Return a number for an entry of a document, by which entries with equal scores are chosen whatever their ids are."""
    return int.from_bytes(hashlib.blake2b(f"{at} {path}".encode("utf-8", "surrogatepass"), digest_size=6).digest())


def _language_of(document: LexicalDocument) -> Language | None:
    """Return the language of prose that is not in English; code is read as English."""
    return detect_language(document.chunks[0][1]) if document.kind == "docs" and document.chunks else None


def _parts_of(text: str, language: Language | None) -> str:
    """Prepare a text for the fields of parts: as stems of its language, or else so that identifiers are split."""
    return mark_stems(text, language) if language else split_identifiers(text)


def _texts_of(document: LexicalDocument, language: Language | None) -> Iterator[tuple[int | None, dict[Field, str]]]:
    """Yield the texts of the fields that are scored: of the document itself, and of each chunk with its id."""
    own: dict[Field, str] = {"path": document.path, "stem": PurePosixPath(document.path).stem}
    if document.title:
        own["title"] = document.title
    yield None, {field: _parts_of(text, language if field == "title" else None) for field, text in own.items() if text}
    for chunk_id, text, chunk in document.chunks:
        words, parts = keep_identifiers(text), _parts_of(text, language)
        texts: dict[Field, str] = {"words": words, "parts": parts}
        if names := [symbol.name for symbol in chunk.symbols]:
            texts["names"] = keep_identifiers(" ".join(map(remove_separators, names)))
            texts["symbols"] = split_identifiers(" ".join(names))
        if chunk.headings:
            texts["headings"] = _parts_of(" ".join(chunk.headings), language)
        yield chunk_id, texts


def _build_schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk", indexed=True, fast=True)
    builder.add_unsigned_field("document", indexed=True, fast=True)
    builder.add_unsigned_field("place", fast=True)
    builder.add_text_field("kind", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("entry", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="parts", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whole", index_option="position")
    builder.add_text_field("names", tokenizer_name="whole", index_option="basic")
    for field in ("parts", "symbols", "headings", "path", "stem", "title"):
        builder.add_text_field(field, tokenizer_name="parts", index_option="freq")
    return builder.build()


SCHEMA = _build_schema()
ANALYZERS = {"whole": WHOLE_ANALYZER, "parts": PARTS_ANALYZER}
_TEXT_FIELDS: frozenset[Field] = frozenset({"parts", "words"})
_ANALYZERS: dict[Field, Any] = dict.fromkeys(MEAN_LENGTHS, PARTS_ANALYZER) | dict.fromkeys(
    ("words", "names"), WHOLE_ANALYZER
)


def register_analyzers(index: Any) -> None:
    """Let an index split texts as queries are split."""
    for name, analyzer in ANALYZERS.items():
        index.register_tokenizer(name, analyzer)


def term_query(field: str, value: object) -> Any:
    """Return the query for the entries whose field has a value."""
    return tantivy.Query.term_query(SCHEMA, field, value)


FORM_WEIGHT = 0.3
"""Weight of a short or long form of a word that is more frequent than the word. Worth 0.003 on code by words and 0.002 with
the table; with 0.5, 0.001 less."""


COMPOUND_WEIGHT = 0.5
"""Weight of a compound that begins or ends with the word, and of the parts of a compound."""


MAX_COMPOUNDS = 20
"""Compounds with one word that are looked for: the most frequent ones."""


MAX_STEMS = 200_000
"""Stems of a language in which compounds are looked for."""


MAX_WORDS = 500_000
"""Words that a misspelled one is compared with; Tantivy reserves 32 bytes for each."""


TermsWithPrefix = Callable[[str, int], list[tuple[str, int]]]
"""Returns terms that begin with a prefix, each with its frequency."""


class ForeignTerm(NamedTuple):
    """A stem of another language than English that a word stands for, and the terms of the index that match it."""

    term: str
    matches: Mapping[str, float]
    """The terms, each with its weight."""
    frequency: int
    """The number of chunks that have the stem, or else the most frequent of the terms."""


class ForeignWords:
    """The stems of other languages at one state of the lexical index."""

    def __init__(self, terms_with_prefix: TermsWithPrefix) -> None:
        self._terms_with_prefix = terms_with_prefix
        self._languages = [one for one in languages() if terms_with_prefix(f"{MARK}{one.letter}", 1)]
        self._vocabularies: dict[str, Vocabulary] = {}
        self._found: dict[str, list[ForeignTerm]] = {}

    def find(self, words: Iterable[str]) -> dict[str, list[ForeignTerm]]:
        """Return the stems that words stand for in the languages of the index, as far as documents have them."""
        if not self._languages:
            return {}
        return {word: found for word in words if (found := self._terms_of(word))}

    def _terms_of(self, word: str) -> list[ForeignTerm]:
        if word not in self._found:
            stems = ((stem, language) for language in self._languages for stem in stem_words(word, language))
            self._found[word] = [term for one in stems for term in self._terms_of_stem(*one)]
        return self._found[word]

    def _terms_of_stem(self, stem: str, language: Language) -> list[ForeignTerm]:
        known = self._vocabulary(language)
        matches = {stem: 1.0} if stem in known else {}
        if not language.has_compounds:
            return [_make_term(stem, matches, language, known)] if matches else []
        if len(stem) >= MIN_PART_CHARACTERS:
            longer = [word for word, is_first in known.longer_words(stem) if is_first or word.endswith(stem)]
            matches |= dict.fromkeys(nlargest(MAX_COMPOUNDS, longer, known.frequencies.__getitem__), COMPOUND_WEIGHT)
        parts = dict.fromkeys(split_compound(stem, language, known.frequencies), COMPOUND_WEIGHT)
        if matches:
            return [_make_term(stem, parts | matches, language, known)]
        return [_make_term(part, {part: weight}, language, known) for part, weight in parts.items()]

    def _vocabulary(self, language: Language) -> Vocabulary:
        if language.name not in self._vocabularies:
            found = self._terms_with_prefix(f"{MARK}{language.letter}", MAX_STEMS)
            self._vocabularies[language.name] = Vocabulary({term[2:-1]: count for term, count in found})
        return self._vocabularies[language.name]


def _make_term(stem: str, matches: Mapping[str, float], language: Language, known: Vocabulary) -> ForeignTerm:
    frequency = known.frequencies.get(stem) or max(known.frequencies[one] for one in matches)
    return ForeignTerm(
        mark_stem(stem, language), {mark_stem(one, language): weight for one, weight in matches.items()}, frequency
    )


def frequent_forms(terms: Iterable[str], frequency: Callable[[str], int]) -> list[str]:
    """Return the short and long forms of terms that are more frequent than these."""
    own = dict.fromkeys(terms)
    forms = {form: term for term in own for form in other_forms(term) if form not in own}
    return [form for form, term in forms.items() if frequency(form) > frequency(term)]


class TermStatistics:
    """A searcher of Tantivy, and the frequencies of terms in the state of the index that it sees, each counted once."""

    def __init__(self, searcher: Any) -> None:
        self.searcher = searcher
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
                count = self.searcher.search(query, 1, count=True).count
            else:
                count = self.searcher.doc_freq(field, term)
            self._counted[field, term] = int(count)
        return self._counted[field, term]

    def terms_with_prefix(self, field: Field, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return terms of a field that begin with a prefix, each with the number of chunks that contain it."""
        if not self._has_deleted:
            return list(self.searcher.terms_with_prefix(field, prefix, limit=limit))
        counted = self.searcher.terms_with_prefix(field, prefix, filter_query=tantivy.Query.all_query(), limit=limit)
        return [(word, count) for word, count in counted if count]

    @cached_property
    def foreign_words(self) -> ForeignWords:
        """The stems of documents that are not in English."""
        return ForeignWords(partial(self.terms_with_prefix, "parts"))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The whole words of all texts. Reading 41,000 of them takes 0.1 s, which a misspelled query pays for."""
        found = self.terms_with_prefix("words", "", MAX_WORDS)
        return Vocabulary({restore_underscores(word): count for word, count in found})

    def scored_term(self, field: Field, term: str, weight: float = 1.0, others: OtherChunks | None = None) -> Any:
        """Return the query for a term that scores by how rare the term is; None where no entry has the term.

        Tantivy multiplies a score by the rarity that the term would have if nothing was deleted and nothing was
        searched beside this index; the boost corrects that.
        """
        frequency = self.frequency(field, term)
        if not frequency:
            return None
        with_deleted = int(self.searcher.doc_freq(field, term)) if self._has_deleted else frequency
        assumed = rarity(with_deleted, self._all_entries)
        chunks = self.chunks()
        if others:
            frequency, chunks = frequency + others.frequency(field, term), chunks + others.chunks
        query = tantivy.Query.term_query(SCHEMA, field, term)
        return tantivy.Query.boost_query(query, weight * rarity(frequency, max(frequency, chunks)) / assumed)
