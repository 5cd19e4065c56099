"""Syntax colours, which the parser processes compute and the server writes as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dowse.page.markup import Html
from dowse.page.view_jobs import COLOURS

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
