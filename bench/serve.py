"""`python -m bench.serve CORPORA`: measure the MCP server over stdio, as an assistant uses it."""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import corpora, latency, meter, program, quality
from bench.report import Row, Table
from dowse.keeping.served_index import IDLE_SECONDS
from mcp import Client

MARKER = "bench serve"
FILES = 1_000_000
"""All files, for more than 100,000 chunks."""
STARTS = 5
SEARCHES = 600
"""Timed searches with each tool; every query runs once before."""
SEARCH_TOOLS = ("search_code", "search_docs")
CHARACTERS_PER_TOKEN = 4
IMPORT = "import mcp.server"


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.serve", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="a folder with code-search/, for its queries")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="more corpora: those of code-search, laid out")
    parser.add_argument("--files", type=int, default=FILES, help="how many files to draw from all (default: all)")
    parser.add_argument("--starts", type=int, default=STARTS, help=f"starts to measure (default: {STARTS})")
    parser.add_argument("--searches", type=int, default=SEARCHES, help=f"searches with each tool (default: {SEARCHES})")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "index")
    folders = [folder for folder in (options.corpora, options.code_search) if folder]
    roots = [root for folder in folders for root in corpora.find(folder)]
    roots = roots or [corpora.installed_packages(work / "origin")]
    sample = corpora.sample(roots, options.files, work / "served")
    corpora.read_all(sample)
    chunks = _index(sample.folder)
    _log(f"{chunks:,} chunks are indexed.")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "serve", str(sample.folder)],
        env={"DOWSE_HOME": os.environ["DOWSE_HOME"]},
    )
    starts, imports = [], []
    for _ in range(options.starts):  # in turns, so that other load on the machine affects both
        starts.append(anyio.run(_start, server))
        imports.append(_import_seconds())
        _log(f"ready after {starts[-1].ready_seconds:.2f} s, {IMPORT} alone {imports[-1]:.2f} s")
    queries = latency.queries(options.eval, roots)
    searches, memory = anyio.run(_search, server, queries, options.searches)
    return [_process_table(starts, imports, memory), _search_table(searches, chunks)]


def _index(folder: Path) -> int:
    project = quality.open_index(folder)
    chunks = sum(project.store.totals(kind).chunks for kind in ("code", "docs"))
    project.close()
    return chunks


# Start and end


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a server, and its end."""

    ready_seconds: float
    """Seconds from before the start of the process until the reply to `tools/list`."""
    leave_seconds: float
    """Seconds from before stdin is closed until the process has ended."""
    own_bytes: int
    schema_characters: int
    """Length of the list of tools that the client gets."""


async def _start(server: StdioServerParameters) -> Start:
    began = time.perf_counter()
    async with Client(server) as client:
        listed = await client.list_tools()
        ready = time.perf_counter() - began
        own, _ = meter.memory(meter.server_process())
        leaving = time.perf_counter()
    left = time.perf_counter() - leaving
    shown = "".join(tool.model_dump_json(by_alias=True, exclude_none=True) for tool in listed.tools)
    return Start(ready, left, own, len(shown))


def _import_seconds() -> float:
    """Return the seconds to import the SDK alone, to compare with."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORT], check=True)
    return time.perf_counter() - began


# Searching


@dataclass(frozen=True, slots=True)
class Searches:
    """Milliseconds of many searches with one tool, as the client measures them."""

    tool: str
    times: list[float]
    inside: list[float]
    """Milliseconds that the server reports."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that are not file-backed; 0 if the system does not report them."""

    peak: int
    """Of the server and the encoding process."""
    after: int
    """Of the server alone."""
    rested: int
    """Of the server alone, after a while without searches."""


async def _search(server: StdioServerParameters, queries: list[str], count: int) -> tuple[list[Searches], Memory]:
    """Run every query once while the memory is sampled, then time `count` searches."""
    async with Client(server) as client:
        await client.list_tools()
        pid = meter.server_process()
        with meter.Sampler(pid) as sampler:
            for tool in SEARCH_TOOLS:
                for query in queries:
                    await _ask(client, tool, query)
        timed = [await _time_searches(client, tool, queries, count) for tool in SEARCH_TOOLS]
        after = _own_bytes(pid)
        await asyncio.sleep(IDLE_SECONDS + 3)
        rested = _own_bytes(pid)
    return timed, Memory(sampler.own_bytes, after, rested)


def _own_bytes(pid: int) -> int:
    sizes = meter.memory_sizes(pid)
    return sizes.get("Pss_Anon", 0) + sizes.get("Pss_Shmem", 0)


async def _time_searches(client: Client, tool: str, queries: list[str], count: int) -> Searches:
    times, inside = [], []
    for number in range(count):
        began = time.perf_counter()
        reply = await _ask(client, tool, queries[number % len(queries)])
        times.append((time.perf_counter() - began) * 1000)
        inside.append(float(reply.get("searchTimeMs", 0)))
    _log(f"{tool}: {statistics.median(times):.1f} ms")
    return Searches(tool, sorted(times), sorted(inside))


async def _ask(client: Client, tool: str, query: str) -> dict[str, Any]:
    result = await client.call_tool(tool, {"query": query})
    reply = dict(result.structured_content or {})
    if result.is_error and reply.get("code") != "DOCS_INDEX_NOT_FOUND":  # a corpus may be all code
        raise RuntimeError(f"{tool} failed: {reply}")
    return reply


# Tables


def _process_table(starts: list[Start], imports: list[float], memory: Memory) -> Table:
    ready = statistics.median(start.ready_seconds for start in starts)
    alone = statistics.median(imports)
    leave = statistics.median(start.leave_seconds for start in starts)
    tokens = starts[0].schema_characters / CHARACTERS_PER_TOKEN
    rows: list[Row] = [
        ("", "measured", "to reach"),
        ("start until `tools/list` is answered", f"{ready:.2f} s", "≤ 2 s"),
        (f'`python -c "{IMPORT}"` alone', f"{alone:.2f} s", ""),
        ("start ÷ import", f"{ready / alone:.2f}", ""),
        ("stdin closed until the process is gone", f"{leave:.2f} s", "≤ 2 s"),
        ("memory after the start, not file-backed", _megabytes(max(start.own_bytes for start in starts)), "≤ 100 MB"),
        ("memory after all searches", _megabytes(memory.after), ""),
        (f"the same {IDLE_SECONDS:.0f} s later, idle", _megabytes(memory.rested), "≤ 100 MB"),
        ("peak memory while searching, with the process that encodes", _megabytes(memory.peak), "≤ 350 MB"),
        ("schemas of all tools", f"{tokens:,.0f} tokens", "≤ 4,000"),
    ]
    return Table(f"The server's process, median of {len(starts)} starts", rows)


def _search_table(searches: list[Searches], chunks: int) -> Table:
    rows: list[Row] = [("tool", "in the server, median", "through stdio, median", "99th percentile", "slowest")]
    for one in searches:
        times = (statistics.median(one.inside), statistics.median(one.times), _worst(one.times), one.times[-1])
        rows.append((f"`{one.tool}`", *(f"{value:.1f} ms" for value in times)))
    heading = f"{len(searches[0].times)} questions to each tool over {chunks:,} chunks (to reach: 30 and 200 ms)"
    return Table(heading, rows)


def _worst(times: list[float]) -> float:
    """Return the 99th percentile of sorted times."""
    return times[int(len(times) * 0.99)]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size else "not measured"


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
