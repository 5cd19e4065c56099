"""The entries of the lexical index: its fields, and what a document and its chunks put into them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import tantivy

from dowse.text.analysis import (
    PARTS_ANALYZER,
    WHOLE_ANALYZER,
    keep_and_split_identifiers,
    keep_identifiers,
    remove_separators,
    split_identifiers,
)
from dowse.types import Kind

DOCUMENT_ENTRY = "document"


@dataclass(frozen=True, slots=True)
class LexicalDocument:
    """A document as it is added to the index: its path and its chunks."""

    document_id: int
    kind: Kind
    path: str
    chunks: Sequence[tuple[int, str, Sequence[str], Sequence[str]]]
    """Of each chunk: its id, its text, the names it defines, the headings above it."""
    title: str = ""
    text: str = ""
    """The title, and the text in which words are matched; both are empty in an index that is not searched for them."""


def entries_of(document: LexicalDocument) -> Iterator[Any]:
    """Yield one entry for a document and one for each chunk."""
    entry = tantivy.Document()
    entry.add_text("entry", DOCUMENT_ENTRY)
    entry.add_unsigned("document", document.document_id)
    entry.add_text("kind", document.kind)
    if document.title:
        entry.add_text("title", split_identifiers(document.title))
    if document.text:
        entry.add_text("text", split_identifiers(document.text))
    entry.add_text("path", split_identifiers(document.path))
    entry.add_text("stem", split_identifiers(PurePosixPath(document.path).stem))
    yield entry
    for chunk_id, text, symbols, headings in document.chunks:
        entry = tantivy.Document()
        entry.add_unsigned("chunk", chunk_id)
        entry.add_unsigned("document", document.document_id)
        entry.add_text("kind", document.kind)
        words, parts = keep_and_split_identifiers(text)
        entry.add_text("words", words)
        entry.add_text("parts", parts)
        if symbols:
            entry.add_text("names", keep_identifiers(" ".join(map(remove_separators, symbols))))
            entry.add_text("symbols", split_identifiers(" ".join(symbols)))
        if headings:
            entry.add_text("headings", split_identifiers(" ".join(headings)))
        yield entry


def _build_schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk", indexed=True, fast=True)
    builder.add_unsigned_field("document", indexed=True, fast=True)
    builder.add_text_field("kind", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("entry", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="parts", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whole", index_option="position")
    builder.add_text_field("names", tokenizer_name="whole", index_option="basic")
    for field in ("parts", "symbols", "headings", "path", "stem", "title"):
        builder.add_text_field(field, tokenizer_name="parts", index_option="freq")
    return builder.build()


SCHEMA = _build_schema()
ANALYZERS = {"whole": WHOLE_ANALYZER, "parts": PARTS_ANALYZER}
