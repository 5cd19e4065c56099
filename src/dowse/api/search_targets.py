"""Everything that one search can be about beside folders: the projects of a place, or the packages that a project uses."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowse.api.indexed_target import IndexedTarget, LocatedFile
from dowse.api.results import Hit, Results, Status, make_hit
from dowse.errors import UsageError
from dowse.indexes.project_search import ExactQuery, Update
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import Answer, SearchOptions
from dowse.types import Coverage, Progress

if TYPE_CHECKING:
    from dowse.federation.answers.definition_search import FoundDefinitions
    from dowse.indexes.dependencies.package_index import PackageIndex
    from dowse.searching.exact_search import Occurrences


class Found(NamedTuple):
    """The answer of a target, how much of it the answer is about, and what to know about it."""

    answer: Answer
    coverage: Coverage
    show: Callable[[str], str] = str
    """Returns a path as users see it."""
    warnings: Sequence[str] = ()
    """Sentences about files that the answer does not cover."""
    notes: Sequence[str] = ()
    notes_say_coverage: bool = False

    def results(self, query: str, limit: int, warnings: Sequence[str]) -> Results[Hit]:
        """Return the best hits as a program gets them."""
        answer = self.answer
        hits = sorted(
            ((hit, passage) for hit in answer.hits for passage in hit.passages), key=lambda pair: pair[1].rank
        )  # a rank is 0 where definitions are not ranked
        items = tuple(make_hit(hit, passage, self.show(hit.path)) for hit, passage in hits[:limit])
        corrected = [f"{near} instead of {word}" for word, near in answer.corrected.items()]
        notes = [f"Corrected: {', '.join(corrected)}"] if corrected else []
        is_complete = self.coverage.is_complete and not answer.outdated
        return Results(
            items,
            query,
            len(items),
            is_complete,
            (*warnings, *notes, *self.warnings, *self._coverage_notes(), *self.notes),
            frozenset(answer.terms),
        )

    def _coverage_notes(self) -> list[str]:
        covered, searched = self.coverage, self.coverage.files + self.coverage.direct
        if self.notes_say_coverage or not covered.is_indexing:
            return []
        of = f" of {covered.expected:,}" if searched < covered.expected else ""
        by_words = f", {covered.direct:,} of them by words alone" if covered.direct else ""
        return [f"Searched {searched:,}{of} files{by_words}. Indexing continues; wait() waits for it."]


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

    def describe(self, found: Found) -> "FoundDefinitions":
        """Return the definitions of an answer."""
        from dowse.federation.answers.definition_search import describe_definitions

        return describe_definitions(None, found.answer)

    def find(self, query: ExactQuery, progress: Progress | None = None) -> "tuple[Occurrences, Coverage]":  # noqa: ARG002 - as above
        """Find every occurrence of a text or pattern."""
        from dowse.surfaces.organisation.place_search import coverage_of, find_text

        return find_text(self.store, query), coverage_of(self.store)

    def read(self, place: str) -> str:
        """Return the text of a file as it was published, of some of its lines, or of a definition or section in it."""
        from dowse.federation.answers.place_reading import parse_place, place_text
        from dowse.federation.answers.source_text import SourceText

        asked = parse_place(place)
        document = self.store.find_file(asked.path)
        if document is None:
            raise UsageError(f"There is no file {asked.path}.")
        text = self.store.read(asked.path)[0].decode("utf-8", "replace")
        symbols = tuple(symbol for chunk in self.store.chunks(document.id) for symbol in chunk.symbols)
        return place_text(SourceText(asked.path, text, document.language, document.kind, symbols), asked)

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

    def named(self) -> "dict[str, PackageIndex]":
        """Return the indexes of the packages by their labels."""
        return {one.label: self._dependencies.index(one) for one in self._dependencies.choose(self._package)[0]}

    def show(self, name: str, path: str) -> str:
        """Return a path of a package as results have it."""
        from dowse.indexes.dependencies.package_index import SEPARATOR

        return f"{name}{SEPARATOR}{path}"

    def locate(self, path: str) -> LocatedFile:
        """Return the file that a path of a result names, such as `httpx 0.28.1 · httpx/_client.py`, or one in a package."""
        shown = self._dependencies.find(path)
        found = [shown] if shown else self._dependencies.find_file(path)
        if len(found) != 1:
            several = f"Several packages have {path}." if found else f"No package has {path}."
            raise UsageError(f"{several} Name it as a hit does: httpx 0.28.1 · httpx/_client.py")
        index, within = found[0]
        return index, within, index.shown_path

    def prepare(self, progress: Progress | None) -> None:
        """Index the packages without an index."""
        self._dependencies.index_packages(self._package, progress)

    def _updating(self, progress: Progress | None) -> Update:  # noqa: ARG002 - packages do not change
        return lambda _index, _first: 0

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

    def describe(self, found: Found) -> "FoundDefinitions":
        """Return the definitions of an answer."""
        from dowse.federation.answers.definition_search import describe_definitions

        return describe_definitions(None, found.answer, found.show)

    def close(self) -> None:
        """Close all indexes."""
        self._dependencies.close()
