"""Texts as the parser processes take them apart: colours, Markdown and symbols, with the last replies cached."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import Any

from dowse.errors import Failed
from dowse.page.colouring import CodeText, Runs
from dowse.page.markdown_view import ParsedMarkdown
from dowse.page.view_jobs import UNCOLOURED
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserReply, ParserRequest
from dowse.reading.outlines import Heading

JOBS = "dowse.page.view_jobs"
USUAL_LANGUAGES = ("python", "javascript", "typescript")
CACHED_REPLIES, MAX_CACHED_EVENTS = 500, 1_000
"""Passages come back with the next letter that is typed; whole documents, which have more events, are not kept."""

Fields = dict[str, Any]
_Key = tuple[str, int] | None


class PageTexts:
    """What the parser processes say of texts. Used on one event loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, Fields] = OrderedDict()

    async def start(self) -> None:
        """Start a parser process with the grammars of the usual languages, so that the first search need not wait."""
        await self.colours([CodeText(((1, "x"),), language) for language in USUAL_LANGUAGES], 0.0)

    async def colours(self, texts: Sequence[CodeText], seconds: float) -> list[list[Runs]]:
        """Return the colours of each passage of texts; none where a parser process has not answered in time."""
        replies = await self._ask([_colours_request(one) for one in texts], seconds)
        found: list[list[Runs]] = [(reply or {}).get("colours", []) for reply in replies]
        return [
            colours if len(colours) == len(text.passages) else [()] * len(text.passages)
            for text, colours in zip(texts, found, strict=True)
        ]

    async def markdown(self, texts: Sequence[str], seconds: float | None = None) -> list[ParsedMarkdown | None]:
        """Return texts taken apart; None for one that its parser cannot cope with, or not in time."""
        replies = await self._ask([_request(text, job="markdown") for text in texts], seconds)
        return [
            ParsedMarkdown(reply["events"], tuple(Heading(*one) for one in reply["headings"])) if reply else None
            for reply in replies
        ]

    async def symbols(self, text: str, language: str) -> Sequence[tuple[str, str, int, int]]:
        """Return the definitions of a text with their kinds and lines; none where its parser cannot cope with it."""
        (reply,) = await self._ask([_request(text, job="symbols", language=language)], None)
        return [(name, kind, line, end) for name, kind, line, end in (reply or {}).get("symbols", ())]

    async def _ask(self, requests: Sequence[ParserRequest | None], seconds: float | None) -> list[Fields | None]:
        """Return the replies to requests, nothing where there is none in time; one that comes later is cached.

        The first requests are answered first.
        """
        keys: list[_Key] = [(repr(one.fields), hash(one.data)) if one else None for one in requests]
        found = {key: self._known[key] for key in keys if key in self._known}
        jobs: dict[_Key, asyncio.Future[ParserReply]] = {}
        with contextlib.suppress(Failed):
            for key, one in zip(keys, requests, strict=True):
                if one and key not in found and key not in jobs:
                    jobs[key] = asyncio.wrap_future(shared_pool().submit(one))
                    jobs[key].add_done_callback(partial(self._keep, key))
        try:
            done, _ = await asyncio.wait(jobs.values(), timeout=seconds) if jobs else (set(), None)
        except asyncio.CancelledError:  # nobody waits for this view any more
            for job in jobs.values():
                job.cancel()
            raise
        found |= {key: _fields_of(job) for key, job in jobs.items() if job in done}
        return [found.get(key) for key in keys]

    def _keep(self, key: _Key, done: "asyncio.Future[ParserReply]") -> None:
        fields = _fields_of(done)
        if not done.cancelled() and not done.exception() and len(fields.get("events", ())) <= MAX_CACHED_EVENTS:
            self._known[key] = fields
            while len(self._known) > CACHED_REPLIES:
                self._known.popitem(last=False)


def _fields_of(done: "asyncio.Future[ParserReply]") -> Fields:
    """Return what a parser process has replied; nothing if it could not."""
    has_failed = done.cancelled() or done.exception() or done.result().problem
    return {} if has_failed else done.result().fields


def _request(text: str, **fields: Any) -> ParserRequest:
    return ParserRequest({"module": JOBS, **fields}, text.encode("utf-8", "surrogatepass"))


def _colours_request(text: CodeText) -> ParserRequest | None:
    if not text.passages or text.language in UNCOLOURED:
        return None
    passages = [passage.encode("utf-8", "surrogatepass") for _, passage in text.passages]
    sizes = [(line, len(data)) for (line, _), data in zip(text.passages, passages, strict=True)]
    fields = {"module": JOBS, "job": "colours", "language": text.language, "path": text.path, "passages": sizes}
    return ParserRequest(fields, b"".join([*passages, text.file]))
