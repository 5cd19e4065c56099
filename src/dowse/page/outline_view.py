"""The outline of a file: its definitions, each below the one around it."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from dowse.errors import Failed
from dowse.page.colouring import JOBS
from dowse.page.markup import Html, html
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserRequest

_PARTS = frozenset({"field", "variable", "constant"})
"""Kinds that the outline leaves out inside of another definition: a class has more of them than anybody reads."""
MAX_DEPTH = 4
_SIGNS = {"function": "ƒ", "method": "ƒ", "macro": "ƒ", "heading": "§", "constant": "=", "variable": "=", "field": "="}
"""The sign before a definition; a type has a T."""


class OutlineEntry(NamedTuple):
    """A definition with its lines, and how many others it is inside of."""

    name: str
    kind: str
    line: int
    end_line: int
    depth: int


async def outline_view(text: str, language: str) -> Html:
    """Return the definitions of a text as links to their lines; the script adds a way to the uses of the one in focus."""
    items = [
        html(
            '<li class="l{level}" data-line="{line}" data-end="{end}"><a href="#L{line}" data-sign="{sign}">{name}</a></li>',
            level=one.depth + 1, line=one.line, end=one.end_line, name=one.name, sign=_SIGNS.get(one.kind, "T"),
        )
        for one in nest(await find_symbols(text, language))
    ]  # fmt: skip
    return html('<h2>Outline</h2><ul class="outline">{items}</ul>', items=items) if items else Html()


async def find_symbols(text: str, language: str) -> Sequence[tuple[str, str, int, int]]:
    """Return the definitions of a text with their kinds and lines; none where its parser cannot cope with it."""
    fields = {"module": JOBS, "job": "symbols", "language": language}
    try:
        reply = await asyncio.wrap_future(
            shared_pool().submit(ParserRequest(fields, text.encode("utf-8", "surrogatepass")))
        )
    except Failed:
        return ()
    return () if reply.problem else [(name, kind, line, end) for name, kind, line, end in reply.fields["symbols"]]


def nest(symbols: Sequence[tuple[str, str, int, int]]) -> list[OutlineEntry]:
    """Return definitions in the order of their lines, each with its depth, without the parts of others."""
    entries: list[OutlineEntry] = []
    around: list[OutlineEntry] = []
    for name, kind, line, end in sorted(symbols, key=lambda one: (one[2], -one[3])):
        while around and around[-1].end_line < line:
            around.pop()
        entry = OutlineEntry(name, kind, line, max(line, end), min(len(around), MAX_DEPTH))
        if around and kind in _PARTS:
            continue
        entries.append(entry)
        if kind not in _PARTS:
            around.append(entry)
    return entries
