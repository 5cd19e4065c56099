"""One indexed project as every surface sees it: updated, described, checked, forgotten."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import DowseError, NotIndexed, StoreBusy, StoreDamaged, UsageError
from dowse.freshness.indexer import Report, bring_up_to_date, find_drift, text_reader
from dowse.freshness.integrity import check_index
from dowse.freshness.scan import Drift
from dowse.serving.logs import close_log, open_log
from dowse.serving.status import KINDS, Status, describe
from dowse.settings import load_settings, write_default
from dowse.sources.project import ProjectSource
from dowse.sources.roots import detect_root
from dowse.store import home
from dowse.store.local import LocalStore, set_aside
from dowse.system import Lock, make_private_folder
from dowse.types import Finding, Kind, Progress, StoredDocument, Verdict

__all__ = [
    "Explanation",
    "ProjectIndex",
    "Report",
    "Status",
    "find_indexed",
    "find_project",
    "forget_project",
    "list_projects",
    "open_or_find",
    "open_project",
]

TURN_WAIT_SECONDS = 600.0
"""How long a full run waits for another one of the same project."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a file is or is not in the index."""

    root: Path
    verdict: Verdict
    stored: StoredDocument | None
    is_indexed_project: bool


class ProjectIndex:
    """The index of one root; opens what it needs when it is needed."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise UsageError(f"{root} is not a folder.")
        self.root = root.resolve()
        self.folder = home.index_folder(self.root)
        self.settings, self.warnings = load_settings(home.global_config(), self.folder / "config.json")
        self.source = ProjectSource(self.root, self.settings)
        self._store: LocalStore | None = None
        self._turn = Lock(self.folder / "index.lock")

    @property
    def exists(self) -> bool:
        """Whether there is an index, in whatever state."""
        return (self.folder / "catalog.sqlite").exists()

    @property
    def store(self) -> LocalStore:
        """The open store; NotIndexed where there is none."""
        if self._store is None and not self.exists:
            raise NotIndexed(f"{self.root} is not indexed. Run: dowse index {self.root}")
        return self._open_store()

    def update(self, progress: Progress | None = None, *, drift: Drift | None = None, first: str = "") -> Report:
        """Make the index equal to the files, once no other process is doing so.

        Only the drift is looked at where it is given. Files whose path has words of `first` come
        before the others.
        """
        make_private_folder(self.folder)
        with self._turn.held(TURN_WAIT_SECONDS):
            write_default(self.folder / "config.json")
            try:
                return self._run(progress, drift, first)
            except StoreDamaged as error:
                self._start_over(error)
                return self._run(progress, None, first)

    def count_files(self) -> int:
        """How many files the policy allows."""
        return sum(not isinstance(found, Verdict) for found in self.source.entries())

    def require_size(self) -> None:
        """Refuse to index, unasked, a project that is larger than anyone expects."""
        count, limit = self.count_files(), self.settings.max_files
        if count > limit:
            raise UsageError(
                f"This project is very large ({count} files). Indexing may take several minutes. "
                f"Continue with --yes, name a smaller folder, or raise maxFiles ({limit})."
            )

    def drift(self) -> Drift:
        """How the files differ from the index, by their stat."""
        return find_drift(self.source, self.store)

    def is_being_updated(self) -> bool:
        """Whether some process is making the index equal to the files right now."""
        return self._turn.path.exists() and self._turn.is_taken()

    def explain(self, path: str) -> Explanation:
        """The policy's word on one path, and what the index has of it."""
        verdict = self.source.verdict(path)
        stored = self.store.document(verdict.path) if self.exists else None
        return Explanation(self.root, verdict, stored, self.exists)

    def status(self) -> Status:
        """What is kept of the index, without a look at the project's files."""
        return describe(self.root, self.folder, lambda: self.store, self.warnings, is_indexing=self.is_being_updated())

    def check(self) -> list[Finding]:
        """Everything that is wrong with the index; nothing is changed."""
        try:
            return [*check_index(self.source, self.store), *self._file_findings()]
        except StoreDamaged as error:
            return [Finding("catalog", str(error))]

    def repair(self, progress: Progress | None = None) -> None:
        """Mend what `check` finds."""
        findings = self.check()
        with self._turn.held(TURN_WAIT_SECONDS):
            if any(finding.part == "catalog" for finding in findings):
                self._start_over(StoreDamaged(findings[0].problem))
            else:
                self.store.repair()
        self.update(progress, drift=find_drift(self.source, self._open_store(), is_thorough=True))
        self._write_files(is_full=False)

    def close(self) -> None:
        """Let go of the files."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _open_store(self) -> LocalStore:
        if self._store is None:
            self._store = LocalStore(self.folder, text_reader(self.source))
        return self._store

    def _run(self, progress: Progress | None, drift: Drift | None, first: str) -> Report:
        store, log = self._open_store(), open_log(self.folder)
        for warning in self.warnings:
            log.warning(warning)
        is_full = store.noted("state") is None
        store.note("state", "running")
        try:
            report = bring_up_to_date(self.source, store, progress, drift=drift, first=first)
        except DowseError as error:
            log.error(str(error))
            raise
        store.note("skipped", json.dumps(report.skipped_by_reason()))
        store.note("state", "complete" if report.is_complete else "interrupted")
        if report.changed_anything or home.read_project(self.folder) is None:
            self._write_files(is_full=is_full and report.is_complete)
            log.info(
                "added %d, updated %d, removed %d files in %.2f s",
                report.added, report.updated, report.removed, report.seconds,
            )  # fmt: skip
        return report

    def _start_over(self, error: StoreDamaged) -> None:
        self.close()
        backup = set_aside(self.folder)
        message = f"{error} It was set aside as {backup.name} and the index is built again."
        open_log(self.folder).error(message)
        self.warnings.append(message)

    def _write_files(self, *, is_full: bool) -> None:
        """Renew the JSON files that show the index to the outside."""
        store = self.store
        home.write_fingerprints(self.folder, self._fingerprints())
        totals = {kind: store.totals(kind) for kind in KINDS}
        home.write_metadata(self.folder, self.root, totals, store.size_bytes(), is_full=is_full)

    def _fingerprints(self) -> dict[Kind, dict[str, str]]:
        hashes: dict[Kind, dict[str, str]] = {kind: {} for kind in KINDS}
        for document in self.store.documents():
            hashes[document.kind][document.path] = document.content_hash.hex()
        return hashes

    def _file_findings(self) -> list[Finding]:
        findings = []
        if home.read_fingerprints(self.folder) != self._fingerprints():
            findings.append(Finding("fingerprints", "the JSON files are missing or differ from the catalog"))
        if home.read_project(self.folder) is None:
            findings.append(Finding("metadata", "metadata.json is missing or damaged"))
        return findings


def open_project(folder: Path | None) -> ProjectIndex:
    """The project in a folder the user named, or the one around the working directory."""
    return ProjectIndex(folder if folder else detect_root(Path.cwd()).path)


def open_or_find(folder: Path | None) -> ProjectIndex:
    """The project in a folder or, where the folder lies in an indexed one, that; else the one around us."""
    return find_project(Path.cwd()) if folder is None else find_indexed(folder) or ProjectIndex(folder)


def list_projects() -> list[home.Project]:
    """Every indexed project, by path."""
    return home.projects()


def find_project(path: Path) -> ProjectIndex:
    """The project that holds a path: the nearest one that is indexed, else the detected root."""
    start = path if path.is_dir() else path.parent
    return find_indexed(start) or ProjectIndex(detect_root(start).path)


def find_indexed(folder: Path) -> ProjectIndex | None:
    """The nearest indexed project at or above a folder."""
    for candidate in (folder, *folder.resolve().parents):
        if (home.index_folder(candidate) / "catalog.sqlite").exists():
            return ProjectIndex(candidate)
    return None


def forget_project(root: Path) -> Path:
    """Remove the index of a root, which itself may be gone; the files are not touched."""
    root = root.resolve()
    folder = home.index_folder(root)
    if not folder.is_dir():
        raise NotIndexed(f"{root} is not indexed; there is nothing to forget.")
    turn = Lock(folder / "index.lock")
    if not turn.try_acquire():
        raise StoreBusy(f"{root} is being indexed by {turn.owner()}. Stop it, then try again.")
    close_log(folder)
    shutil.rmtree(folder)
    turn.release()
    return root
