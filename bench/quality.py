"""Search quality: judged queries over real corpora, and the effect of each ranking rule."""

import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dowse.indexes.index import ProjectIndex
from dowse.protocols import Searchable
from dowse.searching import ranking_constants
from dowse.searching.candidates import QueryVector, Scope, gather_evidence
from dowse.searching.query_terms import parse_search_query
from dowse.searching.ranking import RankedFile, rank_files
from dowse.types import Kind

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A query over one corpus, and the grades of the relevant paths."""

    corpus: str
    text: str
    category: str
    answers: Mapping[str, int]
    kind: Kind | None = None


def code_search(folder: Path) -> list[Judged]:
    """Return the judged queries of `eval/code-search`."""
    rows = _rows(folder / "queries.jsonl")
    return [
        Judged(
            row["repo"],
            row["query"],
            row["category"],
            {target["path"]: 1 for target in (*row["relevant"], *row["secondary"])},
        )
        for row in rows
    ]


def abstracts(folder: Path, into: Path) -> list[Judged]:
    """Return the questions of `eval/scifact` or `eval/cisi`; each of its abstracts becomes a Markdown file."""
    return _load_judged(folder, into / folder.name, "md", lambda row: f"# {row['title']}\n\n{row['text']}\n", "docs")


def cosqa(folder: Path, into: Path) -> list[Judged]:
    """Return the questions of `eval/cosqa-dev`; each of its functions becomes a file."""
    return _load_judged(folder, into / "cosqa", "py", lambda row: str(row["text"]), "code")


def _load_judged(
    folder: Path, root: Path, ending: str, text: Callable[[dict[str, Any]], str], kind: Kind
) -> list[Judged]:
    """Return judged queries in BEIR format, and write the corpus into a folder."""
    root.mkdir(parents=True, exist_ok=True)
    for row in _rows(folder / "corpus.jsonl"):
        (root / f"{row['_id']}.{ending}").write_text(text(row), encoding="utf-8")
    texts = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    answers: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        answers.setdefault(query, {})[f"{document}.{ending}"] = int(grade)
    return [Judged(root.name, texts[query], "question", graded, kind) for query, graded in answers.items()]


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, file.read_text(encoding="utf-8").splitlines())


EncodeQuery = Callable[[str, str], Sequence[QueryVector]]
"""Returns the vectors of a query to a corpus."""


def words_alone(_corpus: str, _text: str) -> Sequence[QueryVector]:
    """Return no vectors, so that the search uses words alone."""
    return ()


def score(
    queries: list[Judged], stores: Mapping[str, Searchable], encode: EncodeQuery = words_alone
) -> dict[str, float]:
    """Return nDCG@10: over all (the mean of the corpora's means) and by category."""
    by_corpus: dict[str, list[float]] = {}
    by_category: dict[str, list[float]] = {}
    for query in queries:
        value = ndcg(
            ranked_paths(stores[query.corpus], query.text, encode(query.corpus, query.text), query.kind), query.answers
        )
        by_corpus.setdefault(query.corpus, []).append(value)
        by_category.setdefault(query.category, []).append(value)
    overall = statistics.mean(statistics.mean(values) for values in by_corpus.values())
    return {"all": overall, **{name: statistics.mean(values) for name, values in sorted(by_category.items())}}


def ranked_paths(
    store: Searchable, text: str, vectors: Sequence[QueryVector] = (), kind: Kind | None = None
) -> list[str]:
    """Return the first ten paths for a query."""
    return list(ranked_files(store, text, vectors, kind))[:DEPTH]


def ranked_files(
    store: Searchable, text: str, vectors: Sequence[QueryVector] = (), kind: Kind | None = None
) -> dict[str, RankedFile]:
    """Return all ranked files by path, best first."""
    evidence = gather_evidence(store, parse_search_query(text), Scope(kind), vectors)
    ranked = rank_files(evidence, ranking_constants.RANKED_FILES, store.paths_by_id)
    return {file.path: file for file in ranked}


def ndcg(paths: list[str], answers: Mapping[str, int]) -> float:
    """Return the discounted gain of the first ten paths, as a share of the best possible."""
    matched = [next((answer for answer in answers if _matches(path, answer)), None) for path in paths]
    gained, seen = 0.0, set[str]()
    for place, answer in enumerate(matched):
        if answer is not None and answer not in seen:
            seen.add(answer)
            gained += (2 ** answers[answer] - 1) / math.log2(place + 2)
    best = sorted(answers.values(), reverse=True)[:DEPTH]
    possible: float = sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(best))
    return gained / possible


def open_index(root: Path) -> ProjectIndex:
    """Return an up-to-date index of a corpus."""
    project = ProjectIndex(root)
    project.update()
    project.store.refresh()
    return project


def ablations() -> dict[str, dict[str, object]]:
    """Return the changed constants that switch off each rule, one at a time."""
    prose, symbol, penalties = (
        ranking_constants.CHUNK_WEIGHTS,
        ranking_constants.SYMBOL_CHUNK_WEIGHTS,
        ranking_constants.PENALTIES,
    )
    none = dict.fromkeys(penalties, 1.0)
    rules = ("TOP_THREE", "PATH", "DEFINITION", "PATH_SHARE", "WHOLE_NAME")
    found: dict[str, dict[str, object]] = {"nothing (as it is)": {}}
    found |= {f"{name} = 0": {name: 0.0} for name in rules}
    found |= {"folders count nothing": {"FOLDER": 1.0}}
    found |= {"no penalties": {"PENALTIES": none}}
    found |= {f"no penalty for {kind}": {"PENALTIES": {**penalties, kind: 1.0}} for kind in penalties}
    for field in prose:
        weights = {"CHUNK_WEIGHTS": _without(prose, field), "SYMBOL_CHUNK_WEIGHTS": _without(symbol, field)}
        found[f"without the field {field}"] = dict(weights)
    found["symbols weighed like prose"] = {"SYMBOL_CHUNK_WEIGHTS": prose}
    found["nothing but the best chunk"] = {"PENALTIES": none, "FOLDER": 1.0, **dict.fromkeys(rules, 0.0)}
    return found


@contextmanager
def patch_constants(values: Mapping[str, object]) -> Iterator[None]:
    """Give the ranking constants other values within a `with` block."""
    with ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(patch.object(ranking_constants, name, value))
        yield


def _without(weights: Mapping[Any, float], field: str) -> dict[Any, float]:
    return {name: weight for name, weight in weights.items() if name != field}


def _matches(path: str, answer: str) -> bool:
    return path == answer or path.endswith(f"/{answer}") or answer.endswith(f"/{path}")
