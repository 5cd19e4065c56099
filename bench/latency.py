"""Search latency: in a warm process on indexes of several sizes, and of whole commands."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench import corpora
from bench.meter import CommandFailed
from bench.quality import code_search, open_index, ranked_paths
from dowse.searching.found_files import verify
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions, search_store

WARM_UP = 10


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of many queries on one index."""

    chunks: int
    search_ms: float
    """Median of candidates and ranking alone."""
    median_ms: float
    """Median of the whole search: hits are read, verified and cut into passages."""
    worst_ms: float
    """The 99th percentile of the whole search."""
    verification_ms: float
    """Reading and comparing the files of ten hits."""


def queries(judgements: Path | None, roots: list[Path]) -> list[str]:
    """Return every second judged query or, without judgements, words of the paths."""
    judged = judgements / "code-search" if judgements else None
    if judged and (judged / "queries.jsonl").is_file():
        return [query.text for query in code_search(judged)][::2]
    paths = [path for root in roots for path in corpora.indexable(root)]
    return [" ".join(Path(path).with_suffix("").parts[-2:]) for path in paths[:: max(1, len(paths) // 200)]]


def measure(folder: Path, queries: list[str]) -> Latency:
    """Run every query on an open index; each hit is verified and shown."""
    project = open_index(folder)
    store, read = project.store, project.source.read_bytes
    times, searches = [], []
    for text in (*queries[:WARM_UP], *queries):
        started = time.perf_counter()
        store.refresh()
        search_store(store, read, parse_search_query(text), SearchOptions())
        times.append((time.perf_counter() - started) * 1000)
        started = time.perf_counter()
        ranked_paths(store, text)
        searches.append((time.perf_counter() - started) * 1000)
    times, searches = sorted(times[-len(queries) :]), sorted(searches[-len(queries) :])
    documents = list(store.documents())[:: max(1, store.totals("code").documents // 10)][:10]
    started = time.perf_counter()
    for document in documents:
        verify(store, read, document)
    verification = (time.perf_counter() - started) * 1000
    chunks = sum(store.totals(kind).chunks for kind in ("code", "docs"))
    project.close()
    search = searches[len(searches) // 2]
    return Latency(chunks, search, times[len(times) // 2], times[int(len(times) * 0.99)], verification)


@dataclass(frozen=True, slots=True)
class Commands:
    """Seconds of whole commands on a project of 3,000 files."""

    first_hits: float
    unchanged: float
    start_up: float


def commands(folder: Path, query: str, home: Path) -> Commands:
    """Time `dowse search` without and with an index, and `dowse --version`."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    first = _time_command("search", query, str(folder), home=home)
    _time_command("search", query, str(folder), "--wait", home=home)
    again = min(_time_command("search", query, str(folder), home=home) for _ in range(3))
    start = min(_time_command("--version", home=home) for _ in range(3))
    return Commands(first, again, start)


def _time_command(*arguments: str, home: Path) -> float:
    environment = os.environ | {"DOWSE_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    started = time.perf_counter()
    command = [sys.executable, "-m", "dowse", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 1):  # 1: nothing was found, which is an answer
        raise CommandFailed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return seconds
