"""The documents of a named index: before and after they are stored, and the checks in between."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dowse.errors import UsageError
from dowse.notes.limits import MAX_CONTENT_BYTES, MAX_ID_CHARACTERS, MAX_METADATA_CHARACTERS, MAX_METADATA_DEPTH

NO_CONTENT = "Content must be a non-empty string"
FIELDS = ("doc_id", "content", "metadata")


@dataclass(frozen=True, slots=True)
class NewNote:
    """A checked document that can be added."""

    doc_id: str
    content: str
    metadata: str = "{}"
    """JSON, as it is stored."""


@dataclass(frozen=True, slots=True)
class AddedNote:
    """The outcome of adding a document."""

    status: str
    """`indexed`, or `re-indexed` if it replaced a document with the same id."""
    doc_id: str
    token_count: int

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as it appears in a reply."""
        return {"status": self.status, "doc_id": self.doc_id, "token_count": self.token_count}


@dataclass(frozen=True, slots=True)
class StoredNote:
    """A document as the index stores it."""

    doc_id: str
    content: str
    metadata: dict[str, Any]
    token_count: int


def parse_note(value: Any) -> NewNote:
    """Return the document that a JSON value describes."""
    if not isinstance(value, dict):
        raise UsageError(f"A document has to be an object with {', '.join(FIELDS)}.")
    for key in value:
        if key not in FIELDS:
            raise UsageError(f"A document has no field {key[:60]!r}. It takes: {', '.join(FIELDS)}.")
    return make_note(value.get("doc_id"), value.get("content"), value.get("metadata"))


def make_note(doc_id: Any, content: Any, metadata: Any = None) -> NewNote:
    """Return a document with these fields. Raise a UsageError that names the invalid one."""
    if not isinstance(doc_id, str) or not doc_id.strip():
        raise UsageError("doc_id must be a non-empty string")
    if len(doc_id) > MAX_ID_CHARACTERS:
        raise UsageError(f"doc_id has {len(doc_id):,} characters; the maximum is {MAX_ID_CHARACTERS:,}.")
    if not _is_valid_unicode(doc_id):
        raise UsageError("doc_id contains a lone surrogate, which is not valid Unicode.")
    if not isinstance(content, str) or not content.strip():
        raise UsageError(NO_CONTENT)
    data = content.encode(errors="replace")  # a lone surrogate becomes a question mark, as in every other argument
    if len(data) > MAX_CONTENT_BYTES:
        maximum = f"{MAX_CONTENT_BYTES // 2**20} MiB"
        raise UsageError(f"Content has {len(data):,} bytes. Maximum {maximum}; split it into several documents.")
    return NewNote(doc_id, content if _is_valid_unicode(content) else data.decode(), _check_metadata(metadata))


def _check_metadata(metadata: Any) -> str:
    if metadata is None:
        return "{}"
    if not isinstance(metadata, dict):
        raise UsageError("metadata has to be an object.")
    _require_json_values(metadata)
    try:
        text = json.dumps(metadata, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:  # an integer of thousands of digits
        raise UsageError("metadata contains a number with too many digits.") from error
    if len(text) > MAX_METADATA_CHARACTERS:
        raise UsageError(f"metadata has {len(text):,} characters as JSON; the maximum is {MAX_METADATA_CHARACTERS:,}.")
    return text


def _require_json_values(metadata: Mapping[str, Any]) -> None:
    """Raise if a value is not valid JSON or is nested too deep. Not recursive: nesting may exceed the stack."""
    level: list[Any] = [metadata]
    for _ in range(MAX_METADATA_DEPTH):
        for value in level:
            if isinstance(value, float) and not math.isfinite(value):
                raise UsageError("metadata contains NaN or infinity, which JSON does not have.")
        level = [inner for value in level for inner in _children(value)]
        if not level:
            return
    raise UsageError(f"metadata is nested deeper than {MAX_METADATA_DEPTH} levels.")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _is_valid_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
