"""Syntax colours, which the parser processes compute and the server writes as HTML."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dowse.errors import Failed
from dowse.page.markup import Html
from dowse.page.view_jobs import COLOURS
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserRequest

JOBS = "dowse.page.view_jobs"
USUAL_LANGUAGES = ("python", "javascript", "typescript")
CACHED_TEXTS = 500
"""Passages come back with the next letter that is typed."""

Runs = Sequence[int]
"""Lengths and colours in turn."""


@dataclass(frozen=True, slots=True)
class CodeText:
    """A text and the language it is in; the path says more where the language is unknown."""

    text: str
    language: str
    path: str = ""


class Colours:
    """The colours of texts, with those of the last ones cached. Used on one event loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[CodeText, Runs] = OrderedDict()

    async def start(self) -> None:
        """Start a parser process with the lexers of the usual languages, so that the first search need not wait."""
        await self.find([CodeText("x", language) for language in USUAL_LANGUAGES], 0.0)

    async def find(self, texts: Sequence[CodeText], seconds: float) -> list[Runs]:
        """Return the colours of texts; none for those that the parser processes do not answer for in time."""
        missing = [one for one in dict.fromkeys(texts) if one not in self._known and one.text]
        if missing:
            for text, runs in zip(missing, await self._compute(missing, seconds), strict=False):
                self._known[text] = runs
        found = [self._known.get(one, ()) for one in texts]
        while len(self._known) > CACHED_TEXTS:
            self._known.popitem(last=False)
        return found

    async def _compute(self, texts: Sequence[CodeText], seconds: float) -> list[Runs]:
        encoded = [one.text.encode("utf-8", "surrogatepass") for one in texts]
        fields = {
            "module": JOBS,
            "job": "colours",
            "texts": [(one.language, one.path, len(data)) for one, data in zip(texts, encoded, strict=True)],
        }
        try:
            job = asyncio.wrap_future(shared_pool().submit(ParserRequest(fields, b"".join(encoded))))
            done, _ = await asyncio.wait([job], timeout=seconds)
            reply = job.result() if done else None
        except Failed:
            return []
        found: list[Runs] = reply.fields["colours"] if reply and not reply.problem else []
        return found


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
