"""`python -m bench.cold --eval EVAL --code-search DIR`: measure the first answer about a project that has no index."""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from bench import program, quality, semble
from bench.meter import CommandFailed, Run, measure_command
from bench.report import Row, Table
from bench.semble import Semble
from dowse.indexes.index import ProjectIndex

MARKER = "bench cold"
INDEXING_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a project that has no index."""

    seconds: float
    ndcg: float
    share: float
    """The share of the files that were searched."""


def main() -> int:
    """Measure and print the table."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.cold", description=__doc__)
    parser.add_argument("--eval", type=Path, required=True, metavar="EVAL", help="a folder with code-search/")
    parser.add_argument("--code-search", type=Path, required=True, metavar="DIR", help="its corpora, laid out")
    parser.add_argument("--queries", type=int, default=1, help="questions to each project, each with a fresh home")
    parser.add_argument("--semble", type=Path, metavar="DIR", help="install semble there and measure its index")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    queries = quality.code_search(options.eval / "code-search")
    names = [name for name in sorted({one.corpus for one in queries}) if (options.code_search / name).is_dir()]
    peer = _peer(options, work, [options.code_search / name for name in names])
    rows: list[Row] = [("", "files", "first answer s", "nDCG@10", "searched", "--wait s", "nDCG@10", "semble s")]
    first, waited, others = list[Asked](), list[Asked](), list[float]()
    for name in names:
        root, own = options.code_search / name, [one for one in queries if one.corpus == name][: options.queries]
        answers = [_ask(work / "home", root, one) for one in own]
        whole = [_ask(work / "home", root, one, "--wait") for one in own]
        other = peer.index(root).seconds if peer else None
        first, waited, others = [*first, *answers], [*waited, *whole], [*others, *([other] if other else [])]
        rows.append(
            (name, str(_count(root, work)), *_cells(answers), *_cells(whole)[:2], f"{other:.2f}" if other else "-")
        )
        print(*rows[-1], file=sys.stderr, flush=True)
    summary: list[Row] = [
        ("", "median s", "worst s", "sum s", "nDCG@10", "share searched"),
        ("the first answer", *_summary(first)),
        ("with --wait", *_summary(waited)),
    ]
    if others:
        summary.append(
            ("semble's index", f"{median(others):.2f}", f"{max(others):.2f}", f"{sum(others):.1f}", "-", "-")
        )
    return [Table("The first answer, each time with a fresh home", summary), Table("Each project", rows)]


def _peer(options: argparse.Namespace, work: Path, roots: list[Path]) -> Semble | None:
    if options.semble is None:
        return None
    try:
        return semble.prepare(options.semble, work, roots)
    except (CommandFailed, OSError) as error:
        print(f"semble cannot be installed, so it is not measured: {error}", file=sys.stderr)
        return None


def _ask(home: Path, root: Path, query: quality.Judged, *how: str) -> Asked:
    shutil.rmtree(home, ignore_errors=True)
    environment = {**os.environ, "DOWSE_HOME": str(home)}
    command = [sys.executable, "-m", "dowse", "search", query.text, str(root), "--json", *how]
    run = _measure(command, environment)
    reply: dict[str, Any] = json.loads(run.output)
    covered = reply["coverage"]
    searched = covered["indexedFiles"] + covered.get("searchedDirectly", 0)
    ndcg = quality.ndcg([hit["path"] for hit in reply["results"]], query.answers)
    _wait_for_indexing(home, root)
    return Asked(run.seconds, ndcg, searched / max(1, covered["expectedFiles"]))


def _measure(command: list[str], environment: Mapping[str, str]) -> Run:
    # A search that finds nothing has exit code 1, which is an answer as well.
    return measure_command(["sh", "-c", '"$@" || [ $? = 1 ]', "sh", *command], environment)


def _wait_for_indexing(home: Path, root: Path) -> None:
    """Wait for the process that indexes in the background, so that the next question does not meet it."""
    os.environ["DOWSE_HOME"] = str(home)
    deadline = time.monotonic() + INDEXING_SECONDS
    project = ProjectIndex(root)
    while project.is_being_updated() or not project.exists:
        if time.monotonic() > deadline:
            raise CommandFailed(f"Indexing {root.name} took more than {INDEXING_SECONDS} s.")
        time.sleep(0.1)
    project.close()


def _count(root: Path, work: Path) -> int:
    os.environ["DOWSE_HOME"] = str(work / "home")
    return ProjectIndex(root).status().files


def _cells(asked: list[Asked]) -> tuple[str, str, str]:
    return (
        f"{median(one.seconds for one in asked):.2f}",
        f"{mean(one.ndcg for one in asked):.3f}",
        f"{mean(one.share for one in asked):.0%}",
    )


def _summary(asked: list[Asked]) -> tuple[str, ...]:
    seconds = [one.seconds for one in asked]
    return (
        f"{median(seconds):.2f}", f"{max(seconds):.2f}", f"{sum(seconds):.1f}",
        f"{mean(one.ndcg for one in asked):.3f}", f"{mean(one.share for one in asked):.0%}",
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
