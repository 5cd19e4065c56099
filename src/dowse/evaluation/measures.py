"""Scores of an answer: the place of the right file, and the share of the right lines within a budget."""

import math
import re
import statistics
from collections.abc import Mapping, Sequence
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


BUDGETS = (500, 1000, 2000, 4000)
DEPTH = 10
CHARACTERS_PER_TOKEN = 4
"""As in the budget of a reply."""


@dataclass(frozen=True, slots=True)
class ShownLines:
    """Lines of a file that a reply shows, and the characters that they take."""

    path: str
    lines: tuple[int, int]
    characters: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question was answered by one method."""

    question: Question
    paths: tuple[str, ...]
    rank: int | None
    ndcg: float
    recall: tuple[float, ...]
    """The share of the right lines within each budget."""


def judge(question: Question, paths: Sequence[str], shown: Sequence[ShownLines]) -> Outcome:
    """Return the scores of an answer."""
    places = [place for place, path in enumerate(paths[:DEPTH], 1) if path in question.answers]
    gained = sum(1 / math.log2(place + 1) for place in places)
    possible = sum(1 / math.log2(place + 2) for place in range(min(len(question.answers), DEPTH)))
    return Outcome(
        question, tuple(paths[:DEPTH]), places[0] if places else None, gained / possible,
        tuple(_recall(question.answers, shown, budget) for budget in BUDGETS),
    )  # fmt: skip


def _recall(answers: Mapping[str, Lines], shown: Sequence[ShownLines], budget: int) -> float:
    wanted = {
        (path, line) for path, ranges in answers.items() for first, last in ranges for line in range(first, last + 1)
    }
    seen: set[tuple[str, int]] = set()
    spent = 0
    for one in shown:
        spent += one.characters
        if spent > budget * CHARACTERS_PER_TOKEN:
            break
        seen.update((one.path, line) for line in range(one.lines[0], one.lines[1] + 1))
    return len(wanted & seen) / len(wanted)


def summarize(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the means over questions, by the name of the measure."""
    found = {f"hit@{k}": statistics.mean(o.rank is not None and o.rank <= k for o in outcomes) for k in (1, 5, 10)}
    found["nDCG@10"] = statistics.mean(outcome.ndcg for outcome in outcomes)
    for place, budget in enumerate(BUDGETS):
        found[f"lines@{budget}"] = statistics.mean(outcome.recall[place] for outcome in outcomes)
    return found
