"""Masking of secrets in text that is shown, and its content warnings.

A warning says that a text addresses an assistant, or that characters hide a part of it from people.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dowse.errors import ScreeningTimeout
from dowse.screening.secrets import (
    FindWords,
    Secret,
    find_secrets,
    load_secret_rules,
    merge_overlapping,
    possible_rules,
    word_finder,
)

FlagKind = Literal["instructions", "hidden-characters"]

_SEPARATOR = r"""(?:[\s"'*_>#/|`~-]{1,12})"""
"""The characters between two words: white space, emphasis, and the beginning of a comment line."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_HIDDEN = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f)"  # flags such as that of Scotland
    "|[\U000e0000-\U000e007f]+"  # invisible letters, which can spell whole sentences
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"  # no character has this many variants; they can hide bytes
    "|[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]{4,}"  # legitimate joiners stand alone, within a word or an emoji
    "|(?P<turn>[\u202a-\u202e\u2066-\u2069])"  # changes the direction of the text
)
_RIGHT_TO_LEFT_LETTERS = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Letters that are written from right to left; on a line with them, direction characters are normal."""


class Flag(NamedTuple):
    """A content warning, and the line of the text that it is about, from 1."""

    kind: FlagKind
    line: int


def find_flags(text: str) -> tuple[Flag, ...]:
    """Return the content warnings of a text, by line. The text itself does not change."""
    visible = text if text.isascii() else _INVISIBLE.sub("", text)
    found = {Flag("instructions", line) for line in _find_instruction_lines(visible)}
    if len(visible) < len(text):
        found |= {Flag("hidden-characters", at) for at, line in enumerate(text.split("\n"), 1) if _hides_text(line)}
    return tuple(sorted(found, key=lambda flag: (flag.line, flag.kind))) if found else ()


def _hides_text(line: str) -> bool:
    """Return whether a line contains characters that hide text."""
    if line.isascii():
        return False
    kinds = {"flag" if found["flag"] else "turn" if found["turn"] else "hidden" for found in _HIDDEN.finditer(line)}
    return "hidden" in kinds or ("turn" in kinds and not _RIGHT_TO_LEFT_LETTERS.search(line))


def _find_instruction_lines(text: str) -> Iterator[int]:
    """Yield the lines that address an assistant. The text has no invisible characters, which could split words."""
    phrases, offsets = _phrases_by_word(), list[int]()
    for phrase in {phrase for word in _find_words()(text) & phrases.keys() for phrase in phrases[word]}:
        expression = _compile_phrase(phrase)
        offsets += [match.start() + len(match[0]) - len(match[0].lstrip()) for match in expression.finditer(text)]
    position, line = 0, 1
    for offset in sorted(offsets):
        line += text.count("\n", position, offset)
        position = offset
        yield line


@cache
def _phrases_by_word() -> Mapping[str, Sequence[str]]:
    """Return the phrases by words in lower case, of which every text with one of them has one."""
    phrases = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text(encoding="utf-8"))["phrase"]
    by_word: dict[str, list[str]] = {}
    for phrase in phrases:
        for word in phrase["words"]:
            by_word.setdefault(word, []).append(phrase["is"])
    return by_word


@cache
def _compile_phrase(phrase: str) -> re.Pattern[str]:
    """Compile a phrase in which every space outside of brackets matches anything that separates words."""
    begins_with_word = phrase[0].isalpha() or phrase.startswith("(?:")
    expression = re.sub(r"(\[[^\]]*\])| ", lambda found: found[1] or _SEPARATOR, phrase)
    return re.compile((r"(?<!\w)" if begins_with_word and "INST" not in phrase else "") + expression, re.IGNORECASE)


UNCHECKED = "unchecked"
"""The kind of text that is masked because the check for secrets took too long."""
MIN_PART_CHARACTERS = 8
"""A shorter part of a secret that was cut does not reveal it, and occurs in other words as well."""
MIN_LINE_CHARACTERS = 16
"""A shorter line of a secret with several lines may be only a bracket."""
PRIVATE_KEY_CHARACTERS = 8000
"""How far around a text to search for a private key that it is a part of; a key of 8192 bits has 6,400 characters."""
SURROUNDING_CHARACTERS = 500
"""How far around a text that was cut within a word to search for secrets."""

_PRIVATE_KEY_MARKER = "PRIVATE KEY"
_LINES = re.compile(r"[^\r\n]+")


class Mask(NamedTuple):
    """The kind of a masked secret, and its line in the text, from 1."""

    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class Screened:
    """A text with its secrets masked, and its content warnings."""

    text: str
    masked: tuple[Mask, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def masked_kinds(self) -> tuple[str, ...]:
        """The kinds of its secrets, each once."""
        return tuple(sorted({mask.kind for mask in self.masked}))

    @property
    def flag_kinds(self) -> tuple[str, ...]:
        """The kinds of its content warnings, each once."""
        return tuple(sorted({flag.kind for flag in self.flags}))

    def warning_fields(self, first_line: int = 1) -> dict[str, Any]:
        """Return the fields of a reply about this text, which begins on `first_line`; empty when there are none."""
        return warning_fields([(self, first_line)])


def warning_fields(screened: Iterable[tuple[Screened, int]]) -> dict[str, Any]:
    """Return the fields of a reply about several texts, each with the line on which it begins."""
    texts = [(text, first_line) for text, first_line in screened if text.masked or text.flags]
    if not texts:
        return {}
    flags = [(flag.kind, flag.line + first_line - 1) for text, first_line in texts for flag in text.flags]
    fields: dict[str, Any] = {
        "masked": sorted({mask.kind for text, _ in texts for mask in text.masked}),
        "flags": sorted({kind for kind, _ in flags}),
        "flaggedLines": sorted({line for _, line in flags}),
    }
    return {name: value for name, value in fields.items() if value}


def is_suspicious(text: str, path: str = "", *, masks: bool = True) -> bool:
    """Return whether a text or a part of it may have a secret or need a content warning, by the words that it has."""
    if not masks:
        return True
    words = _find_words()(text)
    if not words.isdisjoint(_phrases_by_word()) or bool(possible_rules(text, path, words)):
        return True
    return not text.isascii() and _INVISIBLE.search(text) is not None


@cache
def _find_words() -> FindWords:
    """Return a function that finds the words of all rules and phrases in one pass over a text."""
    return word_finder({*load_secret_rules().by_keyword, *_phrases_by_word()})


def screen_text(text: str, *, around: str = "", path: str = "", masks: bool = True) -> Screened:
    """Return a text with its secrets masked, line by line.

    `around` is the larger text that it was cut from, to find secrets of which it contains only a part; see
    `surroundings`. With `masks` false, secrets stay visible.
    """
    if not text or not (around or is_suspicious(text, path, masks=masks)):
        return Screened(text)
    flags = find_flags(text)
    if not masks:
        return Screened(text, flags=flags)
    hidden = _find_hidden(text, around=around, path=path)
    if not hidden:
        return Screened(text, flags=flags)
    pieces, masked, done, line = list[str](), list[Mask](), 0, 1
    for secret in hidden:
        line += text.count("\n", done, secret.start)  # a secret is within one line
        pieces += [text[done : secret.start], f"[masked: {secret.kind}]"]
        masked.append(Mask(secret.kind, line))
        done = secret.end
    return Screened("".join([*pieces, text[done:]]), tuple(masked), flags)


def _find_hidden(text: str, *, around: str, path: str) -> list[Secret]:
    """Return the parts of a text to mask, each within one line; all of the text when the check takes too long."""
    try:
        found = [piece for secret in find_secrets(text, path) for piece in _split_by_line(text, secret)]
        if around:
            secrets = [(secret.kind, around[secret.start : secret.end]) for secret in find_secrets(around, path)]
            found += [piece for kind, value in secrets for piece in _find_parts(value, kind, text)]
    except ScreeningTimeout:
        found = list(_split_by_line(text, Secret(0, len(text), UNCHECKED)))
    return merge_overlapping(found)


def surroundings(text: str, start: int, end: int) -> str:
    """Return enough of a text around a part of it to find secrets that were cut; empty when none was."""
    first = max(0, start - PRIVATE_KEY_CHARACTERS)
    if _PRIVATE_KEY_MARKER in text[first : end + PRIVATE_KEY_CHARACTERS]:
        return text[first : end + PRIVATE_KEY_CHARACTERS]
    if _is_between_words(text, start) and _is_between_words(text, end):
        return ""
    return text[max(0, start - SURROUNDING_CHARACTERS) : end + SURROUNDING_CHARACTERS]


def _is_between_words(text: str, at: int) -> bool:
    return not 0 < at < len(text) or text[at - 1].isspace() or text[at].isspace()


def _split_by_line(text: str, secret: Secret) -> Iterator[Secret]:
    """Split a secret into one part for each line, without surrounding white space, so that line breaks stay."""
    for line in _LINES.finditer(text, secret.start, secret.end):
        piece = line[0].strip()
        if piece:
            start = line.start() + line[0].index(piece)
            yield Secret(start, start + len(piece), secret.kind)


def _find_parts(value: str, kind: str, text: str) -> Iterator[Secret]:
    """Yield the positions in a text of the lines of a secret, and of parts of lines that were cut."""
    lines = [line.strip() for line in _LINES.findall(value)]
    for line in lines:
        if len(lines) > 1 and len(line) < MIN_LINE_CHARACTERS:
            continue
        at = text.find(line)
        while at >= 0:
            yield Secret(at, at + len(line), kind)
            at = text.find(line, at + len(line))
        # A cut text begins with the end of the secret, or ends with its beginning; dots may mark the cut.
        begin = len(text) - len(text.lstrip(".…"))
        end = len(text.rstrip(".…"))
        lengths = range(len(line) - 1, MIN_PART_CHARACTERS - 1, -1)
        if length := next((one for one in lengths if text.startswith(line[-one:], begin)), 0):
            yield Secret(begin, begin + length, kind)
        if length := next((one for one in lengths if text.endswith(line[:one], 0, end)), 0):
            yield Secret(end - length, end, kind)
