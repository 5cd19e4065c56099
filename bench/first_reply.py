"""Does the first reply to a question show what decides? Questions about projects that nobody knows, asked as assistants do.

    python -m bench.first_reply PROJECTS [--way names|rewritten|question] [--split tune|hold] [--wrong N] [--model] [--each]
    python -m bench.first_reply --eval EVAL --checkouts DIR [--model] [--each]

PROJECTS has a checkout for each `project` of `bench/questions/colleague.jsonl`, at its `commit` of its `repository`. A
question is in the words of a colleague; `rewritten` and `names` are the call of an assistant that has not seen the code, and
`lines` the ranges that decide. Prints the share of the questions with a deciding range shown whole and with any line of one,
those of which every place is shown or named, and the median length of a reply, by language. With --model, the model scores
the best definitions, for as long as that takes; the chunks of the index are not encoded in either case.

With --checkouts, the issues of EVAL are pasted whole: each DIR has one folder for each issue, named by its id. Prints the mean
share of the changed lines that the first reply shows, the share of issues with any, and the median length of a reply.
"""

import argparse
import asyncio
import json
import random
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

from bench import quality
from bench.lines import HOME, load_issues
from dowse.federation.answers.answer_surface import AnswerSurface
from dowse.federation.source_list import SourceList
from dowse.keeping.encoding_worker import model_pool
from dowse.keeping.encoding_worker.background_encoder import BackgroundEncoder
from dowse.keeping.served_index import Service
from dowse.mcp.tools import Call

if TYPE_CHECKING:
    from dowse.types import Vectors

_HEADER = re.compile(r"(\S.*?):(\d+)(?:-(\d+))?(?:  .*)?")
_LINE = re.compile(r" *(\d+)(?: .*)?")
_PLACE = re.compile(r"  (\d+)(?:-(\d+))?  .*")
_BESIDE = re.compile(r"([^\s(),]*):(\d+)")
"""A caller or a constant of a definition."""
WORDS = (
    "apply",
    "buffer",
    "handler",
    "Registry",
    "config_loader",
    "dispatch",
    "retry_count",
    "ItemCache",
    "parse",
    "toggle",
    "Snapshot",
    "merge_all",
)  # fmt: skip
"""Guesses that are about nothing: they may not push the answer out."""


PATIENT_SECONDS = 60.0
"""How long a question waits for the model: the figures are of the order, not of a busy machine."""
QUESTIONS = Path(__file__).with_name("questions") / "colleague.jsonl"


class Shown(NamedTuple):
    """The lines that a reply shows, and the ranges that it names."""

    lines: set[tuple[str, int]]
    named: list[tuple[str, int, int]]


class Outcome(NamedTuple):
    """Whether a reply shows what decides."""

    whole: bool
    any_line: bool
    all_places: bool
    characters: int


def read_reply(text: str) -> Shown:
    """Return what a reply of `search` shows: numbered lines below `path:start-end`, and places below a path."""
    lines, named, path, in_places = set[tuple[str, int]](), list[tuple[str, int, int]](), "", False
    for row in text.split("\n"):
        if row in ("Other places:", "Places:"):
            in_places, path = True, ""
        elif in_places:
            if place := _PLACE.fullmatch(row):
                named.append((path, int(place[1]), int(place[2] or place[1])))
            else:
                path = row
        elif header := _HEADER.fullmatch(row):
            path = header[1]
            named.append((path, int(header[2]), int(header[3] or header[2])))
        elif row.startswith("  ") and (found := _BESIDE.findall(row)):
            named += [(one or path, int(line), int(line)) for one, line in found]
        elif (line := _LINE.fullmatch(row)) and path:
            lines.add((path, int(line[1])))
    return Shown(lines, named)


def judge(row: dict[str, Any], text: str, root: Path) -> Outcome:
    """Return whether a reply shows the ranges that decide; blank lines need not be shown."""
    shown = read_reply(text)
    wholes, anys, places = [], [], []
    for path, start, end in _ranges(row):
        texts = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        wanted = [number for number in range(start, end + 1) if number <= len(texts) and texts[number - 1].strip()]
        found = [(path, number) in shown.lines for number in wanted]
        wholes.append(all(found))
        anys.append(any(found))
        places.append(any(one == path and first <= end and last >= start for one, first, last in shown.named))
    return Outcome(any(wholes), any(anys), all(a or b for a, b in zip(anys, places, strict=True)), len(text))


def _ranges(row: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    for place in row["lines"]:
        found = re.fullmatch(r"(.*):(\d+)(?:-(\d+))?", place)
        if found:
            yield found[1], int(found[2]), int(found[3] or found[2])


def arguments_of(row: dict[str, Any], way: str, wrong: int) -> dict[str, Any]:
    """Return the arguments of a call in one of three ways, with so many wrong guesses."""
    names = row["names"] if way == "names" else []
    names = [*names, *random.Random(row["id"]).sample(WORDS, wrong)]  # noqa: S311 - no secret
    query = row["question"] if way == "question" else row["rewritten"]
    return {"query": query, "names": names, "path": None, "kind": None, "tests": "ranked", "limit": 5}


class ScoringClient(BackgroundEncoder):
    """A client that encodes no chunk, as right after indexing, and waits for the model however long it takes."""

    def encode_indexes(self, roots: Iterable[Path]) -> None:
        """Encode nothing."""

    def start_scoring(self, version: str, text: str) -> "Callable[[Sequence[str], float], Vectors | None]":
        """Wait until the model is loaded."""
        self.start_query(version, text)(PATIENT_SECONDS)
        score = super().start_scoring(version, text)
        return lambda texts, _seconds: score(texts, PATIENT_SECONDS)


async def ask(root: Path, calls: Iterable[dict[str, Any]], encoder: BackgroundEncoder | None = None) -> list[str]:
    """Return the replies of a server to calls about one project, before the model has encoded anything."""
    quality.open_index(root).close()
    service = Service([root])
    for served in service.projects:
        served.encoder = encoder
    try:
        sources = SourceList(root, service, indexes_projects=True)
        surface = AnswerSurface(service, root, sources)
        return [await surface.answer_question(_call(arguments)) for arguments in calls]
    finally:
        service.close()


def _call(arguments: dict[str, Any]) -> Any:
    client = Call()
    return SimpleNamespace(
        arguments=arguments, budget_characters=80_000, can_ask=False, ask=client.ask, roots=client.roots
    )


@contextmanager
def model_of(options: argparse.Namespace) -> Iterator[BackgroundEncoder | None]:
    """Yield a client of the model's process, if it is asked for."""
    client = ScoringClient() if options.model else None
    with patch.multiple(model_pool, LOADING_SECONDS=PATIENT_SECONDS, LOADING_WAIT_SECONDS=PATIENT_SECONDS):
        try:
            yield client
        finally:
            if client:
                client.stop()


def ask_issues(options: argparse.Namespace, encoder: BackgroundEncoder | None) -> None:
    """Paste issues and print how many of the changed lines the replies show."""
    issues, total = load_issues(options)
    shares, lengths = list[float](), list[int]()
    for issue, root in issues:
        call = {"query": issue["text"], "names": [], "path": None, "kind": None, "tests": "ranked", "limit": 5}
        [text] = asyncio.run(ask(root, [call], encoder))
        shown = read_reply(text)
        changed = [(path, line) for path, lines in issue["gold"].items() for line in lines]
        shares.append(statistics.mean(line in shown.lines for line in changed))
        lengths.append(len(text))
        if options.each:
            print(issue["id"], round(shares[-1], 2), len(text), flush=True)
    if issues:
        mean, some = statistics.mean(shares), statistics.mean(share > 0 for share in shares)
        print(f"{len(issues)} of {total} issues: changed lines shown {mean:.1%}, any {some:.1%},", end=" ")
        print("median characters", statistics.median(lengths))


def main() -> None:
    """Ask all questions and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("projects", type=Path, nargs="?")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="issues/")
    parser.add_argument("--checkouts", type=Path, metavar="DIR", nargs="+", default=[])
    parser.add_argument("--home", type=Path, default=HOME, help="the folder of the indexes of issues")
    parser.add_argument("--way", choices=["names", "rewritten", "question"], default="names")
    parser.add_argument(
        "--split", choices=["tune", "hold"], help="the questions that constants were chosen on, or others"
    )
    parser.add_argument("--wrong", type=int, default=0, help="wrong guesses that are added")
    parser.add_argument("--model", action="store_true", help="let the model score the best definitions")
    parser.add_argument("--each", action="store_true", help="print every question")
    options = parser.parse_args()
    if options.projects is None and not options.checkouts:
        parser.error("name the folder of the projects, or --checkouts of issues")
    with model_of(options) as encoder:
        (ask_issues if options.checkouts else ask_questions)(options, encoder)


def ask_questions(options: argparse.Namespace, encoder: BackgroundEncoder | None) -> None:
    """Ask the questions of all projects and print how many replies show what decides."""
    by_project = defaultdict(list)
    for row in map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines()):
        is_asked = "names" in row and options.split in (None, row["split"])
        if is_asked and (options.projects / row["project"]).is_dir():
            by_project[row["project"]].append(row)
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for project, rows in sorted(by_project.items()):
        root = options.projects / project
        calls = [arguments_of(row, options.way, options.wrong) for row in rows]
        for row, text in zip(rows, asyncio.run(ask(root, calls, encoder)), strict=True):
            outcome = judge(row, text, root)
            outcomes[row["language"]].append(outcome)
            if options.each:
                print(row["id"], project, *outcome, flush=True)
    for name, found in [*sorted(outcomes.items()), ("all", [one for some in outcomes.values() for one in some])]:
        shares = [f"{100 * sum(one[at] for one in found) / max(len(found), 1):.1f} %" for at in range(3)]
        median = statistics.median(one.characters for one in found) if found else 0
        print(name, len(found), "whole, any line, all places:", *shares, "median characters", median)


if __name__ == "__main__":
    main()
