"""`python -m bench.growing --eval EVAL --code-search DIR`: measure the answers at every moment of an index's life.

Judged questions are asked while a first build stands still at each tenth, after a kill at these points, and while many
files have just changed; `find_text` is compared with the lines of the files.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import program, quality
from bench.quality import Judged
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from dowse.types import Entry
from mcp import Client

MARKER = "bench growing"
PROJECTS = ("abseil-cpp", "laravel-framework", "curl")
TENTHS = tuple(range(1, 11))
CHANGED_SHARE = 0.4
TEXTS = 12
"""Texts that are compared with the lines of the files at each point."""


@dataclass(slots=True)
class Round:
    """The answers at one moment."""

    ndcg: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    false_words: int = 0
    """Words that are called not found although a file has them."""
    false_coverage: int = 0
    """Answers whose counts are not those of the files."""
    compared: int = 0
    differences: int = 0
    """Texts whose number of lines is not that of the files."""

    def row(self, name: str, best: float) -> Row:
        """Return the row of a table; `best` is the nDCG of the finished index."""
        p95 = quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else self.seconds[0]
        return (
            name, f"{mean(self.ndcg):.3f}", f"{mean(self.ndcg) / best:.2f}", f"{p95:.2f}", str(self.false_words),
            str(self.false_coverage), f"{self.differences} of {self.compared}",
        )  # fmt: skip


class Corpus:
    """A project, its questions, and the words of its files."""

    def __init__(self, root: Path, questions: Sequence[Judged]) -> None:
        self.root, self.questions = root, questions
        self.texts: dict[str, str] = {}
        self.read()

    def read(self) -> None:
        """Read all files that the policy allows."""
        source = ProjectIndex(self.root).source
        entries = [entry.path for entry in source.entries() if isinstance(entry, Entry)]
        self.texts = {path: (self.root / path).read_text(encoding="utf-8", errors="replace") for path in entries}
        self._lower = "\n".join(self.texts.values()).lower()

    def has_word(self, word: str) -> bool:
        return word.lower() in self._lower

    def count(self, text: str) -> int:
        return sum(one.count(text) for one in self.texts.values())


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
    parser.add_argument("--project", action="append", default=[], help=f"default: {', '.join(PROJECTS)}")
    parser.add_argument("--tenths", type=int, action="append", default=[], help="default: all")
    parser.add_argument("--kind", action="append", default=[], choices=("building", "killed", "changed"))
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    judged = quality.code_search(options.eval / "code-search")
    tables = []
    for name in options.project or PROJECTS:
        root = work / name
        shutil.copytree(options.code_search / name, root)
        corpus = Corpus(root, [one for one in judged if one.corpus == name])
        tables.append(anyio.run(_measure, corpus, options, work))
    return tables


async def _measure(corpus: Corpus, options: argparse.Namespace, work: Path) -> Table:
    rows: list[Row] = [("", "nDCG@10", "÷ finished", "p95 s", "false words", "false counts", "texts that differ")]
    best = _finished(corpus, _home(work))
    kinds, tenths = options.kind or ("building", "killed", "changed"), options.tenths or TENTHS

    def show(name: str, found: Round) -> None:
        rows.append(found.row(name, best))
        print(*rows[-1], sep="\t", file=sys.stderr, flush=True)

    if "building" in kinds:
        _home(work)
        async for tenth, found in _while_building(corpus, tenths):
            show(f"building, {tenth}0 %", found)
    for tenth in tenths if "killed" in kinds else ():
        _home(work)
        _run_build(corpus.root, kills_at=tenth)
        async with _server(corpus.root) as client:
            show(f"killed at {tenth}0 %, first answers", await _ask_all(client, corpus))
            show(f"killed at {tenth}0 %, next answers", await _ask_all(client, corpus))
    if "changed" in kinds:
        _home(work)
        _run_build(corpus.root)
        async with _server(corpus.root) as client:
            await client.call_tool("search_code", {"query": "anything"})
            _change(corpus)
            show("40 % changed, first answers", await _ask_all(client, corpus))
            show("40 % changed, next answers", await _ask_all(client, corpus))
    return Table(f"{corpus.root.name}: {len(corpus.texts):,} files, by words finished {best:.3f}", rows)


def _home(work: Path) -> Path:
    home = work / "home"
    shutil.rmtree(home, ignore_errors=True)
    os.environ["DOWSE_HOME"] = str(home)
    return home


def _finished(corpus: Corpus, _home: Path) -> float:
    """Return the nDCG of the finished index by words."""
    project = quality.open_index(corpus.root)
    value = mean(quality.ndcg(quality.ranked_paths(project.store, one.text), one.answers) for one in corpus.questions)
    project.close()
    return value


async def _while_building(corpus: Corpus, tenths: Iterable[int]) -> AsyncIterator[tuple[int, Round]]:
    """Ask while a build stands still at each tenth."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.growing", "--build", str(corpus.root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as build:  # fmt: skip
        if not build.stdin or not build.stdout:
            return
        async with _server(corpus.root) as client:
            for line in build.stdout:
                if (tenth := int(line)) in tenths:
                    yield tenth, await _ask_all(client, corpus)
                build.stdin.write("on\n")
                build.stdin.flush()


def _run_build(root: Path, *, kills_at: int | None = None) -> None:
    program_line = [sys.executable, "-m", "bench.growing", "--build", str(root)]
    subprocess.run([*program_line, str(kills_at or 0)], stdout=subprocess.DEVNULL, check=kills_at is None)


def _build(root: Path, kills_at: int | None) -> None:
    """Index a root; stand still at each tenth until a line comes, or die at one of them."""
    reached = 0

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
    paths = sorted(corpus.texts)
    for path in paths[:: round(1 / CHANGED_SHARE)]:
        file = corpus.root / path
        file.write_text(file.read_text(encoding="utf-8", errors="replace") + "\n", encoding="utf-8")
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


async def _ask_all(client: Client, corpus: Corpus) -> Round:
    found = Round()
    for question in corpus.questions:
        reply, seconds = await _call(client, "search_code", {"query": question.text})
        found.seconds.append(seconds)
        found.ndcg.append(quality.ndcg([hit["path"] for hit in reply.get("results", ())], question.answers))
        found.false_words += sum(map(corpus.has_word, reply.get("notFound", ())))
        found.false_coverage += not _is_true(reply.get("coverage", {}), corpus)
    for question in corpus.questions[:TEXTS]:
        text = max(question.text.split(), key=len)
        reply, _ = await _call(client, "find_text", {"text": text})
        found.compared += 1
        found.differences += reply.get("totalMatches") != corpus.count(text)
    return found


def _is_true(coverage: Mapping[str, Any], corpus: Corpus) -> bool:
    searched = coverage.get("indexedFiles", 0) + coverage.get("searchedDirectly", 0)
    return bool(searched == len(corpus.texts)) or not coverage.get("complete", True)


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], float]:
    began = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    return dict(result.structured_content or {}), time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
