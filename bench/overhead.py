"""`python -m bench.overhead`: measure what a call through stdio costs beside an empty tool of the SDK, in one run."""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

import anyio
from mcp.client.stdio import StdioServerParameters, stdio_client

import dowse
from bench import program
from bench.empty import ON_STDIO, TOOL
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from mcp import Client

MARKER = "bench overhead"
CALLS = 200
ROUNDS = 4
"""The servers are called in turns, so that a neighbour on the machine slows all of them."""
MAX_OVERHEAD_MS = 5.0
TRIVIAL: list[tuple[str, dict[str, object]]] = [
    ("list_projects", {}),
    ("search_by_path", {"pattern": "**/no_such_file*"}),
]
CALLED: list[tuple[str, dict[str, object]]] = [
    *TRIVIAL,
    ("search_by_path", {"pattern": "**/*.py"}),
    ("get_index_status", {}),
]


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.overhead", description=__doc__)
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(_options: argparse.Namespace, work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "home")
    root = Path(dowse.__file__).parent
    index = ProjectIndex(root)
    files = index.update().added
    index.close()
    empty, times = anyio.run(_measure, root)
    rows: list[Row] = [
        ("tool", "median", "over the empty tool", "to reach"),
        ("empty tool of the SDK", _ms(empty), "", ""),
    ]
    for (tool, arguments), milliseconds in zip(CALLED, times, strict=True):
        name = " ".join([tool, *map(str, arguments.values())])
        goal = f"≤ {MAX_OVERHEAD_MS:.0f} ms" if (tool, arguments) in TRIVIAL else ""
        rows.append((f"`{name}`", _ms(milliseconds), _ms(milliseconds - empty), goal))
    return [Table(f"{CALLS} calls of each tool through stdio, {files} files", rows)]


async def _measure(root: Path) -> tuple[float, list[float]]:
    environment = {name: os.environ[name] for name in ("DOWSE_HOME", "PATH") if name in os.environ}
    empty = StdioServerParameters(command=sys.executable, args=["-m", "bench.empty", ON_STDIO], cwd=Path.cwd())
    ours = StdioServerParameters(command=sys.executable, args=["-m", "dowse", "serve", str(root)], env=environment)
    times: list[list[float]] = [[] for _ in (None, *CALLED)]
    async with Client(stdio_client(empty)) as first, Client(stdio_client(ours)) as second:
        for _ in range(ROUNDS):
            times[0] += await _time(first, TOOL, {})
            for collected, (tool, arguments) in zip(times[1:], CALLED, strict=True):
                collected.extend(await _time(second, tool, arguments))
    median, *medians = map(statistics.median, times)
    return median, medians


async def _time(client: Client, tool: str, arguments: dict[str, object]) -> list[float]:
    """Return the milliseconds of some calls, after a few that are not counted."""
    for _ in range(5):
        await client.call_tool(tool, arguments)
    times = []
    for _ in range(CALLS // ROUNDS):
        began = time.perf_counter()
        result = await client.call_tool(tool, arguments)
        times.append((time.perf_counter() - began) * 1000)
        assert not result.is_error, result  # noqa: S101 - an error is answered faster
    return times


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
