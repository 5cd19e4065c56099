"""A question whose answer is known, and the sentences that are worth asking."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

Lines = tuple[tuple[int, int], ...]
"""Ranges of lines, both ends included."""

MIN_WORDS = 4
"""Shorter texts (`fix typo`) say nothing about their answer."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_TRAILER = re.compile(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|reported-by|change-id|fixes|closes|refs?|cc"
    r"|pr-url|reviewed-on|cherry.picked.from)\b.*$|^\(cherry picked from .*$|^git-svn-id:.*$",
    re.IGNORECASE | re.MULTILINE,
)
_ROUTINE = re.compile(
    r"^(?:merge\b|revert\b|bump\b|release\b|v?\d+\.\d+|prepare (?:for|release)|update (?:changelog|dependenc|version)"
    r"|\[?pre-commit|chore\(deps|build\(deps)",
    re.IGNORECASE,
)
_CHANGELOG = re.compile(
    r"(?:^|/)(?:change(?:s|log)?|history|news|releases?|release[-_]notes)[^/]*$|(?:^|/)changes?/", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Question:
    """A text to search for, and the lines that answer it, by path."""

    text: str
    answers: Mapping[str, Lines]
    commit: str = ""
    """The commit before the change that the text describes."""


def commit_question(message: str) -> str:
    """Return a commit message without its trailers, or nothing if it is routine or too short."""
    text = _TRAILER.sub("", message).strip()
    subject = text.partition("\n")[0]
    return "" if _ROUTINE.match(subject) or len(_WORD.findall(subject)) < MIN_WORDS else text


def is_changelog(path: str) -> bool:
    """Return whether a file is a changelog, which every commit changes and which answers no question."""
    return bool(_CHANGELOG.search(path))
