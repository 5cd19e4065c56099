"""A folder of documents as a source: its pages and texts behind the same policy, each as a reader gets it."""

import hashlib
from pathlib import Path

from dowse.errors import FormatNotReadable
from dowse.reading import DOCUMENT_EXTENSIONS, read_document
from dowse.settings import Settings
from dowse.sources.policy import Policy
from dowse.sources.project_files import ProjectFiles
from dowse.types import Document, Entry, Kind, Reason, Rule, Verdict

MAX_CONVERTED_BYTES = 20 * 1024 * 1024
"""The largest PDF or Word file that is read: most of it is pictures, not text."""

_CONVERTED_SUFFIXES = (".pdf", ".docx")


class DocumentPolicy(Policy):
    """The rules of a folder of documents: what is no document is left out, and a PDF is no binary file."""

    def kind_of(self, path: str, size: int) -> Kind | Verdict:
        """Documents are all of one kind."""
        if suffix_of(path) not in DOCUMENT_EXTENSIONS:
            return Verdict(path, Reason.NOT_INCLUDED, Rule(" ".join(sorted(DOCUMENT_EXTENSIONS)), "kinds of documents"))
        if size > self.max_bytes_for(path):
            return self.too_large_verdict(path, size)
        if not self._include.is_everything and not self._include.rule_for_file(path):
            return Verdict(path, Reason.NOT_INCLUDED, self._include.as_one_rule())
        return "docs"

    def max_bytes_for(self, path: str) -> int:
        """The largest size of a document of this sort."""
        return MAX_CONVERTED_BYTES if path.lower().endswith(_CONVERTED_SUFFIXES) else self.settings.max_file_bytes

    def content_refusal(self, path: str, data: bytes, size: int) -> Verdict | None:
        """What speaks against a document once its bytes are known; a PDF may hold any bytes."""
        if not path.lower().endswith(_CONVERTED_SUFFIXES):
            return super().content_refusal(path, data, size)
        return self.too_large_verdict(path, max(size, len(data))) if len(data) > MAX_CONVERTED_BYTES else None


class DocumentFiles(ProjectFiles):
    """The documents below one root."""

    policy_type = DocumentPolicy

    def __init__(self, root: Path, settings: Settings) -> None:
        super().__init__(root, settings)

    def read(self, entry: Entry) -> Document | Verdict:
        """Read one document now that the walk gave, or say why not."""
        found = self._read_allowed(entry.path)
        if isinstance(found, Verdict):
            return found
        data, stat = found
        try:
            reading = read_document(data, entry.path)
        except FormatNotReadable as error:
            return Verdict(entry.path, Reason.UNREADABLE, detail=str(error))
        language = "text" if suffix_of(entry.path) == ".txt" else "markdown"
        return Document(entry.path, "docs", language, stat, hashlib.sha256(data).digest(), reading)


def suffix_of(path: str) -> str:
    """The ending of a document's name, with its dot, in small letters."""
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name[1:] else ""
