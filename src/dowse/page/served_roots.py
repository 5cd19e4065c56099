"""The folders and other sources as people see them: each folder once, though it is a project and documents."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import unquote

from dowse.federation.federation_types import SourceStatus
from dowse.federation.result_ids import source_name
from dowse.federation.source_list import SourceList
from dowse.keeping.served_index import ServedIndex
from dowse.reading.languages import detect_language
from dowse.types import View

FOLDER_KINDS = ("project", "documents")
_ORDER = ("indexing", "failed", "incomplete", "not_found")
"""States that say more about a folder than `ready`; the first counts."""


@dataclass(frozen=True, slots=True)
class ShownRoot:
    """A folder, a site, an archive or a named index, with its status."""

    name: str
    """The name that people see."""
    status: SourceStatus
    """Its status; that of a folder is made of both of its sources."""
    sources: tuple[str, ...]

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of files."""
        return self.status.kind in FOLDER_KINDS


def root_name(source: str) -> str:
    """Return the name of a source as people see it: a folder's own name, `archive`, `site/docs`."""
    kind, _, name = source.partition("/")
    return unquote(name) if kind in FOLDER_KINDS and name else unquote(source)


def group_statuses(statuses: Iterable[SourceStatus]) -> list[ShownRoot]:
    """Return every root once, without named indexes that nobody has put anything into."""
    groups: dict[str, list[SourceStatus]] = {}
    for status in statuses:
        if status.kind != "index" or any(status.counts.values()) or status.problem:
            groups.setdefault(root_name(status.name), []).append(status)
    return [ShownRoot(name, _merged(group), tuple(one.name for one in group)) for name, group in groups.items()]


def _merged(group: list[SourceStatus]) -> SourceStatus:
    first, *others = group
    if not others:
        return first
    known = [status for status in group if not status.is_indexed_on_demand] or [first]
    state = next((state for state in _ORDER for status in known if status.state == state), first.state)
    counts = {name: count for status in reversed(group) for name, count in status.counts.items() if name != "chunks"}
    return replace(
        first,
        state=state,
        counts={name: counts[name] for name in ("files", "documents") if counts.get(name)},
        last_updated=max((status.last_updated for status in group if status.last_updated), default=None),
        problem=next((status.problem for status in known if status.problem), None),
        growth=next((status.growth for status in group if status.growth), None),
    )


def all_folders(sources: SourceList) -> list[tuple[str, ServedIndex, View]]:
    """Return the sources that are folders: the projects, and the folders of documents."""
    projects = sources.projects.projects if sources.projects else ()
    folders = sources.folders.known() if sources.folders else ()
    found = [(source_name("project", served.name), served, View.PROJECT) for served in projects]
    return found + [(source_name("documents", one.served.name), one.served, View.DOCUMENTS) for one in folders]


def served_folder(sources: SourceList, name: str) -> tuple[ServedIndex, View] | None:
    """Return the index of a source that is a folder, and the view of it; None for any other source."""
    return next(((served, view) for found, served, view in all_folders(sources) if found == name), None)


def reading_source(sources: SourceList, name: str, path: str) -> str:
    """Return the source in which a file of a folder is read: the project, unless its documents show it in another form."""
    project = source_name("project", unquote(name.partition("/")[2]))
    is_same = detect_language(path, b"") == "markdown"
    return project if is_same and served_folder(sources, project) else name


def project_of(sources: SourceList, name: str) -> ServedIndex | None:
    """Return the project of a source, also of one that is the documents of a project."""
    found = served_folder(sources, name)
    projects = sources.projects.projects if sources.projects else ()
    return found[0] if found and found[0] in projects else None
