"""The files of a research archive, and which of them make one document.

A document is a text alone, a captured page with its metadata, or an answered query with its metadata. Its path is that
of its first file. Of two files, the bytes are those of the first, followed by a note with the second, and its stat is
one that changes with both.
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from dowse.reading.file_reading import document_language
from dowse.settings import Settings
from dowse.sources.document_files import DocumentFiles, DocumentPolicy
from dowse.sources.path_decision import verdict_for_os_error
from dowse.types import Entry, FileContent, FolderCallback, Kind, Reason, Stat, Verdict, View

METADATA_FILE = "metadata.json"
RESULT_FILE = "result.json"
_DESCRIPTIONS = (METADATA_FILE, RESULT_FILE)
CONTENT = "content.md"
ORIGINALS = ("original", "page", "index", "source", "raw", "content")
"""Names, without suffix, of the file that a capture was made from; it is the text where there is no `content.md`."""
MAX_ARCHIVE_FILE_BYTES = 10 * 1024 * 1024
"""The largest file that is read. It is more than in a project, because archives have long reports and whole pages."""

_SEPARATOR = b"\x1e"
"""Stands before and after the note, whose JSON cannot contain it."""
_END = b'"' + _SEPARATOR


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of a document: its text or result, and the metadata."""

    entries: tuple[Entry, ...]

    @property
    def entry(self) -> Entry:
        """The document as a walk returns it."""
        return replace(self.entries[0], stat=self.stat([entry.stat for entry in self.entries]))

    def stat(self, stats: Sequence[Stat]) -> Stat:
        """Return one stat for the files of the group."""
        if len(stats) == 1:
            return stats[0]
        return Stat(
            sum(stat.size for stat in stats),
            max(stat.mtime_ns for stat in stats),
            sum(stat.inode for stat in stats) % 2**62,
            max(stat.ctime_ns for stat in stats),
            min(stat.seen_ns for stat in stats),
        )

    def join(self, files: Sequence[bytes]) -> bytes:
        """Return the bytes of the document: those of its first file, and a note with its metadata."""
        if len(files) == 1:
            return files[0]
        note = json.dumps(files[1].decode("utf-8", "replace"), ensure_ascii=False)
        return b"".join((files[0], _SEPARATOR, note.encode("utf-8", "replace"), _SEPARATOR))


def split_note(data: bytes) -> tuple[bytes, str | None]:
    """Return the bytes of a document's first file, and its metadata; None for a file alone."""
    if data.endswith(_END):
        first, _, written = data[:-1].rpartition(_SEPARATOR)
        with suppress(ValueError, RecursionError):  # a file that ends like this
            note = json.loads(written)
            if isinstance(note, str):
                return first, note
    return data, None


def group_files(entries: Iterable[Entry]) -> Iterator[FileGroup]:
    """Yield the groups of files that make one document each, folder by folder."""
    folders = defaultdict[str, list[Entry]](list)
    for entry in entries:
        folders[entry.path.rpartition("/")[0]].append(entry)
    for members in folders.values():
        yield from _group_folder({entry.path.rpartition("/")[2]: entry for entry in members})


def _group_folder(members: dict[str, Entry]) -> Iterator[FileGroup]:
    metadata = members.pop(METADATA_FILE, None)
    result = members.pop(RESULT_FILE, None)
    originals = (entry for name, entry in sorted(members.items()) if name.partition(".")[0] in ORIGINALS)
    if metadata and (text := members.get(CONTENT) or next(originals, None)):
        yield FileGroup((text, metadata))  # the other files are the original of the page
        members = {}
    elif result:
        yield FileGroup((result, metadata) if metadata else (result,))
    for entry in members.values():
        yield FileGroup((entry,))


class ArchivePolicy(DocumentPolicy):
    """The policy of an archive: it allows documents and the files that describe them."""

    def kind_of(self, path: str, size: int) -> Kind | Verdict:
        """Return the kind of a file, which is always `docs`, or the verdict against it."""
        if path.rpartition("/")[2] in _DESCRIPTIONS:
            return self.too_large_verdict(path, size) if size > self.max_bytes_for(path) else "docs"
        return super().kind_of(path, size)


class ArchiveFiles(DocumentFiles):
    """The documents of one archive. Files that git ignores are read, because many projects ignore the archives inside them."""

    policy_type = ArchivePolicy
    parser_jobs = "dowse.archives.archive_documents"

    def __init__(self, root: Path, settings: Settings | None = None) -> None:
        own = replace(
            settings or Settings(), respect_gitignore=False, max_file_bytes=MAX_ARCHIVE_FILE_BYTES, include=("**/*",)
        )
        super().__init__(root, own)

    def entries(self, below: str = "", on_folder: FolderCallback | None = None) -> Iterator[Entry | Verdict]:
        """Yield everything below the root or below one path: first what is left out, then the documents, sorted by path."""
        found = list(super().entries(below, on_folder))
        yield from (one for one in found if isinstance(one, Verdict))
        groups = group_files(one for one in found if isinstance(one, Entry))
        yield from sorted((group.entry for group in groups), key=lambda entry: entry.path)

    def entry(self, path: str) -> Entry | Verdict:
        """Return one document as the walk would see it now. A file that belongs to another is none."""
        found = super().entry(path)
        return found if isinstance(found, Verdict) else self.entry_at(found.path)

    def entry_at(self, path: str) -> Entry | Verdict:
        """Return one document like `entry`, but accept only the spelling that the walk uses."""
        group = self._group_at(path)
        return group if isinstance(group, Verdict) else group.entry

    def compared_path(self, path: str) -> str:
        """Return the folder of a file that may belong to a document of several files, else the path itself."""
        folder, _, name = path.rpartition("/")
        return folder if name in _DESCRIPTIONS or self._is_described(path) else path

    def read(self, entry: Entry) -> list[FileContent] | Verdict:
        """Read the files of one document that the walk returned, or return the verdict against it."""
        group = self._group_at(entry.path) if self._is_described(entry.path) else FileGroup((entry,))
        if isinstance(group, Verdict):
            return group
        files, stats = list[bytes](), list[Stat]()
        for member in group.entries:
            read = self._read_allowed(member.path)
            if isinstance(read, Verdict):
                return replace(read, path=entry.path)
            files.append(read[0])
            stats.append(read[1])
        data = group.join(files)
        digest, language = hashlib.sha256(data).digest(), document_language(entry.path)
        return [FileContent(entry.path, "docs", language, group.stat(stats), digest, data, View.DOCUMENTS)]

    def read_bytes(self, path: str) -> tuple[bytes, Stat]:
        """Return a document's bytes with their stat; raise OSError or PathRefused as for one file."""
        if not self._is_described(path):
            return super().read_bytes(path)
        group = self._group_at(path)
        if isinstance(group, Verdict):
            raise FileNotFoundError(path)
        files, stats = zip(*(super(ArchiveFiles, self).read_bytes(entry.path) for entry in group.entries), strict=True)
        return group.join(files), group.stat(stats)

    def is_as_written(self, content: FileContent) -> bool:
        """Return whether a document is one file, and its bytes are the text that its readers see."""
        return super().is_as_written(content) and not content.data.endswith(_END)

    def _group_at(self, path: str) -> FileGroup | Verdict:
        """Return the document whose first file is at a path."""
        alone = super().entry_at(path)
        if isinstance(alone, Verdict) or not self._is_described(path):
            return alone if isinstance(alone, Verdict) else FileGroup((alone,))
        try:
            beside = [file.relative_to(self.root).as_posix() for file in sorted((self.root / path).parent.iterdir())]
        except OSError as error:
            return verdict_for_os_error(path, error)
        decided = [super(ArchiveFiles, self).entry_at(name) for name in beside]
        groups = group_files(one for one in decided if isinstance(one, Entry))
        found = next((group for group in groups if group.entries[0].path == path), None)
        return found or Verdict(path, Reason.NOT_INCLUDED, detail="part of a document")

    def _is_described(self, path: str) -> bool:
        """Return whether a file describes those in the folder of a path, so that several of them may be one document."""
        folder = f"{self.root}/{path.rpartition('/')[0]}"
        return any(os.path.lexists(f"{folder}/{name}") for name in _DESCRIPTIONS)
