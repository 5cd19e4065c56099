"""The surface of named indexes: what an assistant writes down, and finds again."""

import json
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from dowse.errors import DowseError, InvalidArgument, InvalidDocuments, SearchStopped, UsageError
from dowse.mcp.tools import Call, Tool, wire_characters
from dowse.notes.limits import MAX_BATCH
from dowse.surfaces.notes.notes_tools import offered_tools

if TYPE_CHECKING:
    from dowse.notes.named_index import NamedIndex
    from dowse.notes.notes_search import NoteResult, NotesAnswer
    from dowse.notes.registry import NotesRegistry

Got = TypeVar("Got")

DELETE_QUESTION = "Delete the index {name} and its {count} documents? This cannot be undone."
SAY_YES = "Nothing was changed. To say yes, call again with confirm: true."
THREADS = 16
"""Calls that are worked on at once; more wait for their turn."""
_ENVELOPE = 600
"""Characters of a reply beside its results."""


class NotesSurface:
    """The tools over the named indexes of a process; the indexes in memory live as long as it does."""

    def __init__(self) -> None:
        self._library: NotesRegistry | None = None
        self._opening = threading.Lock()
        self._limiter: anyio.CapacityLimiter | None = None
        self.tools: tuple[Tool, ...] = tuple(offered_tools(self))

    def close(self) -> None:
        """Close the indexes; those in memory are gone."""
        with self._opening:
            library, self._library = self._library, None
        if library:
            library.close()

    # The seed's tools

    async def create_index(self, call: Call) -> dict[str, Any]:
        """A new, empty index."""
        given = call.arguments
        name, backend = given["index_name"], given["backend"]
        await self._do(lambda library, _: library.create(name, backend, given["tokenizer_config"]))
        return {"status": "created", "index_name": name, "backend": backend}

    async def add_document(self, call: Call) -> dict[str, Any]:
        """One document, added or replaced."""
        from dowse.notes.notes_documents import note

        given = call.arguments
        one = note(given["doc_id"], given["content"], given["metadata"])
        (added,) = await self._change(given["index_name"], lambda index: index.add([one]))
        return added.as_json()

    async def search_index(self, call: Call) -> dict[str, Any]:
        """The documents that answer a query."""
        from dowse.notes.filters import filter_of

        given = call.arguments
        name, text, k, offset = given["index_name"], given["query"], int(given["k"]), int(given["offset"])
        conditions = filter_of(given["filter"])
        if not text.strip():
            await self._do(lambda library, _: library.use(name, lambda index: index.info()))
            return {"results": [], "total_matches": 0}
        page = _Page(call.budget_characters)
        answer = await self._do(
            lambda library, pause: library.use(
                name, lambda index: index.search(text, k, offset, conditions, pause=pause, fits=page.fits)
            )
        )
        return _found(answer, page, k, offset)

    # Further tools

    async def add_documents(self, call: Call) -> dict[str, Any]:
        """Many documents, all or none."""
        notes = _notes(call.arguments["documents"])
        added = await self._change(call.arguments["index_name"], lambda index: index.add(notes))
        reply: dict[str, Any] = {
            "status": "indexed",
            "added": sum(one.status == "indexed" for one in added),
            "replaced": sum(one.status != "indexed" for one in added),
            "token_count": sum(one.token_count for one in added),
        }
        each = [one.as_json() for one in added]
        if wire_characters(each) + _ENVELOPE <= call.budget_characters:
            return {**reply, "documents": each}
        return {**reply, "truncated": "The documents are not listed one by one: the reply would be too long."}

    async def get_document(self, call: Call) -> dict[str, Any]:
        """A document as it was added, as much of its content as a reply holds."""
        given = call.arguments
        offset = int(given["offset"])
        name, doc_id = given["index_name"], given["doc_id"]
        found = await self._do(lambda library, _: library.use(name, lambda index: index.document(doc_id)))
        reply: dict[str, Any] = {"doc_id": found.doc_id, "token_count": found.token_count, "metadata": found.metadata}
        if wire_characters(reply) > call.budget_characters // 2:
            reply |= {"metadata": {}, "truncated": "The metadata is too long for a reply. See: dowse notes show"}
        content = _beginning(found.content[offset:], call.budget_characters - wire_characters(reply) - _ENVELOPE)
        end = offset + len(content)
        if end >= len(found.content):
            return {**reply, "content": content}
        more = f"Characters {offset:,} to {end:,} of {len(found.content):,}. The rest: offset {end}."
        return {**reply, "content": content, "next_offset": end, "truncated": more}

    async def delete_document(self, call: Call) -> dict[str, Any]:
        """A document, deleted."""
        name, doc_id = call.arguments["index_name"], call.arguments["doc_id"]
        await self._change(name, lambda index: index.delete(doc_id))
        return {"status": "deleted", "doc_id": doc_id}

    async def list_indexes(self, call: Call) -> dict[str, Any]:
        """All indexes with their counts."""
        found, problems = await self._do(lambda library, _: library.list())
        listed: list[dict[str, Any]] = []
        left = call.budget_characters - _ENVELOPE
        for info in found:
            left -= wire_characters(info.as_json())
            if left < 0:
                break
            listed.append(info.as_json())
        reply: dict[str, Any] = {"indexes": listed, "total_indexes": len(found)}
        if len(listed) < len(found):
            reply["truncated"] = f"{len(listed)} of {len(found)} are listed. See: dowse notes list"
        return {**reply, "warnings": problems} if problems else reply

    async def delete_index(self, call: Call) -> dict[str, Any]:
        """An index with all its documents, deleted after a question."""
        name = call.arguments["index_name"]
        info = await self._do(lambda library, _: library.use(name, lambda index: index.info()))
        question = DELETE_QUESTION.format(name=name, count=info.documents)
        if call.can_ask:
            if await call.ask("confirm", question) is None:
                return {"status": "cancelled"}
        elif not call.arguments["confirm"]:
            return {"status": "cancelled", "question": question, "message": SAY_YES}
        documents = await self._do(lambda library, _: library.delete(name))
        return {"status": "deleted", "index_name": name, "documents": documents}

    # For who searches them with others

    async def names(self) -> list[str]:
        """The names of all indexes."""
        return await self._do(lambda library, _: library.names())

    async def use(self, name: str, work: "Callable[[NamedIndex, Callable[[], None]], Got]") -> Got:
        """Do something with one index, off the event loop."""
        return await self._do(lambda library, pause: library.use(name, lambda index: work(index, pause)))

    # Off the event loop

    async def _do(self, work: "Callable[[NotesRegistry, Callable[[], None]], Got]") -> Got:
        """Work in a thread. Where the client gives up, nobody waits for the thread, and it stops by itself soon."""
        stop = threading.Event()

        def pause() -> None:
            if stop.is_set():
                raise SearchStopped("Nobody waits for this answer.")

        self._limiter = self._limiter or anyio.CapacityLimiter(THREADS)
        try:
            return await anyio.to_thread.run_sync(
                lambda: work(self._opened(), pause), abandon_on_cancel=True, limiter=self._limiter
            )
        finally:
            stop.set()

    async def _change(self, name: str, work: "Callable[[NamedIndex], Got]") -> Got:
        """Change an index, and let it be tidied up behind the reply."""
        done, is_tidy = await self._do(lambda library, _: library.use(name, lambda index: (work(index), index.is_tidy)))
        if not is_tidy:
            threading.Thread(target=partial(_tidy, self._opened(), name), name="dowse-tidy", daemon=True).start()
        return done

    def _opened(self) -> "NotesRegistry":
        with self._opening:
            if self._library is None:
                # With it comes NumPy, 0.1 s that no client should wait for before it was greeted.
                from dowse.notes.registry import NotesRegistry

                self._library = NotesRegistry()
            return self._library


def error_of(error: DowseError) -> dict[str, Any]:
    """An error as these tools tell it."""
    from dowse.notes.notes_documents import NO_CONTENT

    if isinstance(error, InvalidArgument) and error.argument == "content":
        return {"error": NO_CONTENT}
    return {"error": str(error), **({"errors": error.errors} if isinstance(error, InvalidDocuments) else {})}


def _notes(given: list[Any]) -> list[Any]:
    from dowse.notes.notes_documents import note_of

    if not 1 <= len(given) <= MAX_BATCH:
        raise UsageError(f"documents has to hold 1 to {MAX_BATCH:,} documents, not {len(given):,}.")
    notes, errors = [], []
    for position, one in enumerate(given):
        try:
            notes.append(note_of(one))
        except UsageError as error:
            doc_id = one.get("doc_id") if isinstance(one, dict) else None
            named = {"doc_id": doc_id[:100]} if isinstance(doc_id, str) else {}
            errors.append({"position": position, **named, "error": str(error)})
    if errors:
        message = f"{len(errors)} of {len(given)} documents cannot be added, so none was."
        raise InvalidDocuments(message, errors[:100])
    return notes


def _tidy(library: "NotesRegistry", name: str) -> None:
    try:
        library.use(name, lambda index: index.tidy())
    except DowseError:
        return  # deleted meanwhile


class _Page:
    """Results as far as the reply has room."""

    def __init__(self, budget_characters: int) -> None:
        self._left = budget_characters - _ENVELOPE
        self.results: list[dict[str, Any]] = []
        self.is_full = False

    def fits(self, result: "NoteResult") -> bool:
        """Take one more result, if need be without its metadata."""
        for told in (result.as_json(), {**result.as_json(), "metadata": {}, "metadata_omitted": True}):
            size = wire_characters(told) + 4
            if size <= self._left:
                self._left -= size
                self.results.append(told)
                return True
            if self.results:  # the next page has room for all of it
                break
        self.is_full = True
        return False


def _found(answer: "NotesAnswer", page: _Page, k: int, offset: int) -> dict[str, Any]:
    reply: dict[str, Any] = {"results": page.results, "total_matches": answer.total, "query_parsed": _parsed(answer)}
    end = offset + len(page.results)
    if answer.total > end and page.results:
        reply["next_offset"] = end
    if page.is_full:
        asked = min(k, answer.total - offset)
        reply["truncated"] = f"{len(page.results)} of {asked} results had room. The rest: offset {end}, or a smaller k."
    if answer.ignored:
        words = ", ".join(word[:40] for word in answer.ignored[:10])
        reply["warnings"] = [f"The index keeps no token of these words, so they were ignored: {words}"]
    return reply


def _parsed(answer: "NotesAnswer") -> dict[str, list[str]]:
    """The query taken apart; of a very long one the beginning."""
    parsed = answer.query.as_json()
    if len(json.dumps(parsed)) <= _PARSED:
        return parsed
    left, cut = _PARSED, {}
    for kind, words in parsed.items():
        cut[kind] = [word for word in words if (left := left - len(word) - 4) > 0]
    return cut


_PARSED = 10_000


def _beginning(text: str, characters: int) -> str:
    """As much of a text as takes no more characters in a reply."""
    size = max(0, min(len(text), characters // 2))
    while size and wire_characters(text[:size]) > characters:
        size = size * 3 // 4
    return text[:size]
