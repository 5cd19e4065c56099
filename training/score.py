"""How well the shipped encoders find alone, without words: `python -m training.score EVAL [TEXTS]`.

EVAL is a folder of judged collections, each with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` as BEIR has them.
How well search finds with them is measured by `make bench`.
"""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np

from dowse.encoding.shipped import open_minilm, static_encoder
from dowse.protocols import Encoder

COUNTED = 10


def main(folder: str, *collections: str) -> int:
    """Print a table of nDCG@10."""
    print("| collection | encoder | nDCG@10 | texts/s |\n|---|---|---|---|")
    for name in collections or ("scifact", "cosqa-dev"):
        for encoder in (static_encoder(), open_minilm()):
            score, pace = scored(Path(folder) / name, encoder)
            print(f"| {name} | {encoder.version} | {score:.3f} | {pace:.0f} |", flush=True)
    return 0


def scored(folder: Path, encoder: Encoder) -> tuple[float, float]:
    """The mean nDCG@10 over a collection's queries, and how many texts a second of processor time were encoded."""
    texts = {row["_id"]: f"{row['title']}\n{row['text']}".strip() for row in _rows(folder / "corpus.jsonl")}
    queries = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    judged: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, text, grade = line.split("\t")
        judged.setdefault(query, {})[text] = int(grade)
    began = time.process_time()
    vectors = encoder.encode(list(texts.values()))
    pace = len(texts) / (time.process_time() - began)
    names, asked = list(texts), encoder.encode([queries[query] for query in judged])
    best = np.argsort(-(asked @ vectors.T), axis=1, kind="stable")[:, :COUNTED]
    scores = [ndcg([names[place] for place in row], grades) for row, grades in zip(best, judged.values(), strict=True)]
    return sum(scores) / len(scores), pace


def ndcg(found: list[str], grades: dict[str, int]) -> float:
    """How near a list is to the best one."""
    gained = sum((2.0 ** grades.get(name, 0) - 1) / math.log2(place + 2) for place, name in enumerate(found))
    best = sorted(grades.values(), reverse=True)[:COUNTED]
    return gained / sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(best))


def _rows(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
