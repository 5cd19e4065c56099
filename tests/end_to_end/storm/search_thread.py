"""Searches that run while files change, compared with the contents of the files at that time."""

import random
import re
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from tests.end_to_end.storm.file_operations import TOKEN, Operation, RandomOperations, Snapshot
from tests.end_to_end.storm.servers import Server
from tests.mcp.stdio.stdio_client import Message

_LINE_END = re.compile(r"\r\n|\r|\n")

MAX_HITS = 50
"""More than there are files, so that every file with the word is shown, however often it was copied."""
DOCUMENTS = (".md", ".txt")
CODE = (".py", ".js", ".rs")
"""Files with these endings are indexed unless a rule excludes them."""


@dataclass(frozen=True, slots=True)
class Search:
    """A query, its reply, and the time of the search."""

    token: str
    tool: str
    began: float
    ended: float
    reply: Message


class SearchThread:
    """A thread that searches for current and former words of files until the block ends."""

    def __init__(self, server: Server, operations: RandomOperations, seed: int) -> None:
        self.searches: list[Search] = []
        self._server, self._operations = server, operations
        self._rng = random.Random(seed)
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        if self._failure is not None and kind is None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._search_once()
        except BaseException as error:
            self._failure = error

    def _search_once(self) -> None:
        path, content = self._rng.choice([*self._operations.files.items(), ("", b"")])
        tokens = [word.decode() for word in TOKEN.findall(content)]
        if not tokens or self._rng.random() < 0.2:  # a word that may be deleted by now
            tokens = self._operations.tokens[-self._rng.choice((5, 50, 500)) :]
        token, tool = self._rng.choice(tokens), "search_docs" if path.endswith(DOCUMENTS) else "search_code"
        began = time.monotonic()
        reply = self._server.call_tool(tool, query=token, top_k=MAX_HITS)
        self.searches.append(Search(token, tool, began, time.monotonic(), reply))


def stale_hits(searches: list[Search], history: list[Operation], now: Snapshot) -> list[str]:
    """Return the hits whose text was not in their file at any time during the search."""
    found = []
    for search in searches:
        during = [
            operation for operation in history if operation.ended >= search.began and operation.began <= search.ended
        ]
        states = _states(history, during, search.began, now)
        for hit in search.reply.get("results", ()):
            is_between = any(operation.is_between(hit["path"]) for operation in during)
            if not is_between and not any(_shows(files.get(hit["path"]), hit) for files in states):
                found.append(f"{hit['path']} for {search.token}: {hit}")
            for path in hit.get("sameIn", ()):
                is_between = any(operation.is_between(path) for operation in during)
                if not is_between and not any(_contains(files.get(path), hit) for files in states):
                    found.append(f"{path} for {search.token}: {hit}")
    return found


def incomplete_replies(searches: list[Search], history: list[Operation], indexed_contents: Snapshot) -> list[str]:
    """Return the replies that claim a complete index but lack a file that was there when the search began."""
    found = []
    for search in searches:
        later = [operation for operation in history if operation.ended >= search.began]
        if any(operation.changes_rules for operation in later) or not is_complete(search):
            continue
        until = [operation for operation in later if operation.began <= search.ended]
        kind, missing = DOCUMENTS if search.tool == "search_docs" else CODE, list[str]()
        for path, content in indexed_contents.items():
            is_expected = path.endswith(kind) and search.token.encode() in content
            was_there = all(operation.before.get(path) == content for operation in later[:1]) and not any(
                operation.is_between(path) or operation.after.get(path) != content for operation in until
            )
            if is_expected and was_there and not _is_shown(path, search.reply):
                missing.append(f"{path} for {search.token}: {search.reply}")
        if len(missing) > sum(
            hit.get("moreSame", 0) for hit in search.reply["results"]
        ):  # copies that are counted alone
            found += missing
    return found


def is_complete(search: Search) -> bool:
    """Return whether the reply claims to be about all files as they were when the search began."""
    return bool(search.reply.get("coverage", {}).get("complete"))


def _is_shown(path: str, reply: Message) -> bool:
    return any(path in (hit["path"], *hit.get("sameIn", ())) for hit in reply["results"])


def _states(history: list[Operation], during: list[Operation], began: float, now: Snapshot) -> list[Snapshot]:
    """Return the states of the files when a search began and during the operations that overlap it."""
    last = [operation.after for operation in history if operation.ended < began][-1:]
    first = [history[0].before if history else now]
    return [*(last or first), *(files for operation in during for files in (operation.before, operation.after))]


def _shows(content: bytes | None, hit: Message) -> bool:
    """Return whether the lines of a hit are in the file at the line numbers of the hit."""
    if content is None:
        return False
    lines = _LINE_END.split(content.decode("utf-8", "replace"))
    return bool(hit["text"]) and lines[hit["startLine"] - 1 : hit["endLine"]] == _LINE_END.split(hit["text"])


def _contains(content: bytes | None, hit: Message) -> bool:
    """Return whether the lines of a hit are anywhere in the file, indented in any way."""
    return content is not None and _bare_lines(hit["text"]) in _bare_lines(content.decode("utf-8", "replace"))


def _bare_lines(text: str) -> str:
    return "\n".join(stripped for line in _LINE_END.split(text) if (stripped := line.strip()))
