"""The library: an open index that is asked from any thread, or from an event loop."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, wraps
from threading import Event, current_thread
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec, Self, TypeVar

from dowse.api.results import (
    Explanation,
    Hit,
    Reference,
    Results,
    Status,
    commits_of,
    explanation_of,
    outline_of,
    references_of,
)
from dowse.errors import UsageError
from dowse.types import Kind, Progress, View

if TYPE_CHECKING:
    from dowse.api.all_sources import AllSources
    from dowse.api.folder_target import KeptFolders
    from dowse.api.publishing.publish import PublishReport
    from dowse.api.search_targets import IndexedTarget, PackageTarget, PlaceTarget
    from dowse.indexes.document_search import ListedDocument
    from dowse.searching.exact_search import Occurrence
    from dowse.searching.history.commit_diffs import CommitChanges
    from dowse.searching.history.history_search import CommitHit
    from dowse.searching.references.related_files import RelatedFiles
    from dowse.surfaces.documents.document_links import DocumentLink

Location = str | os.PathLike[str]
Detail = Literal["definitions", "passages", "outline", "full"]
Mode = Literal["hybrid", "vector", "lexical"]
Tests = Literal["ranked", "none", "only"]
Direction = Literal["out", "in", "broken"]
_PLACES = ("s3://", "gs://", "az://", "db://")
"""The beginnings of addresses that are places of an organisation, and no repositories."""
WAIT_SECONDS = 0.05
"""Time between two looks at a process that indexes."""
P = ParamSpec("P")
R = TypeVar("R")


def _on_own_thread(method: "Callable[Concatenate[Index, P], R]") -> "Callable[Concatenate[Index, P], R]":
    """Return a method that does its work on the thread of its index."""

    @wraps(method)
    def call(self: "Index", /, *given: P.args, **named: P.kwargs) -> R:
        return self._do(lambda: method(self, *given, **named))

    return call


class Index:
    """Folders, the projects of a place, or several kinds of sources, open to be asked.

    Any thread may ask. All work runs on one thread of its own, and `close` ends everything that was started.
    """

    def __init__(
        self,
        *folders: Location,
        store: str | None = None,
        projects: Sequence[str] = (),
        documents: bool = False,
        dependencies: bool = False,
        package: str | None = None,
        sites: Sequence[str] = (),
        archives: bool = False,
        notes: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Open folders, by default the project around the working directory; `close` it, or use `with`.

        A folder may be the address of a git repository, which is cloned. With several, paths begin with the name of
        their folder, and all are ranked together. With `documents`, files are read as documents: PDF, HTML, DOCX and
        notebooks too. `store` is a place of an organisation, whose published `projects` are searched instead of
        folders. With `dependencies`, the installed packages that a folder uses are searched instead of it, or one
        `package`; `dowse deps --enable` has to allow that once. `sites` are search indexes of static sites, `archives`
        the research archives, `notes` all named indexes: with one of them, everything is searched at once. `progress`
        is called with the number of finished steps and of all while an answer waits for indexing.
        """
        self._callback, self._is_closed, self._has_answered = progress, False, False
        self._left = Event()
        """Set once nobody waits for the work that is being done."""
        self._files: KeptFolders | PlaceTarget | PackageTarget | None = None
        self._sources: AllSources | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dowse")
        has_others = bool(sites or archives or notes)

        def open_all() -> None:
            places = [store] if store else [name for name in map(str, folders) if name.startswith(_PLACES)]
            if places:
                if len(folders) > (not store) or has_others:
                    raise UsageError("A place is searched alone, without folders and other sources.")
                from dowse.api.search_targets import PlaceTarget

                self._files = PlaceTarget(places[0], projects)
                return
            from dowse.api.folder_target import open_folders

            view = View.DOCUMENTS if documents else View.PROJECT
            self._files = opened = open_folders(folders, view) if folders or not has_others else None
            roots = [index.root for index in opened.indexes.values()] if opened else []
            if dependencies or package:
                if len(roots) != 1 or has_others or documents:
                    raise UsageError("The packages of one folder are searched alone, without other sources.")
                from dowse.api.search_targets import PackageTarget

                self._files = PackageTarget(roots[0], package)
            if has_others:
                from dowse.api.all_sources import AllSources

                self._sources = AllSources(roots, sites, archives=archives, notes=notes)

        try:
            self._do(open_all)
        except BaseException:
            self._thread.shutdown()
            raise

    @_on_own_thread
    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        names: Sequence[str] = (),
        kind: Kind | None = None,
        path: str | None = None,
        language: str | None = None,
        exclude: Sequence[str] = (),
        tests: Tests = "ranked",
        mode: Mode = "hybrid",
        alpha: float | None = None,
        detail: Detail = "definitions",
    ) -> Results[Hit]:
        """Return the hits of a query, best first.

        `names` are guesses of what the code calls it. `kind` is code or docs, `path` a file, a folder or a pattern,
        `exclude` patterns of paths to leave out. `tests` are ranked like other files, left out (none), or searched alone
        (only). `alpha` is the weight of meaning, from 0 to 1. `detail` is definitions, or for each file one line
        (outline), the lines that answer (passages) or a whole function or section (full). Without an index, the files
        themselves are searched, and indexing begins.
        """

        from dowse.indexes.project_search import definition_options
        from dowse.searching.query_terms import parse_search_query
        from dowse.searching.search import SearchOptions

        asked = parse_search_query(query, names)
        if self._sources:
            if (tuple(exclude), tests, mode, alpha, detail) != ((), "ranked", "hybrid", None, "definitions"):
                raise UsageError(
                    "With sites, archives or notes, a search has no exclude, tests, mode, alpha and detail. "
                    "Open the folders alone for these."
                )
            return self._sources.search(asked, limit, kind, path, language)
        if detail == "definitions":
            options = definition_options(limit, kind, path, language)
        else:
            options = SearchOptions(limit, kind, path, language, detail=detail)
        options = replace(options, mode=mode, alpha=alpha, excluded_globs=tuple(exclude), tests=tests)
        target = self._asked()
        found = target.search(asked, options, self._report)
        self._has_answered = True
        return found.results(query, limit, target.warnings)

    @_on_own_thread
    def find(
        self,
        text: str,
        *,
        regex: bool = False,
        kind: Kind | None = None,
        path: str | None = None,
        language: str | None = None,
        limit: int = 100,
        offset: int = 0,
        seconds: float = 10.0,
    ) -> "Results[Occurrence]":
        """Return every line with a text or a match of a pattern, in the order of paths, found within some seconds."""
        from dowse.indexes.project_search import ExactQuery
        from dowse.searching.search import SearchOptions

        options = SearchOptions(limit, kind, path, language)
        found, covered = self._asked().find(ExactQuery(text, options, seconds, regex, offset), self._report)
        return Results(tuple(found.found), text, found.total, found.is_complete and covered.is_complete)

    def uses(
        self, name: str, *, kind: str | None = None, path: str | None = None, limit: int = 100
    ) -> Results[Reference]:
        """Return where a name is defined, then where it is used; `Client.get` names a method. The index is waited for."""
        from dowse.searching.references.reference_search import ReferenceOptions

        self.wait()
        options = ReferenceOptions(kind, path, limit)
        return references_of(self._do(lambda: self._indexed().references(name, options, self._report)), name, limit)

    def related(self, path: str, *, limit: int = 20) -> "RelatedFiles":
        """Return the files that a file imports, those that import it, its tests, and those that change together with it."""
        self.wait()
        return self._do(lambda: self._indexed().related(path, limit, self._report))

    def explain(self, path: str, query: str | None = None) -> Explanation:
        """Return why a file is or is not indexed and, with a query, its rank and the signals that led to it."""
        if query:
            self.wait()
        found, ranked = self._do(lambda: self._indexed().explain(path, query, self._report))
        return explanation_of(found, ranked, self._do(lambda: self._indexed().locate(path)[2]))

    @_on_own_thread
    def history(
        self,
        query: str = "",
        *,
        path: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = 10,
        seconds: float | None = None,
    ) -> "Results[CommitHit]":
        """Return the commits for a query, best first, or without one the newest.

        `since` and `until` are dates such as 2025, 2025-05 or 2025-05-20. Commits that are not known yet are read for
        some seconds before; `is_complete` says whether all are known.
        """
        from dowse.searching.history.history_search import HistoryOptions

        options = HistoryOptions(limit, path, since, until)
        found = self._folders().history(query, options, seconds=seconds, progress=self._report)
        return commits_of(found, query, limit)

    @_on_own_thread
    def commit(self, name: str) -> "CommitChanges":
        """Return the changes of a commit, file by file, by its name or the beginning of it."""
        return self._folders().commit(name)

    @_on_own_thread
    def outline(self, path: str) -> list[Hit]:
        """Return the definitions or sections of a file, each with its first line as text."""
        from dowse.federation.answers.place_reading import read_source

        index, within, lead = self._indexed().locate(path)
        return outline_of(read_source(index, within), lead + within)

    @_on_own_thread
    def documents(self) -> "list[ListedDocument]":
        """Return the files with their titles, descriptions and tags, in the order of their paths."""
        from dowse.indexes.document_search import list_documents

        found = {lead: list_documents(index, is_compared=False) for lead, index in self._indexed().leads().items()}
        return [replace(one, path=lead + one.path) for lead, listed in found.items() for one in listed]

    def links(self, path: str | None = None, direction: Direction = "out") -> "list[DocumentLink]":
        """Return the links out of a document, into it (in), or those that lead nowhere (broken), of all without a path.

        This needs documents=True.
        """
        self.wait()
        return self._do(lambda: self._folders().links(path, direction))

    @_on_own_thread
    def publish(self, place: str, *, name: str = "", model: bool = True) -> "list[PublishReport]":
        """Publish the commit that is checked out in each folder to a place; with `model`, with its vectors."""
        done = self._folders().publish(
            place, lambda _root: nullcontext(self._report), lambda _text: None, name=name, with_model=model
        )
        return [report for _, report in done]

    @_on_own_thread
    def reindex(self, path: str) -> int:
        """Index one file again now, and return the number of its chunks."""
        from dowse.surfaces.project.path_search import reindex_file

        return reindex_file(*self._indexed().locate(path)[:2])[1]

    @_on_own_thread
    def read(self, place: str) -> str:
        """Return the text of a place: `path`, `path:10-40`, `path#Class.method`, `guide.md#section`, or the id of a hit."""
        if self._sources:
            return self._sources.read(place)
        from dowse.federation.answers.place_reading import parse_place, place_text

        asked = parse_place(place)
        return place_text(self._asked().source(asked.path), asked)

    @_on_own_thread
    def files(self, pattern: str | None = None) -> list[str]:
        """Return the paths of all files that are or may be indexed, sorted; with a pattern, those that match it."""
        return self._asked().files(pattern)

    def wait(self, *, model: bool = False, rebuild: bool = False) -> None:
        """Wait until the index is equal to the files; with `model`, until it has all vectors of the model too.

        With `rebuild`, the index is built again from nothing. The callback for progress is called with the number of
        files that are indexed, and of all.
        """
        from dowse.api.folder_target import KeptFolders
        from dowse.api.search_targets import PackageTarget

        folders = self._files
        if isinstance(folders, PackageTarget):
            self._do(lambda: folders.prepare(self._report))
        if not isinstance(folders, KeptFolders):
            return
        for index in self._do(partial(folders.start_missing, rebuilds=rebuild)):
            while True:
                done, total, goes_on = self._do(partial(folders.progress_of, index))
                if self._callback and total:
                    self._callback(done, total)
                if not goes_on:
                    break
                time.sleep(WAIT_SECONDS)
        if model:
            self._do(lambda: folders.encode(self._report))

    @_on_own_thread
    def status(self) -> list[Status]:
        """Return the state of each folder, or of each source."""
        return self._sources.status() if self._sources else self._asked().status()

    def close(self) -> None:
        """End every process and thread that was started here. A second call does nothing."""
        if not self._is_closed:
            for opened in (self._sources, self._files):
                if opened:
                    self._do(opened.close)
            self._is_closed = True
            self._thread.shutdown()

    def __repr__(self) -> str:
        return f"<dowse.Index of {self._files.name if self._files else 'several sources'}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _do(self, work: Callable[[], R]) -> R:
        """Do some work on the thread of this index; a callback for progress is on it already."""
        if self._is_closed:
            raise UsageError("This index is closed. Open it again.")
        if current_thread() in self._thread._threads:
            return work()
        if self._has_answered:
            return self._wait_for(work)
        from dowse.memory_plan import collector_at_rest

        with collector_at_rest():
            return self._wait_for(work)

    def _wait_for(self, work: Callable[[], R]) -> R:
        left = Event()

        def run() -> R:
            self._left = left
            return work()

        try:
            return self._thread.submit(run).result()
        finally:
            left.set()  # after Ctrl-C, the work stops at its next step, so that `close` need not wait for its end

    def _report(self, done: int, total: int) -> None:
        """Report progress, and stop work that nobody waits for any more."""
        if self._left.is_set():
            raise KeyboardInterrupt
        if self._callback:
            self._callback(done, total)

    def _indexed(self) -> "IndexedTarget":
        """Return the files that are asked, if they are indexed here."""
        from dowse.api.search_targets import IndexedTarget

        if not isinstance(found := self._asked(), IndexedTarget):
            raise UsageError("A place can be searched, and no more is known about its files. Open a folder.")
        return found

    def _folders(self) -> "KeptFolders":
        from dowse.api.folder_target import KeptFolders

        if not isinstance(found := self._asked(), KeptFolders):
            raise UsageError("This needs a folder, and none is open here.")
        return found

    def _asked(self) -> "KeptFolders | PlaceTarget | PackageTarget":
        """Return the files that are asked."""
        if self._files is None:
            raise UsageError("This needs a folder, and none is open here.")
        return self._files
