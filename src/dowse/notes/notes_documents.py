"""The documents of a named index: before and after they are stored, and the checks in between."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dowse.errors import UsageError
from dowse.notes import limits

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
    """The outcome of adding a document, as in a reply."""

    status: str
    """`indexed`, or `re-indexed` if it replaced a document with the same id."""
    doc_id: str
    token_count: int


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
    if len(doc_id) > limits.MAX_ID_CHARACTERS:
        raise UsageError(f"doc_id has {len(doc_id):,} characters; the maximum is {limits.MAX_ID_CHARACTERS:,}.")
    if not _is_valid_unicode(doc_id):
        raise UsageError("doc_id contains a lone surrogate, which is not valid Unicode.")
    if not isinstance(content, str) or not content.strip():
        raise UsageError(NO_CONTENT)
    data = content.encode(errors="replace")  # a lone surrogate becomes a question mark, as in every other argument
    if len(data) > limits.MAX_CONTENT_BYTES:
        maximum = f"{limits.MAX_CONTENT_BYTES // 2**20} MiB"
        raise UsageError(f"Content has {len(data):,} bytes. Maximum {maximum}; split it into several documents.")
    return NewNote(doc_id, content if _is_valid_unicode(content) else data.decode(), _check_metadata(metadata))


def _check_metadata(metadata: Any) -> str:
    if metadata is None:
        return "{}"
    if not isinstance(metadata, dict):
        raise UsageError("metadata has to be an object.")
    _require_depth(metadata)
    try:
        text = json.dumps(metadata, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        message = "metadata contains a number that JSON does not have: NaN, infinity, or one with thousands of digits."
        raise UsageError(message) from error
    if len(text) > limits.MAX_METADATA_CHARACTERS:
        raise UsageError(
            f"metadata has {len(text):,} characters as JSON; the maximum is {limits.MAX_METADATA_CHARACTERS:,}."
        )
    return text


def _require_depth(metadata: Mapping[str, Any]) -> None:
    """Raise if a value is nested too deep. Not recursive: nesting may exceed the stack."""
    level: list[Any] = [metadata]
    for _ in range(limits.MAX_METADATA_DEPTH):
        parts = (value.values() if isinstance(value, dict) else value for value in level)
        level = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
        if not level:
            return
    raise UsageError(f"metadata is nested deeper than {limits.MAX_METADATA_DEPTH} levels.")


def _is_valid_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
