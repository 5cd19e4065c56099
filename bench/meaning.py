"""`python -m bench.meaning --eval EVAL --code-search DIR`: measure search quality by words, the table and the model."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from bench import program, quality
from bench.report import Row, Table
from dowse.encoding.shipped import MINILM_VERSION, STATIC_VERSION, open_minilm, static_encoder
from dowse.encoding_worker.encode_now import encode_now
from dowse.indexes.index import ProjectIndex
from dowse.searching.candidates import QueryVector

MARKER = "bench meaning"
HOME = Path(__file__).parents[1] / ".bench" / "meaning"
ANNOUNCED_CHUNKS = 1000
"""With more chunks than this to encode, the time it takes is announced."""

NAMES = ("code", "scifact", "cosqa")

Methods = dict[str, Sequence[str]]
METHODS: Methods = {
    "by words alone": (),
    "with the table, as when `create_index` returns": (STATIC_VERSION,),
    "with the model, as when the worker is done": (MINILM_VERSION,),
}
GOALS = {
    ("code", "with the table, as when `create_index` returns"): "≥ 0.855",
    ("code", "with the model, as when the worker is done"): "≥ 0.88",
    ("scifact", "with the model, as when the worker is done"): "≥ 0.725",
    ("cosqa", "with the model, as when the worker is done"): "≥ 0.59",
}


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.meaning", description=__doc__)
    parser.add_argument("--eval", type=Path, metavar="EVAL", required=True, help="code-search/, scifact/, cosqa-dev/")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="the corpora of code-search, laid out")
    parser.add_argument("--home", type=Path, default=HOME, help="the folder of the indexes, which later runs reuse")
    parser.add_argument("--only", action="append", default=[], choices=["code", "scifact", "cosqa"], help="one of them")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, _work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(options.home.resolve() / "index")
    rows: list[Row] = [("", "code", "architecture", "semantic", "symbol", "SciFact", "CosQA-dev")]
    values = {name: _score(name, *found) for name, found in judged_sets(options).items()}
    for method in METHODS:
        rows.append((method, *(cell for name in NAMES for cell in _cells(name, method, values.get(name)))))
    goals: list[Row] = [("", "measured", "to reach")]
    for (name, method), goal in GOALS.items():
        if name in values:
            goals.append((f"{name}, {method}", f"{values[name][method]['all']:.4f}", goal))
    if "code" in values:
        by_words, by_model = (values["code"][method]["symbol"] for method in (next(iter(METHODS)), [*METHODS][-1]))
        goals.append(("symbols, by words and with the model", f"{by_words:.4f} and {by_model:.4f}", "no loss"))
    return [Table("nDCG@10 of judged queries, by what has a say", rows), Table("What was to be reached", goals)]


def judged_sets(options: argparse.Namespace) -> dict[str, tuple[list[quality.Judged], Path]]:
    """Return the queries and the folder of the corpora of each set that is wanted."""
    corpora = options.home.resolve() / "corpora"
    made: dict[str, Callable[[], tuple[list[quality.Judged], Path]]] = {
        "code": lambda: (quality.code_search(options.eval / "code-search"), options.code_search),
        "scifact": lambda: (quality.scifact(options.eval / "scifact", corpora), corpora),
        "cosqa": lambda: (quality.cosqa(options.eval / "cosqa-dev", corpora), corpora),
    }
    return {name: make() for name, make in made.items() if _is_wanted(name, options)}


def _is_wanted(name: str, options: argparse.Namespace) -> bool:
    if name == "code" and not (options.code_search and options.code_search.is_dir()):
        _log("Code is not measured: --code-search is missing.")
        return False
    return not options.only or name in options.only


def _cells(name: str, method: str, values: dict[str, dict[str, float]] | None) -> list[str]:
    columns = ("all", "architecture", "semantic", "symbol") if name == "code" else ("all",)
    return [f"{values[method][column]:.4f}" if values else "–" for column in columns]


def _score(name: str, queries: list[quality.Judged], folder: Path) -> dict[str, dict[str, float]]:
    """Return the scores of each search method, once every chunk has its vectors."""
    projects = {corpus: open_encoded(folder / corpus) for corpus in sorted({query.corpus for query in queries})}
    stores = {corpus: project.store for corpus, project in projects.items()}
    scores = {}
    for method, encoders in METHODS.items():
        scores[method] = quality.score(queries, stores, partial(_query_vectors, encoders))
        _log(f"{name}, {method}: {scores[method]['all']:.4f}")
    for project in projects.values():
        project.close()
    return scores


def open_encoded(root: Path) -> ProjectIndex:
    """Return the index of a corpus, with vectors of the model for every chunk."""
    project = quality.open_index(root)
    done, total = project.store.vector_counts(MINILM_VERSION)
    if total - done > ANNOUNCED_CHUNKS:
        _log(f"{root.name}: {total - done:,} chunks are encoded, about 20 a second and core ...")
    encode_now(project, lambda _done, _total: None, _log)
    project.store.refresh()
    return project


def _query_vectors(encoders: Sequence[str], _corpus: str, text: str) -> list[QueryVector]:
    return [query_vector(encoder, text) for encoder in encoders]


@cache
def query_vector(encoder: str, text: str) -> QueryVector:
    """Return the vector of a query."""
    is_model = encoder == MINILM_VERSION
    vector = (_minilm() if is_model else static_encoder()).encode([text])[0]
    return QueryVector(encoder, vector, 1.0, is_model=is_model)


_minilm = cache(open_minilm)


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
