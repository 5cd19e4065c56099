"""`python -m bench.calls`: measure calls through stdio: the overhead of each tool, first and later searches, memory."""

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters, stdio_client

import dowse
from bench import corpora, latency, meter, program
from bench.empty import ON_STDIO, TOOL
from bench.report import Row, Table
from dowse.encoding.selection import model_version
from dowse.indexes.encoding_progress import record_encoding_start, version_to_encode
from dowse.indexes.index import ProjectIndex
from dowse.types import KINDS
from mcp import Client

MARKER = "bench calls"
CALLS = 200
ROUNDS = 4
"""The servers are called in turns, so that a neighbour on the machine slows all of them."""
MAX_OVERHEAD_MS = 3.0
TRIVIAL: list[tuple[str, dict[str, object]]] = [
    ("list_projects", {}),
    ("search_by_path", {"pattern": "**/no_such_file*"}),
]
CALLED: list[tuple[str, dict[str, object]]] = [
    *TRIVIAL,
    ("search_by_path", {"pattern": "**/*.py"}),
    ("get_index_status", {}),
    ("search_code", {"query": "where is a token compared", "mode": "lexical"}),
    ("search_code", {"query": "where is a token compared"}),
]
SIZES = {"small": 550, "medium": 5_600, "large": 1_000_000}
"""The files that are drawn for about 3,000, 30,000 and 128,000 chunks; the last are all files of the corpora."""
GOALS_MS = {"small": 15, "medium": 20, "large": 25}
FIRST_GOAL_MS = 100
FIRST_SECONDS = 5.0
"""When the first search is timed: after the handshake a server warms its indexes."""
SCAN_SECONDS = 20.0
"""After this long a server has compared all files with its index."""
BUSY_FILES = 400
"""Files of a second project that the encoding process encodes while searches are timed."""
BUSY_SECONDS = 12.0
"""The encoding process begins this long after the start."""
SEARCHES = 200
DIMENSIONS = 384


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="a folder with code-search/, for its queries")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="more corpora: those of code-search, laid out")
    parser.add_argument("--home", type=Path, metavar="DIR", help="keep indexes here, for the next run")
    parser.add_argument("--only", action="append", choices=[*SIZES, "overhead"], help="measure this part alone")
    parser.add_argument("--root", type=Path, metavar="DIR", help="measure the index of this folder, too")
    parser.add_argument("--searches", type=int, default=SEARCHES, help=f"timed searches (default: {SEARCHES})")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    home = options.home.resolve() if options.home else work
    os.environ["DOWSE_HOME"] = str(home / "index")
    chosen = options.only or ["overhead", *SIZES]
    tables = [_overhead_table()] if "overhead" in chosen else []
    folders = [folder for folder in (options.corpora, options.code_search) if folder]
    roots = [root for folder in folders for root in corpora.find(folder)]
    roots = roots or [corpora.installed_packages(work / "origin")]
    queries = latency.queries(options.eval, roots)
    random.Random(4).shuffle(queries)  # noqa: S311 - the same order in every run
    measured = {
        name: _measure(draw(roots, files, home / name), roots, home, queries, options.searches)
        for name, files in SIZES.items()
        if name in chosen
    }
    if options.root:
        measured[options.root.name] = _measure(options.root.resolve(), roots, home, queries, options.searches)
    return [*tables, _search_table(measured, options.searches)] if measured else tables


def draw(roots: list[Path], files: int, into: Path) -> Path:
    """Return a folder with files drawn from all corpora, which later runs reuse."""
    return next(into.iterdir()) if into.is_dir() else corpora.sample(roots, files, into).folder


# The overhead of each tool


def _overhead_table() -> Table:
    root = Path(dowse.__file__).parent
    index = ProjectIndex(root)
    index.update()
    files = sum(index.store.totals(kind).documents for kind in KINDS)
    index.close()
    empty, times = anyio.run(_measure_overhead, root)
    rows: list[Row] = [
        ("tool", "median", "over the empty tool", "to reach"),
        ("empty tool of the SDK", _ms(empty), "", ""),
    ]
    for (tool, arguments), milliseconds in zip(CALLED, times, strict=True):
        name = " ".join([tool, *map(str, arguments.values())])
        goal = f"≤ {MAX_OVERHEAD_MS:.0f} ms" if (tool, arguments) in TRIVIAL else ""
        rows.append((f"`{name}`", _ms(milliseconds), _ms(milliseconds - empty), goal))
    return Table(f"{CALLS} calls of each tool through stdio, {files} files", rows)


async def _measure_overhead(root: Path) -> tuple[float, list[float]]:
    empty = StdioServerParameters(command=sys.executable, args=["-m", "bench.empty", ON_STDIO], cwd=Path.cwd())
    times: list[list[float]] = [[] for _ in (None, *CALLED)]
    async with Client(stdio_client(empty)) as first, Client(stdio_client(_server(root))) as second:
        for _ in range(ROUNDS):
            times[0] += await _time_calls(first, TOOL, {})
            for collected, (tool, arguments) in zip(times[1:], CALLED, strict=True):
                collected.extend(await _time_calls(second, tool, arguments))
    median, *medians = map(statistics.median, times)
    return median, medians


async def _time_calls(client: Client, tool: str, arguments: dict[str, object]) -> list[float]:
    """Return the milliseconds of some calls, after a few that are not counted."""
    for _ in range(5):
        await client.call_tool(tool, arguments)
    return [(await _time_call(client, tool, arguments))[0] for _ in range(CALLS // ROUNDS)]


async def _time_call(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """Return the milliseconds of a call, and its reply."""
    began = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    milliseconds = (time.perf_counter() - began) * 1000
    assert not result.is_error, result  # noqa: S101 - an error is answered faster
    return milliseconds, dict(result.structured_content or {})


def _server(*roots: Path, tools: str = "standard") -> StdioServerParameters:
    environment = {name: os.environ[name] for name in ("DOWSE_HOME", "PATH") if name in os.environ}
    arguments = ["-m", "dowse", "serve", "--tools", tools, *map(str, roots)]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment)


# Searches by size


@dataclass(frozen=True, slots=True)
class Measured:
    """The searches of one index."""

    chunks: int
    first_ms: float
    idle: list[float]
    """Sorted milliseconds while the encoding process waits for queries."""
    busy: list[float]
    """The same while it encodes another project."""
    assistant: list[float]
    """The same of `search` of the tools for assistants, while the encoding process waits for queries."""
    cpu_ms: float
    """Processor time of the server for one search."""
    assistant_cpu_ms: float
    own_bytes: int
    index_bytes: int


def _measure(root: Path, roots: list[Path], home: Path, queries: list[str], searches: int) -> Measured:
    index = ProjectIndex(root)
    index.update()
    fill_model_vectors(index)
    chunks, size = sum(index.store.totals(kind).chunks for kind in KINDS), index.store.size_bytes()
    index.close()
    first, idle, cpu_ms, own_bytes = anyio.run(search_all, root, queries, searches)
    assistant, assistant_cpu_ms = anyio.run(_search_for_assistants, root, queries, searches)
    busy = anyio.run(_search_while_busy, root, _busy_root(roots, home), queries, searches)
    print(f"{chunks:,} chunks: {shown_times(idle)}; busy: {shown_times(busy)}", file=sys.stderr, flush=True)
    return Measured(chunks, first, idle, busy, assistant, cpu_ms, assistant_cpu_ms, own_bytes, size)


def fill_model_vectors(index: ProjectIndex) -> None:
    """Give every chunk a vector of the model; random ones, because encoding 128,000 chunks takes two hours."""
    import numpy as np

    version, store = model_version(index.settings), index.whole
    generator = np.random.default_rng(1)
    by_importance = 1 / np.sqrt(1 + np.arange(DIMENSIONS) / 16)  # as the model orders its dimensions
    after = 0
    while version and (ids := store.catalog.chunks_without_vectors(version, 2000, after=after)):
        vectors = generator.standard_normal((len(ids), DIMENSIONS)) * by_importance
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        store.put_vectors(version, list(zip(ids, vectors.astype(np.float32), strict=True)))
        after = ids[-1]
    record_encoding_start(store, index.settings)
    version_to_encode(store, index.settings)


def _busy_root(roots: list[Path], home: Path) -> Path:
    """Return a project without vectors of the model."""
    root = draw(roots, BUSY_FILES, home / "busy")
    index = ProjectIndex(root)
    index.update()
    if version := model_version(index.settings):
        index.whole.forget_vectors(version)
    index.close()
    for cache in Path(os.environ["DOWSE_HOME"]).glob("vectors-*.sqlite*"):
        cache.unlink()
    return root


async def search_all(root: Path, queries: list[str], searches: int) -> tuple[float, list[float], float, int]:
    """Return the milliseconds of the first search and, sorted, of others, the processor time of each, and the memory."""
    async with Client(stdio_client(_server(root))) as client:
        await client.list_tools()
        await client.call_tool("list_projects", {})  # the client loads what it checks replies with: 55 ms of its own
        pid = meter.server_process()
        await anyio.sleep(FIRST_SECONDS)
        first, _ = await _time_call(client, "search_code", {"query": queries[-1]})
        await anyio.sleep(SCAN_SECONDS)
        await _time_searches(client, queries[-20:], {})
        used = _cpu_ms(pid)
        times = await _time_searches(client, [queries[at % len(queries)] for at in range(searches)], {})
        sizes = meter.memory_sizes(pid)
        return first, times, (_cpu_ms(pid) - used) / searches, sizes.get("Pss_Anon", 0) + sizes.get("Pss_Shmem", 0)


async def _search_for_assistants(root: Path, queries: list[str], searches: int) -> tuple[list[float], float]:
    """Return the sorted milliseconds of `search` of the tools for assistants, and the processor time of each call."""
    async with Client(stdio_client(_server(root, tools="assistant"))) as client:
        await client.list_tools()
        pid = meter.server_process()
        await client.call_tool("search", {"query": queries[-1]})
        await anyio.sleep(SCAN_SECONDS)
        await _time_searches(client, queries[-20:], {}, "search")
        used = _cpu_ms(pid)
        chosen = [queries[at % len(queries)] for at in range(searches)]
        times = await _time_searches(client, chosen, {}, "search")
        return times, (_cpu_ms(pid) - used) / searches


async def _search_while_busy(root: Path, busy: Path, queries: list[str], searches: int) -> list[float]:
    async with Client(stdio_client(_server(root, busy))) as client:
        await client.list_tools()
        await _time_searches(client, queries[-20:], {"project": root.name})
        await anyio.sleep(BUSY_SECONDS)
        chosen = [queries[at % len(queries)] for at in range(searches)]
        return await _time_searches(client, chosen, {"project": root.name})


async def _time_searches(
    client: Client, queries: Sequence[str], arguments: dict[str, Any], tool: str = "search_code"
) -> list[float]:
    return sorted([(await _time_call(client, tool, {"query": query, **arguments}))[0] for query in queries])


def _cpu_ms(pid: int) -> float:
    """Return the processor time of a process; 0 where the system does not report it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


# Tables


def _search_table(measured: dict[str, Measured], searches: int) -> Table:
    names = ("", *(f"{one.chunks:,} chunks" for one in measured.values()))
    columns = [
        (
            f"{one.first_ms:.0f} ms (≤ {FIRST_GOAL_MS})",
            shown_times(one.idle) + (f" (≤ {GOALS_MS[name]})" if name in GOALS_MS else ""),
            shown_times(one.busy),
            shown_times(one.assistant),
            _ms(one.cpu_ms),
            _ms(one.assistant_cpu_ms),
            f"{one.own_bytes / 1e6:.0f} MB",
            f"{one.index_bytes / 1e6:.0f} MB",
        )
        for name, one in measured.items()
    ]
    labels = (
        f"first search, {FIRST_SECONDS:.0f} s after the handshake (to reach)",
        "later ones, p50 / p90 / p99 (to reach: p50)",
        "the same while another project is encoded",
        "`search` of the tools for assistants, p50 / p90 / p99",
        "processor time of the server for one search",
        "the same for `search` of the tools for assistants",
        "memory of the server after them, not file-backed",
        "index on disk",
    )
    rows: list[Row] = [names, *zip(labels, *columns, strict=True)]
    return Table(f"{searches} calls of `search_code` with all methods through stdio", rows)


def shown_times(times: list[float]) -> str:
    """Return the median, the nine tenths and the 99 hundredths of sorted times."""
    median, ninety, worst = (times[int(len(times) * share)] for share in (0.5, 0.9, 0.99))
    return f"{median:.1f} / {ninety:.1f} / {worst:.1f} ms"


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
