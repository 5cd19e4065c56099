"""The files of one archive, as a run takes them in: what is the same is not read, what reads the same not written."""

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_documents import read_unit
from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import ArchiveReport
from dowse.archives.archive_writer import ArchiveWriter, SeenFile
from dowse.archives.bibtex import bib_entries
from dowse.archives.file_groups import FileGroup, units_of
from dowse.errors import FormatNotReadable
from dowse.reading import VERSION as READING_VERSION
from dowse.reading.decoding import decode
from dowse.sources.archive_files import ArchiveFiles
from dowse.types import Entered, Entry, Reason, Stat, Verdict

VERSION = 1
"""Changes whenever the same files would become other documents or citations; all are then read again."""
RECIPE = f"{READING_VERSION}.{VERSION}"

_FRESH_NS = 2_000_000_000
"""A file that was touched so shortly before it was read may have changed since in the same tick of the coarsest clock."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A file as it was when it was last looked at."""

    stat: Stat
    checked_ns: int
    hash: bytes
    document: int | None
    refusal: str

    def is_still(self, entry: Entry) -> bool:
        """Whether a file is what it was, by its stat alone."""
        touched_ns = max(self.stat.mtime_ns, self.stat.ctime_ns)
        return self.stat == entry.stat and touched_ns < self.checked_ns - _FRESH_NS


class ArchiveIngest:
    """One archive in one run."""

    def __init__(
        self, database: ArchiveDatabase, writer: ArchiveWriter, report: ArchiveReport, archive: Archive, root: Path
    ) -> None:
        self.archive = archive
        self.units: list[FileGroup] = []
        self.others: list[tuple[Archive, str]] = []
        """Files that are there and are no documents."""
        self._source = ArchiveFiles(root)
        self._writer = writer
        self._report = report
        self._is_anew = (database.fact("recipe") or RECIPE) != RECIPE
        rows = database.rows(
            "SELECT path, size, mtime_ns, inode, ctime_ns, checked_ns, hash, document, refusal FROM files WHERE archive = ?",
            (archive,),
        )
        self._known = {row[0]: _Known(Stat(*row[1:5]), *row[5:]) for row in rows}

    def look(self, entered: Entered | None) -> None:
        """Walk through the archive."""
        entries = list[Entry]()
        for found in self._source.entries(entered=entered):
            if isinstance(found, Entry):
                entries.append(found)
            else:
                self.others.append((self.archive, found.path))
                self._count_skipped(str(found.reason))
        self.units = list(units_of(entries))
        self.others += [(self.archive, path) for unit in self.units for path in unit.others]

    def take_in(self, unit: FileGroup) -> None:
        """Bring one document up to date."""
        known = self._known_of(unit)
        if known and all(one.is_still(entry) for one, entry in zip(known, unit.entries, strict=True)):
            self._count_unchanged(unit, known[0])
            return
        now = time.time_ns()
        read = self._read(unit)
        if isinstance(read, Verdict):
            self._turn_away(unit, read)
            return
        hashes = [hashlib.sha256(data).digest() for data, _ in read]
        if known and [one.hash for one in known] == hashes and not known[0].refusal:
            number = known[0].document
            self._count_unchanged(unit, known[0])
        else:
            written = self._write(unit, [data for data, _ in read], hashes)
            if isinstance(written, Verdict):
                self._turn_away(unit, written)
                return
            number = written
        for entry, (_, stat), hashed in zip(unit.entries, read, hashes, strict=True):
            self._writer.put_file(SeenFile(self.archive, entry.path, number, stat, now, hashed))

    def forget_files(self) -> None:
        """Forget the files that are not there any more."""
        there = {entry.path for unit in self.units for entry in unit.entries}
        self._writer.remove_files(self.archive, [path for path in self._known if path not in there])

    def _known_of(self, unit: FileGroup) -> list[_Known] | None:
        """What is known of a unit's files; None unless it was this very unit before, read in the same way."""
        known = [one for entry in unit.entries if (one := self._known.get(entry.path))]
        is_whole = len(known) == len(unit.entries) and len({one.document for one in known}) == 1
        return known if is_whole and not self._is_anew else None

    def _read(self, unit: FileGroup) -> list[tuple[bytes, Stat]] | Verdict:
        found = list[tuple[bytes, Stat]]()
        for entry in unit.entries:
            read = self._source.bytes_of(entry)
            if isinstance(read, Verdict):
                return read
            found.append(read)
        return found

    def _write(self, unit: FileGroup, contents: list[bytes], hashes: list[bytes]) -> int | Verdict | None:
        """The number of the document that was written; None for a bibliography, a verdict for what cannot be read."""
        if unit.form == "bibliography":
            self._writer.put_bibliography(self.archive, unit.path, bib_entries(decode(contents[0]).text))
            return None
        files = {entry.path: data for entry, data in zip(unit.entries, contents, strict=True)}
        try:
            document = read_unit(unit, files, self.archive)
        except FormatNotReadable as error:
            return Verdict(unit.path, Reason.UNREADABLE, detail=str(error))
        number, is_new = self._writer.put(document, hashlib.sha256(b"".join(hashes)).digest())
        if is_new:
            self._report.added += 1
        else:
            self._report.updated += 1
        return number

    def _turn_away(self, unit: FileGroup, verdict: Verdict) -> None:
        """Leave a document out that may not be read, or cannot be."""
        self._count_skipped(str(verdict.reason))
        now = time.time_ns()
        for entry in unit.entries:
            refused = SeenFile(self.archive, entry.path, None, entry.stat, now, b"", str(verdict.reason))
            self._writer.put_file(refused)

    def _count_unchanged(self, unit: FileGroup, known: _Known) -> None:
        if known.refusal:
            self._count_skipped(known.refusal)
        elif unit.form != "bibliography":
            self._report.unchanged += 1

    def _count_skipped(self, reason: str) -> None:
        self._report.skipped[reason] = self._report.skipped.get(reason, 0) + 1
