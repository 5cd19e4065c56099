"""The definitions of the tools of named indexes: descriptions, arguments, output schemas and annotations."""

from collections.abc import Callable
from functools import partial

from dowse.mcp.schemas import FLAG, INTEGER, NUMBER, OBJECT, TEXT, TEXTS, describe, item
from dowse.mcp.tools import Schema, Tool
from dowse.notes.limits import DEFAULT_INDEX, DEFAULT_K, MAX_K, MAX_OFFSET, MAX_QUERY_CHARACTERS
from dowse.surfaces.notes.notes_handlers import NotesSurface, error_of

INSTRUCTIONS = (
    "Keep notes and findings of your own with search_add_document, and find them with search_index; indexes made "
    "with backend disk outlast this session."
)

_INDEX = {"index_name": describe(TEXT, "Target index", default=DEFAULT_INDEX)}
_ID = {"doc_id": describe(TEXT, "Unique document identifier")}
_OFFSET = describe(INTEGER, "Skip this many results", default=0, minimum=0, maximum=MAX_OFFSET)


def _reply(*required: str, **properties: Schema) -> Schema:
    """Return the schema of an object with these properties and possibly others, or with an error."""
    choices = [{"required": list(required)}, {"required": ["error"]}]
    return {"type": "object", "properties": {**properties, "error": TEXT}, "anyOf": choices}


_ADDED = {"status": TEXT, "doc_id": TEXT, "token_count": INTEGER}


def notes_tools(surface: NotesSurface) -> list[Tool]:
    """Return every tool."""
    reads: Callable[..., Tool] = partial(Tool, failure=error_of)
    changes: Callable[..., Tool] = partial(Tool, is_read_only=False, failure=error_of)
    return [
        reads(
            "search_index", "Search an index",
            "Search documents you added to a named index; ranked, with highlights. "
            'Query: words, +must, -not, "a phrase"',
            surface.search_index,
            _reply(
                "results", "total_matches",
                results={
                    "type": "array",
                    "items": item(
                        ("doc_id", "score", "highlights", "metadata"),
                        doc_id=TEXT, score=NUMBER, highlights=TEXTS, metadata=OBJECT,
                    ),
                },
                total_matches=INTEGER, query_parsed=OBJECT, next_offset=INTEGER,
            ),
            {
                "query": describe(TEXT, "Search query (supports +/- and phrase operators)", maxLength=MAX_QUERY_CHARACTERS),
                "k": describe(INTEGER, "Maximum results to return", default=DEFAULT_K, minimum=1, maximum=MAX_K),
                **_INDEX,
                "offset": _OFFSET,
            },
            ("query",),
        ),
        changes(
            "search_add_document", "Add a document",
            "Add a document to a named index, or replace the one with this id",
            surface.add_document, _reply("status", "doc_id", "token_count", **_ADDED),
            {
                **_ID, "content": describe(TEXT, "Text content to index"),
                "metadata": describe(OBJECT, "Arbitrary key-value metadata"), **_INDEX,
            },
            ("doc_id", "content"), is_destructive=True,
        ),
        changes(
            "search_create_index", "Create an index",
            "Create a named index: in memory for the life of the server, or on disk",
            surface.create_index,
            _reply("status", "index_name", "backend", status=TEXT, index_name=TEXT, backend=TEXT),
            {
                "index_name": describe(TEXT, "Name for the new index: letters, digits, - and _"),
                "backend": describe(TEXT, "memory or disk (survives a restart)", default="memory"),
                "tokenizer_config": {
                    "type": "object", "description": "Tokenizer settings",
                    "properties": {
                        "lowercase": describe(FLAG, "Convert tokens to lowercase", default=True),
                        "min_length": describe(INTEGER, "Minimum token character length", default=2),
                    },
                },
            },
            ("index_name",), is_idempotent=False,
        ),
        changes(
            "search_add_documents", "Add many documents",
            "Add or replace many documents at once; if any is invalid, none is added and each error is listed",
            surface.add_documents,
            _reply("status", status=TEXT, added=INTEGER, replaced=INTEGER, documents={"type": "array"}),
            {
                "documents": {
                    "type": "array", "description": "Objects with doc_id, content and metadata",
                    "items": OBJECT,
                },
                **_INDEX,
            },
            ("documents",), is_destructive=True, is_extra=True,
        ),
        reads(
            "search_get_document", "Get a document", "Return a document of a named index as it was added",
            surface.get_document,
            _reply("doc_id", "content", "metadata", **_ADDED, content=TEXT, metadata=OBJECT, next_offset=INTEGER),
            {**_ID, **_INDEX, "offset": describe(INTEGER, "Skip this many characters", default=0, minimum=0)},
            ("doc_id",), is_extra=True,
        ),
        changes(
            "search_delete_document", "Delete a document", "Delete a document from a named index",
            surface.delete_document, _reply("status", "doc_id", status=TEXT, doc_id=TEXT),
            {**_ID, **_INDEX}, ("doc_id",), is_destructive=True, is_extra=True,
        ),
        reads(
            "search_list_indexes", "List indexes", "List all named indexes with their documents, tokens, size and tokenizer",
            surface.list_indexes,
            _reply("indexes", "total_indexes", indexes={"type": "array"}, total_indexes=INTEGER), is_extra=True,
        ),
        changes(
            "search_delete_index", "Delete an index", "Delete a named index and all its documents",
            surface.delete_index, _reply("status", status=TEXT, index_name=TEXT, documents=INTEGER),
            {
                "index_name": describe(TEXT, "Name of the index"),
                "confirm": describe(FLAG, "Confirm, if the client cannot ask the user", default=False),
            },
            ("index_name",), is_destructive=True, is_extra=True,
        ),
    ]  # fmt: skip
