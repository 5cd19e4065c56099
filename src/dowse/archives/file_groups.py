"""Which files make one document: a text alone, a captured page with its metadata and original, an answered query."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dowse.sources.archive_files import METADATA, RESULT
from dowse.sources.document_files import suffix_of
from dowse.types import Entry

Form = Literal["text", "capture", "query", "bibliography"]

CONTENT = "content.md"
ORIGINALS = ("original", "page", "index", "source", "raw", "content")
"""What the file is called that a capture was made of, before its ending."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """A document's files; the first is the one it is known by."""

    form: Form
    entries: tuple[Entry, ...]
    others: tuple[str, ...] = ()
    """Files that belong to it and are not read: the original of a captured page."""

    @property
    def path(self) -> str:
        return self.entries[0].path


def units_of(entries: Iterable[Entry]) -> Iterator[FileGroup]:
    """The documents that files make, folder by folder."""
    folders = defaultdict[str, list[Entry]](list)
    for entry in entries:
        folders[entry.path.rpartition("/")[0]].append(entry)
    for members in folders.values():
        yield from _units_of_folder({entry.path.rpartition("/")[2]: entry for entry in members})


def _units_of_folder(members: dict[str, Entry]) -> Iterator[FileGroup]:
    metadata = members.pop(METADATA, None)
    result = members.pop(RESULT, None)
    if metadata and (shown := members.get(CONTENT) or _original(members)):
        captured = [entry for entry in members.values() if suffix_of(entry.path) != ".bib"]
        others = tuple(entry.path for entry in captured if entry is not shown)
        yield FileGroup("capture", (shown, metadata), others)
        members = {name: entry for name, entry in members.items() if suffix_of(entry.path) == ".bib"}
    elif result:
        yield FileGroup("query", (result, metadata) if metadata else (result,))
    for entry in members.values():
        yield FileGroup("bibliography" if suffix_of(entry.path) == ".bib" else "text", (entry,))


def _original(members: dict[str, Entry]) -> Entry | None:
    """The text of a capture without a `content.md`: the original itself."""
    return next((entry for name, entry in sorted(members.items()) if name.partition(".")[0] in ORIGINALS), None)
