"""The files of a folder of documents: pages and texts, converted by the readers."""

import hashlib
from pathlib import Path

from dowse.reading.formats import BINARY_EXTENSIONS, DOCUMENT_EXTENSIONS
from dowse.settings import Settings
from dowse.sources.policy import Policy
from dowse.sources.project_files import ProjectFiles
from dowse.types import Entry, FileContent, Kind, Reason, Rule, Verdict

MAX_CONVERTED_BYTES = 20 * 1024 * 1024
"""The largest PDF or Word file that is read; most of such a file is pictures, not text."""


class DocumentPolicy(Policy):
    """The policy of a folder of documents: it allows documents only, and PDF and Word files among them.

    It leaves out hidden files and folders: those of a vault hold deleted notes, templates and settings.
    """

    skips_hidden = True

    def kind_of(self, path: str, size: int) -> Kind | Verdict:
        """Return the kind of a document, which is always `docs`, or the verdict against the file."""
        if not is_document(path):
            return Verdict(
                path,
                Reason.NOT_INCLUDED,
                Rule(" ".join(sorted(DOCUMENT_EXTENSIONS)), "built-in list of document types"),
            )
        if size > self.max_bytes_for(path):
            return self.too_large_verdict(path, size)
        if not self._include.is_everything and not self._include.rule_for_file(path):
            return Verdict(path, Reason.NOT_INCLUDED, self._include.as_one_rule())
        return "docs"

    def max_bytes_for(self, path: str) -> int:
        """Return the maximum size of a document with this extension."""
        return MAX_CONVERTED_BYTES if path.lower().endswith(BINARY_EXTENSIONS) else self.settings.max_file_bytes

    def content_refusal(self, path: str, data: bytes, size: int) -> Verdict | None:
        """Return the verdict against a document with these bytes, or None. PDF and Word files may hold any bytes."""
        if not path.lower().endswith(BINARY_EXTENSIONS):
            return super().content_refusal(path, data, size)
        return self.too_large_verdict(path, max(size, len(data))) if len(data) > MAX_CONVERTED_BYTES else None


class DocumentFiles(ProjectFiles):
    """The documents below one root."""

    policy_type = DocumentPolicy

    def __init__(self, root: Path, settings: Settings) -> None:
        super().__init__(root, settings)

    def read(self, entry: Entry) -> FileContent | Verdict:
        """Read one document that the walk returned, or return the verdict against it."""
        content = self._read_allowed(entry.path)
        if isinstance(content, Verdict):
            return content
        data, stat = content
        language = "text" if suffix_of(entry.path) == ".txt" else "markdown"
        digest = hashlib.sha256(data).digest()
        return FileContent(entry.path, "docs", language, stat, digest, data, is_converted=True)

    def text_refusal(self, path: str, text: str) -> Verdict | None:
        """Return the verdict against a file that was converted to this text, or None."""
        is_binary = path.lower().endswith(BINARY_EXTENSIONS)
        return self._policy.key_refusal(path, text.encode("utf-8", "replace")) if is_binary else None


def is_document(path: str) -> bool:
    """Return whether a file is a document by its extension."""
    return suffix_of(path) in DOCUMENT_EXTENSIONS


def suffix_of(path: str) -> str:
    """Return the extension of a path with its dot, in lower case."""
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name[1:] else ""
