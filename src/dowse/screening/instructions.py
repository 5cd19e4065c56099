"""Content warnings: detection of text that addresses an assistant, and of characters that hide text from people."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from dowse.screening.secrets import KeywordMatcher

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


class _Phrases(NamedTuple):
    words: KeywordMatcher
    by_word: Mapping[str, Sequence[str]]


def find_flags(text: str) -> tuple[Flag, ...]:
    """Return the content warnings of a text, by line. The text itself does not change."""
    visible = text if text.isascii() else _INVISIBLE.sub("", text)
    found = {Flag("instructions", line) for line in _find_instruction_lines(visible)}
    if len(visible) < len(text):
        found |= {Flag("hidden-characters", at) for at, line in enumerate(text.split("\n"), 1) if _hides_text(line)}
    return tuple(sorted(found, key=lambda flag: (flag.line, flag.kind))) if found else ()


def may_have_flags(text: str, words: Set[str]) -> bool:
    """Return whether a text that has these words, or any part of it, may have a content warning."""
    is_visible = text.isascii() or _INVISIBLE.search(text) is None
    return not is_visible or not words.isdisjoint(flag_words())


def flag_words() -> Set[str]:
    """Return words in lower case of which every text with instructions has one."""
    return _load_phrases().by_word.keys()


def _hides_text(line: str) -> bool:
    """Return whether a line contains characters that hide text."""
    if line.isascii():
        return False
    kinds = {"flag" if found["flag"] else "turn" if found["turn"] else "hidden" for found in _HIDDEN.finditer(line)}
    return "hidden" in kinds or ("turn" in kinds and not _RIGHT_TO_LEFT_LETTERS.search(line))


def _find_instruction_lines(text: str) -> Iterator[int]:
    """Yield the lines that address an assistant. The text has no invisible characters, which could split words."""
    phrases, offsets = _load_phrases(), list[int]()
    for phrase in {phrase for word in phrases.words.find_in(text) for phrase in phrases.by_word[word]}:
        expression = _compile_phrase(phrase)
        offsets += [match.start() + len(match[0]) - len(match[0].lstrip()) for match in expression.finditer(text)]
    position, line = 0, 1
    for offset in sorted(offsets):
        line += text.count("\n", position, offset)
        position = offset
        yield line


@cache
def _load_phrases() -> "_Phrases":
    phrases = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text(encoding="utf-8"))["phrase"]
    by_word: dict[str, list[str]] = {}
    for phrase in phrases:
        for word in phrase["words"]:
            by_word.setdefault(word, []).append(phrase["is"])
    return _Phrases(KeywordMatcher(by_word), by_word)


@cache
def _compile_phrase(phrase: str) -> re.Pattern[str]:
    begins_with_word = phrase[0].isalpha() or phrase.startswith("(?:")
    return re.compile(
        (r"(?<!\w)" if begins_with_word and "INST" not in phrase else "") + _allow_separators(phrase), re.IGNORECASE
    )


def _allow_separators(phrase: str) -> str:
    """Return a phrase in which every space outside of brackets matches anything that separates words."""
    return re.sub(r"(\[[^\]]*\])| ", lambda found: found[1] or _SEPARATOR, phrase)
