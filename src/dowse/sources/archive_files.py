"""A research archive as a source: its documents, and the JSON and BibTeX files that belong to them."""

from pathlib import Path

from dowse.settings import Settings
from dowse.sources.document_files import DocumentFiles, DocumentPolicy, suffix_of
from dowse.types import Entry, Kind, Stat, Verdict

METADATA_FILE = "metadata.json"
RESULT_FILE = "result.json"

MAX_ARCHIVE_FILE_BYTES = 10 * 1024 * 1024
"""The largest file that is read: an archive has long reports and whole pages, where a project has generated files."""


class ArchivePolicy(DocumentPolicy):
    """The rules of an archive: documents, and what says more of them."""

    def kind_of(self, path: str, size: int) -> Kind | Verdict:
        """All is of one kind."""
        if path.rpartition("/")[2] in (METADATA_FILE, RESULT_FILE) or suffix_of(path) == ".bib":
            return self.too_large_verdict(path, size) if size > self.max_bytes_for(path) else "docs"
        return super().kind_of(path, size)


class ArchiveFiles(DocumentFiles):
    """The files of one archive. What git ignores is read: archives often lie in a project that ignores them."""

    policy_type = ArchivePolicy

    def __init__(self, root: Path) -> None:
        super().__init__(root, Settings(respect_gitignore=False, max_file_bytes=MAX_ARCHIVE_FILE_BYTES))

    def read_entry_bytes(self, entry: Entry) -> tuple[bytes, Stat] | Verdict:
        """A file's bytes and the stat they belong to, or why they are not read."""
        return self._read_allowed(entry.path)
