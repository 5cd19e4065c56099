"""`python -m bench.judged --eval EVAL`: measure search quality on all judged queries, in one table.

A set whose data is missing is left out, and named. Indexes, vectors and figures are kept in the home: a run of one set prints
the figures of the others as they were measured before.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import federation, languages, program, quality, semble
from bench.meter import CommandFailed
from bench.report import Row, Table
from dowse.encoding.selection import MINILM_VERSION, STATIC_VERSION, open_minilm, static_encoder
from dowse.indexes.encoding_progress import read_encoding_progress
from dowse.indexes.index import ProjectIndex
from dowse.indexes.query_vectors import plain_text
from dowse.keeping.encoding_worker.background_encoder import encode_now
from dowse.searching.candidates import QueryVector
from dowse.searching.query_terms import parse_search_query
from dowse.sites.site import load_site

MARKER = "bench judged"
HOME = Path(__file__).parents[1] / ".bench" / "judged"
METHODS: Mapping[str, Sequence[str]] = {"words": (), "table": (STATIC_VERSION,), "model": (MINILM_VERSION,)}
DRAWS = 1000
"""Samples of the queries from which an interval is made."""
FIRST_FILES = 5
"""A changed file of an issue counts if it is among so many."""
SEMBLE_CHUNKS = 50
"""Chunks that semble is asked for, to find ten files."""

SEMBLE_SETS = ("code-search", "cosqa-dev")
SITES, FEDERATED = "sites, the page in the first ten", "federated, five kinds of sources"
ROWS = ("code-search", "issues", "scifact", "cisi", "cosqa-dev", SITES, FEDERATED)
HEADING = (
    f"nDCG@10 with 95 % intervals (issues: changed file in the first {FIRST_FILES}); semble has our table as its model"
)

Values = Mapping[str, Sequence[float]]
"""The values of the queries of each corpus."""


class JudgedSet(NamedTuple):
    """Queries, the folder of their corpora, and how an answer is valued."""

    name: str
    queries: list[quality.Judged]
    folder: Path
    value: Callable[[list[str], Mapping[str, int]], float] = quality.ndcg


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.judged", description=__doc__)
    parser.add_argument("--eval", type=Path, metavar="EVAL", required=True, help="code-search/, issues/, scifact/, ...")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="the corpora of code-search, laid out")
    parser.add_argument("--checkouts", type=Path, metavar="DIR", help="a folder for each issue, named by its id")
    parser.add_argument(
        "--peps", type=Path, metavar="DIR", help="a clone of python/peps, the archive of federated search"
    )
    parser.add_argument("--home", type=Path, default=HOME, help="the folder of the indexes, which later runs reuse")
    parser.add_argument(
        "--only", action="append", default=[], metavar="SET", help="one of the sets, as the table names it"
    )
    parser.add_argument(
        "--model",
        action="store_true",
        help="encode every chunk with the model first (hours), for this run and later ones",
    )
    parser.add_argument("--no-ablations", action="store_true", help="do not take away each rule in turn")
    parser.add_argument("--semble", type=Path, metavar="DIR", help="install semble there and ask it the same")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, _work: Path) -> list[Table]:
    home = options.home.resolve()
    os.environ["DOWSE_HOME"] = str(home / "index")
    kept = KeptFigures(home / "figures.json")
    for judged in judged_sets(options):
        projects = {name: open_corpus(judged.folder / name, has_model=options.model) for name in corpora_of(judged)}
        stores = {name: project.store for name, project in projects.items()}
        is_encoded = all(project_is_encoded(project) for project in projects.values())
        for method, encoders in METHODS.items():
            if method != "model" or is_encoded:
                kept.add_cell(judged.name, len(judged.queries), method, _values(judged, stores, encoders))
        if options.semble and judged.name in SEMBLE_SETS and (values := _semble_values(judged, options)):
            kept.add_cell(judged.name, len(judged.queries), "semble", values)
        if judged.name == "code-search" and not options.no_ablations:
            kept.add_table(_ablations(judged, stores))
        for project in projects.values():
            project.close()
    if sites := _sites(options):
        kept.add_cell(SITES, len(sites), "words", {"": sites})
    if federated := _federated(options):
        kept.add_cell(FEDERATED, sum(map(len, federated.values())), "table", federated)
    if not options.only or "languages" in options.only:
        kept.add_table(languages.table(home / "languages"))
    return kept.tables()


class KeptFigures:
    """The figures of this run and of earlier ones, so that a long set can be measured by itself."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add_cell(self, name: str, count: int, column: str, values: Values) -> None:
        """Replace the figure of a set by one search method."""
        kept, cell = self._read(), _cell(values)
        row = kept["rows"].setdefault(name, {})
        row |= {"queries": str(count), column: cell, "measured": f"{datetime.now(UTC):%Y-%m-%d}"}
        _log(f"{name}, {column}: {cell}")
        self._write(kept)

    def add_table(self, table: Table) -> None:
        """Replace a table."""
        kept = self._read()
        kept["tables"][table.heading] = table.rows
        self._write(kept)

    def tables(self) -> list[Table]:
        """Return one table of all sets, and the others."""
        kept, columns = self._read(), ("queries", *METHODS, "semble", "measured")
        measured = [(name, kept["rows"][name]) for name in ROWS if name in kept["rows"]]
        rows = [(name, *(row.get(column, "–") for column in columns)) for name, row in measured]
        others = [Table(heading, [tuple(row) for row in table]) for heading, table in kept["tables"].items()]
        return [Table(HEADING, [("", *columns), *rows]), *others]

    def _read(self) -> dict[str, Any]:
        found: dict[str, Any] = {"rows": {}, "tables": {}}
        return json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else found

    def _write(self, kept: dict[str, Any]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(kept, indent=1), encoding="utf-8")


# The sets


def judged_sets(options: argparse.Namespace) -> Iterator[JudgedSet]:
    """Yield the sets that are wanted and whose data is there."""
    folder, corpora = options.eval, options.home.resolve() / "corpora"
    code, checkouts = options.code_search, options.checkouts
    made: dict[str, tuple[Path | None, Callable[[], JudgedSet]]] = {
        "code-search": (code, lambda: JudgedSet("code-search", quality.code_search(folder / "code-search"), code)),
        "issues": (checkouts, lambda: _issues(folder / "issues" / "swe-bench-lite.jsonl", checkouts)),
        "scifact": (folder, lambda: JudgedSet("scifact", quality.abstracts(folder / "scifact", corpora), corpora)),
        "cisi": (folder, lambda: JudgedSet("cisi", quality.abstracts(folder / "cisi", corpora), corpora)),
        "cosqa-dev": (folder, lambda: JudgedSet("cosqa-dev", quality.cosqa(folder / "cosqa-dev", corpora), corpora)),
    }
    for name, (needed, make) in made.items():
        if options.only and name not in options.only:
            continue
        if not needed or not needed.is_dir() or not (folder / name).is_dir():
            _log(f"{name} is not measured: its queries or its files are missing (bench/NOTES.md).")
            continue
        yield make()


def _issues(file: Path, checkouts: Path) -> JudgedSet:
    issues = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    queries = [
        quality.Judged(issue["id"], issue["text"], issue["repo"], dict.fromkeys(issue["gold"], 1), "code")
        for issue in issues
        if (checkouts / issue["id"]).is_dir()
    ]
    return JudgedSet("issues", queries, checkouts, is_among_the_first)


def is_among_the_first(paths: list[str], changed: Mapping[str, int]) -> float:
    """Return 1 if all changed files are among the first ones, else 0."""
    return float(changed.keys() <= set(paths[:FIRST_FILES]))


def _sites(options: argparse.Namespace) -> list[float]:
    found = []
    for file in (
        sorted((options.eval / "sites").glob("*.fuse.json")) if not options.only or "sites" in options.only else ()
    ):
        site = load_site(file.with_name(file.name.replace(".fuse.", ".index.")).read_bytes())
        for one in json.loads(file.read_text(encoding="utf-8")):
            hits = site.search(parse_search_query(one["q"]), quality.DEPTH).hits
            found.append(float(one["want"] in [site.page(hit.page).url for hit in hits]))
    return found


def _federated(options: argparse.Namespace) -> Values:
    needed = (options.eval / "scifact", options.code_search, options.peps)
    if options.only and "federated" not in options.only:
        return {}
    if not all(folder and folder.is_dir() for folder in needed):
        _log("federated is not measured: its queries or its files are missing (bench/NOTES.md).")
        return {}
    return federation.federated_values(
        options.eval, options.code_search.resolve(), options.peps, options.home.resolve() / "federated"
    )


def corpora_of(judged: JudgedSet) -> list[str]:
    """Return the names of the corpora of a set that are laid out."""
    return [name for name in sorted({query.corpus for query in judged.queries}) if (judged.folder / name).is_dir()]


# The values


def open_corpus(root: Path, *, has_model: bool) -> ProjectIndex:
    """Return the index of a corpus, with vectors of the model for every chunk if they are wanted."""
    project = quality.open_index(root)
    if has_model:
        encode_now(project, lambda _done, _total: None, _log)
        project.store.refresh()
    return project


def project_is_encoded(project: ProjectIndex) -> bool:
    """Return whether every chunk has a vector of the model."""
    return read_encoding_progress(project.whole, project.settings).state == "complete"


def _values(judged: JudgedSet, stores: Mapping[str, Any], encoders: Sequence[str]) -> Values:
    values: dict[str, list[float]] = {}
    for query in judged.queries:
        if query.corpus in stores:
            vectors = [query_vector(encoder, query.text) for encoder in encoders]
            paths = quality.ranked_paths(stores[query.corpus], query.text, vectors, query.kind)
            group = query.category if judged.name == "issues" else query.corpus
            values.setdefault(group, []).append(judged.value(paths, query.answers))
    return values


@cache
def query_vector(encoder: str, text: str) -> QueryVector:
    """Return the vector of a query."""
    is_model = encoder == MINILM_VERSION
    vector = (_minilm() if is_model else static_encoder()).encode_query(plain_text(parse_search_query(text)))
    return QueryVector(encoder, vector, 1.0, is_model=is_model)


_minilm = cache(open_minilm)


def _cell(values: Values) -> str:
    """Return the mean over the corpora of their means, and the interval that 95 % of the samples are in."""
    groups, chance = [np.array(group) for group in values.values()], np.random.default_rng(1)
    if not groups:
        return "–"
    means = [
        np.mean([chance.choice(group, len(group)).mean() for group in groups]) for _ in range(DRAWS)
    ]  # fmt: skip
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{np.mean([group.mean() for group in groups]):.4f} ({low:.3f} to {high:.3f})"


def _ablations(judged: JudgedSet, stores: Mapping[str, Any]) -> Table:
    queries = [query for query in judged.queries if query.corpus in stores]
    rows: list[Row] = []
    base = 0.0
    for rule, constants in quality.ablations().items():
        with quality.patch_constants(constants):
            values = quality.score(queries, stores)
        base = base or values["all"]
        rows.append((rule, *(f"{value:.4f}" for value in values.values()), f"{values['all'] - base:+.4f}"))
    categories = [name for name in values if name != "all"]
    return Table(
        "code-search by words, each rule taken away", [("taken away", "all", *categories, "difference"), *rows]
    )


# semble


def _semble_values(judged: JudgedSet, options: argparse.Namespace) -> Values:
    try:
        ask = partial(_ask_semble, *semble.prepare_with_table(options.semble), options.home.resolve() / "semble")
    except (CommandFailed, OSError) as error:
        _log(f"semble cannot be installed, so it is not measured: {error}")
        return {}
    values: dict[str, list[float]] = {}
    for corpus in corpora_of(judged):
        queries = [query for query in judged.queries if query.corpus == corpus]
        for query, chunks in zip(queries, ask(judged.folder / corpus, [one.text for one in queries]), strict=True):
            paths = list(dict.fromkeys(chunk["path"] for chunk in chunks))[: quality.DEPTH]
            values.setdefault(corpus, []).append(judged.value(paths, query.answers))
    return values


def _ask_semble(python: Path, model: Path, home: Path, root: Path, texts: list[str]) -> list[list[dict[str, Any]]]:
    environment = {
        **os.environ,
        "SEMBLE_CACHE_LOCATION": str(home / "cache"),
        "SEMBLE_GRAMMARS_CACHE_DIR": str(home / "grammars"),
        "SEMBLE_MODEL_NAME": str(model.resolve()),
        "HF_HUB_OFFLINE": "1",
    }
    request = json.dumps({"root": str(root), "queries": texts, "top_k": SEMBLE_CHUNKS})
    command = [str(python), str(Path(__file__).with_name("inside") / "search_with_semble.py")]
    done = subprocess.run(command, input=request, env=environment, capture_output=True, text=True, check=True)
    answer: list[list[dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
