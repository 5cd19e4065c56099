"""Screening of passages and lines before they are shown: secrets are masked, suspicious content is flagged."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dowse.screening.masking import PRIVATE_KEY_CHARACTERS, Screened, screen_text, surroundings, warning_fields
from dowse.searching.passages import Passage
from dowse.types import StoredChunk

_PRIVATE_KEY = b"PRIVATE KEY"


def screen_passages(
    passages: Iterable[Passage], data: bytes, chunks: Sequence[StoredChunk], path: str, *, masks: bool
) -> tuple[Passage, ...]:
    """Mask secrets in passages of a document whose text is `data`, and flag suspicious content."""
    around = _key_surroundings(data, chunks) if masks else ""
    return tuple(_screen_passage(passage, around, path, masks=masks) for passage in passages)


def screen_line(text: str, start: int, end: int, path: str, *, masks: bool) -> Screened:
    """Screen a part of a text, usually one line."""
    around = surroundings(text, start, end) if masks else ""
    return screen_text(text[start:end], around=around, path=path, masks=masks)


def _screen_passage(passage: Passage, around: str, path: str, *, masks: bool) -> Passage:
    found, signature = (
        screen_text(text, around=around, path=path, masks=masks) for text in (passage.text, passage.signature)
    )
    headings = _screen_headings(passage.headings, masks=masks)
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


def _screen_headings(headings: tuple[str, ...], *, masks: bool) -> list[Screened]:
    """Screen headings one by one, if screening all of them together finds anything."""
    if not screen_text("\n".join(headings), masks=masks).warning_fields():
        return [Screened(heading) for heading in headings]
    return [screen_text(heading, masks=masks) for heading in headings]


def _key_surroundings(data: bytes, chunks: Sequence[StoredChunk]) -> str:
    """Return the text around chunks that may contain part of a private key; a passage rarely contains the whole key."""
    if _PRIVATE_KEY not in data:
        return ""
    regions = (
        (max(0, chunk.start_byte - PRIVATE_KEY_CHARACTERS), chunk.end_byte + PRIVATE_KEY_CHARACTERS) for chunk in chunks
    )
    return "\n".join(
        data[start:end].decode("utf-8", "replace") for start, end in regions if data.find(_PRIVATE_KEY, start, end) >= 0
    )
