"""Syntax colours, which the parser processes compute and the server writes as HTML."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dowse.errors import Failed
from dowse.page.markup import Html
from dowse.page.view_jobs import COLOURS, UNCOLOURED
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserReply, ParserRequest

JOBS = "dowse.page.view_jobs"
USUAL_LANGUAGES = ("python", "javascript", "typescript")
CACHED_TEXTS = 500
"""Passages come back with the next letter that is typed."""

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


_Key = tuple[CodeText, int]


class Colours:
    """The colours of texts, with those of the last ones cached. Used on one event loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, list[Runs]] = OrderedDict()

    async def start(self) -> None:
        """Start a parser process with the grammars of the usual languages, so that the first search need not wait."""
        await self.find([CodeText(((1, "x"),), language) for language in USUAL_LANGUAGES], 0.0)

    async def find(self, texts: Sequence[CodeText], seconds: float) -> list[list[Runs]]:
        """Return the colours of each passage of texts; none where a parser process has not answered in time.

        The first texts are coloured first. An answer that comes later is kept for the next time.
        """
        keys = [(CodeText(one.passages, one.language, one.path), hash(one.file)) for one in texts]
        missing = {
            key: one
            for key, one in zip(keys, texts, strict=True)
            if one.passages and one.language not in UNCOLOURED and key not in self._known
        }
        try:
            jobs = [self._start_job(key, one) for key, one in missing.items()]
        except Failed:
            jobs = []
        if jobs:
            try:
                await asyncio.wait(jobs, timeout=seconds)
            except asyncio.CancelledError:  # nobody waits for this search any more
                for job in jobs:
                    job.cancel()
                raise
        found = [self._known.get(key) or [()] * len(key[0].passages) for key in keys]
        while len(self._known) > CACHED_TEXTS:
            self._known.popitem(last=False)
        return found

    def _start_job(self, key: _Key, text: CodeText) -> "asyncio.Future[ParserReply]":
        passages = [passage.encode("utf-8", "surrogatepass") for _, passage in text.passages]
        fields = {
            "module": JOBS,
            "job": "colours",
            "language": text.language,
            "path": text.path,
            "passages": [(line, len(data)) for (line, _), data in zip(text.passages, passages, strict=True)],
        }
        job = asyncio.wrap_future(shared_pool().submit(ParserRequest(fields, b"".join([*passages, text.file]))))

        def keep(done: "asyncio.Future[ParserReply]") -> None:
            if done.cancelled() or done.exception():
                return
            colours = done.result().fields.get("colours", ())
            self._known[key] = colours if len(colours) == len(passages) else [()] * len(passages)

        job.add_done_callback(keep)
        return job


def join_runs(passages: Sequence[tuple[int, str]], colours: Sequence[Runs]) -> Runs:
    """Return the colours of passages that are shown as one text, a line end between them."""
    joined: list[int] = []
    for (_, text), runs in zip(passages, colours, strict=True):
        joined += (*(runs if sum(runs[::2]) == len(text) else (len(text), 0)), 1, 0)
    return joined[:-2]


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
