"""`python -m bench.encoding CORPORA`: measure background encoding, and searches while it runs."""

import argparse
import asyncio
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import corpora, latency, meter, program, quality
from bench.report import Row, Table
from dowse.encoding.selection import MINILM_VERSION
from dowse.indexes.encoding_progress import read_encoding_progress
from dowse.indexes.index import ProjectIndex
from mcp import Client

MARKER = "bench encoding"
FILES = 200
SEARCHES = 60
PAUSE_SECONDS = 0.7
"""Pause between two queries; with a shorter one the worker yields to them all the time."""
QUIET_SECONDS = 20.0
"""How long the worker is watched without queries."""
WAIT_SECONDS = 3600.0
CHILD = "dowse.keeping.encoding_worker.model_worker"


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, lambda options, work: [_table(options, work)])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.encoding", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="a folder with code-search/, for its queries")
    parser.add_argument("--files", type=int, default=FILES, help=f"files to encode (default: {FILES})")
    parser.add_argument("--searches", type=int, default=SEARCHES, help=f"queries (default: {SEARCHES}, twice)")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


@dataclass(slots=True)
class Figures:
    """The figures of one run."""

    chunks: int
    begin_seconds: float = 0.0
    """From the first call of a server until its first vectors are stored."""
    chunks_a_second: float = 0.0
    processor: float = 0.0
    searched_chunks_a_second: float = 0.0
    worker_bytes: int = 0
    """The highest PSS of the encoding process."""
    busy_ms: list[float] | None = None
    idle_ms: list[float] | None = None
    server_with: int = 0
    server_without: int = 0
    cached_seconds: float = 0.0


def _table(options: argparse.Namespace, work: Path) -> Table:
    os.environ["DOWSE_HOME"] = str(work / "index")
    roots = corpora.find(options.corpora) or [corpora.installed_packages(work / "origin")]
    sample = corpora.sample(roots, options.files, work / "served")
    queries = latency.queries(options.eval, roots)
    project = quality.open_index(sample.folder)
    figures = anyio.run(_measure, project, queries, options.searches)
    figures.cached_seconds = _index_copy(sample.folder, work / "copy")
    busy, idle = figures.busy_ms or [0.0], figures.idle_ms or [0.0]
    rows: list[Row] = [
        ("", "measured", "to reach"),
        ("from the start of a server to its first vectors", f"{figures.begin_seconds:.1f} s", ""),
        (f"chunks a second, {figures.chunks:,} chunks, nobody asks", f"{figures.chunks_a_second:.0f}", "30 to 70"),
        ("processor for that", f"{figures.processor:.0%} of a core", "≤ 100 %"),
        (f"chunks a second, a question every {PAUSE_SECONDS:.1f} s", f"{figures.searched_chunks_a_second:.0f}", ""),
        ("memory of the worker, highest PSS", f"{figures.worker_bytes / 1e6:.0f} MB", "≤ 250 MB"),
        (f"search while it works, median of {len(busy)}", f"{statistics.median(busy):.1f} ms", "as below"),
        ("the slowest of them", f"{max(busy):.0f} ms", ""),
        (f"search while it rests, median of {len(idle)}", f"{statistics.median(idle):.1f} ms", ""),
        ("the slowest of them", f"{max(idle):.0f} ms", ""),
        ("memory of the server while it works, not file-backed", f"{figures.server_with / 1e6:.0f} MB", "≤ 100 MB"),
        ("memory of the server with the worker gone", f"{figures.server_without / 1e6:.0f} MB", "≤ 100 MB"),
        ("the same files in another folder, out of the cache, whole command", f"{figures.cached_seconds:.1f} s", ""),
    ]
    return Table("Encoding behind", rows)


async def _measure(project: ProjectIndex, queries: list[str], count: int) -> Figures:
    command = ["-m", "dowse", "serve", str(project.root)]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    figures = Figures(sum(project.store.totals(kind).chunks for kind in ("code", "docs")))
    async with Client(server) as client:
        began = time.perf_counter()
        await client.call_tool("get_index_status", {})
        await _wait_until(lambda: _encoded_chunks(project) > 0)
        figures.begin_seconds = time.perf_counter() - began
        served = meter.server_process()
        worker = next(pid for pid in meter.process_tree(served) if CHILD in meter.command_line(pid))
        _log(f"the worker encodes after {figures.begin_seconds:.1f} s")
        await _watch_worker(project, figures, worker)
        figures.server_with = _own_bytes(served)
        figures.busy_ms, figures.searched_chunks_a_second = await _ask(client, project, queries[::2], count)
        figures.worker_bytes = max(figures.worker_bytes, _pss_bytes(worker))
        _log("waiting for the worker to be done")
        await _wait_until(lambda: read_encoding_progress(project.store, project.settings).state == "complete")
        figures.worker_bytes = max(figures.worker_bytes, _pss_bytes(worker))
        await asyncio.sleep(3)
        figures.idle_ms, _ = await _ask(client, project, queries[1::2], count)
        os.kill(worker, signal.SIGTERM)
        await asyncio.sleep(5)
        figures.server_without = _own_bytes(served)
    project.close()
    return figures


async def _watch_worker(project: ProjectIndex, figures: Figures, worker: int) -> None:
    """Measure the worker while no searches run."""
    began, used, done = time.perf_counter(), _processor_seconds(worker), _encoded_chunks(project)
    while time.perf_counter() - began < QUIET_SECONDS and _encoded_chunks(project) < figures.chunks:
        figures.worker_bytes = max(figures.worker_bytes, _pss_bytes(worker))
        await asyncio.sleep(0.5)
    taken = time.perf_counter() - began
    figures.chunks_a_second = (_encoded_chunks(project) - done) / taken
    figures.processor = (_processor_seconds(worker) - used) / taken
    _log(f"{figures.chunks_a_second:.0f} chunks/s")


async def _ask(client: Client, project: ProjectIndex, queries: list[str], count: int) -> tuple[list[float], float]:
    """Return the milliseconds of each query, and the chunks per second that were encoded meanwhile."""
    times, began, done = list[float](), time.perf_counter(), _encoded_chunks(project)
    for number in range(count):
        await asyncio.sleep(PAUSE_SECONDS)
        started = time.perf_counter()
        result = await client.call_tool("search_code", {"query": queries[number % len(queries)]})
        times.append((time.perf_counter() - started) * 1000)
        if result.is_error:
            raise RuntimeError(f"search_code failed: {result.structured_content}")
    rate = (_encoded_chunks(project) - done) / (time.perf_counter() - began)
    _log(f"a question takes {statistics.median(times):.1f} ms, {rate:.0f} chunks/s meanwhile")
    return times, rate


def _index_copy(root: Path, copy: Path) -> float:
    """Index and encode the same files in another folder."""
    shutil.copytree(root, copy)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "dowse", "index", "--wait", "--yes", str(copy)], check=True, stdout=2)
    return time.perf_counter() - began


async def _wait_until(condition: Callable[[], bool]) -> None:
    began = time.perf_counter()
    while not condition():
        if time.perf_counter() - began > WAIT_SECONDS:
            raise RuntimeError("the worker did not finish")
        await asyncio.sleep(0.2)


def _encoded_chunks(project: ProjectIndex) -> int:
    return project.store.vector_counts(MINILM_VERSION)[0]


def _own_bytes(pid: int) -> int:
    """Return the memory of one process without its children and without file-backed pages."""
    sizes = meter.memory_sizes(pid)
    return sizes.get("Pss_Anon", 0) + sizes.get("Pss_Shmem", 0)


def _pss_bytes(pid: int) -> int:
    return meter.memory_sizes(pid).get("Pss", 0)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
