"""`python -m bench.issues --eval EVAL --checkouts DIR`: measure how often a pasted issue finds the file that fixes it.

DIR has one folder for each issue, named by its id: the repository at the commit before the fix.
Issues without a folder are left out, and their number is printed.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bench import program, quality
from bench.report import Row, Table
from dowse.encoding.shipped import STATIC_VERSION, static_encoder
from dowse.indexes.query_vectors import plain_text
from dowse.protocols import Store
from dowse.searching.candidates import QueryVector
from dowse.searching.query_terms import parse_search_query

MARKER = "bench issues"
HOME = Path(__file__).parents[1] / ".bench" / "issues"


class Found(NamedTuple):
    """The repository of an issue, and the place of the last of its changed files; None behind the tenth."""

    repository: str
    place: int | None


def main() -> int:
    """Measure and print the table."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.issues", description=__doc__)
    parser.add_argument("--eval", type=Path, metavar="EVAL", required=True, help="issues/")
    parser.add_argument("--checkouts", type=Path, metavar="DIR", required=True, help="a folder for each issue")
    parser.add_argument("--home", type=Path, default=HOME, help="the folder of the indexes, which later runs reuse")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, _work: Path) -> list[Table]:
    file = options.eval / "issues" / "swe-bench-lite.jsonl"
    os.environ["DOWSE_HOME"] = str(options.home.resolve())
    rows = list(map(json.loads, file.read_text(encoding="utf-8").splitlines())) if file.is_file() else []
    issues = [row for row in rows if (options.checkouts / row["id"]).is_dir()]
    if not issues:
        print(f"No issues are measured: they need {file} and their checkouts.", file=sys.stderr)
        return []
    found: dict[str, list[Found]] = {}
    for issue in issues:
        project = quality.open_index(options.checkouts / issue["id"])
        for name, text, has_table in (
            ("the text as it is, by words", issue["text"], False),
            ("the text as it is, with the table", issue["text"], True),
            ("its first line alone, with the table", issue["text"].strip().splitlines()[0], True),
        ):
            place = _place(project.store, text, issue["gold"], has_table=has_table)
            found.setdefault(name, []).append(Found(issue["repo"], place))
        project.close()
    cells: list[Row] = [("", "first", "first five", "first ten", "first five, mean of the repositories")]
    cells += [(name, *_shares(results)) for name, results in found.items()]
    return [Table(f"{len(issues)} of {len(rows)} issues: every changed file is among the", cells)]


def _place(store: Store, text: str, changed: Mapping[str, Any], *, has_table: bool) -> int | None:
    vectors = [QueryVector(STATIC_VERSION, _table().encode([plain_text(parse_search_query(text))])[0], 1.0)]
    paths = quality.ranked_paths(store, text, vectors if has_table else (), "code")
    return max(map(paths.index, changed)) + 1 if set(changed) <= set(paths) else None


@cache
def _table() -> Any:
    return static_encoder()


def _shares(results: Sequence[Found]) -> list[str]:
    def share(places: Sequence[Found], within: int) -> float:
        return statistics.mean(one.place is not None and one.place <= within for one in places)

    by_repository: dict[str, list[Found]] = {}
    for one in results:
        by_repository.setdefault(one.repository, []).append(one)
    means = statistics.mean(share(places, 5) for places in by_repository.values())
    return [f"{value:.1%}" for value in (*(share(results, within) for within in (1, 5, 10)), means)]


if __name__ == "__main__":
    sys.exit(main())
