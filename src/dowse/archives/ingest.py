"""Ingesting of the files of one archive. A run does not read unchanged files, nor write documents that read the same."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_locations import Archive
from dowse.archives.archive_parsing import ParsedFileGroup, start_reading
from dowse.archives.archive_types import ArchiveReport
from dowse.archives.archive_writer import ArchiveWriter, SeenFile
from dowse.archives.file_groups import FileGroup, group_files
from dowse.parsing.parser_pool import read_ahead
from dowse.reading import VERSION as READING_VERSION
from dowse.sources.archive_files import ArchiveFiles
from dowse.types import Entry, FolderCallback, Stat, Verdict

VERSION = 1
"""Raise this when the same files would give different documents or citations; all files are then read again."""
RECIPE = f"{READING_VERSION}.{VERSION}"

_CLOCK_TICK_NS = 2_000_000_000
"""A file modified within this time before it was read may have changed again within one tick of the coarsest clock."""

StartReading = Callable[[FileGroup, Mapping[str, bytes], Archive], Callable[[], ParsedFileGroup | Verdict]]
"""Has the files of a group read, and returns a function that waits for the result."""

_PROBLEM = "plain text: "
"""The beginning of the refusal of a file that its parser could not cope with, and that was read as plain text."""


@dataclass(frozen=True, slots=True)
class _KnownFile:
    """A file as it was when it was last checked."""

    stat: Stat
    checked_ns: int
    hash: bytes
    document: int | None
    refusal: str
    """Why the file was not read, or, after `_PROBLEM`, why it was read as plain text."""

    def is_unchanged(self, entry: Entry) -> bool:
        """Return whether a file is unchanged, judged by its stat alone."""
        modified_ns = max(self.stat.mtime_ns, self.stat.ctime_ns)
        return self.stat == entry.stat and modified_ns < self.checked_ns - _CLOCK_TICK_NS


class ArchiveIngest:
    """The ingesting of one archive in one run."""

    def __init__(
        self,
        database: ArchiveDatabase,
        writer: ArchiveWriter,
        report: ArchiveReport,
        archive: Archive,
        root: Path,
        *,
        read: StartReading = start_reading,
    ) -> None:
        self.archive = archive
        self.groups: list[FileGroup] = []
        self._source = ArchiveFiles(root)
        self._writer = writer
        self._report = report
        self._start_reading = read
        self._has_new_recipe = (database.fact("recipe") or RECIPE) != RECIPE
        rows = database.rows(
            "SELECT path, size, mtime_ns, inode, ctime_ns, checked_ns, hash, document, refusal FROM files WHERE archive = ?",
            (archive,),
        )
        self._known = {row[0]: _KnownFile(Stat(*row[1:5]), *row[5:]) for row in rows}

    def scan(self, on_folder: FolderCallback | None) -> None:
        """Walk through the archive, and group its files into documents."""
        entries = list[Entry]()
        for found in self._source.entries(on_folder=on_folder):
            if isinstance(found, Entry):
                entries.append(found)
            else:
                self._count_skipped(str(found.reason))
        self.groups = list(group_files(entries))

    def count_changed(self) -> int:
        """Return the number of documents whose files may have changed, judged by their stat alone."""
        return sum(self._unchanged_files(group) is None for group in self.groups)

    def update_all(self) -> Iterator[None]:
        """Bring all documents up to date, in order. Files are read and parsed ahead of those that are written."""
        return read_ahead(self._start(group) for group in self.groups)

    def remove_missing_files(self) -> None:
        """Remove the records of files that no longer exist."""
        existing = {entry.path for group in self.groups for entry in group.entries}
        self._writer.remove_files(self.archive, [path for path in self._known if path not in existing])

    def _start(self, group: FileGroup) -> tuple[Callable[[], None], int]:
        """Read the files of one document, and have them parsed if they changed.

        Return a function that brings the document up to date, and the number of bytes that were read.
        """
        if unchanged := self._unchanged_files(group):
            return lambda: self._count_unchanged(group, unchanged[0]), 0
        known = self._known_files(group)
        now = time.time_ns()
        read = self._read(group)
        if isinstance(read, Verdict):
            return lambda: self._refuse(group, read), 0
        files = [
            SeenFile(self.archive, entry.path, None, stat, now, hashlib.sha256(data).digest())
            for entry, (data, stat) in zip(group.entries, read, strict=True)
        ]
        if known and [file.hash for file in known] == [file.hash for file in files]:
            return lambda: self._keep(group, known[0], files), 0
        contents = {entry.path: data for entry, (data, _) in zip(group.entries, read, strict=True)}
        wait = self._start_reading(group, contents, self.archive)
        return lambda: self._write(group, wait(), files), sum(map(len, contents.values()))

    def _known_files(self, group: FileGroup) -> list[_KnownFile] | None:
        """Return the records of the files of a group; None unless they were the same group before, and read the same way."""
        known = [file for entry in group.entries if (file := self._known.get(entry.path))]
        is_same_group = len(known) == len(group.entries) and len({file.document for file in known}) == 1
        return known if is_same_group and not self._has_new_recipe else None

    def _unchanged_files(self, group: FileGroup) -> list[_KnownFile] | None:
        """Return the records of the files of a group if all are unchanged, judged by their stat alone."""
        known = self._known_files(group)
        is_unchanged = known and all(file.is_unchanged(entry) for file, entry in zip(known, group.entries, strict=True))
        return known if is_unchanged else None

    def _read(self, group: FileGroup) -> list[tuple[bytes, Stat]] | Verdict:
        found = list[tuple[bytes, Stat]]()
        for entry in group.entries:
            read = self._source.read_entry_bytes(entry)
            if isinstance(read, Verdict):
                return read
            found.append(read)
        return found

    def _keep(self, group: FileGroup, known: _KnownFile, files: list[SeenFile]) -> None:
        """Record that files have another stat and the same content."""
        self._count_unchanged(group, known)
        self._put_files(files, known.document, known.refusal.removeprefix(_PROBLEM))

    def _write(self, group: FileGroup, parsed: ParsedFileGroup | Verdict, files: list[SeenFile]) -> None:
        """Write the document or the bibliography of a group."""
        if isinstance(parsed, Verdict):
            self._refuse(group, parsed)
            return
        document, number = parsed.document, None
        if document is None:
            self._writer.put_bibliography(self.archive, group.path, parsed.entries)
        elif refusal := self._source.text_refusal(group.path, document.text):
            self._refuse(group, refusal)
            return
        else:
            number, is_new = self._writer.put(document)
            self._report.added += is_new
            self._report.updated += not is_new
        if parsed.problem:
            self._report.problems[group.path] = parsed.problem
        self._put_files(files, number, parsed.problem)

    def _put_files(self, files: list[SeenFile], document: int | None, problem: str = "") -> None:
        for file in files:
            self._writer.put_file(replace(file, document=document, refusal=f"{_PROBLEM}{problem}" if problem else ""))

    def _refuse(self, group: FileGroup, verdict: Verdict) -> None:
        """Record that a document may not or cannot be read."""
        self._count_skipped(str(verdict.reason))
        now = time.time_ns()
        for entry in group.entries:
            refused = SeenFile(self.archive, entry.path, None, entry.stat, now, b"", str(verdict.reason))
            self._writer.put_file(refused)

    def _count_unchanged(self, group: FileGroup, known: _KnownFile) -> None:
        if known.refusal.startswith(_PROBLEM):
            self._report.problems[group.path] = known.refusal.removeprefix(_PROBLEM)
        elif known.refusal:
            self._count_skipped(known.refusal)
            return
        if group.form != "bibliography":
            self._report.unchanged += 1

    def _count_skipped(self, reason: str) -> None:
        self._report.skipped[reason] = self._report.skipped.get(reason, 0) + 1
