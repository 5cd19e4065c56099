"""Indexes that are asked as one, and what one search can be about beside folders: the projects of a place, or the packages that a project uses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from dowse.api.results import Hit, Results, Status
from dowse.errors import UsageError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, Update, explain_file
from dowse.mcp.replies import coverage_warnings
from dowse.searching.passages import Passage
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import Answer, SearchHit, SearchOptions
from dowse.types import Coverage, Entry, Progress

if TYPE_CHECKING:
    from dowse.federation.answers.definition_search import FoundDefinitions
    from dowse.federation.answers.place_reading import SourceText
    from dowse.indexes.dependencies.package_index import PackageIndex
    from dowse.indexes.index import PathDecision
    from dowse.indexes.query_vectors import QueryEncoder
    from dowse.indexes.reference_lookup import FoundReferences
    from dowse.searching.exact_search import Occurrences
    from dowse.searching.explain import RankExplanation
    from dowse.searching.references.reference_search import ReferenceOptions
    from dowse.searching.references.related_files import RelatedFiles


class IndexedTarget:
    """Indexes that are asked as one. All work on them runs on one thread."""

    @property
    def indexes(self) -> Mapping[str, ProjectIndex]:
        """The indexes by name."""
        raise NotImplementedError

    def lead(self, name: str) -> str:
        """Return what the paths of an index begin with in results."""
        raise NotImplementedError

    def locate(self, path: str) -> tuple[ProjectIndex, str, str]:
        """Return the index of the file that a path of a result names, the file's path there, and what comes before that."""
        raise NotImplementedError

    def prepare(self, progress: Progress | None) -> None:
        """Make what an answer about every file needs."""

    def _updating(self, progress: Progress | None) -> Update:
        """Return the function that brings an index up to date before it is asked."""
        raise NotImplementedError

    def _open_encoder(self) -> "QueryEncoder | None":
        """Return the encoder of queries."""
        return None

    def leads(self) -> dict[str, ProjectIndex]:
        """Return the indexes by the beginning of the paths of their files, which is empty for a folder alone."""
        return {self.lead(name): index for name, index in self.indexes.items()}

    def find(self, query: ExactQuery, progress: Progress | None = None) -> "tuple[Occurrences, Coverage]":
        """Find every occurrence of a text or pattern."""
        self.prepare(progress)
        from dowse.indexes.joined_search import find_joined

        return find_joined(self.leads(), query, self._updating(progress))

    def references(
        self, name: str, options: "ReferenceOptions", progress: Progress | None = None
    ) -> "dict[str, FoundReferences]":
        """Return where each index defines and uses a name, by the beginning of its paths."""
        from dowse.indexes.reference_lookup import references_when_complete

        self.prepare(progress)
        update, found = self._updating(progress), {}
        for lead, index in self.leads().items():
            own = replace(options, path_glob=options.path_glob.removeprefix(lead) if options.path_glob else None)
            found[lead] = references_when_complete(index, name, own, update, progress)
        return found

    def related(self, path: str, limit: int, progress: Progress | None = None) -> "RelatedFiles":
        """Return the files around a file."""
        from dowse.indexes.reference_lookup import read_missing_references, related_files

        index, within, lead = self.locate(path)
        self._updating(progress)(index)
        read_missing_references(index, progress=progress)
        return related_files(index, within, limit, lambda one: lead + one)

    def explain(
        self, path: str, query: str | None = None, progress: Progress | None = None
    ) -> "tuple[PathDecision, RankExplanation | None]":
        """Return why a file is or is not indexed and, with a query, its rank if no rule excludes it."""
        index, within, _ = self.locate(path)
        if query and index.source.verdict(within).is_allowed:
            self._updating(progress)(index)
        return explain_file(index, within, query, self._open_encoder())

    def source(self, path: str) -> "SourceText":
        """Return the text of a file with its definitions, with secrets masked."""
        from dowse.federation.answers.place_reading import read_source

        return read_source(*self.locate(path)[:2])

    def files(self, pattern: str | None = None) -> list[str]:
        """Return the paths of all files that are or may be indexed, sorted; with a glob, those that match it."""
        from dowse.globs import compile_path_filter

        matches = compile_path_filter(pattern).fullmatch if pattern else bool
        return sorted(
            lead + entry.path
            for lead, index in self.leads().items()
            for entry in index.source.entries()
            if isinstance(entry, Entry) and entry.views & index.view
            and (matches(entry.path) or matches(lead + entry.path))
        )  # fmt: skip

    def status(self) -> list[Status]:
        """Return the state of each index."""
        found = ((name, index.status()) for name, index in self.indexes.items())
        return [
            Status(name, one.state, one.files, one.chunks, one.expected_files, one.last_updated, one.problem)
            for name, one in found
        ]


class Found(NamedTuple):
    """The answer of a target, how much of it the answer is about, and what to know about it."""

    answer: Answer
    coverage: Coverage
    show: Callable[[str], str] = str
    """Returns a path as users see it."""
    notes: Sequence[str] = ()
    notes_say_coverage: bool = False
    indexes: Mapping[str, ProjectIndex] = MappingProxyType({})
    """What knows the callers of definitions, by the beginning of the paths of its files."""

    def definitions(self) -> "FoundDefinitions":
        """Return the definitions that answer, with their callers and constants."""
        from dowse.federation.answers.definition_search import describe_definitions  # a program may need none

        return describe_definitions(self.indexes, self.answer, self.show)

    def results(self, query: str, limit: int, warnings: Sequence[str]) -> Results[Hit]:
        """Return the best hits as a program gets them."""
        answer, covered = self.answer, self.coverage
        hits = sorted(
            ((hit, passage) for hit in answer.hits for passage in hit.passages), key=lambda pair: pair[1].rank
        )  # a rank is 0 where definitions are not ranked
        items = tuple(self._hit(hit, passage) for hit, passage in hits[:limit])
        corrected = [f"{near} instead of {word}" for word, near in answer.corrected.items()]
        notes = [*warnings, *([f"Corrected: {', '.join(corrected)}"] if corrected else []), *coverage_warnings(covered)]
        if covered.is_indexing and not self.notes_say_coverage:
            searched = covered.files + covered.direct
            of = f" of {covered.expected:,}" if searched < covered.expected else ""
            by_words = f", {covered.direct:,} of them by words alone" if covered.direct else ""
            notes.append(f"Searched {searched:,}{of} files{by_words}. Indexing continues; wait() waits for it.")
        is_complete = covered.is_complete and not answer.outdated
        return Results(items, query, len(items), is_complete, (*notes, *self.notes), frozenset(answer.terms))

    def _hit(self, hit: SearchHit, passage: Passage) -> Hit:
        path, start, end = self.show(hit.path), passage.start_line, passage.end_line
        return Hit(
            path, (start, end), passage.text, passage.name, hit.language, hit.score,
            f"{path}:{start}-{end}", masked=passage.masked, flags=passage.flags,
        )  # fmt: skip


class PlaceTarget:
    """The projects that are published in a place, or some of them."""

    def __init__(self, location: str, projects: Sequence[str] = ()) -> None:
        from dowse.places.place_store import PlaceStore
        from dowse.places.place_table import SharedPlace

        self.store = PlaceStore(SharedPlace(location), tuple(projects))
        self.name, self.warnings = location, self.store.warnings

    def search(self, query: SearchQuery, options: SearchOptions, progress: Progress | None = None) -> Found:  # noqa: ARG002 - nothing is indexed
        """Search the place."""
        from dowse.surfaces.organisation.place_search import coverage_of, search_place

        return Found(search_place(self.store, query, options), coverage_of(self.store))

    def find(self, query: ExactQuery, progress: Progress | None = None) -> "tuple[Occurrences, Coverage]":  # noqa: ARG002 - as above
        """Find every occurrence of a text or pattern."""
        from dowse.surfaces.organisation.place_search import coverage_of, find_text

        return find_text(self.store, query), coverage_of(self.store)

    def source(self, path: str) -> "SourceText":
        """Return the text of a file as it was published, with its definitions."""
        from dowse.federation.answers.place_reading import SourceText

        document = self.store.find_file(path)
        if document is None:
            raise UsageError(f"There is no file {path}.")
        text = self.store.read(path)[0].decode("utf-8", "replace")
        symbols = tuple(symbol for chunk in self.store.chunks(document.id) for symbol in chunk.symbols)
        return SourceText(path, text, document.language, document.kind, symbols)

    def files(self, pattern: str | None = None) -> list[str]:
        """Return the paths of all files, sorted; with a glob, those that match it."""
        from dowse.surfaces.organisation.place_search import find_paths

        return find_paths(self.store, pattern or "**")

    def status(self) -> list[Status]:
        """Return the state of each project."""
        found = self.store.projects()
        return [Status(one.name, "ready", one.files, one.chunks, one.files, one.published) for one in found]

    def close(self) -> None:
        """Leave the place."""
        self.store.close()


class PackageTarget(IndexedTarget):
    """The packages that a project uses, or one of them."""

    def __init__(self, root: Path, package: str | None = None, *, waits: bool = False) -> None:
        from dowse.indexes.dependencies.package_search import Dependencies

        self._dependencies, self._package, self._waits = Dependencies(root.resolve()), package, waits
        self.name, self.warnings = "packages", list[str]()

    @property
    def indexes(self) -> "dict[str, PackageIndex]":
        """The indexes of the packages by their labels."""
        return {one.label: self._dependencies.index(one) for one in self._dependencies.choose(self._package)[0]}

    def lead(self, name: str) -> str:
        """Return what the paths of a package begin with in results."""
        from dowse.indexes.dependencies.package_index import SEPARATOR

        return f"{name}{SEPARATOR}"

    def locate(self, path: str) -> "tuple[PackageIndex, str, str]":
        """Return the file that a path of a result names, such as `httpx 0.28.1 · httpx/_client.py`, or one in a package."""
        shown = self._dependencies.find(path)
        found = [shown] if shown else self._dependencies.find_file(path)
        if len(found) != 1:
            several = f"Several packages have {path}." if found else f"No package has {path}."
            raise UsageError(f"{several} Name it as a hit does: httpx 0.28.1 · httpx/_client.py")
        [(index, within)] = found
        return index, within, self.lead(index.package.label)

    def prepare(self, progress: Progress | None) -> None:
        """Index the packages without an index."""
        self._dependencies.index_packages(self._package, progress)

    def _updating(self, progress: Progress | None) -> Update:  # noqa: ARG002 - packages do not change
        return lambda _index: 0

    def search(self, query: SearchQuery, options: SearchOptions, progress: Progress | None = None) -> Found:
        """Search the packages."""
        if self._waits:
            self.prepare(progress)
        found = self._dependencies.search(query, options, self._package)
        searched = found.answer.searched
        covered = Coverage(
            searched.indexed, searched.indexed + searched.direct + searched.unread, is_indexing=bool(searched.direct),
            is_whole=not searched.direct, direct=searched.direct,
        )  # fmt: skip
        return Found(found.answer, covered, found.show, notes=found.notes, notes_say_coverage=True)

    def close(self) -> None:
        """Close all indexes."""
        self._dependencies.close()
