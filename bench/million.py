"""`python -m bench.million`: measure the search of a million synthetic chunks, in the process and through stdio."""

import argparse
import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

import anyio
import numpy as np
from numpy.typing import NDArray

from bench import calls, program
from bench.report import Row, Table
from dowse.cli.composition import SWITCH_SECONDS
from dowse.encoding.packing import pack_vectors
from dowse.encoding.selection import model_version
from dowse.indexes.encoding_progress import record_encoded_up_to, record_encoding_complete, wanted_versions
from dowse.indexes.freshness.indexer import EXPECTED_FACTS
from dowse.indexes.freshness.scan import RECIPE
from dowse.indexes.index import ProjectIndex
from dowse.searching.ranking_constants import CHUNK_WEIGHTS
from dowse.store.local import LocalStore
from dowse.store.matrices import nearest_rows
from dowse.store.matrix import MatrixRows, load_matrix, matrix_file
from dowse.system.platform import stat_of
from dowse.types import Batch, Chunk, Document, Put, Reading, Symbol, TextQuery, View

MARKER = "a million chunks"
CHUNKS = 1_000_000
CHUNKS_PER_DOCUMENT = 20
DOCUMENTS_PER_BATCH = 1000
DIMENSIONS = 384
TOPICS = 20_000
"""Centres of the mixture that vectors are drawn from, so that each has about fifty near neighbours."""
TOPIC_SHARE = 0.75
VOCABULARY = 60_000
WORDS_PER_LINE, LINES_PER_CHUNK = 10, 4
QUERIES = 40
SEARCHES = 100
GOAL_MS = 60
NEIGHBOURS = 250
_SCORED_AT_ONCE = 20_000

Floats = NDArray[np.float32]


def main() -> int:
    """Measure the search of many synthetic chunks."""
    parser = argparse.ArgumentParser(prog="python -m bench.million", description=main.__doc__)
    parser.add_argument("--home", type=Path, metavar="DIR", help="keep the synthetic project here, for the next run")
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--only", choices=["index", "vectors", "words", "calls"])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="index no longer; the next run goes on")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    sys.setswitchinterval(SWITCH_SECONDS)
    home: Path = (options.home or work).resolve()
    os.environ["DOWSE_HOME"] = str(home / "index")
    root = home / f"synthetic-{options.chunks}"
    root.mkdir(parents=True, exist_ok=True)
    with closing(ProjectIndex(root)) as index:
        if not index.exists:
            index.update()
        if not _fill(index, options.chunks // CHUNKS_PER_DOCUMENT, options.seconds) or options.only == "index":
            return []
        rows: list[Row] = [("", "p50 / p90", "processor time, median", f"of the {NEIGHBOURS} nearest, mean / worst")]
        if options.only in (None, "vectors"):
            rows.append(_measure_vectors(index))
        if options.only in (None, "words"):
            rows.append(_measure_words(index.store))
    tables = [Table(f"{options.chunks:,} synthetic chunks, without a server", rows)] if len(rows) > 1 else []
    return [*tables, _calls_table(root, options.chunks)] if options.only in (None, "calls") else tables


# The index


def _fill(index: ProjectIndex, documents: int, seconds: float) -> bool:
    """Add documents to the store, without parsers, until all are there or the time is over; return which."""
    deadline, store, version = time.monotonic() + seconds, index.whole, model_version(index.settings) or ""
    done = store.totals("code").documents
    while done < documents:
        if time.monotonic() > deadline:
            print(f"{done:,} of {documents:,} documents", file=sys.stderr)
            return False
        numbers = range(done + 1, min(done + DOCUMENTS_PER_BATCH, documents) + 1)
        store.apply(Batch([_put(index.root, number) for number in numbers], encoder=version))
        done = numbers[-1]
    if store.fact(EXPECTED_FACTS[View.PROJECT]) != str(documents):
        for encoder in wanted_versions(index.settings):
            record_encoded_up_to(store, encoder, store.catalog.newest_chunk_id())
        record_encoding_complete(store, index.settings)
        store.set_fact(EXPECTED_FACTS[View.PROJECT], str(documents))
    return True


def _put(root: Path, number: int) -> Put:
    """Write a file of made-up words, and return its document with chunks and vectors."""
    generator = np.random.default_rng(number)
    path = f"folder{number % 500}/file{number}.py"
    texts = [
        "\n".join(" ".join(_words(generator, WORDS_PER_LINE)) for _ in range(LINES_PER_CHUNK)) + "\n"
        for _ in range(CHUNKS_PER_DOCUMENT)
    ]
    text = "".join(texts)
    file = root / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="ascii")
    chunks, start = list[Chunk](), 0
    for at, part in enumerate(texts):
        line = 1 + at * LINES_PER_CHUNK
        symbols = (Symbol(part.split(maxsplit=1)[0], "function", line),)
        chunks.append(Chunk(part, start, start + len(part), line, line + LINES_PER_CHUNK - 1, symbols))
        start += len(part)
    document = Document(
        path, "code", "python", stat_of(file.stat()), hashlib.sha256(text.encode()).digest(), Reading(text, file.name)
    )
    return Put(document, tuple(chunks), recipe=RECIPE, vectors=pack_vectors(_draw(generator, CHUNKS_PER_DOCUMENT)))


# Through stdio


def _calls_table(root: Path, chunks: int) -> Table:
    generator = np.random.default_rng(8)
    queries = [" ".join(_words(generator, 4)) for _ in range(SEARCHES + 30)]
    first, times, cpu_ms, own_bytes = anyio.run(calls.search_all, root, queries, SEARCHES)
    rows: list[Row] = [
        ("", ""),
        ("first search, 5 s after the handshake", f"{first:.0f} ms"),
        ("later ones, p50 / p90 / p99 (to reach: p50)", f"{calls.shown_times(times)} (≤ {GOAL_MS})"),
        ("processor time of the server for one search", f"{cpu_ms:.1f} ms"),
        ("memory of the server after them, not file-backed", f"{own_bytes / 1e6:.0f} MB"),
    ]
    return Table(f"{SEARCHES} calls of `search_code` over {chunks:,} synthetic chunks through stdio", rows)


# Vectors


def _measure_vectors(index: ProjectIndex) -> Row:
    version = model_version(index.settings) or ""
    index.store.nearest(version, np.ones(DIMENSIONS, np.float32), 1)  # writes the matrix, if it is not there yet
    loaded = load_matrix(matrix_file(index.folder, version))
    assert loaded is not None  # noqa: S101 - it has just been written
    rows, is_wanted = loaded.stored, np.ones(len(loaded.stored.chunks), np.bool_)
    queries = list(_draw(np.random.default_rng(9), QUERIES))
    times, found = _time(
        lambda at: set(rows.chunks[nearest_rows(rows, queries[at], NEIGHBOURS, is_wanted)[0]].tolist())
    )
    recalls = [len(hits & _exact(rows, query)) / NEIGHBOURS for hits, query in zip(found, queries, strict=True)]
    return ("nearest vectors", *times, f"{np.mean(recalls):.3f} / {min(recalls):.3f}")


def _exact(rows: MatrixRows, query: Floats) -> set[int]:
    blocks = (slice(at, at + _SCORED_AT_ONCE) for at in range(0, len(rows.cells), _SCORED_AT_ONCE))
    scores = np.concatenate([rows.cells[block].astype(np.float32) @ query for block in blocks]) * rows.scales
    return set(rows.chunks[np.argpartition(-scores, NEIGHBOURS)[:NEIGHBOURS]].tolist())


def _draw(generator: np.random.Generator, count: int) -> Floats:
    """Return vectors near some of the topics, with dimensions ordered by importance as the model orders them."""
    by_importance = (1 / np.sqrt(1 + np.arange(DIMENSIONS) / 16)).astype(np.float32)
    noise = generator.standard_normal((count, DIMENSIONS), np.float32)
    mixed = TOPIC_SHARE * _topics()[generator.integers(0, TOPICS, count)] + (1 - TOPIC_SHARE**2) ** 0.5 * noise
    vectors: Floats = mixed * by_importance
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@cache
def _topics() -> Floats:
    return np.random.default_rng(0).standard_normal((TOPICS, DIMENSIONS), np.float32)


# Words


def _measure_words(store: LocalStore) -> Row:
    generator = np.random.default_rng(7)
    queries = [TextQuery(tuple(_words(generator, 4)), CHUNK_WEIGHTS) for _ in range(QUERIES)]
    store.refresh()
    times, _ = _time(lambda at: {hit.id for hit in store.find_chunks(queries[at], NEIGHBOURS)})
    return ("best chunks by words, 4 words", *times, "")


def _words(generator: np.random.Generator, count: int) -> list[str]:
    """Return words, the frequent ones as much more often than the rare ones as in text."""
    ranks = (VOCABULARY ** generator.random(count)).astype(int)
    return [f"{'bcdfghklmnprstvw'[rank % 16]}{'aeiou'[rank % 5]}{rank:x}" for rank in ranks.tolist()]


def _time(ask: Callable[[int], set[int]]) -> tuple[tuple[str, str], list[set[int]]]:
    """Return the times of all queries, as text, and what they found."""
    ask(0)
    walls, cpus, found = list[float](), list[float](), list[set[int]]()
    for at in range(QUERIES):
        wall, cpu = time.perf_counter(), time.process_time()
        found.append(ask(at))
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
    walls.sort()
    median, ninety = walls[QUERIES // 2], walls[QUERIES * 9 // 10]
    return (f"{median:.0f} / {ninety:.0f} ms", f"{sorted(cpus)[QUERIES // 2]:.0f} ms"), found


if __name__ == "__main__":
    sys.exit(main())
