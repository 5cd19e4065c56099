"""Indexes that are asked as one: for every occurrence of a text, for uses, related files, explanations, texts and states."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dowse.api.results import Explanation, Hit, Reference, Results, Status, make_explanation, make_reference
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, Update, find_all
from dowse.types import Coverage, Entry, Progress

if TYPE_CHECKING:
    from dowse.indexes.document_search import ListedDocument
    from dowse.indexes.index import PathDecision
    from dowse.indexes.query_vectors import QueryEncoder
    from dowse.indexes.reference_lookup import FoundReferences
    from dowse.searching.exact_search import Occurrences
    from dowse.searching.explain import RankExplanation
    from dowse.searching.references.reference_search import ReferenceOptions
    from dowse.searching.references.related_files import RelatedFiles


LocatedFile = tuple[ProjectIndex, str, Callable[[str], str]]
"""A file: the index that it belongs to, its path there, and how paths of that index are shown."""


class IndexedTarget:
    """Indexes by their names. All work on them runs on one thread."""

    def named(self) -> Mapping[str, ProjectIndex]:
        """Return the indexes by name."""
        raise NotImplementedError

    def show(self, name: str, path: str) -> str:
        """Return a path of one of the indexes as results have it."""
        raise NotImplementedError

    def locate(self, path: str) -> LocatedFile:
        """Return the file that a path of a result names."""
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
        return {self.show(name, ""): index for name, index in self.named().items()}

    def find(self, query: ExactQuery, progress: Progress | None = None) -> "tuple[Occurrences, Coverage]":
        """Find every occurrence of a text or pattern."""
        self.prepare(progress)
        leads, update = self.leads(), self._updating(progress)
        if "" in leads:
            return find_all(leads[""], query, update=update)
        from dowse.indexes.joined_search import find_joined

        return find_joined(leads, query, update)

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

    def uses(
        self, name: str, kind: str | None, path: str | None, limit: int, progress: Progress | None
    ) -> Results[Reference]:
        """Return where a name is defined and used."""
        from dowse.searching.references.reference_search import ReferenceOptions

        places, notes = list[Reference](), list[str]()
        answers = self.references(name, ReferenceOptions(kind, path, limit), progress)
        for lead, (found, _, _) in answers.items():
            for at, group in enumerate((found.definitions, found.overrides, found.uses[:limit])):
                places += [make_reference(one, lead + one.path, is_definition=at < 2) for one in group]
            if found.owners:
                notes.append(f"Several things are called {name}: {', '.join(one.name for one in found.owners)}")
            if found.suggestions:
                notes.append(f"Similar names: {', '.join(found.suggestions)}")
        total = sum(answer.found.total for answer in answers.values())
        is_complete = all(answer.coverage.is_complete for answer in answers.values())
        return Results(tuple(places), name, total, is_complete, tuple(notes))

    def related(self, path: str, limit: int, progress: Progress | None = None) -> "RelatedFiles":
        """Return the files around a file."""
        from dowse.indexes.reference_lookup import read_missing_references, related_files
        from dowse.searching.references.related_files import shown_files

        index, path, show = self.locate(path)
        self._updating(progress)(index, "")
        read_missing_references(index, progress=progress)
        return shown_files(related_files(index, path, limit), show)

    def explain(
        self, path: str, query: str | None = None, progress: Progress | None = None
    ) -> "tuple[PathDecision, RankExplanation | None]":
        """Return why a file is or is not indexed and, with a query, its rank if no rule excludes it."""
        from dowse.indexes.project_search import explain_file

        index, path, _ = self.locate(path)
        if query and index.source.verdict(path).is_allowed:
            self._updating(progress)(index, query)
        return explain_file(index, path, query, self._open_encoder())

    def explanation(self, path: str, query: str | None, progress: Progress | None) -> Explanation:
        """Return the explanation of a file as one value."""
        return make_explanation(*self.explain(path, query, progress), self.locate(path)[2])

    def read(self, place: str) -> str:
        """Return the text of a file, of some of its lines, or of a definition or section in it, with secrets masked."""
        from dowse.federation.answers.place_reading import parse_place, place_text
        from dowse.federation.answers.source_text import read_source

        asked = parse_place(place)
        return place_text(read_source(*self.locate(asked.path)[:2]), asked)

    def outline(self, path: str) -> list[Hit]:
        """Return the definitions or sections of a file, each with its first line."""
        from dowse.federation.answers.source_text import read_source

        index, within, show = self.locate(path)
        source, shown = read_source(index, within), show(within)
        joint = " > " if source.kind == "docs" else "."
        return [
            Hit(
                shown, (unit.start + 1, unit.end + 1), source.lines[unit.definition].strip(), joint.join(unit.names),
                source.language, id=f"{shown}:{unit.start + 1}-{unit.end + 1}",
            )
            for unit in source.units if unit.names
        ]  # fmt: skip

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

    def documents(self) -> "list[ListedDocument]":
        """Return all files with their titles, in the order of their paths."""
        from dowse.indexes.document_search import list_documents

        return [
            replace(one, path=lead + one.path) for lead, index in self.leads().items() for one in list_documents(index)
        ]

    def status(self) -> list[Status]:
        """Return the state of each index."""
        found = ((name, index.status()) for name, index in self.named().items())
        return [
            Status(name, one.state, one.files, one.chunks, one.expected_files, one.last_updated, one.problem)
            for name, one in found
        ]

    def reindex(self, path: str) -> int:
        """Index one file again now; return the number of its chunks."""
        from dowse.surfaces.project.path_search import reindex_file

        return reindex_file(*self.locate(path)[:2])[1]
