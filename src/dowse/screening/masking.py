"""Found text as it may be shown: secrets masked, and what is to be said of the rest."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dowse.errors import ScreeningTimeout
from dowse.screening.instructions import Flag, find_flags
from dowse.screening.secrets import Secret, find_secrets

UNCHECKED = "unchecked"
"""What is masked because it could not be found out in time whether it is a secret."""
MIN_PART_CHARACTERS = 8
"""Fewer characters of a secret that was cut do not give it away, and stand in other words as well."""
MIN_LINE_CHARACTERS = 16
"""A line of a secret of several lines that is shorter may be only a bracket."""
PRIVATE_KEY_CHARACTERS = 8000
"""How far around a text a private key is looked for that it is a part of: one of 8192 bits has 6,400."""
SURROUNDING_CHARACTERS = 500
"""How far around a text that was cut within a word its secrets are looked for."""

_PRIVATE_KEY_MARKER = "PRIVATE KEY"
_LINES = re.compile(r"[^\r\n]+")


class Mask(NamedTuple):
    """What was masked, and on which line of the text, from 1."""

    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class Screened:
    """A text as it may be shown."""

    text: str
    masked: tuple[Mask, ...] = ()
    flags: tuple[Flag, ...] = ()

    def notes(self, first_line: int = 1) -> dict[str, Any]:
        """What a reply says of it, for a text that begins on this line; nothing where there is nothing to say."""
        return warning_fields([(self, first_line)])


def warning_fields(every: Iterable[tuple[Screened, int]]) -> dict[str, Any]:
    """What a reply says of several texts, each with the line it begins on."""
    each = list(every)
    flags = [(flag.kind, flag.line + first - 1) for one, first in each for flag in one.flags]
    said: dict[str, Any] = {
        "masked": sorted({mask.kind for one, _ in each for mask in one.masked}),
        "flags": sorted({kind for kind, _ in flags}),
        "flaggedLines": sorted({line for _, line in flags}),
    }
    return {name: value for name, value in said.items() if value}


def screen_text(text: str, *, around: str = "", path: str = "", masks: bool = True) -> Screened:
    """A text with its secrets masked, line by line.

    `around` is what it was cut from, for secrets that only a part of is in it; see `surroundings`. With
    `masks` false, the user wants to see secrets.
    """
    flags = find_flags(text)
    if not masks:
        return Screened(text, flags=flags)
    hidden = find_hidden(text, around=around, path=path)
    if not hidden:
        return Screened(text, flags=flags)
    pieces, done = [], 0
    for secret in hidden:
        pieces += [text[done : secret.start], mask_label(secret.kind)]
        done = secret.end
    masked = tuple(Mask(secret.kind, text.count("\n", 0, secret.start) + 1) for secret in hidden)
    return Screened("".join([*pieces, text[done:]]), masked, flags)


def mask_label(kind: str) -> str:
    """What stands where a secret was."""
    return f"[masked: {kind}]"


def find_hidden(text: str, *, around: str = "", path: str = "") -> list[Secret]:
    """What of a text is to be hidden, none of it longer than a line; all of it where no answer comes in time."""
    try:
        found = [piece for secret in find_secrets(text, path) for piece in _split_by_line(text, secret)]
        if around:
            secrets = [(secret.kind, around[secret.start : secret.end]) for secret in find_secrets(around, path)]
            found += [piece for kind, value in secrets for piece in _find_parts(value, kind, text)]
    except ScreeningTimeout:
        found = list(_split_by_line(text, Secret(0, len(text), UNCHECKED)))
    return _merge_overlapping(sorted(found))


def surroundings(text: str, start: int, end: int) -> str:
    """As much of a text around a part of it as tells whether a secret in there was cut; empty where none was."""
    first = max(0, start - PRIVATE_KEY_CHARACTERS)
    if _PRIVATE_KEY_MARKER in text[first : end + PRIVATE_KEY_CHARACTERS]:
        return text[first : end + PRIVATE_KEY_CHARACTERS]
    if _is_between_words(text, start) and _is_between_words(text, end):
        return ""
    return text[max(0, start - SURROUNDING_CHARACTERS) : end + SURROUNDING_CHARACTERS]


def _is_between_words(text: str, at: int) -> bool:
    return not 0 < at < len(text) or text[at - 1].isspace() or text[at].isspace()


def _split_by_line(text: str, secret: Secret) -> Iterator[Secret]:
    """A secret as its pieces on each line, without the white space around them, so that lines stay lines."""
    for line in _LINES.finditer(text, secret.start, secret.end):
        piece = line[0].strip()
        if piece:
            start = line.start() + line[0].index(piece)
            yield Secret(start, start + len(piece), secret.kind)


def _find_parts(value: str, kind: str, text: str) -> Iterator[Secret]:
    """Where the lines of a secret, or what was cut of one, stand in a text."""
    lines = [line.strip() for line in _LINES.findall(value)]
    for line in lines:
        if len(lines) > 1 and len(line) < MIN_LINE_CHARACTERS:
            continue
        at = text.find(line)
        while at >= 0:
            yield Secret(at, at + len(line), kind)
            at = text.find(line, at + len(line))
        # What was cut begins with the end of the secret, or ends with its beginning; dots may stand at the cut.
        begin = len(text) - len(text.lstrip(".…"))
        end = len(text.rstrip(".…"))
        for length in range(len(line) - 1, MIN_PART_CHARACTERS - 1, -1):
            if text.startswith(line[-length:], begin):
                yield Secret(begin, begin + length, kind)
                break
        for length in range(len(line) - 1, MIN_PART_CHARACTERS - 1, -1):
            if text.endswith(line[:length], 0, end):
                yield Secret(end - length, end, kind)
                break


def _merge_overlapping(found: Sequence[Secret]) -> list[Secret]:
    result: list[Secret] = []
    for one in found:
        if result and one.start < result[-1].end:
            result[-1] = Secret(result[-1].start, max(result[-1].end, one.end), result[-1].kind)
        else:
            result.append(one)
    return result
