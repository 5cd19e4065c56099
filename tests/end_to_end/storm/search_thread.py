"""Searches that go on while files change, each held against what the files said at that moment."""

import random
import re
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from tests.end_to_end.storm.file_operations import TOKEN, Moment, Snapshot, Storm
from tests.end_to_end.storm.servers import Server, text_of
from tests.mcp.stdio.stdio_client import Message

_LINE_END = re.compile(r"\r\n|\r|\n")

DOCUMENTS = (".md", ".txt")
CODE = (".py", ".js", ".rs")
"""What surely is indexed unless a rule is against it."""

KNOWN_AFTER_SECONDS = 2.0
"""A file that was saved longer ago is found, or the reply says that the index is not complete; events take time."""


@dataclass(frozen=True, slots=True)
class Search:
    """A question, its answer, and when."""

    token: str
    tool: str
    began: float
    ended: float
    reply: Message


class Searcher:
    """A thread that searches for words of files, new and old ones, until the block ends."""

    def __init__(self, server: Server, storm: Storm, seed: int) -> None:
        self.searches: list[Search] = []
        self._server, self._storm = server, storm
        self._dice = random.Random(seed)
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._search, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        if self._failure is not None and kind is None:
            raise self._failure

    def _search(self) -> None:
        try:
            while not self._stop.is_set():
                self._ask()
        except BaseException as error:
            self._failure = error

    def _ask(self) -> None:
        path, content = self._dice.choice([*self._storm.files.items(), ("", b"")])
        tokens = [word.decode() for word in TOKEN.findall(content)]
        if not tokens or self._dice.random() < 0.2:  # one that is perhaps gone
            tokens = self._storm.tokens[-self._dice.choice((5, 50, 500)) :]
        token, tool = self._dice.choice(tokens), "search_docs" if path.endswith(DOCUMENTS) else "search_code"
        began = time.monotonic()
        reply = self._server.tell(tool, query=token)
        self.searches.append(Search(token, tool, began, time.monotonic(), reply))


def stale_hits(searches: list[Search], moments: list[Moment], now: Snapshot) -> list[str]:
    """Hits that show what their file did not say at any moment of the search."""
    found = []
    for search in searches:
        during = [moment for moment in moments if moment.ended >= search.began and moment.began <= search.ended]
        said = _states(moments, during, search.began, now)
        for hit in search.reply.get("results", ()):
            is_between = any(moment.is_between(hit["path"]) for moment in during)
            if not is_between and not any(_shows(files.get(hit["path"]), hit) for files in said):
                found.append(f"{hit['path']} for {search.token}: {hit}")
    return found


def lies(searches: list[Search], moments: list[Moment], indexed: Snapshot) -> list[str]:
    """Replies that say the index is complete and lack a file, indexed in the end, that has been there for a while."""
    found = []
    for search in searches:
        since = search.began - KNOWN_AFTER_SECONDS
        later = [moment for moment in moments if moment.ended >= since]
        if any(moment.changes_rules for moment in later) or not search.reply.get("coverage", {}).get("complete"):
            continue
        until = [moment for moment in later if moment.began <= search.ended]
        kind = DOCUMENTS if search.tool == "search_docs" else CODE
        for path, content in indexed.items():
            is_meant = path.endswith(kind) and search.token.encode() in content
            was_there = all(moment.before.get(path) == content for moment in later[:1]) and not any(
                moment.is_between(path) or moment.after.get(path) != content for moment in until
            )
            if is_meant and was_there and not _is_shown(path, search.reply):
                found.append(f"{path} for {search.token}: {search.reply}")
    return found


def _is_shown(path: str, reply: Message) -> bool:
    return any(hit["path"] == path for hit in reply["results"])


def _states(moments: list[Moment], during: list[Moment], began: float, now: Snapshot) -> list[Snapshot]:
    """All that the files said from a moment on and while some operations went on."""
    last = [moment.after for moment in moments if moment.ended < began][-1:]
    first = [moments[0].before if moments else now]
    return [*(last or first), *(files for moment in during for files in (moment.before, moment.after))]


def _shows(content: bytes | None, hit: Message) -> bool:
    """Whether a file has the lines that a hit shows where the hit shows them."""
    if content is None:
        return False
    lines = _LINE_END.split(content.decode("utf-8", "replace"))
    return all(
        lines[part["startLine"] - 1 : part["endLine"]] == _LINE_END.split(part["text"])
        for part in (hit, *hit.get("more", ()))
    ) and bool(text_of(hit))
