"""Comparison of the files with the store: new, changed and removed files, without reading unchanged ones."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dowse import reading, sources
from dowse.parsing import text_cutting
from dowse.sources.project_files import ProjectFiles
from dowse.store.local import LocalStore
from dowse.system.platform import IS_WINDOWS
from dowse.types import Entry, Finding, FolderCallback, Progress, Reason, Stat, StoredDocument, Verdict, View

RECIPE = f"policy {sources.VERSION}, reading {reading.VERSION}, chunking {text_cutting.VERSION}"
"""The versions of the code that makes chunks of files. Documents with another recipe are made again."""
_FINE_CLOCK_NS = 20_000_000
_COARSE_CLOCK_NS = 2_000_000_000


@dataclass(slots=True)
class Drift:
    """The differences between the files and the store."""

    views: View = View.PROJECT
    """The views for which the files were compared."""
    new: list[Entry] = field(default_factory=list)
    changed: list[Entry] = field(default_factory=list)
    """Files whose stat differs; their content may be the same."""
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0
    shown: Counter[View] = field(default_factory=Counter)
    """The number of files in each view."""
    skipped: list[Verdict] = field(default_factory=list)

    @property
    def pending(self) -> int:
        """The number of files that differ from the store."""
        return len(self.new) + len(self.changed) + len(self.gone)

    @property
    def paths(self) -> list[str]:
        """The paths of the files that differ from the store."""
        return [*self.gone, *(entry.path for entry in (*self.changed, *self.new))]

    @property
    def files(self) -> int:
        """The number of files to be indexed in all."""
        return len(self.new) + len(self.changed) + self.unchanged

    def add(self, other: "Drift") -> None:
        """Add the differences of another scan."""
        self.new += other.new
        self.changed += other.changed
        self.gone += other.gone
        self.unchanged += other.unchanged
        self.shown += other.shown
        self.skipped += other.skipped


def scan(
    source: ProjectFiles,
    store: LocalStore,
    *,
    below: str = "",
    distrust_before_ns: int = 0,
    on_folder: FolderCallback | None = None,
) -> Drift:
    """Compare every file, or those below a folder (`src/`), by its stat.

    Documents of another recipe count as changed, and so do those that were last read before `distrust_before_ns`.
    """
    known = _Documents(store, below)
    refused = {} if distrust_before_ns else store.catalog.refusals()
    drift = Drift(source.views)
    for found in source.entries(below, on_folder):
        if isinstance(found, Verdict):
            drift.skipped.append(found)
        else:
            _compare(drift, found, known.at(found.path), refused, distrust_before_ns)
    drift.gone = known.unvisited_paths()
    return drift


class _Documents:
    """The documents of a store, read in step with a walk. Both are sorted by path, so neither has to be in memory."""

    def __init__(self, store: LocalStore, below: str) -> None:
        self._documents = store.documents(below)
        self._next = next(self._documents, None)
        self._unvisited: list[str] = []

    def at(self, path: str) -> list[StoredDocument]:
        """Return the representations of the file at a path. Calls must come in the order of paths."""
        while self._next is not None and self._next.path < path:
            self._skip()
        found = list[StoredDocument]()
        while self._next is not None and self._next.path == path:
            found.append(self._next)
            self._next = next(self._documents, None)
        return found

    def unvisited_paths(self) -> list[str]:
        """Return the paths of the documents that `at` did not return."""
        while self._next is not None:
            self._skip()
        return list(dict.fromkeys(self._unvisited))

    def _skip(self) -> None:
        if self._next is not None:
            self._unvisited.append(self._next.path)
        self._next = next(self._documents, None)


_REFUSED_FOR_CONTENT = frozenset({Reason.NESTED_REPOSITORY, Reason.UNREADABLE})
"""Why a folder is refused for what is in it."""


def scan_paths(
    source: ProjectFiles,
    store: LocalStore,
    paths: Iterable[str],
    *,
    distrust_before_ns: int = 0,
    on_folder: FolderCallback | None = None,
) -> Drift:
    """Compare some paths: files, folders with everything below them, or paths that no longer exist."""
    drift, refused = Drift(source.views), store.catalog.refusals()
    options: Any = {"distrust_before_ns": distrust_before_ns, "on_folder": on_folder}
    for path in _outermost(map(source.compared_path, paths)):
        if not path:
            return scan(source, store, **options)
        found = source.entry_at(path)
        if on_folder and isinstance(found, Verdict) and found.reason in _REFUSED_FOR_CONTENT:
            on_folder(f"{path}/")  # as a walk does, for what it has may change
            found = source.entry_at(path)
        stored = store.documents_at(path)
        if isinstance(found, Entry):
            _compare(drift, found, stored, refused, distrust_before_ns)
            drift.gone += _paths_below(store, path)  # it was a folder
        else:
            drift.gone += [path] if stored else []
            if found.is_allowed:
                drift.add(scan(source, store, below=f"{path}/", **options))
            else:
                drift.gone += _paths_below(store, path)
    return drift


def _paths_below(store: LocalStore, folder: str) -> list[str]:
    return list(dict.fromkeys(below.path for below in store.documents(f"{folder}/")))


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths without those that lie below another of them."""
    kept: set[str] = set()
    for path in sorted(paths):
        parts = path.split("/")
        if "" in kept or any("/".join(parts[:count]) in kept for count in range(1, len(parts))):
            continue
        kept.add(path)
    return sorted(kept)


def _compare(
    drift: Drift,
    found: Entry,
    stored: list[StoredDocument],
    refused: Mapping[str, tuple[Stat, Verdict]],
    distrust_before_ns: int,
) -> None:
    drift.shown.update(view for view in (View.PROJECT, View.DOCUMENTS) if found.views & view)
    if not stored:
        stat, verdict = refused.get(found.path, (None, None))
        if verdict is not None and stat == found.stat:
            drift.skipped.append(verdict)
        else:
            drift.new.append(found)
    elif _is_unchanged(stored, found) and all(
        document.recipe == RECIPE and document.checked_ns >= distrust_before_ns for document in stored
    ):
        drift.unchanged += 1
    else:
        drift.changed.append(found)


def _is_unchanged(stored: list[StoredDocument], entry: Entry) -> bool:
    is_same = all(
        document.stat == entry.stat and not is_racy(document.stat, document.checked_ns) for document in stored
    )
    return is_same and {(document.views, document.kind) for document in stored} == set(entry.representations)


def is_racy(stat: Stat, checked_ns: int) -> bool:
    """Return whether a file could have changed after it was read, at this time, without a change of its own time.

    The clock of a file system ticks every few milliseconds, or only every two seconds; the slow ones
    have times without a fraction. Programs can set the modification time, so the change time, which
    they cannot set, is used.
    """
    changed_ns = stat.mtime_ns if IS_WINDOWS else stat.ctime_ns
    tick_ns = _FINE_CLOCK_NS if changed_ns % 1_000_000_000 else _COARSE_CLOCK_NS
    return changed_ns >= checked_ns - tick_ns


MAX_LISTED_FINDINGS = 20
"""The number of findings of one kind that are listed; the rest is counted."""


def check_files(source: ProjectFiles, store: LocalStore, progress: Progress | None = None) -> list[Finding]:
    """Return how the files differ from the index; the content of every file is read and compared."""
    drift = scan(source, store, distrust_before_ns=time.time_ns())
    known = {entry.path for entry in drift.changed}
    missing, changed = list[str](), list[str]()
    for done, entry in enumerate((*drift.new, *drift.changed), 1):
        if _differs(source, store, entry):
            (changed if entry.path in known else missing).append(entry.path)
        if progress:
            progress(done, len(drift.new) + len(drift.changed))
    return [
        *_make_findings(missing, "is not in the index"),
        *_make_findings(changed, "has changed since it was indexed"),
        *_make_findings(drift.gone, "is in the index, but was removed from the folder or is no longer allowed"),
    ]


def _differs(source: ProjectFiles, store: LocalStore, entry: Entry) -> bool:
    """Return whether the index differs from a file's current content."""
    read, stored = source.read(entry), store.documents_at(entry.path)
    if isinstance(read, Verdict):
        return bool(stored)
    found = {(document.content_hash, document.kind, document.views) for document in stored}
    return found != {(content.content_hash, content.kind, content.views) for content in read}


def _make_findings(paths: list[str], problem: str) -> list[Finding]:
    findings = [Finding("files", f"{path} {problem}") for path in paths[:MAX_LISTED_FINDINGS]]
    if len(paths) > MAX_LISTED_FINDINGS:
        findings.append(Finding("files", f"and {len(paths) - MAX_LISTED_FINDINGS} more: {problem}"))
    return findings
