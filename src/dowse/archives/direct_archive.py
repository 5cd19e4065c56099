"""Archives that are not indexed yet: the files with words of a query, in a database that is deleted after use.

The search of it is that of the index, without what only a parser finds: citations, and the text of PDF and Word files.
"""

import re
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from heapq import nlargest
from itertools import takewhile
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_documents import read_as_plain_document
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_parsing import ParsedFileGroup
from dowse.archives.archive_types import ArchiveReport
from dowse.archives.archive_words import split_words
from dowse.archives.archive_writer import ArchiveWriter
from dowse.archives.file_groups import FileGroup
from dowse.archives.ingest import ArchiveIngest
from dowse.reading.languages import is_binary_document
from dowse.searching.query_terms import stop_words
from dowse.sources.archive_files import ArchiveFiles
from dowse.types import Verdict

READ_SECONDS = 1.5
"""How long files are read: 3,000 take about as long."""
MAX_DOCUMENTS = 40
"""Documents that are ranked: those with the most words of the query, and with most of each. A long one takes 15 ms."""
MIN_LETTERS = 4
"""The letters of a longer word that a document has to have: forms of a word differ in the rest."""
_TITLE_CHARACTERS = 3000
_TITLE = re.compile(r"^(?:#[ \t]+|title:[ \t]*)(\S[^\n]{0,200})", re.MULTILINE | re.IGNORECASE)
"""The first heading of a text, or the title in its front matter."""


class _TemporaryDatabase(ArchiveDatabase):
    settings = ("synchronous = OFF",)


class DirectArchive:
    """The documents with words of a query, until it is closed."""

    def __init__(self, locations: ArchiveLocations, query: str, seconds: float = READ_SECONDS) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dowse-", ignore_cleanup_errors=True)
        self.database: ArchiveDatabase = _TemporaryDatabase(Path(self._folder.name) / "archive.sqlite")
        self._read = self._total = 0
        self._fill(locations, _beginnings(query), time.monotonic() + seconds)

    @property
    def warning(self) -> str:
        """The sentence that says how much was searched."""
        return (
            f"The archives are being indexed for the first time. {self._read:,} of {self._total:,} documents were "
            "searched as they are written, without citations."
        )

    def close(self) -> None:
        """Delete the database."""
        self.database.close()
        self._folder.cleanup()

    def _fill(self, locations: ArchiveLocations, beginnings: Collection[bytes], deadline: float) -> None:
        with self.database.transaction() as connection:
            writer = ArchiveWriter(connection)
            ingests = [
                ArchiveIngest(self.database, writer, ArchiveReport(), archive, root, read=_read_as_written)
                for archive, root in locations.present.items()
            ]
            counts = dict[FileGroup, tuple[int, int]]()
            for ingest in ingests:
                ingest.scan(None)
                self._total += len(ingest.groups)
                files = ArchiveFiles(locations.roots[ingest.archive])
                for group in takewhile(lambda _: time.monotonic() < deadline, ingest.groups):
                    counts[group] = _count_words(files, group, beginnings)
                    self._read += not is_binary_document(group.path)
            found = [group for group, (distinct, _) in counts.items() if distinct]
            best = frozenset(nlargest(MAX_DOCUMENTS, found, key=counts.__getitem__))
            for ingest in ingests:
                ingest.groups = [group for group in ingest.groups if group in best]
                for _ in ingest.update_all():
                    pass
            writer.finish()


def _beginnings(query: str) -> frozenset[bytes]:
    """Return the letters that the words of a query begin with, in any form."""
    words = [word for word in split_words(query) if word not in stop_words()] or split_words(query)
    return frozenset(word[: max(MIN_LETTERS, len(word) - 3)].encode() for word in words)


def _count_words(files: ArchiveFiles, group: FileGroup, beginnings: Collection[bytes]) -> tuple[int, int]:
    """Return how many words of the query a document has in its path or its text, and how often; 0 if it may not be read."""
    read = files.read_entry_bytes(group.entries[0])
    if isinstance(read, Verdict):
        return 0, 0
    text = group.path.encode("utf-8", "replace").lower() + b"\n" + read[0].lower()
    counts = [text.count(beginning) for beginning in beginnings]
    return sum(map(bool, counts)), sum(counts)


def _read_as_written(group: FileGroup, files: Mapping[str, bytes], archive: Archive) -> Callable[[], ParsedFileGroup]:
    def read() -> ParsedFileGroup:
        if group.form == "bibliography":
            return ParsedFileGroup()
        document = read_as_plain_document(group, files, archive)
        title = _TITLE.search(document.text, 0, _TITLE_CHARACTERS)
        return ParsedFileGroup(replace(document, title=title[1].strip("\"' ")) if title else document)

    return read
