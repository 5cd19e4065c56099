"""Passages: the lines of a document that are shown, the positions of query words in them, and their screening."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from dowse.screening.masking import (
    PRIVATE_KEY_CHARACTERS,
    Screened,
    is_suspicious,
    screen_text,
    surroundings,
    warning_fields,
)
from dowse.searching.term_positions import foreign_terms_in, terms_of_word
from dowse.text.analysis import marked_language
from dowse.text.excerpts import cut_line
from dowse.text.query_syntax import Query
from dowse.types import StoredChunk

MIN_COMPARED_LINES = 3
"""Shorter passages are shown again where another file has the same."""
MAX_LINE_CHARACTERS = 4000
"""Of a longer line, only the part around the first match is shown. One line of a generated page took a whole reply."""
_TOKEN = re.compile(r"\w+")
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)(?s:.*?)(?:(?:\r\n|\r|\n)\1[ \t]*(?=[\r\n]|\Z)|\Z)")


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a document, both ends included, with their text and the symbols they define."""

    start_line: int
    end_line: int
    text: str
    symbols: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    """The kinds of secrets that are masked."""
    flags: tuple[str, ...] = ()
    flagged_lines: tuple[int, ...] = ()
    """The content warnings of the passage, and the lines of the document that caused them."""
    numbers: tuple[int, ...] = ()
    """The line number of each line of the text, 0 for a line that stands for others; empty if none is left out."""
    signature: str = ""
    """The signature of the function of which the passage is a part, if the passage does not have it."""
    whole: tuple[int, int] | None = None
    """The first and last line of the function, class or section of which the passage is a part; None if it is whole."""
    rank: int = 0
    """Its place among the definitions of all files, from 1; 0 if definitions were not ranked."""
    is_spare: bool = False
    """Whether it only fills a short reply."""

    @property
    def name(self) -> str:
        """The names of the definition or section that it shows, the outermost first."""
        names = (*self.headings, *self.symbols)
        return ".".join(names) if self.symbols else " > ".join(names)

    @property
    def numbered_lines(self) -> "list[tuple[int, str]]":
        """The lines of the text, each with its number; 0 for a line that stands for others."""
        lines = self.text.split("\n")
        return list(zip(self.numbers or range(self.start_line, self.start_line + len(lines)), lines, strict=True))


def without_front_matter(passage: Passage) -> str:
    """Return the text of a passage of prose, without the front matter of its document."""
    return _FRONT_MATTER.sub("", passage.text, count=1) if passage.start_line == 1 else passage.text


def comparable_lines(passage: Passage) -> str:
    """Return the lines of a passage without indentation, to find files that say the same; empty for a short one."""
    lines = [stripped for line in passage.text.split("\n") if (stripped := line.strip())]
    return "\n".join(lines) if len(lines) >= MIN_COMPARED_LINES else ""


def holds_phrase(text: str, phrase: str) -> bool:
    """Return whether a text has the words of a phrase one after the other."""
    words = _TOKEN.findall(phrase.lower())
    if not words:
        return False
    expression = r"(?<!\w)" + r"\W+".join(map(re.escape, words)) + r"(?!\w)"
    return re.search(expression, text.lower()) is not None


def has_phrases(query: Query, data: bytes) -> bool:
    """Return whether a text has every phrase of a query and none of the excluded ones."""
    if not query.phrases and not query.not_phrases:
        return True
    text = data.decode("utf-8", "replace")
    return all(holds_phrase(text, phrase) for phrase in query.phrases) and not any(
        holds_phrase(text, phrase) for phrase in query.not_phrases
    )


def found_terms(text: str, terms: Mapping[str, float]) -> Iterator[tuple[int, int, str]]:
    """Yield the start and the end of each word of a text that matches the query, and the term that it has."""
    foreign = [term for term in terms if marked_language(term)]
    for word in _TOKEN.finditer(text):
        found = [term for term in terms_of_word(word[0]) if term in terms]
        if found or (foreign and (found := list(islice(foreign_terms_in(word[0], foreign), 1)))):
            yield *word.span(), found[0]


def first_match(line: str, terms: Mapping[str, float]) -> int | None:
    """Return where the first matching word of a line begins; None if none matches."""
    return next((start for start, _, _ in found_terms(line, terms)), None)


def shorten_lines(passage: Passage, terms: Mapping[str, float]) -> Passage:
    """Return a passage without most of the lines that are too long to be shown."""
    if len(passage.text) <= MAX_LINE_CHARACTERS:
        return passage
    return replace(passage, text="\n".join(_shorten_line(line, terms) for line in passage.text.split("\n")))


def _shorten_line(line: str, terms: Mapping[str, float]) -> str:
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    start = max(0, (first_match(line, terms) or 0) - MAX_LINE_CHARACTERS // 4)
    end = start + MAX_LINE_CHARACTERS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


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
    if not (around or is_suspicious(shown.joined, path, masks=masks)):
        return shown
    screen = partial(screen_text, path=path, masks=masks)
    return ShownTexts(
        tuple(_screen_passage(passage, around, screen) for passage in shown.passages),
        screen(shown.title).text,
    )


def screen_line(text: str, line: tuple[int, int], at: int, most: int, path: str, *, masks: bool) -> Screened:
    """Screen a line of a text, of which its start and end are given; of a longer line, the part around a place in it."""
    start, end = line
    if end - start > most:
        start = max(start, at - most // 4)
        end = min(end, start + most)
    around = surroundings(text, start, end) if masks else ""
    found = screen_text(text[start:end], around=around, path=path, masks=masks)
    before, after = "…" if start > line[0] else "", "…" if end < line[1] else ""
    return replace(found, text=f"{before}{found.text}{after}")


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


def passage_text(passage: Passage, terms: Mapping[str, float], max_line_characters: int) -> str:
    """Return the lines of a passage; a longer line is cut around its first match."""
    lines = passage.text.split("\n")
    if max(map(len, lines)) <= max_line_characters:
        return passage.text
    first = partial(first_match, terms=terms)
    return "\n".join(cut_line(line, max_line_characters, first) for line in lines)


def content_warnings(passage: Passage) -> dict[str, Any]:
    """Return the kinds of secrets that are masked in a passage, and its content warnings with their lines."""
    found = {"masked": passage.masked, "flags": passage.flags, "flaggedLines": passage.flagged_lines}
    return {name: list(values) for name, values in found.items() if values}
