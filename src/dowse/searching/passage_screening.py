"""Passages and lines of files as they may be shown: secrets masked, and what is to be said of the rest."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dowse.screening.masking import PRIVATE_KEY_CHARACTERS, Screened, screen_text, surroundings, warning_fields
from dowse.searching.passages import Passage
from dowse.types import StoredChunk

_PRIVATE_KEY = b"PRIVATE KEY"


def screen_passages(
    passages: Iterable[Passage], data: bytes, chunks: Sequence[StoredChunk], path: str, *, masks: bool
) -> tuple[Passage, ...]:
    """Passages of a document, whose text is `data`, without its secrets."""
    around = _key_surroundings(data, chunks) if masks else ""
    return tuple(_screen_passage(passage, around, path, masks=masks) for passage in passages)


def screen_line(text: str, start: int, end: int, path: str, *, masks: bool) -> Screened:
    """A part of a text, as a rule a line of it."""
    around = surroundings(text, start, end) if masks else ""
    return screen_text(text[start:end], around=around, path=path, masks=masks)


def _screen_passage(passage: Passage, around: str, path: str, *, masks: bool) -> Passage:
    found = screen_text(passage.text, around=around, path=path, masks=masks)
    headings = _screen_headings(passage.headings, masks=masks)
    said = warning_fields([(found, passage.start_line), *((one, passage.start_line) for one in headings)])
    if not said:
        return passage
    return replace(
        passage,
        text=found.text,
        headings=tuple(one.text for one in headings),
        masked=tuple(said.get("masked", ())),
        flags=tuple(said.get("flags", ())),
        flagged_lines=tuple(said.get("flaggedLines", ())),
    )


def _screen_headings(headings: tuple[str, ...], *, masks: bool) -> list[Screened]:
    """Headings one by one where there is something to say of any."""
    if not screen_text("\n".join(headings), masks=masks).notes():
        return [Screened(heading) for heading in headings]
    return [screen_text(heading, masks=masks) for heading in headings]


def _key_surroundings(data: bytes, chunks: Sequence[StoredChunk]) -> str:
    """What stands around chunks that a private key may reach into; a passage has whole lines, but not a whole key."""
    regions = (
        data[max(0, one.start_byte - PRIVATE_KEY_CHARACTERS) : one.end_byte + PRIVATE_KEY_CHARACTERS] for one in chunks
    )
    return "\n".join(region.decode("utf-8", "replace") for region in regions if _PRIVATE_KEY in region)
