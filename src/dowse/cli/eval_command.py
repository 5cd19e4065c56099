"""`dowse eval`: how good search is on a project, by questions from its own history."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import json_option, parse_folder
from dowse.cli.output import CommandReply, pluralize, progress_bar, say, show, show_warnings
from dowse.errors import UsageError

if TYPE_CHECKING:
    from dowse.cli.project_evaluation import Evaluation, Method, Outcome

METHODS = ("words", "table", "model")
SHOWN_FAILURES = 5
_SHOWN_CHARACTERS = 90
_BLOCKS = " ▏▎▍▌▋▊▉█"
BAR_CHARACTERS = 30


@click.command("eval")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--questions", "count", type=click.IntRange(1, 1000), default=30, show_default=True,
              help="Questions, at most.")  # fmt: skip
@click.option("--methods", default="words,table", show_default=True,
              help="Methods to compare, separated by commas: words, table, model. The model encodes everything first.")  # fmt: skip
@json_option
def evaluate_command(folder: str | None, *, count: int, methods: str, as_json: bool) -> int | CommandReply:
    """Measure how well dowse searches DIR.

    Ask commit messages in the files as they were before each commit, where the right answer is
    what the commit changed. Print how often a right file is among the first 1, 5 and 10, and the
    share of the right lines that a reply of 500 to 4,000 tokens shows.

    Everything happens in a temporary folder on this machine; DIR and its index are only read.

    Exit code 1: no question could be made.
    """
    from dowse.cli.project_evaluation import evaluate
    from dowse.indexes.project_lookup import open_or_find

    chosen = _methods(methods)
    project = open_or_find(parse_folder(folder))
    root = project.root
    project.close()
    with progress_bar("Asking") as tell:
        result = evaluate(root, chosen, count, tell)
    scores = _scores(result)
    exit_code = 0 if scores else 1
    if as_json:
        return CommandReply(_as_json(root, result, scores), exit_code)
    show_warnings(result.notes)
    if not scores:
        say("dowse: no question could be made of this project.")
        return exit_code
    _show(result, scores)
    return exit_code


def _methods(text: str) -> "list[Method]":
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or set(names) - set(METHODS):
        raise UsageError(f"--methods takes some of {', '.join(METHODS)}, separated by commas.")
    return [name for name in METHODS if name in names]  # type: ignore[misc]


def _scores(result: "Evaluation") -> dict[str, dict[str, float]]:
    """Return the means by method and measure."""
    from dowse.cli.project_evaluation import summarize

    return {method: summarize(outcomes) for method, outcomes in result.outcomes.items() if outcomes}


def _show(result: "Evaluation", scores: dict[str, dict[str, float]]) -> None:
    best, asked = list(result.outcomes.items())[-1]
    show(f"{pluralize(len(asked), 'commit')} asked")
    for line in _bars(scores):
        show(f"  {line}")
    missed = [outcome for outcome in asked if outcome.rank is None]
    if missed:
        show(f"  Not among the first ten ({best}): {len(missed)}")
    for outcome in missed[:SHOWN_FAILURES]:
        show(f"    {_shorten(outcome.question.text)}")
        show(f"      right: {', '.join(outcome.question.answers)}; first: {(outcome.paths or ('nothing',))[0]}")


def _bars(scores: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield the scores as lines with bars, the methods of one measure below each other."""
    width = max(map(len, scores))
    for measure in next(iter(scores.values())):
        for place, (method, values) in enumerate(scores.items()):
            eighths = round(values[measure] * BAR_CHARACTERS * 8)
            bar = "█" * (eighths // 8) + _BLOCKS[eighths % 8]
            yield f"{'' if place else measure:<10}  {method:<{width}}  {values[measure]:6.1%}  {bar}".rstrip()


def _shorten(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"


def _as_json(root: Path, result: "Evaluation", scores: dict[str, dict[str, float]]) -> dict[str, Any]:
    rounded = {method: {name: round(value, 4) for name, value in values.items()} for method, values in scores.items()}
    questions = {method: [_outcome_as_json(one) for one in outcomes] for method, outcomes in result.outcomes.items()}
    return {"projectPath": str(root), "scores": rounded, "questions": questions, "notes": result.notes}


def _outcome_as_json(outcome: "Outcome") -> dict[str, Any]:
    return {
        "text": _shorten(outcome.question.text),
        "commit": outcome.question.commit,
        "answers": {path: [list(lines) for lines in ranges] for path, ranges in outcome.question.answers.items()},
        "rank": outcome.rank,
        "ndcg": round(outcome.ndcg, 4),
        "lineRecall": [round(value, 4) for value in outcome.recall],
        "first": list(outcome.paths[:3]),
    }
