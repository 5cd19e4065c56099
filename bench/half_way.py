"""`python -m bench.half_way --eval EVAL --code-search DIR`: measure search quality while the model encodes."""

import argparse
import os
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench import judged, program, quality
from bench.report import Row, Table
from dowse.encoding.selection import MINILM_VERSION, STATIC_VERSION
from dowse.searching.candidates import QueryVector
from dowse.store.local import LocalStore

MARKER = "bench half-way"
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
SEEDS = (1, 2, 3)
USED_FILES = 10
"""Files that each question reaches: its hits, which are encoded first."""


class PartlyEncoded:
    """A store of which the model has encoded some documents."""

    def __init__(self, store: LocalStore, encoded: frozenset[int]) -> None:
        self._store, self._encoded = store, encoded

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents that are encoded."""
        return documents & self._encoded if encoder == MINILM_VERSION else documents

    def nearest(self, encoder: str, vector: Any, limit: int, *, kind: Any = None, among: Any = None) -> Any:
        """Return the nearest chunks of the documents that are encoded."""
        if encoder == MINILM_VERSION:
            among = self._encoded if among is None else self._encoded & among
        return self._store.nearest(encoder, vector, limit, kind=kind, among=among)


def main() -> int:
    """Measure and print the table."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.half_way", description=__doc__)
    parser.add_argument("--eval", type=Path, metavar="EVAL", required=True, help="code-search/, scifact/, cosqa-dev/")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="the corpora of code-search, laid out")
    parser.add_argument("--home", type=Path, default=judged.HOME, help="the folder of the indexes of bench.judged")
    parser.add_argument("--only", action="append", default=[], metavar="SET", help="one of the sets of bench.judged")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, _work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(options.home.resolve() / "index")
    rows: list[Row] = [("", *(f"{share:.0%}" for share in SHARES))]
    losses: list[Row] = [("queries that lose more than 0.1 against the table alone", *rows[0][1:])]
    options.checkouts = None
    for one_set in judged.judged_sets(options):
        name, queries = one_set.name, one_set.queries
        projects = {
            corpus: judged.open_corpus(one_set.folder / corpus, has_model=True) for corpus in judged.corpora_of(one_set)
        }
        stores = {corpus: project.store for corpus, project in projects.items()}
        for order in ("random files", "in the order of use"):
            scores = [_scores(queries, stores, order, share) for share in SHARES]
            rows.append((f"{name}, {order}", *(f"{mean:.4f}" for mean, _ in scores)))
            alone = scores[0][1]
            lost = [sum(ours < table - 0.1 for ours, table in zip(own, alone, strict=False)) for _, own in scores]
            losses.append((f"{name}, {order}", *(f"{count / len(alone):.1%}" for count in lost)))
            print(*rows[-1], file=sys.stderr, flush=True)
        for project in projects.values():
            project.close()
    return [Table("nDCG@10 by the share of chunks that the model has encoded", rows), Table("Losses", losses)]


def _scores(
    queries: Sequence[quality.Judged], stores: Mapping[str, LocalStore], order: str, share: float
) -> tuple[float, list[float]]:
    """Return the mean over the seeds of the score, and the score of each query with the first seed."""
    seeds = SEEDS if 0 < share < 1 and order == "random files" else SEEDS[:1]
    means, first = list[float](), list[float]()
    for seed in seeds:
        partly = {
            corpus: PartlyEncoded(store, _encoded(store, [one for one in queries if one.corpus == corpus], order, share, seed))
            for corpus, store in stores.items()
        }  # fmt: skip
        encode = partial(_query_vectors, share)
        means.append(quality.score(list(queries), partly, encode)["all"])
        if not first:
            first = [
                quality.ndcg(quality.ranked_paths(partly[one.corpus], one.text, encode(one.corpus, one.text), one.kind), one.answers)
                for one in queries
            ]  # fmt: skip
    return sum(means) / len(means), first


def _encoded(
    store: LocalStore, queries: Iterable[quality.Judged], order: str, share: float, seed: int
) -> frozenset[int]:
    """Return documents with this share of all chunks."""
    counts = {document.id: document.chunk_count for document in store.documents()}
    ids, paths = sorted(counts), {path: document for document, path in store.ids_by_path()}
    random.Random(seed).shuffle(ids)  # noqa: S311 - not a secret
    if order != "random files":
        used = (path for one in queries for path in quality.ranked_paths(store, one.text, kind=one.kind)[:USED_FILES])
        ids = list(dict.fromkeys([*(paths[path] for path in used), *ids]))
    wanted, taken, chosen = share * sum(counts.values()), 0, set[int]()
    for document in ids:
        if taken >= wanted:
            break
        chosen.add(document)
        taken += counts[document]
    return frozenset(chosen)


def _query_vectors(share: float, _corpus: str, text: str) -> list[QueryVector]:
    vectors = [judged.query_vector(STATIC_VERSION, text)] if share < 1 else []
    if share:
        model = judged.query_vector(MINILM_VERSION, text)
        vectors.append(QueryVector(model.encoder, model.vector, share, is_model=True))
    return vectors


if __name__ == "__main__":
    sys.exit(main())
