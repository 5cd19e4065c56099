"""Text that speaks to an assistant, and characters that hide text from people: what a reader is warned of."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from dowse.screening.keyword_matcher import KeywordMatcher

FlagKind = Literal["instructions", "hidden-characters"]

_SEPARATOR = r"""(?:[\s"'*_>#/|`~-]{1,12})"""
"""What may stand between two words: white space, marks of emphasis, and what begins a line of a comment."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_HIDDEN = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f)"  # the flag of Scotland is spelled like that
    "|[\U000e0000-\U000e007f]+"  # letters without a shape: whole sentences can be written in them
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"  # no sign has so many variants; bytes are hidden in them
    "|[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]{4,}"  # joiners stand alone, within a word or an emoji
    "|(?P<turn>[\u202a-\u202e\u2066-\u2069])"  # turns the order of letters around
)
_RIGHT_TO_LEFT_LETTERS = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Letters that are written from right to left; beside them a sign of direction is as usual as a comma."""


class Flag(NamedTuple):
    """What a text is to be read with care for, and on which of its lines, from 1."""

    kind: FlagKind
    line: int


class _Phrases(NamedTuple):
    words: KeywordMatcher
    by_word: Mapping[str, Sequence[str]]


def find_flags(text: str) -> tuple[Flag, ...]:
    """What is to be said of a text, by line; the text itself is shown as it is."""
    found = {
        Flag("instructions", line)
        for line in _find_instruction_lines(text if text.isascii() else _INVISIBLE.sub("", text))
    }
    if not text.isascii():
        found |= {Flag("hidden-characters", at) for at, line in enumerate(text.split("\n"), 1) if _hides_text(line)}
    return tuple(sorted(found, key=lambda flag: (flag.line, flag.kind)))


def _hides_text(line: str) -> bool:
    """Whether characters of a line hide something."""
    if line.isascii():
        return False
    kinds = {"flag" if found["flag"] else "turn" if found["turn"] else "hidden" for found in _HIDDEN.finditer(line)}
    return "hidden" in kinds or ("turn" in kinds and not _RIGHT_TO_LEFT_LETTERS.search(line))


def _find_instruction_lines(text: str) -> Iterator[int]:
    """The lines that speak to an assistant; words that were torn apart by unseen letters are whole again."""
    known, places = _load_phrases(), list[int]()
    for phrase in {one for word in known.words.find_in(text) for one in known.by_word[word]}:
        expression = _compile_phrase(phrase)
        places += [found.start() + len(found[0]) - len(found[0].lstrip()) for found in expression.finditer(text)]
    at, line = 0, 1
    for place in sorted(places):
        line += text.count("\n", at, place)
        at = place
        yield line


@cache
def _load_phrases() -> "_Phrases":
    listed = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text(encoding="utf-8"))["phrase"]
    by_word: dict[str, list[str]] = {}
    for one in listed:
        for word in one["words"]:
            by_word.setdefault(word, []).append(one["is"])
    return _Phrases(KeywordMatcher(by_word), by_word)


@cache
def _compile_phrase(phrase: str) -> re.Pattern[str]:
    begins_with_word = phrase[0].isalpha() or phrase.startswith("(?:")
    return re.compile(
        (r"(?<!\w)" if begins_with_word and "INST" not in phrase else "") + _allow_separators(phrase), re.IGNORECASE
    )


def _allow_separators(phrase: str) -> str:
    """A phrase whose spaces, outside of brackets, are anything that separates words."""
    return re.sub(r"(\[[^\]]*\])| ", lambda found: found[1] or _SEPARATOR, phrase)
