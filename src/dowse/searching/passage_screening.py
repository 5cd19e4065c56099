"""Screening of passages and lines before they are shown: secrets are masked, suspicious content is flagged."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from dowse.screening.masking import (
    PRIVATE_KEY_CHARACTERS,
    Screened,
    Suspicion,
    screen_text,
    surroundings,
    warning_fields,
)
from dowse.searching.passages import Passage
from dowse.types import StoredChunk

_PRIVATE_KEY = b"PRIVATE KEY"


class ShownTexts(NamedTuple):
    """The texts of a document that are shown."""

    passages: tuple[Passage, ...]
    title: str = ""

    @property
    def joined(self) -> str:
        """All texts, one below the other."""
        texts = [text for one in self.passages for text in (one.text, one.signature, *one.headings)]
        return "\n".join([*texts, self.title])


def screen_shown(shown: ShownTexts, data: bytes, part: StoredChunk | None, path: str, *, masks: bool) -> ShownTexts:
    """Mask secrets in texts of a document whose text is `data`, or of a part of it, and flag suspicious content.

    Mostly there is nothing to mask, and checking all texts at once takes a fifth of the time.
    """
    around = _key_surroundings(data, part) if masks else ""
    suspicion = Suspicion.of(shown.joined, path, masks=masks)
    if not (around or any(suspicion)):
        return shown
    screen = partial(screen_text, path=path, masks=masks, suspicion=suspicion)
    return ShownTexts(
        tuple(_screen_passage(passage, around, screen) for passage in shown.passages),
        screen(shown.title).text,
    )


def screen_line(text: str, start: int, end: int, path: str, *, masks: bool) -> Screened:
    """Screen a part of a text, usually one line."""
    around = surroundings(text, start, end) if masks else ""
    return screen_text(text[start:end], around=around, path=path, masks=masks)


def _screen_passage(passage: Passage, around: str, screen: Callable[..., Screened]) -> Passage:
    found, signature = (screen(text, around=around) for text in (passage.text, passage.signature))
    headings = [screen(heading) for heading in passage.headings]
    others = [(other, passage.start_line) for other in (*headings, signature)]
    warnings = warning_fields([(found, passage.start_line), *others])
    if not warnings:
        return passage
    numbers = dict(enumerate(passage.numbers, passage.start_line))
    return replace(
        passage,
        text=found.text,
        signature=signature.text,
        headings=tuple(heading.text for heading in headings),
        masked=tuple(warnings.get("masked", ())),
        flags=tuple(warnings.get("flags", ())),
        flagged_lines=tuple(numbers.get(line, line) for line in warnings.get("flaggedLines", ())),
    )


def _key_surroundings(data: bytes, part: StoredChunk | None) -> str:
    """Return the text around a part that may contain some of a private key; a passage rarely contains the whole key."""
    start, end = 0, len(data)
    if part:
        start, end = max(0, part.start_byte - PRIVATE_KEY_CHARACTERS), part.end_byte + PRIVATE_KEY_CHARACTERS
    return data[start:end].decode("utf-8", "replace") if data.find(_PRIVATE_KEY, start, end) >= 0 else ""
