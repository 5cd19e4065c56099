"""The files of a folder of documents: pages and texts, converted by the readers."""

import hashlib
from pathlib import Path

from dowse.errors import FormatNotReadable
from dowse.reading import DOCUMENT_EXTENSIONS, read_document
from dowse.settings import Settings
from dowse.sources.policy import Policy
from dowse.sources.project_files import ProjectFiles
from dowse.types import Document, Entry, Kind, Reason, Rule, Verdict

MAX_CONVERTED_BYTES = 20 * 1024 * 1024
"""The largest PDF or Word file that is read; most of such a file is pictures, not text."""

_CONVERTED_SUFFIXES = (".pdf", ".docx")


class DocumentPolicy(Policy):
    """The policy of a folder of documents: it allows documents only, and PDF and Word files among them."""

    def kind_of(self, path: str, size: int) -> Kind | Verdict:
        """Return the kind of a document, which is always `docs`, or the verdict against the file."""
        if suffix_of(path) not in DOCUMENT_EXTENSIONS:
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
        return MAX_CONVERTED_BYTES if path.lower().endswith(_CONVERTED_SUFFIXES) else self.settings.max_file_bytes

    def content_refusal(self, path: str, data: bytes, size: int) -> Verdict | None:
        """Return the verdict against a document with these bytes, or None. PDF and Word files may hold any bytes."""
        if not path.lower().endswith(_CONVERTED_SUFFIXES):
            return super().content_refusal(path, data, size)
        return self.too_large_verdict(path, max(size, len(data))) if len(data) > MAX_CONVERTED_BYTES else None


class DocumentFiles(ProjectFiles):
    """The documents below one root."""

    policy_type = DocumentPolicy

    def __init__(self, root: Path, settings: Settings) -> None:
        super().__init__(root, settings)

    def read(self, entry: Entry) -> Document | Verdict:
        """Read one document that the walk returned, or return the verdict against it."""
        content = self._read_allowed(entry.path)
        if isinstance(content, Verdict):
            return content
        data, stat = content
        try:
            reading = read_document(data, entry.path)
        except FormatNotReadable as error:
            return Verdict(entry.path, Reason.UNREADABLE, detail=str(error))
        if entry.path.lower().endswith(_CONVERTED_SUFFIXES) and (
            refusal := self._policy.key_refusal(entry.path, reading.text.encode())
        ):
            return refusal
        language = "text" if suffix_of(entry.path) == ".txt" else "markdown"
        return Document(entry.path, "docs", language, stat, hashlib.sha256(data).digest(), reading)


def suffix_of(path: str) -> str:
    """Return the extension of a path with its dot, in lower case."""
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name[1:] else ""
