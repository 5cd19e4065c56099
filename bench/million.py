"""`python -m bench.million`: measure the search of a million synthetic chunks by vectors and by words, without a server."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import program
from bench.report import Row, Table
from dowse.encoding.packing import pack_vectors
from dowse.searching.ranking_constants import CHUNK_WEIGHTS
from dowse.server.composition import SWITCH_SECONDS
from dowse.store.lexical import LexicalIndex, Marker
from dowse.store.lexical_entries import LexicalDocument
from dowse.store.matrix import MatrixHeader, VectorRow, matrix_file, write_matrix
from dowse.store.vector_search import MatrixRows, load_rows, nearest
from dowse.types import TextQuery

MARKER = "a million chunks"
CHUNKS = 1_000_000
CHUNKS_PER_DOCUMENT = 20
DIMENSIONS = 384
TOPICS = 20_000
"""Centres of the mixture that vectors are drawn from, so that each has about fifty near neighbours."""
TOPIC_SHARE = 0.75
VOCABULARY = 60_000
WORDS_PER_CHUNK = 40
QUERIES = 40
NEIGHBOURS = 250
_DRAWN = 20_000

Floats = NDArray[np.float32]


def main() -> int:
    """Measure the search of many synthetic chunks."""
    parser = argparse.ArgumentParser(prog="python -m bench.million", description=main.__doc__)
    parser.add_argument("--home", type=Path, metavar="DIR", help="keep the synthetic index here, for the next run")
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--only", choices=["vectors", "words"])
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    sys.setswitchinterval(SWITCH_SECONDS)
    folder: Path = (options.home or work) / f"synthetic-{options.chunks}"
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = [("", "p50 / p90", "processor time, median", f"of the {NEIGHBOURS} nearest, mean / worst")]
    if options.only != "words":
        rows.append(_measure_vectors(folder, options.chunks))
    if options.only != "vectors":
        rows.append(_measure_words(folder, options.chunks))
    return [Table(f"{options.chunks:,} synthetic chunks", rows)]


# Vectors


def _measure_vectors(folder: Path, chunks: int) -> Row:
    file = matrix_file(folder, "synthetic")
    if not file.exists():
        write_matrix(file, MatrixHeader("synthetic", "synthetic", DIMENSIONS, 0, 0, 1), _vector_rows(chunks))
    rows = load_rows(file)
    assert rows is not None  # noqa: S101 - it has just been written
    queries = list(_draw(np.random.default_rng(9), QUERIES))
    times, found = _time(lambda at: {hit.id for hit in nearest(rows, queries[at], NEIGHBOURS)})
    recalls = [len(hits & _exact(rows, query)) / NEIGHBOURS for hits, query in zip(found, queries, strict=True)]
    return ("nearest vectors", *times, f"{np.mean(recalls):.3f} / {min(recalls):.3f}")


def _exact(rows: MatrixRows, query: Floats) -> set[int]:
    blocks = range(0, len(rows.cells), _DRAWN)
    scores = np.concatenate([rows.cells[at : at + _DRAWN].astype(np.float32) @ query for at in blocks]) * rows.scales
    return set(rows.chunks[np.argpartition(-scores, NEIGHBOURS)[:NEIGHBOURS]].tolist())


def _vector_rows(chunks: int) -> Iterator[VectorRow]:
    generator = np.random.default_rng(1)
    for start in range(0, chunks, _DRAWN):
        for at, vector in enumerate(pack_vectors(_draw(generator, min(_DRAWN, chunks - start))), start + 1):
            yield VectorRow(at, 1 + at // CHUNKS_PER_DOCUMENT, "code", 1, vector)


def _draw(generator: np.random.Generator, count: int) -> Floats:
    """Return vectors near some of the topics, with dimensions ordered by importance as the model orders them."""
    by_importance = (1 / np.sqrt(1 + np.arange(DIMENSIONS) / 16)).astype(np.float32)
    topics = np.random.default_rng(0).standard_normal((TOPICS, DIMENSIONS), np.float32)
    noise = generator.standard_normal((count, DIMENSIONS), np.float32)
    mixed = TOPIC_SHARE * topics[generator.integers(0, TOPICS, count)] + (1 - TOPIC_SHARE**2) ** 0.5 * noise
    vectors: Floats = mixed * by_importance
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


# Words


def _measure_words(folder: Path, chunks: int) -> Row:
    index = LexicalIndex(folder / "words")
    if index.marker() is None:
        index.begin()
        index.write(Marker("synthetic", 1, 1), (), _documents(chunks))()
    generator = np.random.default_rng(7)
    queries = [TextQuery(tuple(_words(generator, 4)), CHUNK_WEIGHTS) for _ in range(QUERIES)]
    times, _ = _time(lambda at: {hit.id for hit in index.find_chunks(queries[at], NEIGHBOURS)})
    return ("best chunks by words, 4 words", *times, "")


def _documents(chunks: int) -> Iterator[LexicalDocument]:
    generator = np.random.default_rng(2)
    for document, start in enumerate(range(1, chunks + 1, CHUNKS_PER_DOCUMENT), 1):
        texts = [" ".join(_words(generator, WORDS_PER_CHUNK)) for _ in range(CHUNKS_PER_DOCUMENT)]
        parts = [(start + at, text, text.split()[:1], ()) for at, text in enumerate(texts)]
        yield LexicalDocument(document, "code", f"folder{document % 500}/file{document}.py", parts)


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
