"""Ingesting of the files of one archive. A run does not read unchanged files, nor write documents that read the same."""

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_documents import read_file_group
from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import ArchiveReport
from dowse.archives.archive_writer import ArchiveWriter, SeenFile
from dowse.archives.bibtex import parse_bibtex
from dowse.archives.file_groups import FileGroup, group_files
from dowse.errors import FormatNotReadable
from dowse.reading import VERSION as READING_VERSION
from dowse.reading.decoding import decode
from dowse.sources.archive_files import ArchiveFiles
from dowse.types import Entry, FolderCallback, Reason, Stat, Verdict

VERSION = 1
"""Raise this when the same files would give different documents or citations; all files are then read again."""
RECIPE = f"{READING_VERSION}.{VERSION}"

_CLOCK_TICK_NS = 2_000_000_000
"""A file modified within this time before it was read may have changed again within one tick of the coarsest clock."""


@dataclass(frozen=True, slots=True)
class _KnownFile:
    """A file as it was when it was last checked."""

    stat: Stat
    checked_ns: int
    hash: bytes
    document: int | None
    refusal: str

    def is_unchanged(self, entry: Entry) -> bool:
        """Return whether a file is unchanged, judged by its stat alone."""
        modified_ns = max(self.stat.mtime_ns, self.stat.ctime_ns)
        return self.stat == entry.stat and modified_ns < self.checked_ns - _CLOCK_TICK_NS


class ArchiveIngest:
    """The ingesting of one archive in one run."""

    def __init__(
        self, database: ArchiveDatabase, writer: ArchiveWriter, report: ArchiveReport, archive: Archive, root: Path
    ) -> None:
        self.archive = archive
        self.groups: list[FileGroup] = []
        self.other_files: list[tuple[Archive, str]] = []
        """Files that exist and are not documents."""
        self._source = ArchiveFiles(root)
        self._writer = writer
        self._report = report
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
                self.other_files.append((self.archive, found.path))
                self._count_skipped(str(found.reason))
        self.groups = list(group_files(entries))
        self.other_files += [(self.archive, path) for group in self.groups for path in group.others]

    def update(self, group: FileGroup) -> None:
        """Bring one document up to date."""
        known = self._known_files(group)
        if known and all(file.is_unchanged(entry) for file, entry in zip(known, group.entries, strict=True)):
            self._count_unchanged(group, known[0])
            return
        now = time.time_ns()
        read = self._read(group)
        if isinstance(read, Verdict):
            self._refuse(group, read)
            return
        hashes = [hashlib.sha256(data).digest() for data, _ in read]
        if known and [file.hash for file in known] == hashes and not known[0].refusal:
            number = known[0].document
            self._count_unchanged(group, known[0])
        else:
            written = self._write(group, [data for data, _ in read], hashes)
            if isinstance(written, Verdict):
                self._refuse(group, written)
                return
            number = written
        for entry, (_, stat), hashed in zip(group.entries, read, hashes, strict=True):
            self._writer.put_file(SeenFile(self.archive, entry.path, number, stat, now, hashed))

    def remove_missing_files(self) -> None:
        """Remove the records of files that no longer exist."""
        existing = {entry.path for group in self.groups for entry in group.entries}
        self._writer.remove_files(self.archive, [path for path in self._known if path not in existing])

    def _known_files(self, group: FileGroup) -> list[_KnownFile] | None:
        """Return the records of the files of a group; None unless they were the same group before, and read the same way."""
        known = [file for entry in group.entries if (file := self._known.get(entry.path))]
        is_same_group = len(known) == len(group.entries) and len({file.document for file in known}) == 1
        return known if is_same_group and not self._has_new_recipe else None

    def _read(self, group: FileGroup) -> list[tuple[bytes, Stat]] | Verdict:
        found = list[tuple[bytes, Stat]]()
        for entry in group.entries:
            read = self._source.read_entry_bytes(entry)
            if isinstance(read, Verdict):
                return read
            found.append(read)
        return found

    def _write(self, group: FileGroup, contents: list[bytes], hashes: list[bytes]) -> int | Verdict | None:
        """Return the number of the document that was written, None for a bibliography, or why it cannot be read."""
        if group.form == "bibliography":
            self._writer.put_bibliography(self.archive, group.path, parse_bibtex(decode(contents[0]).text))
            return None
        files = {entry.path: data for entry, data in zip(group.entries, contents, strict=True)}
        try:
            document = read_file_group(group, files, self.archive)
        except FormatNotReadable as error:
            return Verdict(group.path, Reason.UNREADABLE, detail=str(error))
        number, is_new = self._writer.put(document, hashlib.sha256(b"".join(hashes)).digest())
        if is_new:
            self._report.added += 1
        else:
            self._report.updated += 1
        return number

    def _refuse(self, group: FileGroup, verdict: Verdict) -> None:
        """Record that a document may not or cannot be read."""
        self._count_skipped(str(verdict.reason))
        now = time.time_ns()
        for entry in group.entries:
            refused = SeenFile(self.archive, entry.path, None, entry.stat, now, b"", str(verdict.reason))
            self._writer.put_file(refused)

    def _count_unchanged(self, group: FileGroup, known: _KnownFile) -> None:
        if known.refusal:
            self._count_skipped(known.refusal)
        elif group.form != "bibliography":
            self._report.unchanged += 1

    def _count_skipped(self, reason: str) -> None:
        self._report.skipped[reason] = self._report.skipped.get(reason, 0) + 1
