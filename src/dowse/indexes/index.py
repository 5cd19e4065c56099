"""The index of one root, which every surface updates, describes, checks and repairs."""

import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import DowseError, Failed, NotIndexed, NotWritable, StoreBusy, StoreDamaged, TooManyFiles
from dowse.indexes.freshness.indexer import (
    IndexReport,
    apply_drift,
    comparing,
    reindex,
    update_index,
)
from dowse.indexes.freshness.scan import Drift, check_files, scan, scan_paths
from dowse.indexes.opened_index import OpenedIndex
from dowse.indexes.remaining_time import record_start
from dowse.indexes.sidecar_files import check_sidecar_files, is_described, write_sidecar_files, write_tables
from dowse.settings import write_default_settings
from dowse.store import storage_layout
from dowse.store.store_files import remove_leftovers, replaced_store, set_catalog_aside
from dowse.system.platform import make_private_folder
from dowse.types import KINDS, Entry, Finding, FolderCallback, Progress, StoredDocument, Verdict, View

if TYPE_CHECKING:
    import logging

    from dowse.encoding.static import StaticEncoder
    from dowse.indexes.encoding_progress import EncodingProgress
    from dowse.indexes.index_status import IndexStatus

__all__ = ["IndexReport", "PathDecision", "ProjectIndex"]

TURN_WAIT_SECONDS = 600.0
"""How long a full run waits for another run on the same project."""
ASIDE_WAIT_SECONDS = 0.3
"""How long an index with a damaged catalog waits for another run, which builds it anew as well."""


@dataclass(frozen=True, slots=True)
class PathDecision:
    """Why a file is or is not in the index."""

    root: Path
    verdict: Verdict
    stored: StoredDocument | None
    is_indexed_project: bool


class ProjectIndex(OpenedIndex):
    """The index of one root, which is updated, described, checked and repaired."""

    def update(
        self,
        progress: Progress | None = None,
        *,
        drift: Drift | None = None,
        is_confirmed: bool = True,
    ) -> IndexReport:
        """Bring the index up to date with the files, once no other process is doing so.

        If a drift is given, only its paths are read. Unless `is_confirmed`, raise TooManyFiles for a project that
        outgrows maxFiles.
        """
        self.look_again()
        with self._storing():
            make_private_folder(self.folder)
            with self._turn.held(TURN_WAIT_SECONDS):
                self._write_settings()
                remove_leftovers(self.folder)
                try:
                    report = self._run(progress, drift, is_confirmed=is_confirmed)
                except StoreDamaged as error:
                    self._start_over(error)
                    report = self._run(progress, None, is_confirmed=is_confirmed)
            # Searches need no references, so that the index is complete for them before these are read.
            if drift is None and report.is_complete and self.whole.references.is_used:
                self.whole.references.catch_up(progress)
            return report

    def _write_settings(self) -> None:
        """Write the settings of this root, unless there are some."""
        is_new = not self.settings_files[1].exists()
        write_default_settings(self.settings_files[1], self.settings_files[0])
        if is_new:
            self._stamp = self.settings_stamp()  # this index is open by the defaults already

    def _take_shared_vectors(self) -> None:
        if self.settings.shared_index:
            from dowse.indexes.shared_vectors import take_vectors  # few have one

            try:
                take_vectors(self.whole, self.settings, self.settings.shared_index)
            except DowseError as error:
                self.warnings.append(f"{error} Vectors of the shared index are made here instead.")

    def rebuild(self, progress: Progress | None = None) -> IndexReport:
        """Build the index again from nothing; the settings stay, and the old index if the new one cannot be built."""
        with self._turn.held(TURN_WAIT_SECONDS):
            views = self.view
            is_elsewhere = False
            with contextlib.suppress(NotIndexed, Failed):
                views |= self.whole.views()
                is_elsewhere = self.is_on_another_device
            if is_elsewhere:
                self.require_mounted(self.drift())
            self.close()
            with replaced_store(self.folder):
                self._open_store().add_views(views)
                return self._run(progress, None, is_confirmed=True)

    def require_size(self, drift: Drift | None = None) -> list[int]:
        """Raise TooManyFiles if a project would grow beyond maxFiles; return the sizes of the files to read, in bytes."""
        limit = self.settings.max_files
        if drift is None:
            sizes = self._file_sizes()
            count, held = len(sizes), 0
        else:
            sizes = [entry.stat.size for entry in (*drift.new, *drift.changed)]
            count, held = drift.files, drift.unchanged + len(drift.changed) + len(drift.gone)
        if count > limit >= held and self.view & View.PROJECT:
            raise TooManyFiles(
                f"This project is very large ({count} files). Indexing may take several minutes. "
                f"Continue with --yes, name a smaller folder, or raise maxFiles ({limit})."
            )
        return sizes

    def count_files(self) -> int:
        """Return the number of files to index, judged by their names alone."""
        return len(self._file_sizes())

    def _file_sizes(self) -> list[int]:
        return [found.stat.size for found in self.source.entries() if isinstance(found, Entry)]

    def drift_at(self, paths: Iterable[str], on_folder: FolderCallback | None = None) -> Drift:
        """Return how the files at some paths differ from the index."""
        return scan_paths(self.kept_source, self.whole, paths, on_folder=on_folder)

    def apply(self, drift: Drift) -> IndexReport | None:
        """Apply a drift outside a full run; the caller renews the JSON files later with `settle`.

        Return None, and store nothing, if the settings have changed since: other files may be allowed by now.
        """
        if self.has_new_settings():
            return None
        report = IndexReport(unchanged=drift.unchanged, skipped=drift.skipped)
        with self._storing(), comparing(self.kept_source, self.whole, self.table):
            apply_drift(self.kept_source, self.whole, drift, report, table=self.table)
        return report

    def settle(self) -> None:
        """Renew the JSON files after single changes."""
        self._write_tables()  # first: the metadata have the size of all files
        write_sidecar_files(self.folder, self.root, self.whole, is_full=False)

    def is_settled(self) -> bool:
        """Return whether the JSON files are up to date, as far as is recorded."""
        return is_described(self.whole)

    def verify(self, progress: Progress | None = None) -> IndexReport:
        """Check the catalog, read every file and compare it with the index.

        An interrupted verification resumes where it stopped.
        """
        if problems := self.whole.catalog.problems():
            self.set_damaged_aside(StoreDamaged(problems[0]))
            return self.update(progress)
        store = self.whole
        began = store.fact("verifying") or str(time.time_ns())
        store.set_fact("verifying", began)
        store.repair()
        report = self.update(progress, drift=scan(self.kept_source, store, distrust_before_ns=int(began)))
        if report.is_complete:
            self.whole.set_fact("verifying", None)
            self.whole.set_fact("verified", _now())
            self.whole.forget_unused_vectors()  # kept until now in case their files came back
        return report

    def needs_verification(self) -> bool:
        """Return whether the last full read of all files is older than integrityHours."""
        if self.whole.fact("state") != "complete" or self.is_being_updated():
            return False
        verified = self.whole.fact("verified")
        if verified is None:
            return True
        age = datetime.now(UTC) - datetime.fromisoformat(verified)
        return not timedelta() <= age <= timedelta(hours=self.settings.integrity_hours)  # the clock may have been wrong

    def is_ready(self) -> bool:
        """Return whether the index is complete, and the next search finds the words of all files that it has."""
        if not self.exists or self.is_being_updated():
            return False
        return self.store.fact("state") == "complete" and self.store.refresh()

    def record_check(self) -> None:
        """Record that all files were compared with the index just now."""
        self.whole.set_fact("checked", _now())

    def drift(self) -> Drift:
        """Return how the files differ from the index, by their size and times."""
        self.look_again()
        return scan(self.kept_source, self.whole)

    def hidden_paths(self, folder: str = "") -> frozenset[str]:
        """Return the files of a folder that the index has and that are gone or denied by now; none if nothing is pending."""
        return frozenset(self.drift_at([folder]).gone if self.has_pending else ())

    def explain(self, path: str) -> PathDecision:
        """Return the decision of the policy about one path, and the document that the index has of it."""
        verdict, stored = self.source.verdict(path), None
        with contextlib.suppress(NotIndexed, Failed):  # the policy needs no catalog
            stored = self.store.document(verdict.path)
        return PathDecision(self.root, verdict, stored, self.exists)

    def status(self) -> "IndexStatus":
        """Return the status of the index, without reading the project's files."""
        from dowse.indexes.index_status import describe_index  # a search does not need it, nor the imports below

        found = describe_index(self)
        if found.state != "not_found" and not self.root.is_dir():
            return replace(found, state="failed", problem="the project's folder does not exist; its index is kept")
        return found if found.state in ("not_found", "failed") else replace(found, encoding=self.encoding())

    def table(self) -> "StaticEncoder | None":
        """Return the static encoder, which encodes every chunk during indexing; None if the index has no vectors."""
        from dowse.encoding.selection import static_encoder, uses_static

        try:
            return static_encoder() if uses_static(self.settings) else None
        except Failed as error:
            if (warning := f"{error} Search continues with words alone.") not in self.warnings:
                self.warnings.append(warning)
            return None

    def reindex(self, paths: Iterable[str]) -> IndexReport:
        """Bring a few files up to date now; the JSON files are renewed later."""
        self.look_again()
        if self.has_new_settings():  # the answer leaves the files out
            return IndexReport()
        with self._storing(), comparing(self.kept_source, self.whole, self.table):
            return reindex(self.kept_source, self.whole, paths, self.table)

    def reindex_for_answer(self, paths: Iterable[str]) -> bool:
        """Bring a few files up to date, and return whether that was possible at once; else the answer leaves them out."""
        with contextlib.suppress(NotWritable, StoreBusy), self.whole.waiting(storage_layout.READ_WAIT_SECONDS):
            self.reindex(paths)
            return True
        return False

    def encoding(self) -> "EncodingProgress | None":
        """Return how many chunks are encoded; None if the index cannot be read."""
        from dowse.indexes.encoding_progress import read_encoding_progress

        with contextlib.suppress(NotIndexed, Failed):
            return read_encoding_progress(self.store, self.settings)
        return None

    def check(self, progress: Progress | None = None) -> list[Finding]:
        """Return everything that is wrong with the index; change nothing."""
        from dowse.searching.history.history_database import check_history

        if self.is_being_updated():
            raise StoreBusy(
                f"{self.root} is being indexed by {self.updating_process()}. Wait for it to end, then try again."
            )
        try:
            return [
                *check_history(self.folder),
                *self.whole.check(),
                *check_files(self.kept_source, self.whole, progress),
                *check_sidecar_files(self.folder, self.root, self.whole),
            ]
        except StoreDamaged as error:
            return [Finding("catalog", str(error))]

    def repair(self, findings: list[Finding], progress: Progress | None = None) -> list[Finding]:
        """Repair the findings of a check, reading every file again; return the findings that remain."""
        if any(finding.part == "history" for finding in findings):
            from dowse.searching.history.history_database import remove_history

            remove_history(self.folder)
        if any(finding.part == "catalog" for finding in findings):
            with self._turn.held(TURN_WAIT_SECONDS):
                self._start_over(StoreDamaged(f"The catalog of {self.root} is damaged."))
        else:
            self.whole.repair()
        drift = scan(self.kept_source, self._open_store(), distrust_before_ns=time.time_ns())
        report = self.update(progress, drift=drift)
        if not report.is_complete:
            raise KeyboardInterrupt
        if report.changed_anything:
            from dowse.indexes.encoding_progress import forget_encoded_chunks

            forget_encoded_chunks(self.whole)  # an older catalog gives their ids to others
        write_sidecar_files(self.folder, self.root, self.whole, is_full=False)
        return [*self.whole.check(), *check_sidecar_files(self.folder, self.root, self.whole)]

    @contextlib.contextmanager
    def _storing(self) -> Iterator[None]:
        """Remember whether changes could be stored."""
        try:
            yield
        except NotWritable as error:
            self.refusal = error
            raise
        self.refusal = None

    def _run(self, progress: Progress | None, drift: Drift | None, *, is_confirmed: bool) -> IndexReport:
        store, log = self._open_store(), self._open_log()
        store.remove_leftovers()
        views = self.view | (store.views() or self._recorded_views())
        if views & ~store.views():
            if store.fact("state"):
                store.set_fact("state", "running")
            store.add_views(views)
            drift = None  # it was about other views
        for warning in self.warnings:
            log.warning(warning)
        from dowse.parsing.parser_pool import shared_pool  # a search does not need it

        shared_pool().expect(0)  # it starts while the files are scanned
        drift = drift or scan(self.kept_source, store)
        self.require_mounted(drift)
        if not is_confirmed:
            self.require_size(drift)
        before = store.fact("state")
        if before is None:
            write_sidecar_files(self.folder, self.root, store, is_full=False)  # lists the project from the start
        store.set_fact("state", "running")
        sizes = [entry.stat.size for entry in (*drift.new, *drift.changed)]
        record_start(store, sum(store.totals(kind).documents for kind in KINDS), sizes)
        try:
            with comparing(self.kept_source, store, self.table):
                report = update_index(self.kept_source, store, progress, drift=drift, table=self.table)
            if not self.root.exists():
                raise Failed(f"{self.root} disappeared while it was indexed.")
        except DowseError as error:
            log.error(str(error))
            with contextlib.suppress(DowseError, OSError):  # the disk may be full
                store.set_fact("error", str(error))
            raise
        self._take_shared_vectors()
        self._write_tables()  # before the metadata, which have the size of all files
        is_known = before == "complete" and storage_layout.has_fingerprints(self.folder) and self.is_settled()
        if report.changed_anything or not is_known or storage_layout.read_project(self.folder) is None:
            write_sidecar_files(self.folder, self.root, store, is_full=report.is_complete and before != "complete")
            log.info(
                "added %d, updated %d, removed %d files in %.2f s",
                report.added, report.updated, report.removed, report.seconds,
            )  # fmt: skip
        store.set_fact("skipped", json.dumps(report.skipped_by_reason()))
        store.set_fact("state", "complete" if report.is_complete else "interrupted")
        store.set_fact("error", None)
        store.set_fact("checked", _now())
        self.record_device()
        if report.is_complete and before is None:
            store.set_fact("verified", _now())
        if drift.pending and (table := self.table()):  # loading it takes 0.1 s, which a run without changes saves
            store.vector_counts(table.version)  # updates the matrix now, while no search waits for it
        return report

    def _open_log(self) -> "logging.Logger":
        from dowse.indexes.index_log import open_log

        return open_log(self.folder)

    def _recorded_views(self) -> View:
        """Return the views that the metadata names, for an index whose catalog was lost."""
        known = storage_layout.read_project(self.folder)
        return known.views if known else View(0)

    def _write_tables(self) -> None:
        self.warnings += [problem for problem in write_tables(self.whole) if problem not in self.warnings]

    def set_damaged_aside(self, error: StoreDamaged) -> None:
        """Set a damaged catalog aside, unless another process has replaced it; the next update builds the index anew."""
        with contextlib.suppress(StoreBusy, NotWritable, OSError), self._turn.held(ASIDE_WAIT_SECONDS):
            before = self._shared.store
            with contextlib.suppress(StoreDamaged):
                self._open_store()
            if self._shared.store is before:
                self._start_over(error)

    def _start_over(self, error: StoreDamaged) -> None:
        self.close()
        backup = set_catalog_aside(self.folder)
        message = (
            f"The catalog of {self.root} was damaged. It was set aside as {backup.name} and the index is built again."
        )
        self._open_log().error("%s %s", error, message)
        self.warnings.append(message)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
