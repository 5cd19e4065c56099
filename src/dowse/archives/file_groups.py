"""Grouping of files into documents: a text alone, a captured page with its metadata and original, an answered query."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dowse.sources.archive_files import METADATA_FILE, RESULT_FILE
from dowse.sources.document_types import suffix_of
from dowse.types import Entry

Form = Literal["text", "capture", "query", "bibliography"]

CONTENT = "content.md"
ORIGINALS = ("original", "page", "index", "source", "raw", "content")
"""Names, without suffix, of the file that a capture was made from."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of a document. The path of the first is the path of the document."""

    form: Form
    entries: tuple[Entry, ...]
    others: tuple[str, ...] = ()
    """Files that belong to the document and are not read, such as the original of a captured page."""

    @property
    def path(self) -> str:
        return self.entries[0].path


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
    if metadata and (text := members.get(CONTENT) or _find_original(members)):
        captured = [entry for entry in members.values() if suffix_of(entry.path) != ".bib"]
        others = tuple(entry.path for entry in captured if entry is not text)
        yield FileGroup("capture", (text, metadata), others)
        members = {name: entry for name, entry in members.items() if suffix_of(entry.path) == ".bib"}
    elif result:
        yield FileGroup("query", (result, metadata) if metadata else (result,))
    for entry in members.values():
        yield FileGroup("bibliography" if suffix_of(entry.path) == ".bib" else "text", (entry,))


def _find_original(members: dict[str, Entry]) -> Entry | None:
    """Return the original of a capture, which is its text where there is no `content.md`."""
    return next((entry for name, entry in sorted(members.items()) if name.partition(".")[0] in ORIGINALS), None)
