"""`dowse eval`: how good search is on a project, by questions from its own history."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import folder_argument, json_option, value_option
from dowse.cli.output import CommandReply, progress_bar
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.cli.project_evaluation import Outcome

SHOWN_FAILURES = 5
_SHOWN_CHARACTERS = 90
NO_QUESTIONS = (
    "dowse: there is no git repository, or no commit with a message of several words that changes one to five files."
)


@click.command("eval")
@folder_argument
@value_option("--questions", click.IntRange(1, 1000), 30, "Questions, at most.", names=["count"])
@json_option
def evaluate_command(folder: Path | None, *, count: int) -> CommandReply:
    """Measure how well dowse searches DIR.

    Ask commit messages in the files as they were before each commit, where the right answer is
    what the commit changed. Print how often a right file is among the first 1, 5 and 10, by words
    alone and with the table of word vectors.

    Everything happens in a temporary folder on this machine; DIR and its index are only read.

    Exit code 1: no question could be made.
    """
    from dowse.cli.project_evaluation import evaluate
    from dowse.indexes.project_lookup import open_or_find

    project = open_or_find(folder)
    root = project.root
    project.close()
    with progress_bar("Asking") as tell:
        outcomes = evaluate(root, count, tell)
    scores = {
        method: {
            f"hit@{k}": round(sum(one.rank is not None and one.rank <= k for one in found) / len(found), 4)
            for k in (1, 5, 10)
        }
        for method, found in outcomes.items()
        if found
    }
    questions = {method: [_as_json(one) for one in found] for method, found in outcomes.items()}
    reply = {"projectPath": str(root), "scores": scores, "questions": questions}
    return CommandReply(reply, _lines(outcomes, scores)) if scores else CommandReply(reply, (), [NO_QUESTIONS], 1)


def _lines(outcomes: "dict[str, list[Outcome]]", scores: dict[str, dict[str, float]]) -> Iterator[str]:
    best, found = list(outcomes.items())[-1]
    yield f"{pluralize(len(found), 'commit')} asked"
    for measure in ("hit@1", "hit@5", "hit@10"):
        yield f"  {measure:<6}" + "".join(f"  {method} {values[measure]:6.1%}" for method, values in scores.items())
    missed = [one for one in found if one.rank is None]
    if missed:
        yield f"  Not among the first ten ({best}): {len(missed)}"
    for one in missed[:SHOWN_FAILURES]:
        yield f"    {_shorten(one.question.text)}"
        yield f"      right: {', '.join(one.question.answers)}; first: {(one.paths or ('nothing',))[0]}"


def _shorten(text: str) -> str:
    from dowse.indexes.user_settings import masks_secrets
    from dowse.searching.passages import screen_line

    line = text.partition("\n")[0]
    return screen_line(line, (0, len(line)), 0, _SHOWN_CHARACTERS, "", masks=masks_secrets()).text


def _as_json(outcome: "Outcome") -> dict[str, Any]:
    question = outcome.question
    return {
        "text": _shorten(question.text), "commit": question.commit, "answers": list(question.answers),
        "rank": outcome.rank, "first": list(outcome.paths[:3]),
    }  # fmt: skip
