"""Measure the shipped encoders alone, without search by words: `python -m training.score EVAL [COLLECTIONS]`.

EVAL is a folder of collections in the format of BEIR: `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`. `make bench`
measures search with the encoders.
"""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np

from dowse.encoding.selection import open_minilm, static_encoder
from dowse.protocols import Encoder

CUTOFF = 10


def main(folder: str, *collections: str) -> int:
    """Print a table of nDCG@10."""
    print("| collection | encoder | nDCG@10 | texts/s |\n|---|---|---|---|")
    for name in collections or ("scifact", "cosqa-dev"):
        for encoder in (static_encoder(), open_minilm()):
            score, pace = score_encoder(Path(folder) / name, encoder)
            print(f"| {name} | {encoder.version} | {score:.3f} | {pace:.0f} |", flush=True)
    return 0


def score_encoder(folder: Path, encoder: Encoder) -> tuple[float, float]:
    """Return the mean nDCG@10 over a collection's queries, and the number of texts encoded in a second of processor time."""
    texts = {row["_id"]: f"{row['title']}\n{row['text']}".strip() for row in _rows(folder / "corpus.jsonl")}
    queries = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    judged: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, text, grade = line.split("\t")
        judged.setdefault(query, {})[text] = int(grade)
    began = time.process_time()
    vectors = encoder.encode(list(texts.values()))
    pace = len(texts) / (time.process_time() - began)
    names, query_vectors = list(texts), encoder.encode([queries[query] for query in judged])
    best = np.argsort(-(query_vectors @ vectors.T), axis=1, kind="stable")[:, :CUTOFF]
    scores = [
        ndcg([names[number] for number in row], grades) for row, grades in zip(best, judged.values(), strict=True)
    ]
    return sum(scores) / len(scores), pace


def ndcg(found: list[str], grades: dict[str, int]) -> float:
    """Return the nDCG of a list: its gain relative to that of the best list."""
    gain = sum((2.0 ** grades.get(name, 0) - 1) / math.log2(rank + 2) for rank, name in enumerate(found))
    best = sorted(grades.values(), reverse=True)[:CUTOFF]
    return gain / sum((2.0**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(best))


def _rows(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
