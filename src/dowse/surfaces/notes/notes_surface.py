"""The tools of named indexes, in which an assistant stores and finds notes."""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from dowse.errors import DowseError, InvalidArgument, InvalidDocuments, SearchStopped, UsageError
from dowse.mcp.replies import (
    ENVELOPE_CHARACTERS,
    Reply,
    ask_consent,
    fit_items,
    fit_text,
    wire_characters,
    without_storage_root,
)
from dowse.mcp.schemas import FLAG, INTEGER, LIST, NUMBER, OBJECT, TEXT, TEXTS, describe, rows
from dowse.mcp.tools import CHANGES, DESTROYS, Call, Schema, tool, tools_of
from dowse.notes import limits

if TYPE_CHECKING:
    from dowse.notes.named_index import IndexInfo, NamedIndex, NotesAnswer
    from dowse.notes.notes_documents import StoredNote
    from dowse.notes.registry import NotesRegistry

Got = TypeVar("Got")

INSTRUCTIONS = (
    "Keep notes and findings of your own with search_add_document, and find them with search_index; indexes made "
    "with backend disk outlast this session."
)
DELETE_QUESTION = "Delete the index {name} and its {count} documents? This cannot be undone."
THREADS = 16
"""Calls that run at the same time; further calls wait."""
MIN_RESULT_CHARACTERS = 120
"""What a result of a search takes in a reply at least."""
MAX_PARSED_CHARACTERS = 10_000
"""A longer parsed query is cut."""


def _reply(*required: str, **properties: Schema) -> Schema:
    """Return the schema of an object with these properties and possibly others, or with an error."""
    choices = [{"required": list(required)}, {"required": ["error"]}]
    return {"type": "object", "properties": {**properties, "error": TEXT}, "anyOf": choices}


_NAME = describe(TEXT, "Name for the new index: letters, digits, - and _")
_INDEX = {"index_name": describe(TEXT, "Target index", default=limits.DEFAULT_INDEX)}
_ID = {"doc_id": describe(TEXT, "Unique document identifier")}
_NOTE = {
    "content": describe(TEXT, "Text content to index"),
    "metadata": describe(OBJECT, "Arbitrary key-value metadata"),
}
_NOTES = {"type": "array", "description": "Objects with doc_id, content and metadata", "items": OBJECT}
_WORDS = {
    "lowercase": describe(FLAG, "Convert tokens to lowercase", default=True),
    "min_length": describe(INTEGER, "Minimum token character length", default=2),
}
_BACKEND = describe(TEXT, "memory or disk (survives a restart)", default="memory")
_CONFIRM = {"confirm": describe(FLAG, "Confirm, if the client cannot ask the user", default=False)}
_RESULT = {"doc_id": TEXT, "score": NUMBER, "highlights": TEXTS, "metadata": OBJECT}
_FOUND = {"results": rows(tuple(_RESULT), **_RESULT), "total_matches": INTEGER}
_ADDED = {"status": TEXT, "doc_id": TEXT, "token_count": INTEGER}
_CREATED = {"status": TEXT, "index_name": TEXT, "backend": TEXT}
_DELETED = _reply("status", "doc_id", status=TEXT, doc_id=TEXT)
_STORED = {"doc_id": TEXT, "content": TEXT, "metadata": OBJECT}


class NotesSurface:
    """The tools of the named indexes of a process. Indexes in memory live as long as this object."""

    def __init__(self, *, has_memory: bool = True) -> None:
        """Without memory there is no default index: nothing could be added to it where these tools are not offered."""
        self.tools = tools_of(self, failure=error_of)
        self._has_memory = has_memory
        self._library: NotesRegistry | None = None
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="notes")

    def close(self) -> None:
        """Close the indexes. Those in memory are lost."""
        with self._opening:
            library, self._library = self._library, None
        if library:
            library.close()

    # Specified tools

    @tool(
        "Search an index",
        _reply(*_FOUND, **_FOUND, query_parsed=OBJECT, next_offset=INTEGER),
        {
            "query": describe(
                TEXT, "Search query (supports +/- and phrase operators)", maxLength=limits.MAX_QUERY_CHARACTERS
            ),
            "k": describe(
                INTEGER, "Maximum results to return", default=limits.DEFAULT_K, minimum=1, maximum=limits.MAX_K
            ),
            **_INDEX,
            "offset": describe(INTEGER, "Skip this many results", default=0, minimum=0, maximum=limits.MAX_OFFSET),
        },
        ("query",),
    )
    async def search_index(self, call: Call) -> Reply:
        """Search documents you added to a named index; ranked, with highlights. Query: words, +must, -not, "a phrase\""""
        given, budget = call.arguments, call.budget_characters

        def search(index: "NamedIndex", check_cancelled: Callable[[], None]) -> Reply:
            return search_reply(
                index, given["query"], given["k"], given["offset"], budget, check_cancelled=check_cancelled
            )

        return await self.use(given["index_name"], search)

    @tool("Add a document", _reply(*_ADDED, **_ADDED), {**_ID, **_NOTE, **_INDEX}, ("doc_id", "content"), **DESTROYS)
    async def search_add_document(self, call: Call) -> Reply:
        """Add a document to a named index, or replace the one with this id"""
        from dowse.notes.notes_documents import make_note

        given = call.arguments
        one = make_note(given["doc_id"], given["content"], given["metadata"])
        (added,) = await self.use(given["index_name"], lambda index, _: index.add([one]))
        return asdict(added)

    @tool(
        "Create an index",
        _reply(*_CREATED, **_CREATED),
        {
            "index_name": _NAME,
            "backend": _BACKEND,
            "tokenizer_config": {"type": "object", "description": "Tokenizer settings", "properties": _WORDS},
        },
        ("index_name",),
        **CHANGES,
        is_idempotent=False,
    )
    async def search_create_index(self, call: Call) -> Reply:
        """Create a named index: in memory for the life of the server, or on disk"""
        given = call.arguments
        name, backend = given["index_name"], given["backend"]
        await self._do(lambda library, _: library.create(name, backend, given["tokenizer_config"]))
        return {"status": "created", "index_name": name, "backend": backend}

    # Further tools

    @tool(
        "Add many documents",
        _reply("status", status=TEXT, added=INTEGER, replaced=INTEGER, documents=LIST),
        {"documents": _NOTES, **_INDEX},
        ("documents",),
        **DESTROYS,
        is_extra=True,
    )
    async def search_add_documents(self, call: Call) -> Reply:
        """Add or replace many documents at once; if any is invalid, none is added and each error is listed"""
        notes = _notes(call.arguments["documents"])
        added = await self.use(call.arguments["index_name"], lambda index, _: index.add(notes))
        reply: dict[str, Any] = {
            "status": "indexed",
            "added": sum(one.status == "indexed" for one in added),
            "replaced": sum(one.status != "indexed" for one in added),
            "token_count": sum(one.token_count for one in added),
        }
        each = [asdict(one) for one in added]
        if wire_characters(each) + ENVELOPE_CHARACTERS <= call.budget_characters:
            return {**reply, "documents": each}
        return {**reply, "truncated": "The documents are not listed one by one: the reply would be too long."}

    @tool(
        "Get a document",
        _reply(*_STORED, **_ADDED | _STORED, next_offset=INTEGER),
        {**_ID, **_INDEX, "offset": describe(INTEGER, "Skip this many characters", default=0, minimum=0)},
        ("doc_id",),
        is_extra=True,
    )
    async def search_get_document(self, call: Call) -> Reply:
        """Return a document of a named index as it was added"""
        given = call.arguments
        found = await self.use(given["index_name"], lambda index, _: index.document(given["doc_id"]))
        return document_reply(found, given["offset"], call.budget_characters)

    @tool("Delete a document", _DELETED, {**_ID, **_INDEX}, ("doc_id",), **DESTROYS, is_extra=True)
    async def search_delete_document(self, call: Call) -> Reply:
        """Delete a document from a named index"""
        name, doc_id = call.arguments["index_name"], call.arguments["doc_id"]
        await self.use(name, lambda index, _: index.delete(doc_id))
        return {"status": "deleted", "doc_id": doc_id}

    @tool("List indexes", _reply("indexes", "total_indexes", indexes=LIST, total_indexes=INTEGER), is_extra=True)
    async def search_list_indexes(self, call: Call) -> Reply:
        """List all named indexes with their documents, tokens, size and tokenizer"""
        found, problems = await self._do(lambda library, _: library.list())
        return list_reply(found, problems, call.budget_characters)

    @tool(
        "Delete an index",
        _reply("status", status=TEXT, index_name=TEXT, documents=INTEGER),
        {"index_name": describe(TEXT, "Name of the index"), **_CONFIRM},
        ("index_name",),
        **DESTROYS,
        is_extra=True,
    )
    async def search_delete_index(self, call: Call) -> Reply:
        """Delete a named index and all its documents"""
        name = call.arguments["index_name"]
        info = await self.use(name, lambda index, _: index.info())
        question = DELETE_QUESTION.format(name=name, count=info.documents)
        if refusal := await ask_consent(call, question):
            return refusal
        documents = await self._do(lambda library, _: library.delete(name))
        return {"status": "deleted", "index_name": name, "documents": documents}

    # For federated search

    @property
    def is_open(self) -> bool:
        """Whether the list of indexes is loaded."""
        return self._library is not None

    async def names(self) -> list[str]:
        """Return the names of all indexes; of the default one, which nobody has made, once it has a document."""

        def find(library: "NotesRegistry", _: object) -> list[str]:
            names = library.names()
            if limits.DEFAULT_INDEX in names and not library.use(
                limits.DEFAULT_INDEX, lambda index: index.info().documents
            ):
                names.remove(limits.DEFAULT_INDEX)
            return names

        return await self._do(find)

    async def use(self, name: str, work: "Callable[[NamedIndex, Callable[[], None]], Got]") -> Got:
        """Call `work` with one index, off the event loop."""
        return await self._do(
            lambda library, check_cancelled: library.use(name, lambda index: work(index, check_cancelled))
        )

    # Off the event loop

    async def _do(self, work: "Callable[[NotesRegistry, Callable[[], None]], Got]") -> Got:
        """Run `work` in a thread. If the client cancels, the thread is abandoned and stops at its next check."""
        stop = threading.Event()

        def check_cancelled() -> None:
            if stop.is_set():
                raise SearchStopped("The client cancelled this search.")

        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, lambda: work(self._opened(), check_cancelled))
        finally:
            stop.set()

    def _opened(self) -> "NotesRegistry":
        with self._opening:
            if self._library is None:
                # This imports NumPy, which takes 0.1 s and would delay the start of the server.
                from dowse.notes.registry import NotesRegistry

                self._library = NotesRegistry(has_memory=self._has_memory)
            return self._library


def error_of(error: DowseError) -> dict[str, Any]:
    """Return an error as these tools report it."""
    from dowse.notes.notes_documents import NO_CONTENT

    if isinstance(error, InvalidArgument) and error.argument == "content":
        return {"error": NO_CONTENT}
    return {
        "error": without_storage_root(str(error)),
        **({"errors": error.errors} if isinstance(error, InvalidDocuments) else {}),
    }


def _notes(values: list[Any]) -> list[Any]:
    from dowse.notes.notes_documents import parse_note

    if not 1 <= len(values) <= limits.MAX_BATCH_DOCUMENTS:
        raise UsageError(
            f"documents has to contain 1 to {limits.MAX_BATCH_DOCUMENTS:,} documents, not {len(values):,}."
        )
    notes, errors = [], []
    for position, value in enumerate(values):
        try:
            notes.append(parse_note(value))
        except UsageError as error:
            doc_id = value.get("doc_id") if isinstance(value, dict) else None
            named = {"doc_id": doc_id[:100]} if isinstance(doc_id, str) else {}
            errors.append({"position": position, **named, "error": str(error)})
    if errors:
        message = f"{len(errors)} of {len(values)} documents are invalid, so none was added."
        raise InvalidDocuments(message, errors[:100])
    return notes


def search_reply(
    index: "NamedIndex",
    query: str,
    k: int,
    offset: int,
    budget: int,
    *,
    check_cancelled: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Return the notes that match a query, as many as fit."""
    if not query.strip():
        index.info()  # raises an error if the index is gone
        return {"results": [], "total_matches": 0}
    most = min(k, max(1, budget // MIN_RESULT_CHARACTERS))
    answer = index.search(query, most, offset, check_cancelled=check_cancelled)
    entries, room = [asdict(result) for result in answer.results], budget - ENVELOPE_CHARACTERS
    shown = fit_items(entries, room)
    if entries and not shown:
        shown = fit_items([{**entries[0], "metadata": {}, "metadata_omitted": True}], room)
    reply: Reply = {"results": shown, "total_matches": answer.total, "query_parsed": _parsed(answer)}
    end, wanted = offset + len(shown), max(0, min(k, answer.total - offset))
    if answer.total > end and shown:
        reply["next_offset"] = end
    if len(shown) < wanted:
        reply["truncated"] = f"{len(shown)} of {wanted} results fit. Continue with offset {end}, or use a smaller k."
    if answer.ignored:
        words = ", ".join(word[:40] for word in answer.ignored[:10])
        reply["warnings"] = [f"These words were ignored, since they have no token in this index: {words}"]
    return reply


def document_reply(found: "StoredNote", offset: int, budget: int) -> dict[str, Any]:
    """Return a document as it was added, its content from a character on, as much as fits."""
    reply: dict[str, Any] = {"doc_id": found.doc_id, "token_count": found.token_count, "metadata": found.metadata}
    if wire_characters(reply) > budget // 2:
        reply |= {"metadata": {}, "truncated": "The metadata is too long for a reply. See: dowse notes show"}
    content = fit_text(found.content[offset:], budget - wire_characters(reply) - ENVELOPE_CHARACTERS)
    end = offset + len(content)
    if end >= len(found.content):
        return {**reply, "content": content}
    more = f"Characters {offset:,} to {end:,} of {len(found.content):,}. Continue with offset {end}."
    return {**reply, "content": content, "next_offset": end, "truncated": more}


def list_reply(found: "Sequence[IndexInfo]", problems: list[str], budget: int) -> dict[str, Any]:
    """Return all indexes with their counts, as many as fit."""
    listed = fit_items(map(asdict, found), budget - ENVELOPE_CHARACTERS)
    reply: dict[str, Any] = {"indexes": listed, "total_indexes": len(found)}
    if len(listed) < len(found):
        reply["truncated"] = f"{len(listed)} of {len(found)} are listed. See: dowse notes list"
    return {**reply, "warnings": problems} if problems else reply


def _parsed(answer: "NotesAnswer") -> dict[str, list[str]]:
    """Return the parsed query, cut if it is very long."""
    parsed = answer.query.as_json()
    if len(json.dumps(parsed)) <= MAX_PARSED_CHARACTERS:
        return parsed
    left = MAX_PARSED_CHARACTERS
    return {kind: [word for word in words if (left := left - len(word) - 4) > 0] for kind, words in parsed.items()}
