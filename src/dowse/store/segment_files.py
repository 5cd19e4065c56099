"""The files of a Tantivy index: which ones it has, and whether each is as it was written.

Tantivy believes what it reads: a damaged file makes it panic, or changes the order of the hits without a word.
Its files never change once they are written. So their checksums are recorded when a commit ends, and a file is read
whole and compared with its checksum before it is used, unless its stat is the one it had when it was last known to be
whole. A file that a commit or a merge has just written is in no record yet: it is taken as it is.
"""

import contextlib
import json
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from dowse.errors import LexicalDamaged, NotWritable
from dowse.system.platform import write_atomically

RECORD_FILE = "checksums.json"
"""The file beside the segments with the checksum of each file, and the stat that it had. The stats save reading 120 MB in
90 ms when a process opens the index of 128,000 chunks. After the folder was copied, the files are read."""

_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_META = "meta.json"
_READ_BYTES = 1 << 20


FileStamp = tuple[int, int, int, int]
"""The size, the times and the inode of a file. A search compares 50 of them, each in a third of the time of a `Stat`."""


class WholeFile(NamedTuple):
    """A file that is as it was written, with the checksum of its content."""

    stamp: FileStamp
    checksum: int


class _Meta(NamedTuple):
    """The files of the committed segments, and the number of the commit."""

    names: list[str]
    commit: int


class SegmentFiles:
    """The files of the committed segments in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._whole: dict[str, WholeFile] = {}
        self._meta: tuple[FileStamp, _Meta] | None = None

    def check(self) -> None:
        """Raise LexicalDamaged unless every file is there and as it was written."""
        while True:
            before = self._stamp(_META)
            try:
                self._whole = self._examine_all()
            except LexicalDamaged:
                if self._stamp(_META) == before:
                    raise
                continue  # another process has committed, and removed files of the segments that we looked for
            return

    def record(self) -> None:
        """Record the checksums of all files; the caller has checked the old ones and has just written the others."""
        whole = dict[str, WholeFile]()
        for name in self._read_meta().names:
            with contextlib.suppress(LexicalDamaged):  # the next check finds it as well
                whole[name] = self._whole.get(name) or self._examine(name, None)
        self._whole = whole
        content = json.dumps({name: (*file.stamp, file.checksum) for name, file in whole.items()})
        with contextlib.suppress(OSError, NotWritable):  # the files that the old record lacks are taken as they are
            write_atomically(self._folder / RECORD_FILE, content.encode(), is_durable=False)

    def problems(self) -> list[str]:
        """Read every file, and return what is wrong with each."""
        found = []
        try:
            recorded = self._read_record()
            for name in self._read_meta().names:
                try:
                    self._examine(name, recorded.get(name), is_thorough=True)
                except LexicalDamaged as error:
                    found.append(str(error))
        except LexicalDamaged as error:
            return [str(error)]
        return found

    def _examine_all(self) -> dict[str, WholeFile]:
        recorded: dict[str, WholeFile] | None = None
        whole = dict[str, WholeFile]()
        for name in self._read_meta().names:
            known = self._whole.get(name)
            if known is None:
                recorded = self._read_record() if recorded is None else recorded
                known = recorded.get(name)
            whole[name] = self._examine(name, known)
        return whole

    def _examine(self, name: str, known: WholeFile | None, *, is_thorough: bool = False) -> WholeFile:
        """Return a file that is whole. It is read unless its stat has not changed, or in any case."""
        seen = self._stamp(name)
        if seen is None:
            raise LexicalDamaged(f"{self._folder.name} lacks {name}")
        if known and known.stamp == seen and not is_thorough:
            return known
        checksum = self._read_checksum(name)
        if known and known.checksum != checksum:
            raise LexicalDamaged(f"{self._folder.name}/{name} is not what was written there")
        return WholeFile(seen, checksum)

    def commit_number(self) -> int:
        """Return the number of the last commit; a later one has a higher number."""
        return self._read_meta().commit

    def _read_meta(self) -> "_Meta":
        seen = self._stamp(_META)
        if seen and self._meta and self._meta[0] == seen:
            return self._meta[1]
        try:
            content = json.loads((self._folder / _META).read_bytes())
            names = [name for segment in content["segments"] for name in _segment_names(segment)]
            meta = _Meta(names, int(content["opstamp"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LexicalDamaged(f"{self._folder.name}/{_META} cannot be read") from error
        self._meta = (seen, meta) if seen else None
        return meta

    def _read_record(self) -> dict[str, WholeFile]:
        try:
            content = json.loads((self._folder / RECORD_FILE).read_bytes())
            return {
                name: WholeFile((size, mtime_ns, inode, ctime_ns), checksum)
                for name, (size, mtime_ns, inode, ctime_ns, checksum) in content.items()
            }
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise LexicalDamaged(f"{self._folder.name}/{RECORD_FILE} cannot be read") from error

    def _stamp(self, name: str) -> FileStamp | None:
        try:
            seen = os.stat(f"{self._folder}/{name}")  # noqa: PTH116 - 50 of these at every search
        except OSError:
            return None
        return seen.st_size, seen.st_mtime_ns, seen.st_ino, seen.st_ctime_ns

    def _read_checksum(self, name: str) -> int:
        checksum = 0
        try:
            with (self._folder / name).open("rb") as stream:
                while data := stream.read(_READ_BYTES):
                    checksum = zlib.crc32(data, checksum)
        except OSError as error:
            raise LexicalDamaged(f"{self._folder.name}/{name} cannot be read") from error
        return checksum


def _segment_names(segment: dict[str, Any]) -> list[str]:
    name = segment["segment_id"].replace("-", "")
    deletes = segment.get("deletes")
    return [*(f"{name}.{part}" for part in _PARTS), *([f"{name}.{deletes['opstamp']}.del"] if deletes else [])]
