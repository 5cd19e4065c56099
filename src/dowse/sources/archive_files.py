"""The files of a research archive: its documents, and the JSON and BibTeX files that describe them."""

from pathlib import Path

from dowse.settings import Settings
from dowse.sources.document_files import DocumentFiles, DocumentPolicy
from dowse.sources.document_types import suffix_of
from dowse.types import Entry, Kind, Stat, Verdict

METADATA_FILE = "metadata.json"
RESULT_FILE = "result.json"

MAX_ARCHIVE_FILE_BYTES = 10 * 1024 * 1024
"""The largest file that is read. It is more than in a project, because archives have long reports and whole pages."""


class ArchivePolicy(DocumentPolicy):
    """The policy of an archive: it allows documents and the files that describe them."""

    def kind_of(self, path: str, size: int) -> Kind | Verdict:
        """Return the kind of a file, which is always `docs`, or the verdict against it."""
        if path.rpartition("/")[2] in (METADATA_FILE, RESULT_FILE) or suffix_of(path) == ".bib":
            return self.too_large_verdict(path, size) if size > self.max_bytes_for(path) else "docs"
        return super().kind_of(path, size)


class ArchiveFiles(DocumentFiles):
    """The files of one archive. Files that git ignores are read, because many projects ignore the archives inside them."""

    policy_type = ArchivePolicy

    def __init__(self, root: Path) -> None:
        super().__init__(root, Settings(respect_gitignore=False, max_file_bytes=MAX_ARCHIVE_FILE_BYTES))

    def read_entry_bytes(self, entry: Entry) -> tuple[bytes, Stat] | Verdict:
        """Return a file's bytes with their stat, or the verdict against the file."""
        return self._read_allowed(entry.path)
