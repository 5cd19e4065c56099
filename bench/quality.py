"""How good the answers are: judged queries over real corpora, and what each rule is worth."""

import json
import math
import statistics
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dowse.searching import constants
from dowse.searching.candidates import Scope, gather
from dowse.searching.query import parse
from dowse.searching.ranking import leg_scores, promising, rank
from dowse.serving.project import ProjectIndex
from dowse.types import Store

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A query over one corpus, and the paths that answer it with their grades."""

    corpus: str
    text: str
    category: str
    answers: Mapping[str, int]


def code_search(folder: Path) -> list[Judged]:
    """The judged queries of `eval/code-search`."""
    rows = map(json.loads, (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Judged(
            row["repo"],
            row["query"],
            row["category"],
            {target["path"]: 1 for target in (*row["relevant"], *row["secondary"])},
        )
        for row in rows
    ]


def scifact(folder: Path, into: Path) -> list[Judged]:
    """The claims of `eval/scifact`; its abstracts become one Markdown file each."""
    root = into / "scifact"
    root.mkdir(parents=True, exist_ok=True)
    for row in map(json.loads, (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()):
        (root / f"{row['_id']}.md").write_text(f"# {row['title']}\n\n{row['text']}\n", encoding="utf-8")
    texts = {
        row["_id"]: row["text"]
        for row in map(json.loads, (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    }
    answers: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        answers.setdefault(query, {})[f"{document}.md"] = int(grade)
    return [Judged("scifact", texts[query], "claim", graded) for query, graded in answers.items()]


def score(queries: list[Judged], stores: Mapping[str, Store]) -> dict[str, float]:
    """nDCG@10: over all (the mean of the corpora's means) and by category."""
    by_corpus: dict[str, list[float]] = {}
    by_category: dict[str, list[float]] = {}
    for query in queries:
        value = ndcg(ranked_paths(stores[query.corpus], query.text), query.answers)
        by_corpus.setdefault(query.corpus, []).append(value)
        by_category.setdefault(query.category, []).append(value)
    overall = statistics.mean(statistics.mean(values) for values in by_corpus.values())
    return {"all": overall, **{name: statistics.mean(values) for name, values in sorted(by_category.items())}}


def ranked_paths(store: Store, text: str) -> list[str]:
    """The first files for a query."""
    evidence = gather(store, parse(text), Scope())
    if evidence is None:
        return []
    scores = leg_scores(evidence.legs)
    documents = store.documents_by_id(promising(evidence, scores, constants.RANKED_FILES))
    files = rank(evidence, scores, {number: document.path for number, document in documents.items()})
    return [documents[file.document_id].path for file in files[:DEPTH]]


def ndcg(paths: list[str], answers: Mapping[str, int]) -> float:
    """Discounted gain of the first ten, as a share of the best that is possible."""
    matched = [next((answer for answer in answers if _is(path, answer)), None) for path in paths]
    gained, seen = 0.0, set[str]()
    for place, answer in enumerate(matched):
        if answer is not None and answer not in seen:
            seen.add(answer)
            gained += (2 ** answers[answer] - 1) / math.log2(place + 2)
    best = sorted(answers.values(), reverse=True)[:DEPTH]
    possible: float = sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(best))
    return gained / possible


def opened(root: Path) -> ProjectIndex:
    """An up-to-date index of a corpus."""
    project = ProjectIndex(root)
    project.update()
    project.store.refresh()
    return project


def ablations() -> dict[str, dict[str, object]]:
    """Each rule taken away, one at a time: what becomes of the constants."""
    prose, symbol, penalties = constants.CHUNK_WEIGHTS, constants.SYMBOL_CHUNK_WEIGHTS, constants.PENALTIES
    none = dict.fromkeys(penalties, 1.0)
    rules = ("TOP_THREE", "PATH", "DEFINITION", "PATH_SHARE")
    found: dict[str, dict[str, object]] = {"nothing (as it is)": {}}
    found |= {f"{name} = 0": {name: 0.0} for name in rules}
    found |= {"no penalties": {"PENALTIES": none}}
    found |= {f"no penalty for {kind}": {"PENALTIES": {**penalties, kind: 1.0}} for kind in penalties}
    for field in prose:
        weights = {"CHUNK_WEIGHTS": _without(prose, field), "SYMBOL_CHUNK_WEIGHTS": _without(symbol, field)}
        found[f"without the field {field}"] = dict(weights)
    found["symbols weighed like prose"] = {"SYMBOL_CHUNK_WEIGHTS": prose}
    found["nothing but the best chunk"] = {"PENALTIES": none, **dict.fromkeys(rules, 0.0)}
    return found


@contextmanager
def changed(values: Mapping[str, object]) -> Iterator[None]:
    """The constants of ranking with other values, for a while."""
    with ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(patch.object(constants, name, value))
        yield


def _without(weights: Mapping[Any, float], field: str) -> dict[Any, float]:
    return {name: weight for name, weight in weights.items() if name != field}


def _is(path: str, answer: str) -> bool:
    return path == answer or path.endswith(f"/{answer}") or answer.endswith(f"/{path}")
