"""`python -m bench.search CORPORA --eval EVAL`: measure the quality and the speed of search."""

import argparse
import os
import sys
from pathlib import Path

from bench import corpora, latency, program, quality
from bench.report import Row, Table

MARKER = "bench search"
SIZES = (250, 2_500, 1_000_000)
"""Number of files for indexes of about 1,000 and 10,000 chunks, and of all files."""

MISSING = """\
{what} is not in {folder}.
The judged queries are public data that is not part of this repository: {source}.
Until they are there, only speed is measured, with queries made of the corpora's own words.
"""


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora, for speed")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="a folder with code-search/ and scifact/")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="the corpora of code-search, laid out")
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="files of the indexes whose speed is measured")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _sizes(value: str) -> tuple[int, ...]:
    return tuple(int(size) for size in value.split(",") if size)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "index")
    return [*_quality(options, work), *_speed(options, work)]


def _quality(options: argparse.Namespace, work: Path) -> list[Table]:
    tables = []
    judged = options.eval / "code-search" if options.eval else None
    if judged and (judged / "queries.jsonl").is_file() and options.code_search and options.code_search.is_dir():
        tables += _code_search(quality.code_search(judged), options.code_search)
    else:
        _log(
            MISSING.format(
                what="code-search", folder=options.eval, source="semble's benchmark, laid out by checkout.py"
            )
        )
    claims = options.eval / "scifact" if options.eval else None
    if claims and (claims / "qrels.tsv").is_file():
        queries = quality.scifact(claims, work)
        project = quality.open_index(work / "scifact")
        value = quality.score(queries, {"scifact": project.store})["all"]
        rows: list[Row] = [
            ("", "nDCG@10", "to reach"),
            ("SciFact, 300 claims over 5,183 abstracts", f"{value:.4f}", "≥ 0.69"),
        ]
        tables.append(Table("Prose", rows))
        project.close()
    else:
        _log(MISSING.format(what="scifact", folder=options.eval, source="BEIR"))
    return tables


def _code_search(queries: list[quality.Judged], folder: Path) -> list[Table]:
    names = sorted({query.corpus for query in queries})
    absent = [name for name in names if not (folder / name).is_dir()]
    if absent:
        _log(f"Not laid out, so not measured: {', '.join(absent)}.")
    queries = [query for query in queries if query.corpus not in absent]
    projects = {name: quality.open_index(folder / name) for name in names if name not in absent}
    stores = {name: project.store for name, project in projects.items()}
    rows: list[Row] = []
    base = 0.0
    for rule, values_then in quality.ablations().items():
        with quality.patch_constants(values_then):
            values = quality.score(queries, stores)
        base = base or values["all"]
        rows.append((rule, *(f"{value:.4f}" for value in values.values()), f"{values['all'] - base:+.4f}"))
        _log(f"{rule}: {values['all']:.4f}")
    for project in projects.values():
        project.close()
    heading = f"Code: {len(queries)} judged queries over {len(projects)} repositories, nDCG@10, each rule taken away"
    categories = [name for name in values if name != "all"]
    return [Table(heading, [("taken away", "all", *categories, "difference"), *rows])]


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
