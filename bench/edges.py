"""`python -m bench.edges --eval EVAL --code-search DIR --clones DIR --home DIR`: measure edges as evidence for ranking.

Each rule ranks the files of judged queries again. Its numbers are chosen without the repository that is measured.
`--issues DIR... --issues-home DIR` measures pasted issues as well: each DIR has a folder for each issue, and the home has their
indexes. The clones are named OWNER+NAME; of their history only what the commit leads to counts. The answers are kept in the
home. The model is measured where it has encoded all corpora.
"""

import argparse
import itertools
import json
import os
import pickle
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench import judged, quality
from bench.edge_cases import Case, Commits, Numbers, ask, graph_of, python_graph
from dowse.indexes.index import ProjectIndex

DRAWS = 10_000
COUNTS, WEIGHTS, POWERS = (3, 5, 10), (0.0, 0.02, 0.05, 0.1, 0.2, 0.4), (0.5, 1.0)
FORMS, FACTORS, OWN = ("added", "multiplied"), (1.0, 0.95, 0.9, 0.8, 0.7, 0.5), (0.25, 1.0)

Cases = Mapping[str, list[Case]]
"""The cases of each method."""
Value = Callable[[list[str], Mapping[str, int]], float]


# The rules


def gain(case: Case, shares: Numbers, count: int, weight: float, form: str) -> Numbers:
    """Return the scores after the best files have added to others; `shares` has a row for each of the best."""
    gained = weight * (case.scores[:count] @ shares[:count])
    return case.scores + gained * (case.factors if form == "added" else case.scores)


def targets_gain(kind: str, case: Case, *, count: int, weight: float, form: str, power: float) -> Numbers:
    """Let the files gain that the best files lead to: the less, the more files lead to them."""
    links = case.links[kind]
    return gain(case, links.matrix / np.maximum(links.sources, 1) ** power, count, weight, form)


def sources_gain(kind: str, case: Case, *, count: int, weight: float, form: str, power: float) -> Numbers:
    """Let the files gain that lead to the best files: the less, the more files they lead to."""
    links = case.links[kind]
    return gain(case, links.matrix.T / np.maximum(links.targets, 1) ** power, count, weight, form)


def together_gain(case: Case, count: int, weight: float, form: str, power: float) -> Numbers:
    """Let the files gain that change with the best files."""
    return gain(case, case.together ** (2 * power), count, weight, form)


def yielding(case: Case, factor: float, own: float) -> Numbers:
    """Lower files that mostly import what others define, unless the query names them."""
    return case.scores * np.where((case.own <= own) & ~case.named, factor, 1.0)


def passing(case: Case, factor: float, own: float) -> Numbers:
    """Lower these files, and let the best file that each imports gain as much."""
    scores = yielding(case, factor, own)
    for row in np.flatnonzero((case.own <= own) & ~case.named):
        for target in np.flatnonzero(case.links["imports"].matrix[row])[:1]:
            scores[target] += (case.scores[row] * (1 - factor)) * case.factors[target]
    return scores


GAINS = [
    {"weight": weight, "count": count, "form": form, "power": power}
    for weight, count, form, power in itertools.product(WEIGHTS, COUNTS, FORMS, POWERS)
]
YIELDS = [{"factor": factor, "own": own} for factor, own in itertools.product(FACTORS, OWN)]
RULES: Mapping[str, tuple[Callable[..., Numbers], Sequence[Mapping[str, Any]]]] = {
    "what the best files import": (partial(targets_gain, "imports"), GAINS),
    "what imports the best files": (partial(sources_gain, "imports"), GAINS),
    "what the best files use": (partial(targets_gain, "uses"), GAINS),
    "what uses the best files": (partial(sources_gain, "uses"), GAINS),
    "what changes with the best files": (together_gain, GAINS),
    "re-exporting files yield": (yielding, YIELDS),
    "re-exporting files pass their score on": (passing, YIELDS),
}
"""Each rule with the numbers to choose from; the first ones change nothing."""


def measure(cases: Sequence[Case], value: Value, name: str) -> None:
    """Print what each rule brings: with the best numbers for all, and with those chosen for the other repositories."""
    groups = sorted({case.group for case in cases})
    members = [[at for at, case in enumerate(cases) if case.group == group] for group in groups]
    draws = np.random.default_rng(27).integers(len(groups), size=(DRAWS, len(groups)))
    for title, (rule, grid) in RULES.items():
        if " use" in title and "uses" not in cases[0].links:
            continue
        values = np.array(
            [[value(_order(one, rule(one, **numbers)), one.answers) for one in cases] for numbers in grid]
        )
        means = np.array([values[:, own].mean(axis=1) for own in members]).T
        others = (means.sum(axis=1, keepdims=True) - means).round(9)
        gains = np.array([means[others[:, at].argmax(), at] - means[0, at] for at in range(len(groups))])
        low, high = np.quantile(gains[draws].mean(axis=1), (0.025, 0.975))
        best = int(means.mean(axis=1).round(9).argmax())
        cells = [name, title, f"{means[0].mean():.4f}", f"{means[best].mean() - means[0].mean():+.4f}"]
        cells += [f"{gains.mean():+.4f} ({low:+.4f} to {high:+.4f})", ", ".join(map(str, grid[best].values()))]
        print(f"| {' | '.join(cells)} |", flush=True)


def _order(case: Case, scores: Numbers) -> list[str]:
    return [case.paths[at] for at in np.argsort(-scores, kind="stable")[: quality.DEPTH]]


# The cases


def code_search(options: argparse.Namespace) -> Cases:
    """Ask all queries of `eval/code-search`."""
    os.environ["DOWSE_HOME"] = str(options.home.resolve() / "index")
    rows = map(json.loads, (options.eval / "code-search" / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    places = {row["repo"]: (_clone(options, row["url"]), row["commit"]) for row in rows}
    queries, cases = quality.code_search(options.eval / "code-search"), defaultdict[str, list[Case]](list)
    for corpus, (clone, commit) in places.items():
        project = quality.open_index(options.code_search / corpus)
        graph, commits = graph_of(project), Commits(clone, [commit])
        methods = [name for name in judged.METHODS if name != "model" or judged.project_is_encoded(project)]
        asked = [replace(query, category=corpus) for query in queries if query.corpus == corpus]
        for query, method in itertools.product(asked, methods):
            cases[method].append(ask(project, query, method, graph, partial(commits.together, commit)))
        project.close()
    return {method: found for method, found in cases.items() if len(found) == len(queries)}


def issues(options: argparse.Namespace) -> Cases:
    """Ask for the issues that are checked out and indexed."""
    os.environ["DOWSE_HOME"] = str(options.issues_home.resolve())
    rows = (options.eval / "issues" / "swe-bench-lite.jsonl").read_text(encoding="utf-8").splitlines()
    folders = {folder.name: folder for parent in options.issues for folder in parent.iterdir()}
    known = [issue for issue in map(json.loads, rows) if issue["id"] in folders]
    cases = defaultdict[str, list[Case]](list)
    for repository, group in itertools.groupby(known, lambda issue: str(issue["repo"])):
        own = list(group)
        commits = Commits(_clone(options, repository), [issue["commit"] for issue in own])
        for issue in own:
            project, answers = ProjectIndex(folders[issue["id"]]), dict.fromkeys(issue["gold"], 1)
            query = quality.Judged(issue["id"], issue["text"], repository, answers, "code")
            graph, together = python_graph(project), partial(commits.together, issue["commit"])
            for method in ("words", "table"):
                cases[method].append(ask(project, query, method, graph, together))
            project.close()
    return dict(cases)


def _clone(options: argparse.Namespace, repository: str) -> Path:
    folder: Path = options.clones / "+".join(repository.removesuffix(".git").split("/")[-2:])
    return folder / "repo" if (folder / "repo").is_dir() else folder


def main() -> None:
    """Ask what was not asked before, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--eval", "--code-search", "--clones", "--home"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--issues", type=Path, nargs="*", default=[])
    parser.add_argument("--issues-home", type=Path)
    options = parser.parse_args()
    sets: list[tuple[str, Callable[[argparse.Namespace], Cases], Value]] = [("code-search", code_search, quality.ndcg)]
    sets += [("issues", issues, judged.is_among_the_first)] if options.issues else []
    print(
        "| set | rule | as it is | best on all | leaving one out | numbers of the best |\n|---|---|---:|---:|---:|---|"
    )
    for name, make, value in sets:
        file = options.home / f"edges-{name}.pickle"
        if not file.exists():
            options.home.mkdir(parents=True, exist_ok=True)
            file.write_bytes(pickle.dumps(make(options)))
        for method, cases in pickle.loads(file.read_bytes()).items():  # noqa: S301 - written above
            measure(cases, value, f"{name}, {method}")


if __name__ == "__main__":
    main()
