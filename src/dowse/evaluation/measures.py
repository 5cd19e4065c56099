"""Scores of an answer: the place of the right file, and the share of the right lines within a budget."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dowse.evaluation.questions import Lines, Question

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
