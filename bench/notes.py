"""`python -m bench.notes`: measure bulk adding and search in named indexes of 100,000 documents, in memory and on disk."""

import argparse
import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from bench import meter, program
from bench.report import Row, Table
from dowse.notes.notes_documents import NewNote
from dowse.notes.registry import NotesRegistry

MARKER = "bench notes"
DOCUMENTS = 100_000
TOKENS = 100
WORDS = 50_000
BATCH = 5000
"""Number of documents in one call, as in `dowse notes import`."""
QUERIES = 1000


def main() -> int:
    """Measure and print the tables."""
    options = _options()
    if options.inside:
        print(json.dumps(_measure(options.inside, options.documents, options.queries)))
        return 0
    return program.run(options, MARKER, lambda options, _: [_table(options)])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.notes", description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--queries", type=int, default=QUERIES)
    program.add_markdown(parser, MARKER)
    parser.add_argument("--inside", choices=("memory", "disk"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _table(options: argparse.Namespace) -> Table:
    """Measure each backend in a process of its own, so that its memory is its own."""
    found = {}
    for backend in ("memory", "disk"):
        with tempfile.TemporaryDirectory(prefix="bench-") as home:
            command = [sys.executable, "-m", "bench.notes", "--inside", backend]
            command += ["--documents", str(options.documents), "--queries", str(options.queries)]
            done = subprocess.run(
                command, env={**os.environ, "DOWSE_HOME": home}, stdout=subprocess.PIPE, check=True, text=True
            )
        found[backend] = json.loads(done.stdout.splitlines()[-1])
    rows: list[Row] = [("", "memory", "disk", "to reach")]
    for label, key, show, goal in _FIGURES:
        rows.append((label, *(show(each[key]) if each.get(key) is not None else "" for each in found.values()), goal))
    return Table(f"Named indexes: {options.documents:,} documents of {TOKENS} tokens", rows)


def _measure(backend: str, count: int, queries: int) -> dict[str, Any]:
    chance = random.Random(1)  # noqa: S311 - the same documents every time
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 10))) for _ in range(WORDS)]
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(WORDS)))
    library = NotesRegistry()
    library.create("bench", backend)
    before, resident = meter.memory(os.getpid())
    seconds, worked, text_bytes = 0.0, 0.0, 0
    for start in range(0, count, BATCH):
        texts = [_text(chance, words, weights) for _ in range(BATCH)]
        notes = [
            NewNote(f"doc-{start + place:07}", text, f'{{"year":{place % 30}}}') for place, text in enumerate(texts)
        ]
        text_bytes += sum(map(len, texts))
        began, begun = time.perf_counter(), time.process_time()
        library.use("bench", lambda index, notes=notes: index.add(notes))  # type: ignore[misc]
        seconds, worked = seconds + time.perf_counter() - began, worked + time.process_time() - begun
        del texts, notes
    after, _ = meter.memory(os.getpid())
    figures: dict[str, Any] = {
        "rate": count / seconds,
        "worked": count / worked,
        "memory": (after - before) / text_bytes,
        "peak": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - resident) / text_bytes,
        "size": library.use("bench", lambda index: index.info().size_bytes) / text_bytes,
    }
    if backend == "disk":
        library.close()
        figures |= _time_opening()
        library = NotesRegistry()
    asked = [_query(chance, _text(chance, words, weights).split(), words) for _ in range(queries)]
    return figures | _time_searches(library, asked)


def _text(chance: random.Random, words: list[str], weights: list[float]) -> str:
    return " ".join(chance.choices(words, cum_weights=weights, k=TOKENS))


def _time_opening() -> dict[str, float]:
    opening, first = [], []
    for _ in range(5):
        library = NotesRegistry()
        began = time.perf_counter()
        index = library.use("bench", lambda index: index)
        opening.append(time.perf_counter() - began)
        index.search("word")
        first.append(time.perf_counter() - began)
        library.close()
    return {"open": statistics.median(opening), "first": statistics.median(first)}


def _query(chance: random.Random, near: list[str], words: list[str]) -> str:
    """Return a query as assistants write it: common and rare words of a text, some with operators, some as a phrase."""
    kind = chance.randrange(4)
    if kind == 2:
        return f"+{chance.choice(near)} {chance.choice(near)} -{chance.choice(words)}"
    if kind == 3:
        start = chance.randrange(len(near) - 2)
        return f'"{near[start]} {near[start + 1]}"'
    return " ".join(chance.sample(near, chance.randint(1, 4)))


def _time_searches(library: NotesRegistry, asked: list[str]) -> dict[str, float]:
    index = library.use("bench", lambda index: index)
    index.search("warm")
    times, worked = [], []
    for query in asked:
        began, begun = time.perf_counter(), time.process_time()
        index.search(query)
        times.append(time.perf_counter() - began)
        worked.append(time.process_time() - begun)
    times.sort()
    worked.sort()
    return {
        "p50": times[len(times) // 2],
        "p99": times[int(len(times) * 0.99)],
        "slowest": times[-1],
        "p50_worked": worked[len(worked) // 2],
        "p99_worked": worked[int(len(worked) * 0.99)],
    }


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


_FIGURES: list[tuple[str, str, Callable[[float], str], str]] = [
    ("added in bulk, documents/s", "rate", lambda value: f"{value:,.0f}", "≥ 8,000 and 3,000"),
    ("the same by processor time", "worked", lambda value: f"{value:,.0f}", ""),
    ("search, median", "p50", _milliseconds, "≤ 5 ms"),
    ("search, 99 of 100", "p99", _milliseconds, "≤ 30 ms"),
    ("the slowest search", "slowest", _milliseconds, ""),
    ("search by processor time, median", "p50_worked", _milliseconds, ""),
    ("search by processor time, 99 of 100", "p99_worked", _milliseconds, ""),
    ("memory after adding ÷ text", "memory", lambda value: f"{value:.1f}", "≤ 6"),
    ("highest resident memory while adding ÷ text", "peak", lambda value: f"{value:.1f}", ""),
    ("index ÷ text", "size", lambda value: f"{value:.1f}", ""),
    ("opening", "open", _milliseconds, "≤ 100 ms"),
    ("opening and the first search", "first", _milliseconds, ""),
]

if __name__ == "__main__":
    raise SystemExit(main())
