"""`python -m bench.growing --eval EVAL --code-search DIR`: measure the answers at every moment of an index's life.

Judged questions are asked while a first build stands still at each tenth, after a kill at these points, while many
files have just changed, and while the model encodes; `find_text` is compared with `git grep`.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import chain
from math import inf
from pathlib import Path
from statistics import mean
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import program, quality
from bench.moment import COLUMNS, Corpus, Round, ask_all, ask_commands
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from mcp import Client

MARKER = "bench growing"
PROJECTS = ("abseil-cpp", "laravel-framework", "commons-lang")
KINDS = ("building", "killed", "commands", "changed", "encoding")
TENTHS = tuple(range(11))
CHANGED_SHARE = 0.4


def main() -> int:
    """Measure and print the tables, or be the process that builds an index and stands still."""
    if len(sys.argv) > 1 and sys.argv[1] == "--build":
        _build(Path(sys.argv[2]), kills_at=int(sys.argv[3]) if len(sys.argv) > 3 else None)
        return 0
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.growing", description=__doc__)
    parser.add_argument("--eval", type=Path, required=True, metavar="EVAL", help="a folder with code-search/")
    parser.add_argument("--code-search", type=Path, required=True, metavar="DIR", help="its corpora, laid out")
    parser.add_argument("--project", nargs="+", default=PROJECTS, help=f"default: {', '.join(PROJECTS)}")
    parser.add_argument("--tenths", type=int, nargs="+", default=TENTHS, help="the points of a build (default: all)")
    parser.add_argument("--kind", nargs="+", default=KINDS, choices=KINDS, help="the moments (default: all)")
    parser.add_argument("--questions", type=int, metavar="N", help="ask only about N of each project's questions")
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="keep rows here; those that are here are not measured again"
    )
    parser.add_argument(
        "--minutes", type=float, default=inf, help="begin no row after this time; with --rows, run again to go on"
    )
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


class Rows:
    """The rows of all projects, which a file keeps between parts of a run."""

    def __init__(self, file: Path | None, minutes: float) -> None:
        self._file, self._end = file, time.monotonic() + 60 * minutes
        self._rows: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file and file.is_file() else {}

    def lacks(self, project: str, *names: str) -> bool:
        """Return whether one of these rows is to be measured now."""
        known = self._rows.get(project, {}).get("rows", {})
        return time.monotonic() < self._end and any(name not in known for name in names)

    def add(self, project: str, name: str, row: Row) -> None:
        self._rows[project]["rows"][name] = row
        print(project, *row, f"load {os.getloadavg()[0]:.0f}", sep="\t", file=sys.stderr, flush=True)
        self._save()

    def finished(self, corpus: Corpus) -> None:
        """Give a corpus the scores of its finished index, which are measured once."""
        name = corpus.root.name
        if name not in self._rows:
            _finish(corpus)
            self._rows[name] = {"finished": corpus.finished, "files": len(corpus.words), "rows": {}}
            self._save()
        corpus.finished = self._rows[name]["finished"]

    def tables(self) -> list[Table]:
        """Return a table for each project, with its rows in the order of an index's life."""
        return [
            Table(
                f"{name}: {one['files']:,} files, {len(one['finished'])} questions, by words finished "
                f"{mean(one['finished'].values()):.3f}",
                [COLUMNS, *(tuple(one["rows"][row]) for row in ALL_ROWS if row in one["rows"])],
            )
            for name, one in self._rows.items()
        ]

    def _save(self) -> None:
        if self._file:
            self._file.write_text(json.dumps(self._rows, indent=1))


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    judged, rows = quality.code_search(options.eval / "code-search"), Rows(options.rows, options.minutes)
    for name in options.project:
        if not rows.lacks(name, *(row for tenth in options.tenths for row in _row_names(options.kind, tenth))):
            continue
        root = work / name
        shutil.copytree(options.code_search / name, root)
        _home(work)
        questions = [one for one in judged if one.corpus == name]
        corpus = Corpus(root, questions[:: max(1, len(questions) // (options.questions or len(questions)))])
        rows.finished(corpus)
        anyio.run(_measure, corpus, rows, options, work)
    return rows.tables()


def _row_names(kinds: Iterable[str], tenth: int) -> list[str]:
    """Return the names of the rows of some moments."""
    killed = f"killed at {tenth * 10} %"
    names = {
        "building": [f"building, {tenth * 10} %"],
        "commands": [f"{killed}, commands"],
        "killed": [f"{killed}, first answers", f"{killed}, next answers"],
        "encoding": ["while the model encodes"],
        "changed": ["40 % changed, first answers", "40 % changed, next answers"],
    }
    return [name for kind in kinds for name in names[kind]]


ALL_ROWS = [
    name for kind in KINDS for name in dict.fromkeys(name for tenth in TENTHS for name in _row_names([kind], tenth))
]


async def _measure(corpus: Corpus, rows: Rows, options: argparse.Namespace, work: Path) -> None:
    project = corpus.root.name

    def lacks(kind: str, tenth: int = 0) -> bool:
        return kind in options.kind and rows.lacks(project, *_row_names([kind], tenth))

    def show(name: str, found: Round) -> None:
        rows.add(project, name, found.row(name))

    if any(lacks("building", tenth) for tenth in options.tenths):
        _home(work)
        async for tenth, found in _while_building(
            corpus, lambda tenth: tenth in options.tenths and lacks("building", tenth)
        ):
            show(f"building, {tenth * 10} %", found)
    for tenth in options.tenths:
        if not (lacks("killed", tenth) or lacks("commands", tenth)):
            continue
        _home(work)
        _run_build(corpus.root, kills_at=tenth)
        killed = f"killed at {tenth * 10} %"
        if lacks("commands", tenth):
            with _copied_home(work):
                show(f"{killed}, commands", ask_commands(corpus))
        if lacks("killed", tenth):
            async with _server(corpus.root) as client:
                show(f"{killed}, first answers", await ask_all(client, corpus, moves=True))
                show(f"{killed}, next answers", await ask_all(client, corpus, moves=True))
    if lacks("encoding"):
        _home(work)
        _run_build(corpus.root)
        async with _server(corpus.root) as client:
            show("while the model encodes", await ask_all(client, corpus))
    if lacks("changed"):
        _home(work)
        _run_build(corpus.root)
        async with _server(corpus.root) as client:
            await client.call_tool("search_code", {"query": "anything"})
            _change(corpus)
            show("40 % changed, first answers", await ask_all(client, corpus, moves=True))
            show("40 % changed, next answers", await ask_all(client, corpus, moves=True))


def _home(work: Path) -> None:
    home = work / "home"
    shutil.rmtree(home, ignore_errors=True)
    os.environ["DOWSE_HOME"] = str(home)


@contextmanager
def _copied_home(work: Path) -> Iterator[None]:
    """Let commands work in a copy of the indexes; what they leave running ends with it."""
    before, copied = os.environ["DOWSE_HOME"], work / "copied"
    shutil.copytree(before, copied, dirs_exist_ok=True)
    os.environ["DOWSE_HOME"] = str(copied)
    try:
        yield
    finally:
        os.environ["DOWSE_HOME"] = before
        shutil.rmtree(copied, ignore_errors=True)


def _finish(corpus: Corpus) -> None:
    """Measure the nDCG of the finished index by words."""
    project = quality.open_index(corpus.root)
    for one in corpus.questions:
        corpus.finished[one.text] = quality.ndcg(quality.ranked_paths(project.store, one.text), one.answers)
    project.close()


async def _while_building(corpus: Corpus, is_wanted: Callable[[int], bool]) -> AsyncIterator[tuple[int, Round]]:
    """Ask while a build stands still at each tenth that is wanted."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.growing", "--build", str(corpus.root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as build:  # fmt: skip
        if not build.stdin or not build.stdout:
            return
        first = build.stdout.readline()  # before a server starts a build of its own
        async with _server(corpus.root) as client:
            for line in chain([first], build.stdout):
                if is_wanted(tenth := int(line)):
                    yield tenth, await ask_all(client, corpus)
                build.stdin.write("on\n")
                build.stdin.flush()


def _run_build(root: Path, *, kills_at: int | None = None) -> None:
    program_line = [sys.executable, "-m", "bench.growing", "--build", str(root)]
    subprocess.run([*program_line, str(-1 if kills_at is None else kills_at)], check=kills_at is None)


def _build(root: Path, kills_at: int | None) -> None:
    """Index a root; stand still at each tenth until a line comes, or die at one of them."""
    reached = -1

    def progress(done: int, total: int) -> None:
        nonlocal reached
        tenth = done * 10 // max(1, total)
        if tenth <= reached:
            return
        reached = tenth
        if kills_at is None:
            print(tenth, flush=True)
            sys.stdin.readline()
        elif tenth == kills_at:
            os.kill(os.getpid(), signal.SIGKILL)

    project = ProjectIndex(root)
    project.update(progress)
    project.close()


def _change(corpus: Corpus) -> None:
    """Add a line to 40 % of the files, as a checkout of another branch would."""
    paths = sorted(corpus.words)
    for path in paths[:: round(1 / CHANGED_SHARE)]:
        with (corpus.root / path).open("a", encoding="utf-8") as file:
            file.write("\n")
    corpus.read()


@asynccontextmanager
async def _server(root: Path) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "serve", "--only", "code", str(root)],
        env={"DOWSE_HOME": os.environ["DOWSE_HOME"]},
    )
    async with Client(server) as client:
        yield client


if __name__ == "__main__":
    sys.exit(main())
