"""`python -m bench.freshness CORPORA`: measure how soon an index follows its files, and the cost of watching them."""

import argparse
import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import corpora, meter, onefile, program, quality
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from dowse.keeping.keeper import Keeper
from mcp import Client

MARKER = "bench freshness"
ALL_FILES = 1_000_000
WATCHED_FILES = 10_000
SAVES = 20
BRANCH_FILES = 5000
BRANCH_CHANGES = 500
IDLE_SECONDS = 20.0
WAIT_SECONDS = 120.0


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, lambda options, work: [_table(options, work)])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.freshness", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="more corpora, for an index of 100,000 chunks")
    parser.add_argument("--files", type=int, default=ALL_FILES, help="files of the large index (default: all)")
    parser.add_argument("--watched", type=int, default=WATCHED_FILES, help="files that are watched")
    parser.add_argument("--saves", type=int, default=SAVES)
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help="seconds to watch the idle server")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _table(options: argparse.Namespace, work: Path) -> Table:
    os.environ["DOWSE_HOME"] = str(work / "index")
    folders = [folder for folder in (options.corpora, options.code_search) if folder]
    roots = [root for folder in folders for root in corpora.find(folder)]
    roots = roots or [corpora.installed_packages(work / "origin")]
    sample = corpora.sample(roots, options.watched, work / "watched")
    quality.open_index(sample.folder).close()
    check = _start_check(sample.folder)
    saves, memory, cpu = anyio.run(_measure_watching, sample.folder, options.saves, options.idle)
    _log(f"saved files are found after {statistics.median(saves):.2f} s")
    branch = _branch_switch(roots, options.watched, work / "branches")
    _log(f"a branch is switched in {branch.seconds:.2f} s")
    large = corpora.sample(roots, options.files, work / "large").folder
    chunks, one = _time_single_changes(large)
    files = len(sample.paths)
    rows: list[Row] = [
        ("", "measured", "to reach"),
        (f"save until a search finds it by itself, median of {len(saves)}", f"{statistics.median(saves):.2f} s", "≤ 1 s"),
        ("the slowest of them", f"{max(saves):.2f} s", ""),
        (f"work for one changed file, {chunks:,} chunks, median", f"{statistics.median(one) * 1000:.0f} ms", "≤ 50 ms"),
        ("the slowest of them", f"{max(one) * 1000:.0f} ms", ""),
        (f"look at the start, {files:,} unchanged files", f"{check:.2f} s", "≤ 1 s"),
        (f"git switches a branch that differs in {branch.changes} of {branch.files:,} files", f"{branch.seconds:.2f} s", "≤ 5 s"),
        (f"memory while watching {files:,} files, not file-backed", f"{memory / 1e6:.0f} MB", "≤ 100 MB"),
        ("processor while nothing happens", f"{cpu:.2%} of a core", "≈ 0"),
    ]  # fmt: skip
    return Table("Freshness", rows)


def _start_check(root: Path) -> float:
    """Return the seconds from the start of a keeper to the end of its first check."""
    project = ProjectIndex(root)
    project.store.refresh()
    times = []
    for _ in range(3):
        began = time.perf_counter()
        keeper = Keeper(root)
        while keeper.catch_up(project) == ["."]:
            pass
        times.append(time.perf_counter() - began)
        keeper.stop()
    project.close()
    return statistics.median(times)


async def _measure_watching(root: Path, count: int, idle_seconds: float) -> tuple[list[float], int, float]:
    """Return the seconds until saved files are found by another process, and the idle memory and processor use."""
    environment = {"DOWSE_HOME": os.environ["DOWSE_HOME"]}
    server = StdioServerParameters(command=sys.executable, args=["-m", "dowse", "serve", str(root)], env=environment)
    async with Client(server) as client:
        await client.call_tool("search_code", {"query": "warm"})
        pid = meter.server_process()
        await asyncio.sleep(min(3.0, idle_seconds))
        seen = ProjectIndex(root)
        times = [await _time_until_found(root, seen, number) for number in range(count)]
        seen.close()
        await asyncio.sleep(min(12.0, idle_seconds))
        began = _processor_seconds(pid)
        await asyncio.sleep(idle_seconds)
        used = (_processor_seconds(pid) - began) / idle_seconds
        own, _ = meter.memory(pid)
    return times, own, used


async def _time_until_found(root: Path, seen: ProjectIndex, number: int) -> float:
    """Return the seconds until the watching server indexes a saved file. No search asks it to hurry."""
    file, word = root / f"bench_saved_{number}.py", f"freshlysaved{number}word"
    file.write_text(f"def {word}():\n    return {number}\n", encoding="utf-8")
    began = time.perf_counter()
    while time.perf_counter() - began < WAIT_SECONDS:
        seen.store.refresh()
        if seen.store.chunk_frequencies([word])[word]:
            return time.perf_counter() - began
        await asyncio.sleep(0.01)
    raise RuntimeError(f"{file} was not found")


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Branch:
    """A switch of a Git branch."""

    files: int
    changes: int
    seconds: float


def _branch_switch(roots: list[Path], max_files: int, folder: Path) -> Branch:
    """Measure the time from `git checkout` until the index is up to date."""
    root = corpora.sample(roots, min(BRANCH_FILES, max_files), folder).folder
    paths = corpora.indexable(root)
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A", "-f")
    _git(root, "commit", "-qm", "one")
    _git(root, "checkout", "-q", "-b", "other")
    changes = paths[:: max(1, len(paths) // BRANCH_CHANGES)][:BRANCH_CHANGES]
    for path in changes:
        with (root / path).open("ab") as file:
            file.write(b"\nother_branch = 1\n")
    _git(root, "commit", "-qam", "two")
    project = quality.open_index(root)
    keeper = Keeper(root)
    while keeper.catch_up(project):
        time.sleep(0.05)
    began = time.perf_counter()
    _git(root, "checkout", "-q", "main")
    while time.perf_counter() - began < WAIT_SECONDS:
        if not keeper.watch_status(project).pending and not project.is_being_updated() and not project.drift().pending:
            break
        time.sleep(0.05)
    taken = time.perf_counter() - began
    keeper.stop()
    project.close()
    shutil.rmtree(root)
    return Branch(len(paths), len(changes), taken)


def _git(root: Path, *arguments: str) -> None:
    identity: dict[str, str] = {
        f"GIT_{role}_{what}": "bench@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    subprocess.run(["git", *arguments], cwd=root, env={**os.environ, **identity}, check=True)


def _time_single_changes(root: Path) -> tuple[int, list[float]]:
    project = quality.open_index(root)
    chunks = sum(project.store.totals(kind).chunks for kind in ("code", "docs"))
    paths = [document.path for document in project.store.documents()]
    onefile.apply_change(project, paths[0])
    chosen = paths[:: max(1, len(paths) // onefile.FILES)][: onefile.FILES]
    times: list[Any] = [onefile.apply_change(project, path) for path in chosen]
    project.close()
    return chunks, [sum(parts) for parts in times if parts]


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
