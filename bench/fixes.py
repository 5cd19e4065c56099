"""Are the files that a fix changes found by its message? Fixes of repositories that took no part in any choice before.

    python -m bench.fixes CLONES WORK [--split tune|hold] [--model] [--each]

CLONES has a clone of each repository of `bench/questions/fixes.jsonl`, named OWNER+NAME. WORK gets the files as they were
before each fix, and their indexes, which later runs reuse. A message is asked without its trailers, as `dowse eval` does; the
files that have to be found are those of code that the fix changes, apart from tests and examples. Prints how often all of
them are among the first five, and one of them comes first, with intervals over repositories. BM25 counts the stems of the
words of whole files and their paths.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import quality
from bench.judged import DRAWS, FIRST_FILES, METHODS, is_among_the_first, open_corpus, project_is_encoded, query_vector
from bench.report import Table
from dowse.cli.project_evaluation import commit_question, is_changelog
from dowse.indexes.index import ProjectIndex
from dowse.searching.path_kinds import kinds_of
from dowse.text.analysis import terms_of

FIXES = Path(__file__).with_name("questions") / "fixes.jsonl"
NOT_ASKED = frozenset({"test", "example", "generated", "vendored"})
"""Kinds of files that a fix changes beside what it mends."""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""The usual constants of BM25."""
_CODE = re.compile(r"\.(?:c|cc|cpp|cs|exs?|go|h|hpp|java|jsx?|kts?|lua|mjs|php|pyx?|rb|rs|scala|swift|tsx?|vue|zig)$")


class Fix(NamedTuple):
    """A fix: its message, the files that it changes, and the files before it."""

    repository: str
    commit: str
    message: str
    changed: Mapping[str, int]
    root: Path


class Found(NamedTuple):
    """Whether all changed files are among the first, and whether one comes first."""

    all_changed: float
    first: float


def read_fixes(clones: Path, work: Path, split: str | None) -> Iterator[Fix]:
    """Yield the fixes whose repository is there, with the files before each laid out."""
    for row in map(json.loads, FIXES.read_text(encoding="utf-8").splitlines()):
        name, commit = row["repository"].replace("/", "+"), row["commit"]
        if split in (None, row["split"]) and (clones / name).is_dir():
            root = work / "files" / f"{name}-{commit[:10]}"
            if not root.is_dir():
                _lay_out(clones / name, commit, root)
            message = commit_question(_git(clones / name, "log", "-1", "--format=%B", commit).strip())
            changed = _git(clones / name, "diff", "--name-only", "--no-renames", f"{commit}~1", commit).splitlines()
            answers = [one for one in changed if _CODE.search(one) and not is_changelog(one) and (root / one).is_file()]
            wanted = dict.fromkeys((one for one in answers if not kinds_of(one) & NOT_ASKED), 1)
            yield Fix(row["repository"], commit, message, wanted, root)


def _lay_out(clone: Path, commit: str, root: Path) -> None:
    part = root.with_suffix(".part")
    part.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "-C", clone, "archive", f"{commit}~1"], capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", part], input=archive.stdout, check=True)
    part.rename(root)


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", clone, "-c", "core.quotePath=false", *arguments], capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "replace")


def rank_by_bm25(texts: Mapping[str, str], query: str) -> list[str]:
    """Return the paths of files, best first, by the stems of the words of the files and of their paths."""
    counts = {path: Counter(terms_of(f"{path} {text}")) for path, text in texts.items()}
    lengths = {path: sum(found.values()) for path, found in counts.items()}
    mean = sum(lengths.values()) / max(len(lengths), 1) or 1.0
    scores = dict.fromkeys(texts, 0.0)
    for term in set(terms_of(query)):
        having = [path for path, found in counts.items() if term in found]
        rarity = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for path in having:
            often, long = counts[path][term], 1 - LENGTH_SHARE + LENGTH_SHARE * lengths[path] / mean
            scores[path] += rarity * often * (SATURATION + 1) / (often + SATURATION * long)
    return sorted(scores, key=lambda path: -scores[path])


def _texts(project: ProjectIndex) -> dict[str, str]:
    return {
        one.path: project.source.read_bytes(one.path)[0].decode("utf-8", "replace")
        for one in project.store.documents()
        if one.kind == "code"
    }


def judge(paths: Sequence[str], changed: Mapping[str, int]) -> Found:
    """Return the values of an answer."""
    return Found(is_among_the_first(list(paths), changed), float(bool(paths) and paths[0] in changed))


def cells(values: Mapping[str, Sequence[float]]) -> str:
    """Return the share of the fixes, and the interval of 95 % of the samples of repositories."""
    groups, chance = [np.array(group) for group in values.values()], np.random.default_rng(1)
    draws = [chance.integers(0, len(groups), len(groups)) for _ in range(DRAWS)]
    shares = [np.concatenate([groups[at] for at in drawn]).mean() for drawn in draws]
    low, high = np.quantile(shares, (0.025, 0.975))
    return f"{100 * np.concatenate(groups).mean():.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def measure(fixes: Iterable[Fix], *, has_model: bool, each: bool) -> Table:
    """Ask all fixes and return the table."""
    found: dict[str, dict[str, list[Found]]] = {}
    for fix in fixes:
        project = open_corpus(fix.root, has_model=has_model)
        methods = [name for name in METHODS if name != "model" or project_is_encoded(project)]
        answers = {"BM25": rank_by_bm25(_texts(project), fix.message)}
        for method in methods:
            vectors = [query_vector(encoder, fix.message) for encoder in METHODS[method]]
            answers[method] = quality.ranked_paths(project.store, fix.message, vectors)
        project.close()
        for method, paths in answers.items():
            value = judge(paths, fix.changed)
            found.setdefault(method, {}).setdefault(fix.repository, []).append(value)
            if each and method == methods[-1]:
                print(fix.repository, fix.commit[:10], *map(int, value), *fix.changed, "|", *paths[:5], flush=True)
    count = len(next(iter(found.values()), {}))
    rows = [
        (name, *(cells({one: [value[at] for value in values] for one, values in groups.items()}) for at in range(2)))
        for name, groups in found.items()
    ]
    heading = f"{sum(map(len, next(iter(found.values()), {}).values()))} fixes of {count} repositories"
    return Table(heading, [("", f"all changed files in {FIRST_FILES}", "a changed file first"), *rows])


def main() -> int:
    """Ask the fixes and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.fixes", description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument(
        "--split", choices=["tune", "hold"], help="the fixes that may decide about constants, or others"
    )
    parser.add_argument("--model", action="store_true", help="encode every chunk with the model first (hours)")
    parser.add_argument("--each", action="store_true", help="print every fix")
    options = parser.parse_args()
    os.environ["DOWSE_HOME"] = str(options.work.resolve() / "index")
    fixes = read_fixes(options.clones, options.work.resolve(), options.split)
    print(measure(fixes, has_model=options.model, each=options.each).as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
