"""`python -m bench.dependencies PROJECT`: ask questions about the packages that a project uses, and measure the answers.

PROJECT has the 20 packages of `bench/questions/dependencies.jsonl` installed, at the versions that stand there. With
`--times PROJECT`, answers about a project with many dependencies are timed: first ones if nothing is indexed, else later ones.
"""

import argparse
import json
import os
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from bench import program
from bench.report import Row, Table
from dowse.federation.answers.definition_search import describe_definitions
from dowse.indexes.dependencies.package_index import SEPARATOR, packages_folder
from dowse.indexes.dependencies.package_search import Dependencies
from dowse.indexes.project_search import definition_options
from dowse.searching.query_terms import parse_search_query
from dowse.store.storage_layout import folder_size
from dowse.types import Entry

MARKER = "bench dependencies"
QUESTIONS = Path(__file__).with_name("questions") / "dependencies.jsonl"
FIRST = 3
"""The place up to which a definition has to be."""
_EXTENSION = re.compile(r"(?:\.d)?\.[cm]?[jt]s$")
_WORD = re.compile(r"\w{3,}")
_STOPPED = frozenset(
    (
        "the",
        "and",
        "for",
        "with",
        "that",
        "was",
        "its",
        "are",
        "does",
        "how",
        "from",
        "into",
        "all",
        "not",
        "when",
        "which",
    )
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the definitions that answer it."""

    ecosystem: str
    package: str
    version: str
    question: str
    files: tuple[str, ...]
    symbols: frozenset[str]

    def is_file(self, path: str) -> bool:
        """Return whether a path is a file that answers; packages of npm have several builds of one source."""
        plain = _EXTENSION.sub("", path.removeprefix("src/")) if self.ecosystem == "javascript" else path
        return path in self.files or plain in self.files


class Found(NamedTuple):
    """The place of the first right definition and of the first right file, counted from 1; 0 if there is none."""

    symbol: int
    file: int
    wrong_versions: int


def read_questions(file: Path = QUESTIONS) -> list[Question]:
    """Return the questions of a file."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Question(
            row["ecosystem"], row["package"], row["version"], row["question"], tuple(row["files"]),
            frozenset(row["symbols"]),
        )
        for row in rows
    ]  # fmt: skip


def ask(dependencies: Dependencies, question: Question, name: str | None = None) -> tuple[Found, float]:
    """Ask one question; return what was found, and the seconds that it took."""
    started = time.perf_counter()
    found = dependencies.search(parse_search_query(question.question), definition_options(5, None, None), name)
    shown = describe_definitions({}, found.answer, found.show).whole
    seconds = time.perf_counter() - started
    symbol = file = wrong = 0
    for place, one in enumerate(shown, 1):
        label, _, path = one.path.partition(SEPARATOR)
        package, _, version = label.rpartition(" ")
        wrong += package == question.package and version != question.version
        if package != question.package or not question.is_file(path):
            continue
        file = file or place
        names = {*one.passage.symbols, *one.passage.headings}
        symbol = symbol or (place if names & question.symbols else 0)
    return Found(symbol, file, wrong), seconds


def grep_place(files: Sequence[tuple[str, str, str]], question: Question) -> int:
    """Return the place of the file that answers among all files, by how many words of the question each has."""
    words = [word for word in _WORD.findall(question.question.lower()) if word not in _STOPPED]
    scored = sorted(
        (-sum(word in text for word in words), -sum(text.count(word) for word in words), package, path)
        for package, path, text in files
    )
    return next(
        (
            place
            for place, (_, _, package, path) in enumerate(scored[:10], 1)
            if package == question.package and question.is_file(path)
        ),
        0,
    )


def texts_of(dependencies: Dependencies) -> tuple[list[tuple[str, str, str]], int]:
    """Return the text of every file of all packages in small letters, and the size of all."""
    found, size = [], 0
    for package in dependencies.choose()[0]:
        source = dependencies.index(package).source
        for entry in source.entries():
            if isinstance(entry, Entry):
                data = source.read_bytes(entry.path)[0]
                size += len(data)
                found.append((package.name, entry.path, data.decode("utf-8", "replace").lower()))
    return found, size


def quality(project: Path, *, is_verbose: bool) -> list[Table]:
    """Return how many questions are answered, by ecosystem, beside grep; and the size of the indexes."""
    dependencies = Dependencies(project)
    dependencies.index_packages()
    texts, size = texts_of(dependencies)
    rows: dict[str, list[tuple[Found, Found, int]]] = {}
    packages = list(dict.fromkeys(question.package for question in read_questions()))
    halves: tuple[list[tuple[Found, Found, int]], ...] = ([], [])
    for question in read_questions():
        (found, _), (named, _) = ask(dependencies, question), ask(dependencies, question, question.package)
        place = grep_place(texts, question)
        rows.setdefault(question.ecosystem, []).append((found, named, place))
        if is_verbose and not 0 < found.symbol <= FIRST:
            print(found, named, place, question.package, question.question)
        halves[packages.index(question.package) % 2].append((found, named, place))
    everything = [*halves[0], *halves[1]]
    rows |= {"half that chose the weights": halves[0], "other half": halves[1]}
    table: list[Row] = [
        ("", "questions", "right definition", "with package", "right file", "grep, right file", "wrong version")
    ]
    for name, some in [*rows.items(), ("all", everything)]:
        shares = [
            sum(0 < place <= FIRST for place in places) / len(some)
            for places in (
                [found.symbol for found, _, _ in some], [named.symbol for _, named, _ in some],
                [found.file for found, _, _ in some], [place for _, _, place in some],
            )
        ]  # fmt: skip
        wrong = sum(found.wrong_versions + named.wrong_versions for found, named, _ in some)
        table.append((name, str(len(some)), *(f"{share:.0%}" for share in shares), str(wrong)))
    kept = sum(folder_size(dependencies.index(package).folder) for package in dependencies.choose()[0])
    sizes: list[Row] = [
        ("", ""),
        ("sources", f"{size / 1e6:.1f} MB"),
        ("indexes", f"{kept / 1e6:.1f} MB"),
        ("indexes ÷ sources", f"{kept / size:.2f}"),
    ]
    return [Table(f"Answers among the first {FIRST} of {len(everything)} questions", table), Table("Disk", sizes)]


def times(project: Path) -> Table:
    """Return how long the first answers take where nothing is indexed; else how long later answers take."""
    questions, dependencies = read_questions()[::4], Dependencies(project)
    heading = f"A project with {len(dependencies.choose()[0])} direct dependencies"
    with patch.object(Dependencies, "index_in_background"):  # nothing runs beside the measured answers
        if _is_empty():
            first = sorted(ask(Dependencies(project), question)[1] for question in questions[:7])
            shown = f"{statistics.median(first):.2f}, {first[-1]:.2f}"
            return Table(heading, [("", "seconds"), ("first answer, without any index: median, slowest of 7", shown)])
        opening = ask(dependencies, questions[0])[1]
        later = sorted(ask(dependencies, question)[1] for question in questions[1:])
    shown = f"{statistics.median(later):.3f}, {later[int(0.95 * len(later))]:.3f}"
    rows: list[Row] = [("", "seconds"), ("first answer of a process with all indexes", f"{opening:.2f}")]
    return Table(heading, [*rows, ("later answers: median, 95 %", shown)])


def _is_empty() -> bool:
    return not packages_folder().is_dir() or not any(one.is_dir() for one in packages_folder().iterdir())


def measure(options: argparse.Namespace, _folder: Path) -> list[Table]:
    """Measure what is asked for."""
    if not os.environ.get("DOWSE_HOME"):
        raise SystemExit('Set DOWSE_HOME to a folder whose config.json has "dependencies": true.')
    tables = [times(options.times)] if options.times else []
    return tables + (quality(options.project, is_verbose=options.verbose) if options.project else [])


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, nargs="?")
    parser.add_argument("--times", type=Path, metavar="PROJECT")
    parser.add_argument("--verbose", action="store_true", help="print the questions that are missed")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, measure)


if __name__ == "__main__":
    raise SystemExit(main())
