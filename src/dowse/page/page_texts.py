"""Texts as the parser processes take them apart: colours, which are written as HTML here, Markdown and symbols."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from dowse.errors import Failed
from dowse.page.markup import Html
from dowse.page.view_jobs import COLOURS, UNCOLOURED, fence_languages
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserReply, ParserRequest
from dowse.reading.outlines import Heading

Runs = Sequence[int]
"""Lengths and colours in turn."""


@dataclass(frozen=True, slots=True)
class CodeText:
    """Passages of one file, each with its first line, and the file's language; its path says more where that is unknown."""

    passages: tuple[tuple[int, str], ...]
    language: str
    path: str = ""
    file: bytes = b""
    """The whole file, or as much of it as matters: a passage may begin or end inside a string or comment."""


def paint(text: str, runs: Runs = (), marks: Sequence[tuple[int, int]] = ()) -> Html:
    """Return a text as HTML, coloured, with some places marked; wrong lengths or colours lose colours, not text."""
    cuts = _cut(runs, len(text))
    pieces: list[str] = []
    waiting = list(reversed([(start, end) for start, end in marks if end > start]))
    at = 0
    for end, colour in cuts:
        while at < end:
            while waiting and waiting[-1][1] <= at:
                waiting.pop()
            is_marked = bool(waiting) and waiting[-1][0] <= at
            following = waiting[-1][1] if is_marked else waiting[-1][0] if waiting else end
            stop = min(end, following)
            piece = escape(text[at:stop])
            if colour:
                piece = f'<span class="{colour}">{piece}</span>'
            pieces.append(f"<mark>{piece}</mark>" if is_marked else piece)
            at = stop
    return Html("".join(pieces))


def _cut(runs: Runs, length: int) -> list[tuple[int, str]]:
    """Return where each run ends, and its class."""
    cuts, at = [], 0
    for size, colour in zip(runs[::2], runs[1::2], strict=False):
        at = min(length, at + max(0, size))
        cuts.append((at, COLOURS[colour] if 0 <= colour < len(COLOURS) else ""))
    return cuts if at == length else [*cuts, (length, "")]


@dataclass(frozen=True, slots=True)
class ParsedMarkdown:
    """The events of a text, each with its line, its headings, and the colours of each block of code."""

    events: Sequence[tuple[Any, int]]
    headings: tuple[Heading, ...]
    colours: Sequence[Runs]


JOBS = "dowse.page.view_jobs"
USUAL_LANGUAGES = ("python", "javascript", "typescript")
CACHED_REPLIES, MAX_CACHED_EVENTS = 500, 1_000
"""Passages come back with the next letter that is typed; whole documents, which have more events, are not kept."""

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
        """Return a text taken apart; None if its parser cannot cope with it, or not in time."""
        reply = await self._ask(_encode(text), seconds, job="markdown", languages=fence_languages(text))
        headings = tuple(Heading(*one) for one in reply.get("headings", ()))
        return ParsedMarkdown(reply["events"], headings, reply["colours"]) if reply else None

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
