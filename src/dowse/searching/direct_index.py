"""Files that are not indexed yet, searched for one query.

The files that look best by their counts are cut into chunks, and these are ranked by the rules of the lexical index, as
far as the rules need no parser. The ids of documents and chunks are negative.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from itertools import islice
from math import exp

from dowse.chunking import MAX_CHUNKS
from dowse.chunking.spans import Text, make_chunks
from dowse.chunking.splitter import CODE_SIZE, DOCS_SIZE, split_text
from dowse.reading.file_reading import read_as_plain_text
from dowse.searching import ranking_constants
from dowse.searching.candidates import MAX_TERMS
from dowse.searching.field_statistics import SATURATION, FieldCounts, FieldStatistics
from dowse.searching.file_counts import CountedFile, FileCounts, ReadFile
from dowse.searching.query_terms import SearchQuery
from dowse.searching.term_positions import terms_of_word
from dowse.searching.written_symbols import defined_names, find_title, heading_in
from dowse.store.catalog_rows import text_hash
from dowse.text.analysis import remove_separators, restore_underscores, terms_of, whole_terms_of
from dowse.text.vocabulary import rarity
from dowse.types import (
    Chunk,
    DocumentMatch,
    Entry,
    Field,
    FileContent,
    Kind,
    MatchedDocuments,
    Reading,
    Scored,
    StoredChunk,
    StoredDocument,
    Symbol,
    TextQuery,
    Verdict,
)

ANALYZED_FILES = ranking_constants.RANKED_FILES
"""Files that are cut into chunks: as many as are ranked with all signals."""
ANALYZED_CHUNKS = 400
"""Chunks whose words are analyzed, 0.2 ms each: more than the candidates of a search by words."""

_BYTES_PER_TERM = 6.5
"""Mean distance of two terms in 21 projects."""
_LINE_CHARACTERS = 300
"""The length of a line in which a definition is looked for."""
_CHANGED_ENDINGS = "iey"
"""A stem may end with a letter that a form of the word does not have: `queri` and `query`."""


ReadText = Callable[[FileContent], Reading | None]
"""Returns the text of a file, or None if that would take too long."""


class DirectIndex:
    """The words of one query in files that are not indexed yet, searched like a store."""

    has_vectors = False
    """Whether anything can be found by meaning."""

    def __init__(
        self, entries: Iterable[Entry], read: ReadFile, query: SearchQuery, read_text: "ReadText | None" = None
    ) -> None:
        required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
        text, names = " ".join((*required, *query.must_not, *query.positive)), query.names[:MAX_TERMS]
        self._parts = {term: _letters_of(term) for term in _first_terms(terms_of(text))}
        self._wholes = {term: restore_underscores(term).encode() for term in _first_terms(whole_terms_of(text))}
        self._names = frozenset(whole_terms_of(remove_separators(" ".join(names))))
        self._required = {_letters_of(term) for word in required for term in terms_of(word)}
        letters = list(dict.fromkeys((*self._parts.values(), *self._wholes.values(), *self._required)))
        self._read_text = read_text or read_directly
        self._read, self._counts = read, FileCounts(entries, read, letters, self._parts, names)
        spellings = "|".join(re.escape(spelled.decode()) for spelled in letters)
        self._hints = re.compile(rf"(?:{spellings or '(?!)'})\w*")
        self._documents: dict[int, StoredDocument] = {}
        self._paths: dict[int, FieldCounts] = {}
        self._titles: dict[int, frozenset[str]] = {}
        self._converted: dict[int, str] = {}
        self._stored: dict[int, StoredChunk] = {}
        self._chunks: dict[int, FieldCounts] = {}
        self._with_word: dict[str, frozenset[int]] = {}
        self._statistics = FieldStatistics(0)
        self._rarities: dict[str, float] = {}

    def read_files(self, seconds: float) -> bool:
        """Read files for at most this long, and analyze the best of them; return whether all were read."""
        is_whole = self._counts.count(seconds)
        files = self._counts.files
        self._statistics = FieldStatistics(sum(file.chunks for file in files))
        self._statistics.estimate("parts", _chunk_frequencies(files, self._parts))
        self._statistics.estimate("words", _chunk_frequencies(files, self._wholes))
        frequencies = self.chunk_frequencies(self._parts)
        self._rarities = {term: rarity(frequency, self.chunk_count()) for term, frequency in frequencies.items()}
        paths = [self._path_fields(file) for file in files]
        for fields in paths:
            self._statistics.add(fields, ("path", "stem"))
        promising = nlargest(ANALYZED_FILES, range(len(files)), key=lambda at: self._promise(files[at], paths[at]))
        self._analyze({-at - 1: files[at] for at in promising}, {-at - 1: paths[at] for at in promising})
        return is_whole

    @property
    def file_count(self) -> int:
        """The number of files that were read."""
        return len(self._counts.files)

    @property
    def unread_paths(self) -> frozenset[str]:
        """The paths of the files that were not read."""
        return self._counts.unread_paths

    @property
    def paths(self) -> frozenset[str]:
        """The paths of the files that were read."""
        return frozenset(file.entry.path for file in self._counts.files)

    # The methods of a store that a search calls

    def chunk_count(self) -> int:
        """Return about how many chunks the files would have in an index."""
        return self._statistics.chunks

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return about how many chunks contain each term of the query."""
        return {term: self._statistics.frequency("parts", term) for term in terms}

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search chunks by words; best first."""
        return self._find(query, self._chunks, lambda chunk: self._stored[chunk].document_id)[:limit]

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search documents by the words of their path; best first."""
        return self._find(query, self._paths, lambda document: document)[:limit]

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        """Select documents by words; return how many of those analyzed there are, and the ids of the first, best title first."""
        titled, others = list[tuple[int, int]](), list[int]()
        for document in self._documents:
            if match.among is not None and document not in match.among:
                continue
            if match.required:
                is_match = all(self._has_word(document, word, match) for word in match.required)
            else:
                is_match = any(self._has_word(document, word, match) for word in match.words)
            if not is_match or any(self._has_word(document, word, match) for word in match.excluded):
                continue
            in_title = len(self._titles[document].intersection(self._parts)) if match.in_titles else 0
            if in_title:
                titled.append((-in_title, document))
            else:
                others.append(document)
        ids = [*(document for _, document in sorted(titled)), *others]
        return MatchedDocuments(len(ids), tuple(ids[:limit]), min(limit, len(titled)))

    def _has_word(self, document: int, word: str, match: DocumentMatch) -> bool:
        terms = set(terms_of(word))
        in_title = match.in_titles and terms <= self._titles[document]
        return bool(terms) and (in_title or (match.in_texts and document in self.documents_with_word(word)))

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word: whole, or all its parts in one chunk."""
        if word not in self._with_word:
            self._with_word[word] = self._find_with_word(set(terms_of(word)), set(whole_terms_of(word)))
        return self._with_word[word]

    def _find_with_word(self, parts: set[str], wholes: set[str]) -> frozenset[int]:
        return frozenset(
            self._stored[chunk].document_id
            for chunk, fields in self._chunks.items()
            if parts <= fields.counts["parts"].keys() or wholes <= fields.counts["words"].keys()
        )

    def ids_by_path(self) -> list[tuple[int, str]]:
        """Return the ids and the paths of the documents that were analyzed."""
        return [(document.id, document.path) for document in self._documents.values()]

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the paths of those of the documents that were analyzed, by id."""
        return {document.id: document.path for document in self.documents_by_id(ids).values()}

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        """Return those of the documents that were analyzed, by id."""
        return {document: self._documents[document] for document in ids if document in self._documents}

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        """Yield the documents that were analyzed, or those below a folder or after a path."""
        return (one for one in self._documents.values() if one.path.startswith(below) and one.path > after)

    def main_language(self) -> str:
        """Return no language: which one most files have is known once they are indexed."""
        return ""

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """Return the chunks of a document that were analyzed, in order."""
        return [chunk for chunk in self._stored.values() if chunk.document_id == document_id]

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return the first and last line of those of the chunks that were analyzed, by id."""
        return {chunk.id: (chunk.start_line, chunk.end_line) for chunk in self.chunks_by_id(ids).values()}

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        """Return those of the chunks that were analyzed, by id."""
        return {chunk: self._stored[chunk] for chunk in ids if chunk in self._stored}

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:  # noqa: ARG002 - part of the interface
        """Return nothing: spelling is corrected with the words of an index only."""
        return []

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:  # noqa: ARG002 - part of the interface
        """Return nothing: the language of a file is known once it is indexed."""
        return {}

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:  # noqa: ARG002
        """Return nothing: no document has vectors yet."""
        return frozenset()

    def nearest(self, *_: object, **__: object) -> list[Scored]:
        """Return nothing: no chunk has a vector yet."""
        return []

    def converted_text(self, document_id: int) -> str | None:
        """Return the text of a document whose file is not in UTF-8."""
        return self._converted.get(document_id)

    # Analysis

    def _promise(self, file: CountedFile, path: FieldCounts) -> float:
        """Return how promising a file is by its counts, its path and the names it defines."""
        if not all(file.counts.get(letters) for letters in self._required):
            return 0.0
        by_words = sum(
            self._rarities[term] * count / (count + SATURATION)
            for term, letters in self._parts.items()
            if (count := file.counts.get(letters))
        )
        by_path = sum(self._statistics.score(path, name, self._parts) for name in ranking_constants.PATH_WEIGHTS)
        return by_words + ranking_constants.PATH * by_path + file.is_definer * sum(self._rarities.values())

    def _path_fields(self, file: CountedFile) -> FieldCounts:
        counts: dict[Field, Mapping[str, int]] = {
            "path": _count_terms(file.path_terms, self._parts),
            "stem": _count_terms(file.stem_terms, self._parts),
        }
        return FieldCounts(counts, {"path": len(file.path_terms), "stem": len(file.stem_terms)})

    def _analyze(self, files: Mapping[int, CountedFile], paths: Mapping[int, FieldCounts]) -> None:
        """Cut files into chunks, and count the terms in the most promising of these."""
        waiting: list[tuple[float, int, Chunk]] = []
        for document_id, file in files.items():
            read = self._read(file.entry)
            content = None if isinstance(read, Verdict) or not read else read[0]
            reading = self._read_text(content) if content else None
            chunks = list(_cut(reading.text, content.kind)) if content and reading else []
            if not content or not reading or not chunks:  # an empty file has nothing to show
                continue
            self._documents[document_id] = _make_document(document_id, content, reading, len(chunks))
            self._paths[document_id] = paths[document_id]
            self._titles[document_id] = frozenset(terms_of(reading.title))
            if not reading.is_verbatim:
                self._converted[document_id] = reading.text
            waiting += self._weigh(document_id, chunks)
        waiting.sort(key=lambda one: (-one[0], one[1], one[2].start_byte))
        has_chunks: set[int] = set()
        for at, (_, document_id, chunk) in enumerate(waiting):
            if at < ANALYZED_CHUNKS or document_id not in has_chunks:
                has_chunks.add(document_id)
                self._add_chunk(-at - 1, document_id, chunk)
        for fields in self._chunks.values():
            self._statistics.add(fields, ("symbols", "names", "headings"))

    def _weigh(self, document_id: int, chunks: Iterable[Chunk]) -> Iterator[tuple[float, int, Chunk]]:
        """Yield chunks with the weight of the letters that they have."""
        for chunk in chunks:
            small = chunk.text.lower().encode()
            weight = sum(
                self._rarities[term] * count / (count + SATURATION)
                for term, letters in self._parts.items()
                if (count := small.count(letters))
            )
            yield weight, document_id, chunk

    def _add_chunk(self, chunk_id: int, document_id: int, chunk: Chunk) -> None:
        parts, wholes, lines = self._count_words(chunk.text)
        is_code = self._documents[document_id].kind == "code"
        symbols = [
            Symbol(name, "definition", chunk.start_line + chunk.text.count("\n", 0, start))
            for start, line in lines.items()
            for name in (defined_names(line) if is_code else ())
        ]
        headings = [heading for line in lines.values() if (heading := None if is_code else heading_in(line))]
        named = " ".join(symbol.name for symbol in symbols)
        length, names = len(chunk.text) / _BYTES_PER_TERM, whole_terms_of(remove_separators(named))
        self._chunks[chunk_id] = FieldCounts(
            {
                "parts": parts,
                "words": wholes,
                "symbols": _count_terms(terms_of(named), self._parts),
                "names": _count_terms(names, self._names),
                "headings": _count_terms(terms_of(" ".join(headings)), self._parts),
            },
            {"parts": length, "words": length},
        )
        self._stored[chunk_id] = StoredChunk(
            chunk_id, document_id, -chunk_id, chunk.start_byte, chunk.end_byte, chunk.start_line, chunk.end_line,
            text_hash(chunk.text.encode()), tuple(symbols), tuple(headings[:1]),
        )  # fmt: skip

    def _count_words(self, text: str) -> tuple[Counter[str], Counter[str], dict[int, str]]:
        """Return how often a text has the terms of the query, in parts of words and whole, and the lines that have some."""
        small = text.lower()
        small = small if len(small) == len(text) else text  # a few letters become two in lower case
        parts, wholes, lines = Counter[str](), Counter[str](), dict[int, str]()
        line_end = -1
        for hint in self._hints.finditer(small):
            word = text[_word_start(text, hint.start()) : hint.end()]
            parts.update(term for term in terms_of_word(word) if term in self._parts)
            wholes.update(term for term in whole_terms_of(word) if term in self._wholes)
            if hint.start() > line_end:
                start, end = text.rfind("\n", 0, hint.start()) + 1, text.find("\n", hint.end())
                line_end = end if end >= 0 else len(text)
                lines[start] = text[start : min(line_end, start + _LINE_CHARACTERS)]
        return parts, wholes, lines

    def _find(
        self, query: TextQuery, entries: Mapping[int, FieldCounts], document_of: Callable[[int], int]
    ) -> list[Scored]:
        text = " ".join(query.words)
        parts, wholes = set(terms_of(text)), whole_terms_of(" ".join((text, *query.repeated)))
        names = set(whole_terms_of(remove_separators(text)))
        hits = []
        for entry, fields in entries.items():
            document = self._documents[document_of(entry)]
            if query.kind not in (None, document.kind) or (query.among is not None and document.id not in query.among):
                continue
            score = sum(
                weight * self._statistics.score(fields, name, {"names": names, "words": wholes}.get(name, parts))
                for name, weight in query.weights.items()
            )
            if score:
                hits.append(Scored(entry, document.id, score))
        return sorted(hits, key=lambda hit: (-hit.score, -hit.id))


def read_directly(content: FileContent) -> Reading:
    """Return the text of a file as it is; the title of a document is its first heading or line."""
    reading = read_as_plain_text(content.data, content.path)
    title = find_title(reading.text, content.language) if content.kind == "docs" else None
    return replace(reading, title=title) if title else reading


def _first_terms(terms: Sequence[str]) -> list[str]:
    """Return the terms that count; single characters are in every file, and only count where there is nothing else."""
    distinct = list(dict.fromkeys(terms))
    return [term for term in distinct if len(term) > 1][:MAX_TERMS] or distinct[:MAX_TERMS]


def _letters_of(term: str) -> bytes:
    """Return the letters that every form of a word with this stem has."""
    return (term[:-1] if len(term) > 3 and term[-1] in _CHANGED_ENDINGS else term).encode()


def _count_terms(found: Iterable[str], wanted: Collection[str]) -> Counter[str]:
    return Counter(term for term in found if term in wanted)


def _chunk_frequencies(files: Iterable[CountedFile], letters: Mapping[str, bytes]) -> dict[str, int]:
    """Return about how many chunks have the letters of each term: the occurrences in a file lie in any of its chunks."""
    frequencies = dict.fromkeys(letters, 0.0)
    for file in files:
        for term, spelled in letters.items():
            if count := file.counts.get(spelled):
                frequencies[term] += max(1.0, file.chunks * (1 - exp(-count / file.chunks)))
    return {term: round(frequency) for term, frequency in frequencies.items()}


def _cut(text: str, kind: Kind) -> Iterator[Chunk]:
    spans = split_text(text, DOCS_SIZE if kind == "docs" else CODE_SIZE)
    return islice(make_chunks(Text(text), spans), MAX_CHUNKS)


def _make_document(document_id: int, content: FileContent, reading: Reading, chunks: int) -> StoredDocument:
    return StoredDocument(
        document_id, content.path, content.kind, content.language, reading.title, reading.description, reading.tags,
        content.stat, 0, content.content_hash, reading.encoding, reading.text_start, reading.is_verbatim,
        is_truncated=False, chunk_count=chunks, recipe="", views=content.views,
    )  # fmt: skip


def _word_start(text: str, start: int) -> int:
    """Return where the word at a position begins."""
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return start
