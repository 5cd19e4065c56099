"""`python -m bench.search CORPORA --eval EVAL`: measure the speed of search."""

import argparse
import os
import sys
from pathlib import Path

from bench import corpora, latency, program
from bench.report import Row, Table

MARKER = "bench search"
SIZES = (250, 2_500, 1_000_000)
"""Number of files for indexes of about 1,000 and 10,000 chunks, and of all files."""


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora, for speed")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="a folder with code-search/, for its queries")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="the corpora of code-search, laid out")
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="files of the indexes whose speed is measured")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _sizes(value: str) -> tuple[int, ...]:
    return tuple(int(size) for size in value.split(",") if size)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "index")
    return _speed(options, work)


def _speed(options: argparse.Namespace, work: Path) -> list[Table]:
    roots = corpora.find(options.corpora) or [corpora.installed_packages(work / "origin")]
    if options.code_search and options.code_search.is_dir():
        roots += corpora.find(options.code_search)
    queries = latency.queries(options.eval, roots)
    rows: list[Row] = [
        ("chunks", "search alone, median", "whole answer, median", "99th percentile", "verifying ten hits")
    ]
    for size in options.sizes:
        sample = corpora.sample(roots, size, work / "speed")
        corpora.read_all(sample)
        found = latency.measure(sample.folder, queries)
        times = (found.search_ms, found.median_ms, found.worst_ms, found.verification_ms)
        rows.append((f"{found.chunks:,}", *(f"{value:.1f} ms" for value in times)))
        _log(f"{found.chunks:,} chunks: {found.median_ms:.1f} ms")
    sample = corpora.sample(roots, min(3000, max(options.sizes)), work / "commands")
    corpora.read_all(sample)
    whole = latency.commands(sample.folder, queries[0], work / "commands-home")
    commands: list[Row] = [
        ("", "measured", "to reach"),
        ("`dowse search`, no index yet, first hits", f"{whole.first_hits:.2f} s", "≤ 3 s"),
        ("`dowse search`, indexed and unchanged", f"{whole.unchanged:.2f} s", "≤ 0.5 s"),
        ("`dowse --version`", f"{whole.start_up:.2f} s", ""),
    ]
    return [
        Table(
            f"Speed in a warm process, {len(queries)} queries, every hit verified (to reach: 10 and 60 ms, 3 ms)", rows
        ),
        Table(f"Whole commands, {len(sample.paths):,} files", commands),
    ]


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
