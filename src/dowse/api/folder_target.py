"""Folders that are asked as one: searched, and asked for their history; published as well; and as a running program has them."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.api.results import Status
from dowse.api.search_targets import Found, IndexedTarget
from dowse.errors import ItemNotFound, NotWritable, UsageError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import forget_project, open_each, unique_name
from dowse.indexes.project_search import Update, search, update_if_quick
from dowse.indexes.query_vectors import InProcessEncoder
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import Answer, SearchOptions
from dowse.types import Progress, View

if TYPE_CHECKING:
    from dowse.api.publishing.publish import PublishReport
    from dowse.keeping.indexing_run import IndexingRun
    from dowse.keeping.keeper import Keeper
    from dowse.searching.history.commit_diffs import CommitChanges
    from dowse.searching.history.history_search import HistoryAnswer, HistoryOptions
    from dowse.searching.history.project_history import History
    from dowse.surfaces.documents.document_links import DocumentLink, LinkGraph


class FolderTarget(IndexedTarget):
    """One folder or several, searched as one; with several, paths begin with the name of their folder."""

    def __init__(self, indexes: Sequence[ProjectIndex], *, waits: bool = False) -> None:
        """If it `waits`, each answer is about the files as they are, however long indexing takes."""
        self._indexes, self._waits = name_roots(indexes), waits
        self._encoder: InProcessEncoder | None = None
        self._link_graphs: dict[Path, LinkGraph] = {}

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

    @property
    def indexes(self) -> dict[str, ProjectIndex]:
        """The indexes by the names of their folders."""
        return self._indexes

    def lead(self, name: str) -> str:
        """Return what the paths of a folder begin with in results."""
        return "" if self.only else f"{name}/"

    def locate(self, path: str) -> tuple[ProjectIndex, str, str]:
        """Return the index of the file that a path of a result names, the file's path there, and what comes before that."""
        if self.only:
            return self.only, path, ""
        name, _, rest = path.partition("/")
        if name not in self.indexes:
            raise UsageError(f"{path} does not begin with the name of a folder: {', '.join(self.indexes)}.")
        return self.indexes[name], rest, self.lead(name)

    def _updating(self, progress: Progress | None) -> Update:
        return partial(update_if_quick, waits=self._waits, progress=progress)

    def search(self, query: SearchQuery, options: SearchOptions, progress: Progress | None = None) -> Found:
        """Search the folders."""
        encoder, update = self._open_encoder(opens_early=options.mode != "lexical"), self._updating(progress)
        if self.only:
            answer, covered = search(self.only, query, options, update=update, encoder=encoder)
        else:
            from dowse.indexes.joined_search import search_joined

            answer, covered = search_joined(self.indexes, query, options, update, encoder)
        if self._waits and options.detail == "definitions":
            from dowse.indexes.reference_lookup import read_missing_references

            for index in self.indexes.values():  # for the callers
                with contextlib.suppress(NotWritable):
                    read_missing_references(index)
        return Found(answer, covered, notes=self._filter_warnings(answer, options), indexes=self.leads())

    def _open_encoder(self, *, opens_early: bool = False) -> InProcessEncoder:
        first = next(iter(self.indexes.values()))
        if self._encoder is None:
            self._encoder = InProcessEncoder(first.settings)
            if opens_early:
                self._encoder.open_early(first)
        return self._encoder

    def _filter_warnings(self, answer: Answer, options: SearchOptions) -> list[str]:
        """Return the warnings about filters that left nothing."""
        if answer.hits or self.only is None:
            return []
        from dowse.surfaces.project.path_search import filter_warnings

        return filter_warnings(self.only, options.within(answer.query.filters))

    def links(self, path: str | None, direction: str) -> "list[DocumentLink]":
        """Return the links out of a document or into it; those that lead to nothing, of one or of all documents."""
        from dowse.surfaces.documents.document_links import broken_links, incoming_links, outgoing_links

        if path is None and direction != "broken":
            raise UsageError("Name the document whose links are wanted. Without one, direction is 'broken'.")
        find = incoming_links if direction == "in" else outgoing_links
        return [
            replace(one, path=lead + one.path, to=lead + one.to if one.kind == "document" else one.to)
            for index, within, lead in ([self.locate(path)] if path else map(self.locate, self.leads()))
            for graph in [self._link_graph(index)]
            for one in (find(graph, index, within) if path else broken_links(graph, index))
            if one.problem or direction != "broken"
        ]

    def _link_graph(self, index: ProjectIndex) -> "LinkGraph":
        from dowse.sources.open_folders import exists_below
        from dowse.surfaces.documents.document_links import LinkGraph

        self._updating(None)(index)
        graph = self._link_graphs.setdefault(index.root, LinkGraph(partial(exists_below, index.root)))
        graph.update(index.store)
        return graph

    def history(
        self, query: str, options: "HistoryOptions", *, seconds: float | None = None, progress: Progress | None = None
    ) -> "dict[str, HistoryAnswer]":
        """Return the commits of each folder by the beginning of its paths; unread ones are read for some seconds."""
        from dowse.searching.history.history_search import READ_SECONDS, search_history

        found = {}
        for lead, index in self.leads().items():
            own = replace(options, path_glob=options.path_glob.removeprefix(lead) if options.path_glob else None)
            with self._open_history(index, progress) as history:
                found[lead] = search_history(history, query, own, seconds or READ_SECONDS)
        return found

    def commit(self, name: str) -> "CommitChanges":
        """Return the changes of a commit."""
        from dowse.searching.history.commit_diffs import read_changes

        for lead, index in self.leads().items():
            with contextlib.suppress(ItemNotFound), self._open_history(index, None) as history:
                found = read_changes(history, name)
                files = (replace(one, path=lead + one.path, old_path=lead + one.old_path) for one in found.files)
                return replace(found, files=tuple(files))
        raise ItemNotFound(f"There is no commit {name} here.")

    @contextlib.contextmanager
    def _open_history(self, index: ProjectIndex, progress: Progress | None) -> "Iterator[History]":
        """Give a block the history in the folder of the index, which is made if there is none yet, as by other searches.

        Until it is there, or where nothing can be written, the folder is one that is removed afterwards.
        """
        from dowse.searching.history.git_objects import find_repository
        from dowse.searching.history.project_history import open_history

        if not index.has_catalog and index.settings.read_history:
            find_repository(index.root)  # raises NoHistory before anything is made
            with contextlib.suppress(NotWritable):
                self._updating(progress)(index)
        with contextlib.ExitStack() as stack:
            folder = index.folder
            if not index.has_catalog:
                import tempfile  # takes 3 ms, which a search saves

                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dowse-history-")))
            yield stack.enter_context(open_history(index.root, folder, index.settings))

    def publish(
        self,
        location: str,
        progress_of: Callable[[Path], contextlib.AbstractContextManager[Progress]],
        say: Callable[[str], None],
        *,
        name: str = "",
        with_model: bool = True,
    ) -> "Iterator[tuple[Path, PublishReport]]":
        """Publish the commit in each folder to a place, and yield the folder with the report."""
        from dowse.api.publishing.publish import publish
        from dowse.places.place_table import SharedPlace
        from dowse.store.lance_import import import_lancedb

        place, roots = SharedPlace(location), [index.root for index in self.indexes.values()]
        if len({name or root.name for root in roots}) < len(roots):
            raise UsageError("Two of the folders have the same name. Publish them one by one, with --name.")
        import_lancedb(is_whole=place.scheme == "db")  # before anything is written
        for root in roots:
            with progress_of(root) as progress:
                report = publish(root, place, progress, say, with_model=with_model, name=name)
            yield root, report

    def close(self) -> None:
        """Close all indexes."""
        for index in self.indexes.values():
            index.close()


def name_roots(indexes: Iterable[ProjectIndex]) -> dict[str, ProjectIndex]:
    """Return indexes by names of their own, which are those of their folders; each root counts once."""
    named: dict[str, ProjectIndex] = {}
    for index in indexes:
        if all(index.root != known.root for known in named.values()):
            named[unique_name(index.root, named)] = index
    return named


class KeptFolders(FolderTarget):
    """Folders whose long indexing runs in a process that ends with them.

    The first question compares the files with the index, as a command does. From the third on, a thread watches them:
    it starts in the time of two searches, which a program of one question need not spend.
    """

    def __init__(self, indexes: Sequence[ProjectIndex]) -> None:
        super().__init__(indexes)
        self._runs: dict[Path, IndexingRun] = {}
        self._keepers: dict[Path, Keeper] = {}
        self._asked: set[Path] = set()

    @property
    def indexes(self) -> dict[str, ProjectIndex]:
        """The indexes by the names of their folders, by the settings as they are now."""
        for index in self._indexes.values():
            if index.has_new_settings():
                index.renew()
                self._encoder = None
        return self._indexes

    def _updating(self, progress: Progress | None) -> Update:
        return partial(self._update, progress)

    def _update(self, progress: Progress | None, index: ProjectIndex) -> int:
        if keeper := self._keepers.get(index.root):
            return len(keeper.catch_up(index))
        left = update_if_quick(index, progress=progress, start=self._start)
        if index.root in self._asked and not left and index.is_ready():
            from dowse.keeping.keeper import Keeper  # a program of one question need not import it

            self._keepers[index.root] = Keeper(index.root)
        self._asked.add(index.root)
        return left

    def _start(self, index: ProjectIndex, how: str | None = None) -> None:
        from dowse.keeping.indexing_run import start_run  # as above

        run = self._runs.get(index.root)
        if run is None or not run.is_running:
            self._runs[index.root] = start_run(index.root, index.view, how)

    def start_missing(self, *, rebuilds: bool = False) -> list[ProjectIndex]:
        """Bring small changes into the indexes and start a process for large ones; return the indexes that wait for one."""
        waiting = []
        for index in self.indexes.values():
            if rebuilds:
                from dowse.keeping.indexing_run import REBUILD

                self._start(index, how=REBUILD)
            elif not index.exists and not index.is_being_updated():
                self._start(index)
            elif not index.is_being_updated() and not update_if_quick(index, start=self._start) and index.is_ready():
                continue
            waiting.append(index)
        return waiting

    def progress_of(self, index: ProjectIndex) -> tuple[int, int, bool]:
        """Return how many files of how many a process has indexed, and whether it goes on; raise its error."""
        run = self._runs.get(index.root)
        if run is None:
            found = index.status()
            return found.files, found.expected_files, index.is_being_updated()
        if run.error:
            raise run.error
        return run.done, run.total, run.is_running

    def status(self) -> list[Status]:
        """Return the state of each index."""
        return list(map(self._with_run, super().status()))

    def _with_run(self, status: Status) -> Status:
        """Return a state; that of an index whose process has just begun says so."""
        run = self._runs.get(self.indexes[status.name].root)
        if run is None or not run.is_running or status.state != "not_found":
            return status
        return replace(status, state="indexing", files=run.done, expected_files=run.total)

    def encode(self, progress: Progress) -> None:
        """Encode the chunks that lack a vector of the model."""
        from dowse.keeping.encoding_worker.background_encoder import encode_now

        for index in self.indexes.values():
            encode_now(index, progress, lambda _text: None)

    def close(self) -> None:
        """End every process and thread, and close the indexes."""
        for run in self._runs.values():
            if run.is_running:
                run.stop()
        for keeper in self._keepers.values():
            keeper.stop()
        super().close()
        if "dowse.parsing.parser_pool" in sys.modules:
            from dowse.parsing.parser_pool import shared_pool

            shared_pool().release()


def open_folders(locations: Sequence[str | os.PathLike[str]], view: View) -> KeptFolders:
    """Open folders, and clones of the repositories whose addresses are given."""
    roots, warnings = list[Path](), list[str]()
    for text in map(str, locations):
        if "://" in text:
            from dowse.indexes.cloned_repositories import clone_or_fetch, parse_address  # most programs need it not

            root, warning = clone_or_fetch(parse_address(text))
            warnings += [warning] if warning else []
        else:
            root = Path(text).expanduser().absolute()
        roots.append(root)
    indexes = open_each(roots)
    indexes[0].warnings += warnings
    return KeptFolders([index.seen_as(view) for index in indexes])


def forget(location: str | os.PathLike[str]) -> Path:
    """Delete the index of a folder, or of a repository by its address with its clone, and return the folder.

    The files of a folder stay as they are, and the folder need not exist any more.
    """
    if "://" in (text := os.fspath(location)):
        from dowse.indexes.cloned_repositories import forget_clone, parse_address

        return forget_clone(parse_address(text))
    return forget_project(Path(text).expanduser().absolute())
