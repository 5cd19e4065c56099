"""`python -m bench.http CORPORA`: measure the server over HTTP, beside an empty tool of the SDK in the same run."""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from bench import corpora, empty, latency, meter, program, quality
from bench.load import NEWER, OLDER, Load, Question, put_under_load
from bench.report import Row, Table

MARKER = "bench http"
FILES = 100
"""A small index, since the transport is measured."""
SECONDS = 60.0
CLIENTS = 200
FEW_CLIENTS = 16
"""Enough clients that the server is never idle."""
ROUNDS = 3
REVISIONS = (NEWER, OLDER)


@dataclass(frozen=True, slots=True)
class Target:
    """A server, with the tool and the arguments it is called with."""

    name: str
    server: "Server"
    tool: str
    questions: list[Question]


@dataclass(slots=True)
class Server:
    """A server in a process of its own."""

    process: "subprocess.Popen[bytes]"
    log: IO[bytes]
    url: str = ""

    def wait_until_ready(self) -> Self:
        """Wait until the server has logged its URL."""
        while b"/mcp\n" not in (logged := os.pread(self.log.fileno(), 10_000, 0)):
            if self.process.poll() is not None:
                raise RuntimeError(f"a server did not start: {logged.decode()}")
            time.sleep(0.01)
        self.url = logged.partition(b"/mcp\n")[0].rpartition(b" ")[2].decode() + "/mcp"
        return self

    def cpu_seconds(self) -> float:
        """Return the processor time that the server has used; 0 if the system does not report it."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests per second, and processor time of the server per request."""

    a_second: float
    cpu_ms: float


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.http", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora")
    parser.add_argument("--files", type=int, default=FILES, help=f"how many files to draw from all (default: {FILES})")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help=f"seconds of load with many clients (default: {SECONDS:.0f})"
    )
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"rounds of each server, in turns (default: {ROUNDS})"
    )
    parser.add_argument("--clients", type=int, default=CLIENTS, help=f"number of clients (default: {CLIENTS})")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    with ExitStack() as stack:
        return _measure(options, work, stack)


def _measure(options: argparse.Namespace, work: Path, stack: ExitStack) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "index")
    roots = corpora.find(options.corpora) or [corpora.installed_packages(work / "origin")]
    sample = corpora.sample(roots, options.files, work / "served")
    quality.open_index(sample.folder).close()
    questions = [{"query": query} for query in latency.queries(None, [sample.folder])]
    nothing: list[Question] = [{}]
    programs = (
        ("bench.empty",),
        ("bench.empty", empty.GATED),
        ("dowse", "serve", str(sample.folder), "--http", "127.0.0.1:0", "--rate", "0"),
    )
    started = [stack.enter_context(_start_server(*program)) for program in programs]
    bare, gated, ours = (one.wait_until_ready() for one in started)
    asked = [
        Target("an empty tool of the SDK", bare, empty.TOOL, nothing),
        Target("the same tool behind our gate", gated, empty.TOOL, nothing),
        Target("`search_code`", ours, "search_code", questions),
    ]
    rates = {revision: _measure_rates(asked, revision, options.rounds, options.seconds / 12) for revision in REVISIONS}
    before, _ = meter.memory(ours.process.pid)
    loads = asyncio.run(_load_by_revision(ours.url, questions, options.clients, options.seconds))
    after, _ = meter.memory(ours.process.pid)
    heading = f"{options.clients} clients at once for {options.seconds:.0f} s, half of each revision"
    tables = [_rate_table(revision, rates[revision], len(sample.paths)) for revision in REVISIONS]
    return [*tables, _load_table(heading, loads, before, after)]


@contextmanager
def _start_server(*program: str) -> Iterator[Server]:
    """Start a server in a process of its own, whose log goes into a file."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([sys.executable, "-m", *program], stderr=log)
        try:
            yield Server(process, log)
        finally:
            process.terminate()
            process.wait()


def _measure_rates(asked: list[Target], revision: str, rounds: int, seconds: float) -> dict[str, Rate]:
    """Measure the servers in turns, so that other load on the machine affects all of them."""
    rates: dict[str, list[Rate]] = {one.name: [] for one in asked}
    for turn in range(rounds + 1):
        for one in asked:
            rate = asyncio.run(_measure_rate(one, revision, seconds))
            if turn:  # the first is to warm up
                rates[one.name].append(rate)
                _log(f"{revision}, {one.name}: {rate.a_second:.0f}/s, {rate.cpu_ms:.2f} ms")
    return {
        name: Rate(statistics.median(rate.a_second for rate in each), statistics.median(rate.cpu_ms for rate in each))
        for name, each in rates.items()
    }


async def _measure_rate(asked: Target, revision: str, seconds: float) -> Rate:
    began = asked.server.cpu_seconds()
    load = await put_under_load(
        asked.server.url, revision, asked.tool, asked.questions, clients=FEW_CLIENTS, seconds=seconds
    )
    if load.errors:
        raise RuntimeError(f"{asked.name} failed: {load.errors[0]}")
    return Rate(load.a_second, (asked.server.cpu_seconds() - began) / len(load.times) * 1000)


async def _load_by_revision(url: str, questions: list[Question], clients: int, seconds: float) -> dict[str, Load]:
    loads = await asyncio.gather(
        *(
            put_under_load(url, revision, "search_code", questions, clients=clients // 2, seconds=seconds)
            for revision in REVISIONS
        )
    )
    return dict(zip(REVISIONS, loads, strict=True))


def _rate_table(revision: str, rates: dict[str, Rate], files: int) -> Table:
    rows: list[Row] = [("", "requests/s", "÷ empty", "processor time a request", "empty ÷ it")]
    least = next(iter(rates.values()))
    for name, rate in rates.items():
        cpu = (f"{rate.cpu_ms:.2f} ms", f"{least.cpu_ms / rate.cpu_ms:.0%}") if rate.cpu_ms else ("not measured", "")
        rows.append((name, f"{rate.a_second:,.0f}", f"{rate.a_second / least.a_second:.0%}", *cpu))
    return Table(f"Revision {revision}: {FEW_CLIENTS} clients, {files} files (to reach: 80 %)", rows)


def _load_table(heading: str, loads: dict[str, Load], before: int, after: int) -> Table:
    rows: list[Row] = [("", *loads)]
    rows.append(("requests", *(f"{len(load.times):,}" for load in loads.values())))
    rows.append(("errors", *(f"{len(load.errors)}" for load in loads.values())))
    for label, share in (("median", 0.5), ("99th percentile", 0.99), ("slowest", 1.0)):
        rows.append((label, *(f"{load.percentile(share):,.0f} ms" for load in loads.values())))
    grown = f"{before / 1e6:.0f} MB, {after / 1e6:.0f} MB" if before else "not measured"
    rows.append(("memory before and after, not file-backed", grown, *("",) * (len(loads) - 1)))
    return Table(heading, rows)


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
