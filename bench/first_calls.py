"""`python -m bench.first_calls ROOT`: measure the first search of a server, right after its client has the list of tools."""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import meter, program
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from dowse.types import KINDS, View
from mcp import Client

MARKER = "bench first_calls"
STARTS = 10
CALLS = {
    "first `search_code`": ("search_code", "standard", 60),
    "first `search`": ("search", "standard", 150),
    "first `search` of `--tools assistant`": ("search", "assistant", 150),
}
"""The tools, the set of tools that they are called in, and the milliseconds to reach on 3,000 chunks."""
QUERIES = ("how are cookies parsed", "where is a timeout handled")
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_calls", description=__doc__)
    parser.add_argument("root", type=Path, metavar="ROOT", help="a project; 3,000 chunks are about 3 MB of code")
    parser.add_argument("--starts", type=int, default=STARTS, help=f"servers for each tool (default: {STARTS})")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "index")
    root = options.root.resolve()
    index = ProjectIndex(root, View.BOTH)
    index.update()
    chunks = sum(index.whole.totals(kind).chunks for kind in KINDS)
    index.close()
    rows: list[Row] = [
        ("", "median", "highest", "to reach", "processor time of it", "a second search", "until the tools are listed")
    ]
    for name, (tool, level, goal) in CALLS.items():
        starts = [anyio.run(_start, root, tool, level) for _ in range(options.starts)]
        first, used, second, listed = ([start[at] for start in starts] for at in range(4))
        print(name, *(f"{one:.0f}" for one in first), file=sys.stderr, flush=True)
        rows.append((name, _ms(first), f"{max(first):.0f} ms", f"≤ {goal} ms", _ms(used), _ms(second), _ms(listed)))
    return [Table(f"The first call of {options.starts} servers over {chunks:,} chunks, through stdio", rows)]


async def _start(root: Path, tool: str, level: str) -> tuple[float, float, float, float]:
    """Return the milliseconds of a first search, its processor time, those of a second one, and of the start."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "serve", str(root), "--tools", level],
        env={"DOWSE_HOME": os.environ["DOWSE_HOME"]},
    )
    began = time.perf_counter()
    async with Client(server) as client:
        await client.list_tools()
        listed = time.perf_counter() - began
        process = meter.server_process()
        used, began = _processor_ms(process), time.perf_counter()
        await client.call_tool(tool, {"query": QUERIES[0]})
        first, used = time.perf_counter() - began, _processor_ms(process) - used
        began = time.perf_counter()
        await client.call_tool(tool, {"query": QUERIES[1]})
        second = time.perf_counter() - began
    return first * 1000, used, second * 1000, listed * 1000


def _processor_ms(process: int) -> float:
    """Return the processor time of a process in all its threads, in steps of the system's clock."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / _TICKS


def _ms(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
