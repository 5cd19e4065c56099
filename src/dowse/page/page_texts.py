"""Texts as the parser processes take them apart: colours, Markdown and symbols, with the last replies cached."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
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

FIRST_SECONDS = 0.25
"""How long the first colours of a text that is read are waited for."""

Fields = dict[str, Any]


class PageTexts:
    """What the parser processes say of texts. Used on one event loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, int], Fields] = OrderedDict()

    async def start(self) -> None:
        """Start a parser process with the grammars of the usual languages, so that the first search need not wait."""
        for language in USUAL_LANGUAGES:
            await self.colours(CodeText(((1, "x"),), language), 0.0)

    async def colours(self, text: CodeText, seconds: float) -> list[Runs]:
        """Return the colours of each passage of a text; none where a parser process has not answered in time."""
        found: list[Runs] = []
        if text.passages and text.language not in UNCOLOURED:
            passages = [_encode(passage) for _, passage in text.passages]
            sizes = [(line, len(data)) for (line, _), data in zip(text.passages, passages, strict=True)]
            asked = {"job": "colours", "language": text.language, "path": text.path, "passages": sizes}
            found = (await self._ask(b"".join([*passages, text.file]), seconds, **asked)).get("colours", [])
        return found if len(found) == len(text.passages) else [()] * len(text.passages)

    async def markdown(self, text: str, seconds: float | None = None) -> ParsedMarkdown | None:
        """Return a text taken apart, with the colours of its code; None if its parser cannot cope with it, or not in time."""
        started = time.monotonic()
        reply = await self._ask(_encode(text), seconds, job="markdown")
        if not reply:
            return None
        parsed = ParsedMarkdown(reply["events"], tuple(Heading(*one) for one in reply["headings"]))
        left = FIRST_SECONDS if seconds is None else max(0.0, started + seconds - time.monotonic())
        colours = await asyncio.gather(*(self.colours(block, left) for block in parsed.code_blocks()))
        return replace(parsed, colours=[runs for (runs,) in colours])

    async def symbols(self, text: str, language: str) -> Sequence[tuple[str, str, int, int]]:
        """Return the definitions of a text with their kinds and lines; none where its parser cannot cope with it."""
        reply = await self._ask(_encode(text), None, job="symbols", language=language)
        return [(name, kind, line, end) for name, kind, line, end in reply.get("symbols", ())]

    async def _ask(self, data: bytes, seconds: float | None, **fields: Any) -> Fields:
        """Return the reply to a request, nothing where there is none in time; one that comes later is cached."""
        key = repr(fields), hash(data)
        if key in self._known:
            return self._known[key]
        try:
            job = asyncio.wrap_future(shared_pool().submit(ParserRequest({"module": JOBS, **fields}, data)))
        except Failed:
            return {}
        job.add_done_callback(partial(self._keep, key))
        try:
            await asyncio.wait([job], timeout=seconds)
        except asyncio.CancelledError:  # nobody waits for this view any more
            job.cancel()
            raise
        return _fields_of(job) if job.done() else {}

    def _keep(self, key: tuple[str, int], done: "asyncio.Future[ParserReply]") -> None:
        fields = _fields_of(done)
        if not done.cancelled() and not done.exception() and len(fields.get("events", ())) <= MAX_CACHED_EVENTS:
            self._known[key] = fields
            while len(self._known) > CACHED_REPLIES:
                self._known.popitem(last=False)


def _fields_of(done: "asyncio.Future[ParserReply]") -> Fields:
    """Return what a parser process has replied; nothing if it could not."""
    has_failed = done.cancelled() or done.exception() or done.result().problem
    return {} if has_failed else done.result().fields


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
