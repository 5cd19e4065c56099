"""The lexical index: a Tantivy index derived from the catalog.

It holds one entry per document and one per chunk. A marker file beside it names its catalog, the transaction and the
commit it has reached. After a kill between a commit and its marker, the changes since the marker are replayed.
"""

import contextlib
import errno
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from dowse.errors import LexicalDamaged
from dowse.memory_plan import scaled
from dowse.platform import disk_errors, make_private_folder, refusal_to_write, write_atomically
from dowse.store.lexical_entries import ANALYZERS, DOCUMENT_ENTRY, SCHEMA, LexicalDocument, entries_of
from dowse.store.lexical_links import can_lock, linked_folder
from dowse.store.segment_files import SegmentFiles
from dowse.store.term_statistics import TermStatistics
from dowse.text.analysis import remove_separators, split_unspaced, terms_of, whole_terms_of
from dowse.types import DocumentMatch, MatchedDocuments, Scored, TextQuery

FORMAT = 1
"""Version of the index format. It changes when the same chunk would be indexed differently; an index of another format is
rebuilt."""

WRITER_BYTES = 40_000_000
"""Memory of the writer: of 15, 40 and 100 MB, the smallest that does not slow down indexing a whole project."""
MIN_WRITER_BYTES = 15_000_000
"""The least that Tantivy accepts."""

WRITER_THREADS = 1
"""One thread: the interpreter keeps the other core busy."""

MAX_TERMS = 64
"""Number of terms of a query that count; more are noise, and each costs a walk through its postings."""

_MARKER_FILE = "reached.json"
_WHOLE_TITLE_SCORE = 1000.0
"""More than any sum of word scores."""


class Marker(NamedTuple):
    """The catalog that an index is derived from, and the transaction and the commit it has reached."""

    catalog: str
    sequence: int
    format: int
    commit: int = 0


class LexicalIndex:
    """An open lexical index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = SegmentFiles(folder)
        self._index: Any = None
        self._linked_meta: tuple[int, int] | None = None
        """The stamp of `meta.json` if the index was opened through links, which are gone when it is to be reloaded."""
        self._loaded_meta: tuple[int, int] | None = None
        """The stamp that `meta.json` had before the index was last reloaded."""
        self._terms: TermStatistics | None = None
        """The frequencies of terms since the index was last opened or reloaded."""

    def marker(self) -> Marker | None:
        """Return the marker of the index on disk; None when the index is missing or damaged, or older than its marker."""
        try:
            marker = Marker(**json.loads((self.folder / _MARKER_FILE).read_bytes()))
            with self._searching():  # after the marker was read, so that the index is never behind it
                return marker if marker.commit <= self._files.commit_number() else None
        except (LexicalDamaged, OSError, ValueError, TypeError):
            return None

    def has_later_commit(self, marker: Marker) -> bool:
        """Return whether the index has a commit that its marker does not know."""
        return self._files.commit_number() > marker.commit

    def chunk_ids(self) -> set[int]:
        """Return the ids of all chunks in the index."""
        with self._searching() as searcher:
            query = tantivy.Query.range_query(self._index.schema, "chunk", tantivy.FieldType.Unsigned, 0, None)
            hits = searcher.search(query, max(1, searcher.num_docs), count=False).hits
            return set(searcher.fast_field_values("chunk", [address for _, address in hits]))

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search chunks by words; best first."""
        return self._search(query, limit, "chunk")

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search documents by the words of their path; best first."""
        return self._search(query, limit, "document")

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word whole, or all its parts in one chunk."""
        with self._searching() as searcher:
            candidates = [self._require_all("words", whole_terms_of(word)), self._require_all("parts", terms_of(word))]
            query = _any_of([*candidates, *self._has_foreign("parts", word)])
            if query is None:
                return frozenset()
            # Scores are not needed here; without them it takes two thirds of the time.
            unscored = tantivy.Query.const_score_query(query, 1.0)
            hits = searcher.search(unscored, max(1, searcher.num_docs), count=False).hits
            return frozenset(searcher.fast_field_values("document", [address for _, address in hits]))

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        """Select documents by words; return how many there are and the ids of the first, best title first."""
        with self._searching() as searcher:
            required = [self._document_has(word, match) for word in match.required]
            if not required:
                required = [_any_of([self._document_has(word, match) for word in split_unspaced(match.words)])]
            excluded = [self._document_has(word, match) for word in match.excluded]
            if any(condition is None for condition in required):
                return MatchedDocuments(0)
            conditions = [*required, _term_query(self._index, "entry", DOCUMENT_ENTRY)]
            if match.among is not None:
                conditions.append(self._among(match.among))
            terms, statistics = self._title_terms(match), self._term_statistics(searcher)
            found_in_titles = (_any_of(statistics.scored_term("title", one) for one in group) for group in terms)
            titles = [query for query in found_in_titles if query is not None]
            whole = tantivy.Query.boolean_query([(tantivy.Occur.Must, title) for title in titles])
            if len(titles) == len(terms) > 1:  # a title with all words comes before any other
                titles.append(tantivy.Query.const_score_query(whole, _WHOLE_TITLE_SCORE))
            query = tantivy.Query.boolean_query(
                [
                    *(
                        (tantivy.Occur.Must, tantivy.Query.const_score_query(condition, 0.0))
                        for condition in conditions
                    ),
                    *((tantivy.Occur.MustNot, condition) for condition in excluded if condition is not None),
                    *((tantivy.Occur.Should, title) for title in titles),
                ]
            )
            found = searcher.search(query, max(1, limit), count=True)
            addresses = [address for _, address in found.hits]
            titled = sum(score > 0 for score, _ in found.hits)
            return MatchedDocuments(found.count, tuple(searcher.fast_field_values("document", addresses)), titled)

    def _title_terms(self, match: DocumentMatch) -> list[tuple[str, ...]]:
        """Return the terms of a query that titles are scored by, each with the stems of other languages for it."""
        groups = dict[str, tuple[str, ...]]()
        for word in (*match.words, *match.required) if match.in_titles else ():
            first, *rest = terms_of(word) or [""]
            groups |= {first: (first, *self._foreign_matches(word))} | {term: (term,) for term in rest}
        groups.pop("", None)
        return list(groups.values())[:MAX_TERMS]

    def _document_has(self, word: str, match: DocumentMatch) -> Any:
        """Return the query for documents whose title or text has a word; None when the word has no terms."""
        terms = terms_of(word)
        in_title = [self._require_all("title", terms), *self._has_foreign("title", word)] if match.in_titles else []
        if not match.in_texts or not terms:
            return _any_of(in_title)
        # All parts of a word have to be in one chunk, or the word whole. Parts are pairs of some characters.
        in_text = (
            [_term_query(self._index, "text", terms[0]), *self._has_foreign("text", word)]
            if len(terms) == 1 and (len(word) > 1 or word.isascii())
            else [self._among(self.documents_with_word(word))]
        )
        return _any_of([*in_title, *in_text])

    def _has_foreign(self, field: str, word: str) -> list[Any]:
        """Return queries for the entries of other languages that have a word, or a compound with it."""
        return [_term_query(self._index, field, term) for term in self._foreign_matches(word)]

    def _foreign_matches(self, word: str) -> list[str]:
        with self._counting() as terms:
            return [
                term for found in terms.foreign_words.find([word]).values() for one in found for term in one.matches
            ]

    def _among(self, documents: Iterable[int]) -> Any:
        return tantivy.Query.term_set_query(self._index.schema, "document", list(documents))

    def chunk_count(self) -> int:
        """Return the number of chunks."""
        with self._counting() as terms:
            return terms.chunks()

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each term, with identifiers split into parts."""
        with self._counting() as statistics:
            return {term: statistics.frequency("parts", term) for term in terms}

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words that begin with a prefix, each with the number of chunks that contain it."""
        with self._counting() as terms:
            return terms.terms_with_prefix("words", prefix, limit)

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the stems that words stand for in the documents that are not in English, and their frequencies."""
        with self._counting() as terms:
            found = terms.foreign_words.find(words)
            return {word: {one.term: one.frequency for one in foreign} for word, foreign in found.items()}

    def _search(self, query: TextQuery, limit: int, id_field: str) -> list[Scored]:
        with self._searching() as searcher:
            tantivy_query = self._build_query(query, self._term_statistics(searcher))
            if tantivy_query is None or limit <= 0:
                return []
            hits = searcher.search(tantivy_query, limit, count=False).hits
            addresses = [address for _, address in hits]
            documents = searcher.fast_field_values("document", addresses)
            ids = searcher.fast_field_values(id_field, addresses) if id_field != "document" else documents
        scores = (float(f"{score:.5g}") for score, _ in hits)  # further digits differ with the order of the terms
        return sorted(map(Scored, ids, documents, scores), key=lambda hit: (-hit.score, hit.id))

    def _build_query(self, query: TextQuery, statistics: TermStatistics) -> Any:
        text = " ".join(query.words)
        terms = {
            "words": whole_terms_of(" ".join((text, *query.repeated))),
            "names": whole_terms_of(remove_separators(text)),
        }
        part_terms, foreign_terms = terms_of(text), statistics.foreign_words.find(query.words)
        foreign = [match for found in foreign_terms.values() for one in found for match in one.matches.items()]
        scored = (
            statistics.scored_term(field, term, weight * share)
            for field, weight in query.weights.items()
            for term, share in (
                *Counter(terms.get(field, part_terms)[:MAX_TERMS]).items(),
                *(foreign if field not in terms else ()),
            )
        )
        term_queries = [(tantivy.Occur.Should, one) for one in scored if one is not None]
        if not term_queries:
            return None
        filters = []
        if query.kind is not None:
            filters.append(_term_query(self._index, "kind", query.kind))
        if query.among is not None:
            filters.append(self._among(query.among))
        # A boost of 0 keeps a filter out of the score.
        required = [(tantivy.Occur.Must, tantivy.Query.boost_query(condition, 0.0)) for condition in filters]
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(term_queries)), *required])

    def _require_all(self, field: str, terms: list[str]) -> Any:
        required = [(tantivy.Occur.Must, _term_query(self._index, field, term)) for term in terms[:MAX_TERMS]]
        return tantivy.Query.boolean_query(required) if required else None

    def write(self, marker: Marker, removed: Iterable[int], added: Iterable[LexicalDocument]) -> Callable[[], None]:
        """Bring the index to the transaction of `marker` in one commit; the caller holds the write lock.

        Returns a function that waits until segments are merged. The caller calls it while it still holds the lock.
        Merging takes a moment after one update in seven, and searches need not wait for it.
        """
        if self._linked_meta:
            self._index = self._linked_meta = None
        with _writing(self.folder):
            index = self._open(is_writing=True)
            self._files.check()
            writer = index.writer(max(MIN_WRITER_BYTES, scaled(WRITER_BYTES)), WRITER_THREADS)
            try:
                for document_id in removed:
                    # By query: `delete_documents_by_term` of tantivy 0.27 turns a number into a signed
                    # term, which no unsigned field contains, and silently deletes nothing.
                    writer.delete_documents_by_query(_term_query(index, "document", document_id))
                for document in added:
                    for entry in entries_of(document):
                        writer.add_document(entry)
                commit = int(writer.commit())
                finish = self._merge_waiter(writer)
            finally:
                del writer  # a traceback must not keep it, and its threads, alive after a failure
            reached = json.dumps(marker._replace(commit=commit)._asdict()).encode()
            write_atomically(self.folder / _MARKER_FILE, reached, is_durable=False)
            self._files.record()
            self._reload()
        return finish

    def _merge_waiter(self, writer: Any) -> Callable[[], None]:
        def finish() -> None:
            with _translate_errors():
                writer.wait_merging_threads()
                self._files.record()

        return finish

    def begin(self) -> None:
        """Make an empty index in a folder that does not exist yet."""
        with _writing(self.folder):
            make_private_folder(self.folder)
            self._open(is_writing=True)

    def refresh(self) -> None:
        """Load what other processes have committed."""
        if self._linked_meta:
            if self._linked_meta != self._meta_stamp() or can_lock(self.folder):
                self._index = self._linked_meta = None
        elif self._index is not None:
            try:
                with _translate_errors():
                    self._files.check()
                    if self._loaded_meta != (stamp := self._meta_stamp()):
                        self._reload()
                        self._loaded_meta = stamp
            except LexicalDamaged:
                self._index = None

    def state(self) -> object:
        """Return a value that is another one after every commit; None if the index is not open or damaged."""
        return self._loaded_meta if self._index is not None and not self._linked_meta else None

    def problems(self) -> list[str]:
        """Return problems with files: missing, cut short or with a wrong checksum."""
        return self._files.problems()

    def _open(self, *, is_writing: bool = False) -> Any:
        if self._index is None:
            self._terms = None
            with _translate_errors():
                if is_writing or can_lock(self.folder):
                    self._index = _open_index(self.folder)
                else:
                    stamp = self._meta_stamp()
                    with linked_folder(self.folder) as links:
                        self._index = _open_index(links)
                    self._linked_meta = stamp
        return self._index

    def _reload(self) -> None:
        self._index.reload()
        self._terms = None

    def _meta_stamp(self) -> tuple[int, int]:
        """Return what changes about `meta.json` with every commit."""
        try:
            seen = os.stat(f"{self.folder}/meta.json")  # noqa: PTH116 - 3 µs instead of 12, at every search
        except OSError:
            return 0, 0
        return seen.st_mtime_ns, seen.st_ino

    @contextlib.contextmanager
    def _searching(self) -> Iterator[Any]:
        """Give a searcher to a block; every error of Tantivy in it becomes one of dowse's own."""
        with _translate_errors():
            if self._index is None:
                self._files.check()
            yield self._open().searcher()

    @contextlib.contextmanager
    def _counting(self) -> Iterator[TermStatistics]:
        with self._searching() as searcher:
            yield self._term_statistics(searcher)

    def _term_statistics(self, searcher: Any) -> TermStatistics:
        self._terms = self._terms or TermStatistics(searcher)
        return self._terms


def _open_index(folder: Path) -> Any:
    index = tantivy.Index(SCHEMA, path=str(folder))
    for name, analyzer in ANALYZERS.items():
        index.register_tokenizer(name, analyzer)
    index.config_reader("manual")
    return index


def _term_query(index: Any, field: str, value: object) -> Any:
    return tantivy.Query.term_query(index.schema, field, value)


def _any_of(queries: Iterable[Any]) -> Any:
    """Return the query for what one of the queries finds; None without queries."""
    some = [(tantivy.Occur.Should, query) for query in queries if query is not None]
    return tantivy.Query.boolean_query(some) if some else None


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate the errors of Tantivy into dowse's own, even a Rust panic, which is not an ordinary exception."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, str(error)) from error
        raise LexicalDamaged(f"the lexical index cannot be used ({error})") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise LexicalDamaged(f"the lexical index cannot be used ({error})") from error
        raise


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Translate the errors of Tantivy while it writes, which a folder may refuse."""
    try:
        with disk_errors(folder), _translate_errors():
            yield
    except LexicalDamaged as error:
        if refusal := refusal_to_write(folder / "meta.json"):
            raise refusal from error
        raise
