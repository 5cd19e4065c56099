"""`python -m bench.library DIR`: the time of `import dowse`, of one search in a new process, and of further searches.

DIR is indexed first, in a storage root of its own. The searches of the library are compared with those of the tool `search`, which finds the same
definitions and also their callers, and with those of `search_code`.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import dowse
from dowse.federation.answers.answer_surface import AnswerSurface
from dowse.federation.source_list import SourceList
from dowse.keeping.served_index import Service
from dowse.mcp.tools import Call
from dowse.surfaces.project.project_surface import ProjectSurface

QUERIES = (
    "how is a query parsed", "where are secrets masked", "which files are never read", "how is a word stemmed",
    "what happens when the disk is full", "parse the front matter of a document", "lock between processes",
    "rank the hits of several sources", "watch a folder for changes", "encode a chunk with the model",
)  # fmt: skip
ROUNDS = 5
IMPORT = "import time; t = time.perf_counter(); import dowse; print(time.perf_counter() - t)"
SEARCH = (
    "import time; t = time.perf_counter(); import dowse; index = dowse.open({root!r}); found = index.search({query!r}); "
    "print(time.perf_counter() - t); index.close(); assert found"
)


class ToolCall(Call):
    """A call of a tool."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments


def in_new_processes(program: str, times: int) -> float:
    """Return the median of what a program prints, in milliseconds, and warm up first."""
    command = [sys.executable, "-c", program]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(times + 1)]
    return 1000 * statistics.median(float(one) for one in runs[1:])


def whole_process(command: list[str], times: int) -> float:
    """Return the median time of a whole process, in milliseconds."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        found.append(1000 * (time.perf_counter() - started))
    return statistics.median(found)


def of_library(root: Path, detail: Any) -> float:
    """Return the median time of a search by the library, in milliseconds."""
    found = []
    with dowse.open(root) as index:
        for number in range(ROUNDS + 1):
            for query in QUERIES:
                started = time.perf_counter()
                index.search(query, detail=detail)
                found += [1000 * (time.perf_counter() - started)] if number else []
    return statistics.median(found)


async def of_tool(ask: Callable[[str], Awaitable[object]]) -> float:
    """Return the median time of a search by a tool, in milliseconds."""
    found = []
    for number in range(ROUNDS + 1):
        for query in QUERIES:
            started = time.perf_counter()
            await ask(query)
            found += [1000 * (time.perf_counter() - started)] if number else []
    return statistics.median(found)


async def of_tools(root: Path) -> tuple[float, float]:
    """Return the median times of `search` for assistants and of `search_code`, in milliseconds."""
    service = Service([root])
    answers = AnswerSurface(service, root, SourceList(root, projects=service))
    surface = ProjectSurface(service, root)
    shared = {"project": None, "path": None, "tests": "ranked"}
    try:
        search = await of_tool(
            lambda query: answers.answer_question(ToolCall(query=query, names=None, limit=5, kind=None, **shared))
        )
        code = await of_tool(
            lambda query: surface.search_code(
                ToolCall(query=query, top_k=5, offset=0, mode="hybrid", alpha=None, detail="passages", language=None, exclude=None, **shared)
            )
        )  # fmt: skip
    finally:
        service.close()
    return search, code


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    root = parser.parse_args().folder.resolve()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DOWSE_HOME"] = home
        measure(root)


def measure(root: Path) -> None:
    """Index a folder, measure, and print a table; the tools come last, since a server has the model make vectors."""
    with dowse.open(root) as index:
        index.wait()
        index.uses("main")  # reads the references, which the tool shows
        (status,) = index.status()
    print(f"{status.files:,} files, {status.chunks:,} chunks\n\n| | ms |\n|---|---|")
    cold = SEARCH.format(root=str(root), query=QUERIES[0])
    measured: tuple[tuple[str, Callable[[], float]], ...] = (
        ("`import dowse`", lambda: in_new_processes(IMPORT, 15)),
        ("`dowse.open(…).search(…)` in a new process, with the import", lambda: in_new_processes(cold, 15)),
        ("the whole process", lambda: whole_process([sys.executable, "-c", cold], 15)),
        (
            "the whole process of `dowse search`",
            lambda: whole_process([sys.executable, "-m", "dowse", "search", QUERIES[0], str(root)], 15),
        ),
        ('a further search, `detail="definitions"`', lambda: of_library(root, "definitions")),
        ('a further search, `detail="passages"`', lambda: of_library(root, "passages")),
    )
    for name, take in measured:
        print(f"| {name} | {take():.1f} |")
    for name, value in zip(("the tool `search`", "the tool `search_code`"), asyncio.run(of_tools(root)), strict=True):
        print(f"| {name} | {value:.1f} |")


if __name__ == "__main__":
    main()
