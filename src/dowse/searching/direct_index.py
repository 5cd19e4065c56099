"""Files that the index lacks, searched for one query.

All of them are read and counted by letters. Those that look best are cut into chunks and put into a lexical index in
memory, so that one engine ranks them by the rules of every other index. A parser cuts the best of them; the chunks of the
others have about the same size, and the names that their lines seem to define. How rare a word is counts in all files that
were read.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from dowse.searching import ranking_constants
from dowse.searching.candidates import MAX_TERMS
from dowse.searching.kept_files import (
    CountedFile,
    CutFile,
    FileCounts,
    KeptFiles,
    ParseFiles,
    PathField,
    ReadFile,
    ReadText,
    letters_of,
    read_directly,
)
from dowse.searching.query_terms import SearchQuery
from dowse.searching.ranking import Evidence, Leg, rank_files
from dowse.store.catalog_rows import text_hash
from dowse.store.lexical import MemoryIndex
from dowse.store.lexical_entries import LexicalDocument
from dowse.store.lexical_follower import without_title
from dowse.text.analysis import rarity, restore_underscores, terms_of, whole_terms_of
from dowse.types import (
    Entry,
    Field,
    Kind,
    OtherChunks,
    Reading,
    Scored,
    StoredChunk,
    StoredDocument,
    TextQuery,
    Verdict,
)

if TYPE_CHECKING:
    from dowse.types import Vectors

COMPARED_FILES = 4 * ranking_constants.RANKED_FILES
"""Files that are ranked by their counts with all signals: a file may be found by its name although it says little."""
ANALYZED_FILES = ranking_constants.RANKED_FILES
"""Files that are cut into chunks: as many as are ranked with all signals."""
ANALYZED_CHUNKS = 300
"""Chunks whose words are analyzed. On five whole projects 500 are worth at most 0.005 more or less."""
PARSED_FILES = 30
"""Files that a parser cuts. With none, nDCG@10 is 0.87 instead of 1.03 of that of the finished index on vitest; on four other
projects the two differ by 0.03 at most."""

_PATH_FIELDS: tuple[PathField, ...] = ("path", "stem")
_SATURATION = 1.2
"""How fast further occurrences of a word count less, as in BM25."""


EncodeTexts = Callable[[str, Sequence[tuple[str, str]]], "Vectors | None"]
"""Encodes texts with an encoder that is named, each with the path of its file; None if that takes long."""


class DirectIndex(MemoryIndex):
    """The files that an index lacks. It knows those of their documents and chunks that were analyzed."""

    def __init__(
        self, entries: Iterable[Entry], read: ReadFile, query: SearchQuery, seconds: float, read_text: ReadText | None = None,
        *, kept: KeptFiles | None = None, parse: ParseFiles = lambda _: (), encode: EncodeTexts | None = None,
        has_titles: bool = False,
    ) -> None:  # fmt: skip
        """Read files for at most so many seconds, and analyze the best of them.

        The chunks get vectors when they are searched by meaning, if there is a way to `encode` them.
        """
        required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
        text, names = " ".join((*required, *query.must_not, *query.positive)), query.names[:MAX_TERMS]
        self._parts = {term: letters_of(term) for term in _first_terms(terms_of(text))}
        self._wholes = {term: restore_underscores(term).encode() for term in _first_terms(whole_terms_of(text))}
        self._required = {letters_of(term) for word in required for term in terms_of(word)}
        letters = list(dict.fromkeys((*self._parts.values(), *self._wholes.values(), *self._required)))
        self._read, self._read_text, self._has_titles = read, read_text or read_directly, has_titles
        self._kept, self._parse, self._encode = kept or KeptFiles(read), parse, encode
        self._path = query.text if query.shape == "path" else None
        self._documents: dict[int, StoredDocument] = {}
        self._converted: dict[int, str] = {}
        self._stored: dict[int, StoredChunk] = {}
        self._texts: dict[int, str] = {}
        self._encoded: dict[str, Vectors | None] = {}
        """The vectors of the chunks by encoder, as far as they were asked for."""
        self._counts = FileCounts(entries, read, letters, self._parts, names, seconds=seconds)
        self.files: Sequence[CountedFile] = self._counts.files
        """The files that were read."""
        self.unread_paths = self._counts.unread_paths
        self._chunk_count = sum(file.chunks for file in self.files)
        self._frequencies = self._count_terms()
        """About how many chunks of all files have each term of the query; in other fields, only what was analyzed counts."""
        rarities = {term: rarity(self._frequencies["parts", term], self._chunk_count) for term in self._parts}
        promising = list(dict.fromkeys((*self._promising(rarities), *range(len(self.files)))))[:ANALYZED_FILES]
        super().__init__(self._analyze({at + 1: self.files[at] for at in promising}, rarities))

    def chunk_count(self) -> int:
        """Return about how many chunks the files would have in an index."""
        return self._chunk_count

    def frequency(self, field: Field, term: str) -> int:
        """Return about in how many chunks or documents a field has a term."""
        known = self._frequencies.get((field, term))
        return super().frequency(field, term) if known is None else known

    def ids_by_path(self) -> list[tuple[int, str]]:
        return [(document.id, document.path) for document in self._documents.values()]

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        return {document.id: document.path for document in self.documents_by_id(ids).values()}

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        return {document: self._documents[document] for document in ids if document in self._documents}

    def documents(self) -> Iterator[StoredDocument]:
        return iter(self._documents.values())

    def chunks(self, document_id: int) -> list[StoredChunk]:
        return [chunk for chunk in self._stored.values() if chunk.document_id == document_id]

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        return {chunk.id: (chunk.start_line, chunk.end_line) for chunk in self.chunks_by_id(ids).values()}

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        return {chunk: self._stored[chunk] for chunk in ids if chunk in self._stored}

    def converted_text(self, document_id: int) -> str | None:
        return self._converted.get(document_id)

    def nearest(
        self, encoder: str, vector: "Vectors", limit: int, *, kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:  # fmt: skip
        """Return the chunks that are nearest in meaning, best first."""
        vectors = self._vectors(encoder)
        if vectors is None:
            return []
        wanted = {
            document
            for document, one in self._documents.items()
            if kind in (None, one.kind) and (among is None or document in among)
        }
        scored = zip(self._stored.values(), (vectors @ vector).tolist(), strict=True)
        found = [Scored(chunk.id, chunk.document_id, score) for chunk, score in scored if chunk.document_id in wanted]
        return sorted(found, key=lambda hit: (-hit.score, -hit.id))[:limit]

    def _vectors(self, encoder: str) -> "Vectors | None":
        """Return the vectors of the chunks; they are made once for all parts of a search."""
        if encoder not in self._encoded:
            texts = [
                (self._documents[self._stored[chunk].document_id].path, text) for chunk, text in self._texts.items()
            ]
            self._encoded[encoder] = self._encode(encoder, texts) if self._encode and texts else None
        return self._encoded[encoder]

    def _search(self, query: TextQuery, limit: int, id_field: str) -> list[Scored]:
        """Search the entries for terms that are as rare as they are in all files."""
        others = query.others or OtherChunks(0, lambda _field, _term: 0)
        analyzed = super().frequency

        def elsewhere(field: Field, term: str) -> int:
            return self.frequency(field, term) - analyzed(field, term) + others.frequency(field, term)

        count = self._chunk_count - len(self._stored) + others.chunks
        return super()._search(replace(query, others=OtherChunks(count, elsewhere)), limit, id_field)

    # Analysis

    def _count_terms(self) -> dict[tuple[Field, str], int]:
        """Count in how many chunks the terms of the query are, as far as letters and paths tell."""
        frequencies = dict[tuple[Field, str], int]()
        spelled: Iterable[tuple[Field, Mapping[str, bytes], Callable[[str], list[str]]]] = (
            ("parts", self._parts, terms_of), ("words", self._wholes, whole_terms_of),
        )  # fmt: skip
        for field, terms, split in spelled:
            for term, letters in terms.items():
                count = self._counts.chunk_frequency(letters, partial(_has_term, term, split))
                frequencies[field, term] = min(self._chunk_count, count)
        for path_field in _PATH_FIELDS:
            found = Counter(term for file in self.files for term in self._parts.keys() & file.terms[path_field])
            frequencies |= {(path_field, term): found[term] for term in self._parts}
        return frequencies

    def _promising(self, rarities: Mapping[str, float]) -> list[int]:
        """Return the places of the files that an index would rank best, by their counts, paths and the names they define."""
        by_words, by_path, definers = dict[int, float](), dict[int, float](), []
        in_paths = {
            (field, term): rarity(self._frequencies[field, term], self._chunk_count)
            for field in _PATH_FIELDS
            for term in self._parts
        }
        for at, file in enumerate(self.files):
            if not all(file.counts.get(letters) for letters in self._required):
                continue
            by_words[at] = _weight_of(self._parts, rarities, file.counts.get)
            by_path[at] = sum(
                in_paths[field, term] for field in _PATH_FIELDS for term in self._parts.keys() & file.terms[field]
            )
            if file.is_definer:
                definers.append(Scored(at, at, 1.0))
        words = Leg("words", [Scored(at, at, weight) for at, weight in by_words.items()])
        evidence = Evidence([words], by_path, definers, rarities, path=self._path)

        def paths_by_id(numbers: Iterable[int]) -> dict[int, str]:
            return {at: self.files[at].entry.path for at in numbers}

        return [file.document_id for file in rank_files(evidence, COMPARED_FILES, paths_by_id)]

    def _analyze(self, files: Mapping[int, CountedFile], rarities: Mapping[str, float]) -> Iterator[LexicalDocument]:
        """Cut files into chunks; yield them with the most promising of these."""
        waiting: list[tuple[float, int, int]] = []
        cut: dict[int, CutFile] = {}
        read = ((number, self._read(file.entry)) for number, file in files.items())
        contents = {number: found[0] for number, found in read if found and not isinstance(found, Verdict)}
        parsed = self._kept.parse(islice(contents.values(), PARSED_FILES), self._parse)
        for number, content in contents.items():
            found = parsed.get(content.path) or self._kept.cut(content, self._read_text)
            if not found or not found.chunks:  # an empty file has nothing to show
                continue
            cut[number] = found
            reading = found.reading
            self._documents[number] = StoredDocument(
                number, content.path, content.kind, content.language, reading.title, reading.description, reading.tags,
                content.stat, 0, content.content_hash, reading.encoding, reading.text_start, reading.is_verbatim,
                is_truncated=False, chunk_count=len(found.chunks), recipe="", views=content.views,
            )  # fmt: skip
            if not reading.is_verbatim:
                self._converted[number] = reading.text
            for at, chunk in enumerate(found.chunks):
                weight = _weight_of(self._parts, rarities, chunk.text.lower().encode().count)
                waiting.append((-weight, number, at))
        chosen: dict[int, list[StoredChunk]] = {}
        for rank, (_, number, at) in enumerate(sorted(waiting), 1):
            if rank <= ANALYZED_CHUNKS or number not in chosen:
                chunk = cut[number].named_chunk(at)
                self._stored[rank] = StoredChunk(
                    rank, number, rank, chunk.start_byte, chunk.end_byte, chunk.start_line, chunk.end_line,
                    text_hash(chunk.text.encode()), chunk.symbols, chunk.headings,
                )  # fmt: skip
                self._texts[rank] = chunk.text
                chosen.setdefault(number, []).append(self._stored[rank])
        for number, stored in chosen.items():
            yield self._lexical_document(number, stored, cut[number].reading)

    def _lexical_document(self, number: int, chunks: Sequence[StoredChunk], reading: Reading) -> LexicalDocument:
        document = self._documents[number]
        entries = [(chunk.id, self._texts[chunk.id], chunk) for chunk in chunks]
        titled = (reading.title, without_title(reading.text)) if self._has_titles else ()
        return LexicalDocument(number, document.kind, document.path, entries, *titled)


def _weight_of(
    terms: Mapping[str, bytes], rarities: Mapping[str, float], count: Callable[[bytes], int | None]
) -> float:
    """Return the weight of the terms whose letters a text has; `count` says how often it has them."""
    counts = ((rarities[term], count(letters)) for term, letters in terms.items())
    return sum(worth * often / (often + _SATURATION) for worth, often in counts if often)


def _has_term(term: str, split: Callable[[str], list[str]], word: str) -> bool:
    return term in split(word)


def _first_terms(terms: Sequence[str]) -> list[str]:
    """Return the terms that count; single characters are in every file, and only count where there is nothing else."""
    distinct = list(dict.fromkeys(terms))
    return [term for term in distinct if len(term) > 1][:MAX_TERMS] or distinct[:MAX_TERMS]
