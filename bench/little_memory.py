"""`python -m bench.little_memory`: measure the memory of all processes of a server, with and without the setting `memory`."""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench import corpora, meter, program
from bench.report import Row, Table

MARKER = "little memory"
QUERIES = ("how are redirects followed", "class Model", "parse a template tag", "serialize json", "cache timeout")
ROUNDS = 6
IDLE_SECONDS = 35.0
"""Longer than a server keeps what the next search needs."""


@dataclass(slots=True)
class Peak:
    """The highest memory of all processes of a server in one phase."""

    own_bytes: int = 0
    """Without file-backed maps."""
    all_bytes: int = 0
    """With them (PSS)."""


def main() -> int:
    """Measure a server while it starts, indexes, searches and idles."""
    parser = argparse.ArgumentParser(prog="python -m bench.little_memory", description=main.__doc__)
    parser.add_argument("root", type=Path, nargs="?", help="the project (default: the installed packages)")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    root = options.root.resolve() if options.root else corpora.installed_packages(work / "origin")
    measured = [anyio.run(_measure, root, memory) for memory in ("normal", "small")]
    rows: list[Row] = [("", "normal", "small")]
    for phase in ("start", "indexing", "searching", "idle"):
        rows.append((phase, *(_shown(peaks[phase]) for peaks, _, _ in measured)))
    rows.append(("seconds to index", *(f"{seconds:.0f}" for _, seconds, _ in measured)))
    rows.append(("search p50", *(f"{milliseconds:.0f} ms" for _, _, milliseconds in measured)))
    return [Table(f"Memory of all processes of a server, not file-backed / PSS: {root.name}", rows)]


async def _measure(root: Path, memory: str) -> tuple[dict[str, Peak], float, float]:
    """Return the peaks of each phase, the seconds of indexing, and the median of the searches in milliseconds."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "config.json").write_text(json.dumps({"memory": memory}), encoding="utf-8")
        environment = {"DOWSE_HOME": home, "PATH": os.environ["PATH"]}
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "dowse", "serve", str(root)], env=environment
        )
        async with Client(stdio_client(command)) as client:
            await client.list_tools()
            server = meter.server_process()
            peaks = {phase: Peak() for phase in ("start", "indexing", "searching", "idle")}
            with _sampling(server, peaks["start"]):
                await anyio.sleep(2)
            began = time.perf_counter()
            with _sampling(server, peaks["indexing"]):
                await client.call_tool("create_index", {})
                while (await _status(client)) != "ready":
                    await anyio.sleep(0.5)
            seconds, times = time.perf_counter() - began, list[float]()
            with _sampling(server, peaks["searching"]):
                for query in QUERIES * ROUNDS:
                    asked = time.perf_counter()
                    await client.call_tool("search_code", {"query": query})
                    times.append((time.perf_counter() - asked) * 1000)
            await anyio.sleep(IDLE_SECONDS)
            with _sampling(server, peaks["idle"]):
                await anyio.sleep(1)
        return peaks, seconds, sorted(times)[len(times) // 2]


async def _status(client: Client) -> object:
    return ((await client.call_tool("get_index_status", {})).structured_content or {}).get("status")


@contextmanager
def _sampling(pid: int, peak: Peak) -> Iterator[None]:
    """Sample the memory of a process tree during a block.

    A peak lasts for two samples: for a moment, a process that is being started shows all memory of its parent.
    """
    ended = threading.Event()

    def sample() -> None:
        last_own = last_all = 0
        while not ended.wait(meter.SAMPLE_SECONDS):
            sizes = [meter.memory_sizes(process) for process in meter.process_tree(pid)]
            own = sum(size.get("Pss_Anon", 0) + size.get("Pss_Shmem", 0) for size in sizes)
            everything = sum(size.get("Pss", 0) for size in sizes)
            peak.own_bytes = max(peak.own_bytes, min(own, last_own))
            peak.all_bytes = max(peak.all_bytes, min(everything, last_all))
            last_own, last_all = own, everything

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _shown(peak: Peak) -> str:
    return f"{peak.own_bytes / 1e6:.0f} / {peak.all_bytes / 1e6:.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
