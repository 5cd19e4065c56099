"""`python -m bench.lines --eval EVAL --checkouts DIR ...`: measure how soon a reply shows a line that the fix changes.

Each DIR has one folder for each issue, named by its id: the repository at the commit before the fix.
A token counts as four characters. A file that is not found is a miss.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench import program, quality
from bench.line_questions import read_questions
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import coverage, search_now
from dowse.mcp.replies import BUDGET_TOKENS, CHARACTERS_PER_TOKEN
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.surfaces.project.project_replies import ProjectAnswer, search_reply
from dowse.text.line_numbers import split_lines

MARKER = "bench lines"
HOME = Path(__file__).parents[1] / ".bench" / "issues"
BUDGETS = (500, 1000, 2000, 4000)
HITS = 10
MAX_QUERY = 10_000
SEMBLE_CHUNKS = 30
"""More than fit into the largest budget."""
_INSIDE = Path(__file__).with_name("inside")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,}")


class ShownLine(NamedTuple):
    """A line of a file, and the characters of the reply that a reader has read when they have read it."""

    path: str
    line: int
    characters: int


@dataclass(slots=True)
class Score:
    """Where the changed lines of each issue are shown; one entry for each issue."""

    first: list[float] = field(default_factory=list)
    """Tokens until the first changed line; infinite if none is shown."""
    recalls: list[tuple[float, ...]] = field(default_factory=list)
    """The share of the changed lines within each budget."""
    is_file_found: list[bool] = field(default_factory=list)

    def add(self, shown: Iterable[ShownLine], gold: Mapping[str, Sequence[int]]) -> None:
        """Compare the shown lines with the changed ones."""
        at: dict[tuple[str, int], float] = {}
        paths = dict[str, None]()
        for line in shown:
            paths.setdefault(line.path)
            at.setdefault((line.path, line.line), line.characters / CHARACTERS_PER_TOKEN)
        wanted = [at.get((path, line), math.inf) for path, lines in gold.items() for line in lines]
        self.first.append(min(wanted))
        self.recalls.append(tuple(statistics.mean(tokens <= budget for tokens in wanted) for budget in BUDGETS))
        self.is_file_found.append(not gold.keys().isdisjoint(list(paths)[:HITS]))

    def cells(self) -> list[str]:
        """Return the figures of a row."""
        shown = [tokens <= 1000 for tokens in self.first]
        of_found = [one for one, is_found in zip(shown, self.is_file_found, strict=True) if is_found]
        seen = [tokens for tokens in self.first if tokens <= BUDGETS[-1]]
        return [
            f"{statistics.mean(self.is_file_found):.0%}",
            f"{statistics.mean(shown):.0%}",
            f"{statistics.mean(of_found):.0%}" if of_found else "-",
            *(f"{statistics.mean(column):.0%}" for column in zip(*self.recalls, strict=True)),
            f"{statistics.median(seen):.0f}" if seen else "-",
        ]


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.lines", description=__doc__)
    add_issue_options(parser)
    parser.add_argument(
        "--repository", metavar="NAME=DIR", nargs="*", default=[], help="repositories of bench/questions/lines.jsonl"
    )
    parser.add_argument("--ours-alone", action="store_true", help="measure the replies of search_code alone")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, _work: Path) -> list[Table]:
    issues, total = load_issues(options)
    semble = Semble(options.semble, options.semble_model, options.home) if options.semble and issues else None
    scores: dict[str, dict[str, Score]] = {name: {} for name in _QUERIES}
    for issue, root in issues:
        project = quality.open_index(root)
        texts = {name: make(issue["text"])[:MAX_QUERY] for name, make in _QUERIES.items()}
        chunks = semble.search(root, list(texts.values())) if semble else []
        for number, (name, text) in enumerate(texts.items()):
            reply = ask(project, text)
            shown = {"search_code": shown_lines(reply)}
            if not options.ours_alone:
                shown["whole files, in that order"] = _whole_files(root, [hit["path"] for hit in reply["results"]])
                shown["ripgrep, the rarest word first"] = _grep(project, root, text)
            if semble:
                shown["semble"] = shown_lines({"results": chunks[number]})
            for contestant, lines in shown.items():
                scores[name].setdefault(contestant, Score()).add(lines, issue["gold"])
        project.close()
    head = ("", "file in ten", "a line in 1,000", "of files in ten", *(f"recall {b:,}" for b in BUDGETS), "median")
    tables = [
        Table(
            f"{len(issues)} of {total} issues, {name}: changed lines within so many tokens",
            [head, *((contestant, *score.cells()) for contestant, score in by_contestant.items())],
        )
        for name, by_contestant in scores.items()
        if issues
    ]
    return [*tables, *_question_tables(head, dict(one.split("=", 1) for one in options.repository))]


def add_issue_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the issues, their checkouts and semble."""
    parser.add_argument("--eval", type=Path, metavar="EVAL", required=True, help="issues/")
    parser.add_argument("--checkouts", type=Path, metavar="DIR", nargs="+", default=[])
    parser.add_argument("--home", type=Path, default=HOME, help="the folder of the indexes, which later runs reuse")
    parser.add_argument("--semble", type=Path, metavar="PYTHON", help="a Python that has semble, to measure it as well")
    parser.add_argument("--semble-model", type=Path, metavar="DIR", help="the table of word vectors that semble uses")


def load_issues(options: argparse.Namespace) -> tuple[list[tuple[dict[str, Any], Path]], int]:
    """Return the issues whose checkouts are there, each with its folder, and the number of all; indexes go to --home."""
    os.environ["DOWSE_HOME"] = str(options.home.resolve())
    file = options.eval / "issues" / "swe-bench-lite.jsonl"
    rows = list(map(json.loads, file.read_text(encoding="utf-8").splitlines())) if file.is_file() else []
    issues = [
        (row, folder / row["id"]) for row in rows for folder in options.checkouts if (folder / row["id"]).is_dir()
    ]
    if not issues:
        print(f"Nothing is measured: it needs {file} and the checkouts of issues.", file=sys.stderr)
    return issues, len(rows)


def _question_tables(head: Row, folders: Mapping[str, str]) -> Iterator[Table]:
    """Yield a table of the questions about repositories and the lines that answer them."""
    questions, rows, asked = read_questions(), [head], 0
    for name, folder in folders.items():
        project, score = quality.open_index(Path(folder)), Score()
        for question in questions:
            if question.repository == name and (lines := question.answering_lines(Path(folder))):
                score.add(shown_lines(ask(project, question.question)), {question.path: lines})
                asked += 1
        project.close()
        rows.append((name, *score.cells()))
    if asked:
        yield Table(f"{asked} of {len(questions)} questions: lines that answer within so many tokens", rows)


_QUERIES: dict[str, Callable[[str], str]] = {
    "the text as it is": lambda text: text,
    "the first line alone": lambda text: text.strip().splitlines()[0],
}


def ask(project: ProjectIndex, text: str) -> dict[str, Any]:
    """Return the reply of search_code with default arguments, by words and the table."""
    answer = search_now(project, parse_search_query(text), SearchOptions(HITS, "code"))
    found = ProjectAnswer(answer, coverage(project), str)
    return search_reply([found], 0, HITS, BUDGET_TOKENS * CHARACTERS_PER_TOKEN)


def shown_lines(reply: Mapping[str, Any]) -> Iterator[ShownLine]:
    """Yield the lines of files that a reply shows, in the order in which its JSON has them."""
    wire, at = json.dumps(reply, ensure_ascii=False), 0
    for hit in reply["results"]:
        at = wire.index(_quoted(hit["text"]), at)
        for line, text in enumerate(hit["text"].split("\n"), hit["startLine"]):
            at += len(_quoted(text)) + len("\\n")
            yield ShownLine(hit["path"], line, at)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _whole_files(root: Path, paths: Iterable[str]) -> Iterator[ShownLine]:
    """Yield the lines of files that are read whole, one after the other."""
    at = 0
    for path in paths:
        at += len(path) + 1
        for number, line in enumerate(split_lines((root / path).read_text(encoding="utf-8", errors="replace")), 1):
            at += len(line)
            yield ShownLine(path, number, at)


def _grep(project: ProjectIndex, root: Path, text: str) -> Iterator[ShownLine]:
    """Yield the lines that contain a word of the query, word for word, from the word that is in the fewest files on."""
    files = {document.id: document.path for document in project.store.documents() if document.kind == "code"}
    found = {word: project.store.documents_with_word(word) & files.keys() for word in set(_IDENTIFIER.findall(text))}
    at = 0
    for word in sorted((word for word in found if found[word]), key=lambda word: (len(found[word]), word)):
        is_in = re.compile(rf"\b{word}\b").search
        for path in sorted(files[number] for number in found[word]):
            content = (root / path).read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(content.split("\n"), 1):
                if is_in(line):
                    at += len(f"{path}:{number}:{line}\n")
                    yield ShownLine(path, number, at)
            if at > BUDGETS[-1] * CHARACTERS_PER_TOKEN:
                return


class Semble:
    """semble in a process of its own, with its whole chunks as its reply shows them."""

    def __init__(self, python: Path, model: Path | None, home: Path) -> None:
        self._home = home / "semble"
        own = {"HOME": self._home, "SEMBLE_CACHE_LOCATION": self._home / "cache", "XDG_CACHE_HOME": self._home / "xdg"}
        model_name = {"SEMBLE_MODEL_NAME": model, "HF_HUB_OFFLINE": 1} if model else {}
        environment = {**os.environ, **{name: str(value) for name, value in {**own, **model_name}.items()}}
        self._process = subprocess.Popen(
            [str(python), str(_INSIDE / "search_with_semble.py")],
            env=environment, text=True, encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def search(self, root: Path, queries: Sequence[str]) -> list[list[dict[str, Any]]]:
        """Return the chunks of each query."""
        request = {"root": str(root.resolve()), "queries": queries, "top_k": SEMBLE_CHUNKS}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline() if self._process.stdout else "[]"
        found: list[list[dict[str, Any]]] = json.loads(answer)
        return found


if __name__ == "__main__":
    sys.exit(main())
