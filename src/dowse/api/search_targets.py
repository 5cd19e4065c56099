"""Everything that one search can be about: folders, the projects of a place, or the packages that a project uses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol

from dowse.api.results import Reference, Results, Status, make_reference
from dowse.errors import UsageError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import unique_name
from dowse.indexes.project_search import ExactQuery, Update, find_all, search, update_if_quick
from dowse.indexes.query_vectors import InProcessEncoder
from dowse.mcp.reply_status import coverage_warnings
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import Answer, SearchOptions
from dowse.types import Coverage, Entry, Progress

if TYPE_CHECKING:
    from dowse.answers.definition_search import FoundDefinitions
    from dowse.dependencies.package_index import PackageIndex
    from dowse.dependencies.package_types import Package
    from dowse.references.reference_search import ReferenceOptions
    from dowse.searching.exact_search import Occurrences


class Found(NamedTuple):
    """The answer of a target, how much of it the answer is about, and what to know about it."""

    answer: Answer
    coverage: Coverage
    show: Callable[[str], str] = str
    """Returns a path as users see it."""
    warnings: Sequence[str] = ()
    """What is missing in the answer."""
    notes: Sequence[str] = ()
    notes_say_coverage: bool = False


class SearchTarget(Protocol):
    """Something that can be searched. All work on it runs on one thread."""

    @property
    def name(self) -> str: ...

    @property
    def warnings(self) -> Sequence[str]: ...

    def search(self, query: SearchQuery, options: SearchOptions, progress: Progress | None = None) -> Found:
        """Return what answers a query; `progress` is told of indexing that the answer waits for."""
        ...

    def describe(self, found: Found) -> "FoundDefinitions":
        """Return the definitions of an answer, with what is known around them."""
        ...

    def find(self, query: ExactQuery, progress: Progress | None = None) -> "tuple[Occurrences, Coverage]":
        """Find every occurrence of a text or pattern."""
        ...

    def close(self) -> None: ...


class FolderTarget:
    """One folder or several, searched as one; with several, paths begin with the name of their folder."""

    def __init__(self, indexes: Sequence[ProjectIndex], *, waits: bool = False) -> None:
        """If it `waits`, each answer is about the files as they are, however long indexing takes."""
        self.indexes, self._waits = name_roots(indexes), waits
        self._encoder: InProcessEncoder | None = None

    @property
    def name(self) -> str:
        return ", ".join(index.root.name for index in self.indexes.values())

    @property
    def warnings(self) -> list[str]:
        return [warning for index in self.indexes.values() for warning in index.warnings]

    @property
    def only(self) -> ProjectIndex | None:
        """The index, if there is one alone."""
        return next(iter(self.indexes.values())) if len(self.indexes) == 1 else None

    def locate(self, path: str) -> tuple[ProjectIndex, str]:
        """Return the index that a path belongs to, and the path within it."""
        if self.only:
            return self.only, path
        name, _, rest = path.partition("/")
        if name not in self.indexes:
            raise UsageError(f"{path} does not begin with the name of a folder: {', '.join(self.indexes)}.")
        return self.indexes[name], rest

    def show(self, name: str, path: str) -> str:
        """Return a path of one of the folders as results have it."""
        return path if self.only else f"{name}/{path}"

    def _updating(self, progress: Progress | None) -> Update:
        """Return what brings an index up to date before it is asked."""
        return partial(update_if_quick, waits=self._waits, progress=progress)

    def search(self, query: SearchQuery, options: SearchOptions, progress: Progress | None = None) -> Found:
        """Search the folders."""
        encoder, update = self._open_encoder(options), self._updating(progress)
        if self.only:
            answer, covered = search(self.only, query, options, update=update, encoder=encoder)
        else:
            from dowse.indexes.joined_search import search_joined

            answer, covered = search_joined(self.indexes, query, options, update, encoder)
        return Found(answer, covered, warnings=coverage_warnings(covered), notes=self._filter_warnings(answer, options))

    def _open_encoder(self, options: SearchOptions) -> InProcessEncoder:
        first = next(iter(self.indexes.values()))
        if self._encoder is None:
            self._encoder = InProcessEncoder(first.settings)
            if options.mode != "lexical":
                self._encoder.open_early(first)
        return self._encoder

    def _filter_warnings(self, answer: Answer, options: SearchOptions) -> list[str]:
        """Return what is wrong with filters that left nothing."""
        if answer.hits or self.only is None:
            return []
        from dowse.surfaces.project.filter_warnings import filter_warnings

        return filter_warnings(self.only, options.within(answer.query.filters))

    def describe(self, found: Found) -> "FoundDefinitions":
        """Return the definitions of an answer, with their callers and constants."""
        from dowse.answers.definition_search import FoundDefinitions, describe_definitions  # a program may need none

        if self.only:
            return describe_definitions(self.only, found.answer)
        parts = [self._describe_part(name, found.answer) for name in self.indexes]
        return FoundDefinitions(
            sorted((one for part in parts for one in part.whole), key=lambda one: one.passage.rank),
            sorted((one for part in parts for one in part.others), key=lambda one: one.passage.rank),
            dict(found.answer.terms),
            [text for part in parts for text in part.texts],
        )

    def _describe_part(self, name: str, answer: Answer) -> "FoundDefinitions":
        from dowse.answers.definition_search import describe_definitions

        lead = f"{name}/"
        hits = [hit for hit in answer.hits if hit.path.startswith(lead)]
        bare = tuple(replace(hit, path=hit.path.removeprefix(lead), same_in=()) for hit in hits)
        found = describe_definitions(self.indexes[name], replace(answer, hits=bare), partial(self.show, name))
        same_in = {hit.path: hit.same_in for hit in hits}
        return found._replace(whole=[one._replace(same_in=same_in[one.path]) for one in found.whole])

    def find(self, query: ExactQuery, progress: Progress | None = None) -> "tuple[Occurrences, Coverage]":
        """Find every occurrence of a text or pattern."""
        if self.only:
            return find_all(self.only, query, update=self._updating(progress))
        from dowse.indexes.joined_search import find_joined

        leads = {f"{name}/": index for name, index in self.indexes.items()}
        return find_joined(leads, query, self._updating(progress))

    def close(self) -> None:
        """Close all indexes."""
        for index in self.indexes.values():
            index.close()


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
        from dowse.answers.definition_search import describe_definitions

        return describe_definitions(None, found.answer)

    def find(self, query: ExactQuery, progress: Progress | None = None) -> "tuple[Occurrences, Coverage]":  # noqa: ARG002 - as above
        """Find every occurrence of a text or pattern."""
        from dowse.surfaces.organisation.place_search import coverage_of, find_text

        return find_text(self.store, query), coverage_of(self.store)

    def read(self, place: str) -> str:
        """Return the text of a file as it was published, of some of its lines, or of a definition or section in it."""
        from dowse.answers.place_reading import parse_place, place_text
        from dowse.answers.source_text import SourceText

        asked = parse_place(place)
        document = self.store.find_file(asked.path)
        if document is None:
            raise UsageError(f"There is no file {asked.path}.")
        text = self.store.read(asked.path)[0].decode("utf-8", "replace")
        symbols = tuple(symbol for chunk in self.store.chunks(document.id) for symbol in chunk.symbols)
        return place_text(SourceText(asked.path, text, document.language, document.kind, symbols), asked)

    def uses(self, *_: object) -> NoReturn:
        """Refuse: nothing is known of references."""
        raise UsageError("What is published in a place has no references. Open a folder.")

    def files(self) -> list[str]:
        """Return the paths of all files, sorted."""
        return sorted(path for _, path in self.store.ids_by_path())

    def status(self) -> list[Status]:
        """Return the state of each project."""
        found = self.store.projects()
        return [Status(one.name, "ready", one.files, one.chunks, one.files, one.published) for one in found]

    def close(self) -> None:
        """Leave the place."""
        self.store.close()


class PackageTarget:
    """The packages that a project uses, or one of them."""

    def __init__(self, root: Path, package: str | None = None, *, waits: bool = False) -> None:
        from dowse.dependencies.package_search import Dependencies

        self._dependencies, self._package, self._waits = Dependencies(root.resolve()), package, waits
        self.name, self.warnings = "packages", list[str]()

    def search(self, query: SearchQuery, options: SearchOptions, progress: Progress | None = None) -> Found:
        """Search the packages."""
        if self._waits:
            self._dependencies.index_packages(self._package, progress)
        found = self._dependencies.search(query, options, self._package)
        searched = found.answer.searched
        covered = Coverage(
            searched.indexed, searched.indexed + searched.direct + searched.unread, is_indexing=bool(searched.direct),
            is_whole=not searched.direct, direct=searched.direct,
        )  # fmt: skip
        return Found(found.answer, covered, found.show, notes=found.notes, notes_say_coverage=True)

    def describe(self, found: Found) -> "FoundDefinitions":
        """Return the definitions of an answer."""
        from dowse.answers.definition_search import describe_definitions

        return describe_definitions(None, found.answer, found.show)

    def _indexes(self) -> "dict[str, PackageIndex]":
        """Return the indexes of the packages by what their paths begin with as users see them."""
        return {one.shown_path(""): one for one in map(self._dependencies.index, self._chosen())}

    def _chosen(self) -> "list[Package]":
        return self._dependencies.choose(self._package)[0]

    def find(self, query: ExactQuery, progress: Progress | None = None) -> "tuple[Occurrences, Coverage]":
        """Find every occurrence of a text or pattern; packages without an index are indexed first."""
        from dowse.indexes.joined_search import find_joined

        self._dependencies.index_packages(self._package, progress)
        return find_joined(self._indexes(), query, lambda _index, _first: 0)

    def uses(
        self, name: str, kind: str | None, path: str | None, limit: int, progress: Progress | None
    ) -> Results[Reference]:
        """Return where packages define and use a name."""
        from dowse.references.reference_search import ReferenceOptions

        self._dependencies.index_packages(self._package, progress)
        return find_uses(self._indexes(), name, ReferenceOptions(kind, path, limit), progress)

    def read(self, place: str) -> str:
        """Return the text of a place of a package, such as `httpx 0.28.1 · httpx/_client.py:10-40`."""
        from dowse.answers.place_reading import parse_place, place_text
        from dowse.answers.source_text import read_source

        asked = parse_place(place)
        shown = self._dependencies.find(asked.path)
        found = [shown] if shown else self._dependencies.find_file(asked.path)
        if len(found) != 1:
            several = f"Several packages have {place}." if found else f"No package has {place}."
            raise UsageError(f"{several} Name it as a hit does: httpx 0.28.1 · httpx/_client.py")
        return place_text(read_source(*found[0]), asked)

    def files(self) -> list[str]:
        """Return the paths of all files of the packages, sorted."""
        return sorted(
            lead + entry.path
            for lead, index in self._indexes().items()
            for entry in index.source.entries()
            if isinstance(entry, Entry) and entry.views & index.view
        )

    def status(self) -> list[Status]:
        """Return the state of the index of each package."""
        found = ((package.label, self._dependencies.index(package).status()) for package in self._chosen())
        return [Status(name, one.state, one.files, one.chunks, one.expected_files) for name, one in found]

    def close(self) -> None:
        """Close all indexes."""
        self._dependencies.close()


def find_uses(
    indexes: Mapping[str, ProjectIndex], name: str, options: "ReferenceOptions", progress: Progress | None
) -> Results[Reference]:
    """Return where a name is defined and used, in complete indexes by what their paths begin with."""
    from dowse.indexes.reference_lookup import read_missing_references, references_now

    places, total, is_complete, notes = list[Reference](), 0, True, list[str]()
    for lead, index in indexes.items():
        path = options.path_glob.removeprefix(lead) if options.path_glob else None
        read_missing_references(index, progress=progress)
        found, covered, _ = references_now(index, name, replace(options, path_glob=path))
        for at, group in enumerate((found.definitions, found.overrides, found.uses[: options.limit])):
            places += [make_reference(one, lead + one.path, is_definition=at < 2) for one in group]
        total, is_complete = total + found.total, is_complete and covered.is_complete
        if found.owners:
            notes.append(f"Several things are called {name}: {', '.join(one.name for one in found.owners)}")
        if found.suggestions:
            notes.append(f"Similar names: {', '.join(found.suggestions)}")
    return Results(tuple(places), name, total, is_complete, tuple(notes))


def name_roots(indexes: Iterable[ProjectIndex]) -> dict[str, ProjectIndex]:
    """Return indexes by names of their own, which are those of their folders; each root counts once."""
    named: dict[str, ProjectIndex] = {}
    for index in indexes:
        if all(index.root != known.root for known in named.values()):
            named[unique_name(index.root, named)] = index
    return named
