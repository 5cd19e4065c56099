"""Documents as they are given to an index, checked, and as they come back."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dowse.errors import UsageError
from dowse.notes.limits import MAX_CONTENT_BYTES, MAX_DEPTH, MAX_ID, MAX_METADATA

NO_CONTENT = "Content must be a non-empty string"
FIELDS = ("doc_id", "content", "metadata")


@dataclass(frozen=True, slots=True)
class NewNote:
    """A document to be added."""

    doc_id: str
    content: str
    metadata: str = "{}"
    """As JSON, the way it is kept."""


@dataclass(frozen=True, slots=True)
class AddedNote:
    """What became of a document."""

    status: str
    """`indexed`, or `re-indexed` where there was one of this id."""
    doc_id: str
    token_count: int

    def as_json(self) -> dict[str, Any]:
        """The document as a reply tells of it."""
        return {"status": self.status, "doc_id": self.doc_id, "token_count": self.token_count}


@dataclass(frozen=True, slots=True)
class StoredNote:
    """A document as an index has it."""

    doc_id: str
    content: str
    metadata: dict[str, Any]
    token_count: int


def note_of(given: Any) -> NewNote:
    """A document as somebody writes it in JSON."""
    if not isinstance(given, dict):
        raise UsageError(f"A document has to be an object with {', '.join(FIELDS)}.")
    for key in given:
        if key not in FIELDS:
            raise UsageError(f"A document has no field {key[:60]!r}. It takes: {', '.join(FIELDS)}.")
    return note(given.get("doc_id"), given.get("content"), given.get("metadata"))


def note(doc_id: Any, content: Any, metadata: Any = None) -> NewNote:
    """A document whose parts are as they should be; UsageError says which is not."""
    return NewNote(_checked_id(doc_id), _checked_content(content), _checked_metadata(metadata))


def _checked_id(doc_id: Any) -> str:
    if not isinstance(doc_id, str) or not doc_id.strip():
        raise UsageError("doc_id must be a non-empty string")
    if len(doc_id) > MAX_ID:
        raise UsageError(f"doc_id has {len(doc_id):,} characters; {MAX_ID:,} are the most.")
    if not _is_sendable(doc_id):
        raise UsageError("doc_id holds half a character (a lone surrogate), which cannot be sent back.")
    return doc_id


def _checked_content(content: Any) -> str:
    if not isinstance(content, str) or not content.strip():
        raise UsageError(NO_CONTENT)
    data = content.encode(errors="replace")  # half a character is a question mark, as in every other argument
    if len(data) > MAX_CONTENT_BYTES:
        raise UsageError(f"Content has {len(data):,} bytes; {MAX_CONTENT_BYTES:,} are the most. Cut it into documents.")
    return content if _is_sendable(content) else data.decode()


def _checked_metadata(metadata: Any) -> str:
    if metadata is None:
        return "{}"
    if not isinstance(metadata, dict):
        raise UsageError("metadata has to be an object.")
    _require_plain(metadata)
    try:
        text = json.dumps(metadata, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:  # a whole number of thousands of digits
        raise UsageError("metadata holds a number that is too long to be written out.") from error
    if len(text) > MAX_METADATA:
        raise UsageError(f"metadata has {len(text):,} characters as JSON; {MAX_METADATA:,} are the most.")
    return text


def _require_plain(metadata: Mapping[str, Any]) -> None:
    """Refuse what cannot come back as it was; without recursion, for it may be nested as deep as a message is long."""
    level: list[Any] = [metadata]
    for _ in range(MAX_DEPTH):
        for value in level:
            if isinstance(value, float) and not math.isfinite(value):
                raise UsageError("metadata holds a number that JSON does not have (NaN or infinity).")
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return
    raise UsageError(f"metadata is nested deeper than {MAX_DEPTH} levels.")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _is_sendable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
