"""Comparison of the files with the store: new, changed and removed files, without reading unchanged ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dowse.platform import IS_WINDOWS
from dowse.protocols import DocumentReader, FileSource
from dowse.types import Entry, FolderCallback, Stat, StoredDocument, Verdict

_FINE_CLOCK_NS = 20_000_000
_COARSE_CLOCK_NS = 2_000_000_000


@dataclass(slots=True)
class Drift:
    """The differences between the files and the store."""

    new: list[Entry] = field(default_factory=list)
    changed: list[Entry] = field(default_factory=list)
    """Files whose stat differs; their content may be the same."""
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[Verdict] = field(default_factory=list)

    @property
    def pending(self) -> int:
        """The number of files that differ from the store."""
        return len(self.new) + len(self.changed) + len(self.gone)

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
        self.skipped += other.skipped


class _TrustRule(NamedTuple):
    """The rule for stored documents that need not be read again when the stat of their file is unchanged."""

    recipe: str
    distrust_before_ns: int = 0

    def is_trusted(self, document: StoredDocument) -> bool:
        return document.recipe == self.recipe and document.checked_ns >= self.distrust_before_ns


def scan(
    source: FileSource,
    store: DocumentReader,
    recipe: str,
    *,
    below: str = "",
    distrust_before_ns: int = 0,
    on_folder: FolderCallback | None = None,
) -> Drift:
    """Compare every file, or those below a folder (`src/`), by its stat.

    Documents of another recipe count as changed, and so do those that were last read before `distrust_before_ns`.
    """
    known = _Documents(store, below)
    refused = {} if distrust_before_ns else store.refusals()
    drift, trusted = Drift(), _TrustRule(recipe, distrust_before_ns)
    for found in source.entries(below, on_folder):
        if isinstance(found, Verdict):
            drift.skipped.append(found)
        else:
            _compare(drift, found, known.at(found.path), refused, trusted)
    drift.gone = known.unvisited_paths()
    return drift


class _Documents:
    """The documents of a store, read in step with a walk. Both are sorted by path, so neither has to be in memory."""

    def __init__(self, store: DocumentReader, below: str) -> None:
        self._documents = store.documents(below)
        self._next = next(self._documents, None)
        self._unvisited: list[str] = []

    def at(self, path: str) -> StoredDocument | None:
        """Return the document at a path. Calls must come in the order of paths."""
        while self._next is not None and self._next.path < path:
            self._skip()
        found = self._next
        if found is None or found.path != path:
            return None
        self._next = next(self._documents, None)
        return found

    def unvisited_paths(self) -> list[str]:
        """Return the paths of the documents that `at` did not return."""
        while self._next is not None:
            self._skip()
        return self._unvisited

    def _skip(self) -> None:
        if self._next is not None:
            self._unvisited.append(self._next.path)
        self._next = next(self._documents, None)


def scan_paths(
    source: FileSource,
    store: DocumentReader,
    recipe: str,
    paths: Iterable[str],
    *,
    distrust_before_ns: int = 0,
    on_folder: FolderCallback | None = None,
) -> Drift:
    """Compare some paths: files, folders with everything below them, or paths that no longer exist."""
    drift, refused = Drift(), store.refusals()
    options: Any = {"distrust_before_ns": distrust_before_ns, "on_folder": on_folder}
    for path in _outermost(paths):
        if not path:
            return scan(source, store, recipe, **options)
        found = source.entry_at(path)
        document = store.document(path)
        if isinstance(found, Entry):
            _compare(drift, found, document, refused, _TrustRule(recipe, distrust_before_ns))
            drift.gone += [below.path for below in store.documents(f"{path}/")]  # it was a folder
        else:
            drift.gone += [path] if document else []
            if found.is_allowed:
                drift.add(scan(source, store, recipe, below=f"{path}/", **options))
            else:
                drift.gone += [below.path for below in store.documents(f"{path}/")]
    return drift


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
    document: StoredDocument | None,
    refused: Mapping[str, tuple[Stat, Verdict]],
    trusted: _TrustRule,
) -> None:
    if document is None:
        stat, verdict = refused.get(found.path, (None, None))
        if verdict is not None and stat == found.stat:
            drift.skipped.append(verdict)
        else:
            drift.new.append(found)
    elif not trusted.is_trusted(document) or not _is_unchanged(document, found):
        drift.changed.append(found)
    else:
        drift.unchanged += 1


def _is_unchanged(document: StoredDocument, entry: Entry) -> bool:
    return document.stat == entry.stat and document.kind == entry.kind and not _is_racy(document)


def _is_racy(document: StoredDocument) -> bool:
    """Return whether the file could have changed after it was read without a change of its time.

    The clock of a file system ticks every few milliseconds, or only every two seconds; the slow ones
    have times without a fraction. Programs can set the modification time, so the change time, which
    they cannot set, is used.
    """
    stat = document.stat
    changed_ns = stat.mtime_ns if IS_WINDOWS else stat.ctime_ns
    tick_ns = _FINE_CLOCK_NS if changed_ns % 1_000_000_000 else _COARSE_CLOCK_NS
    return changed_ns >= document.checked_ns - tick_ns
