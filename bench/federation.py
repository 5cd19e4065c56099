"""`python -m bench.federation`: measure the ranking and the speed of federated search, and the size of all tool schemas."""

import argparse
import json
import math
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import anyio

from bench import corpora, mixed, program
from bench.mixed import Judged, Mixed
from bench.report import Row, Table
from bench.rules import RULES, current_rule
from dowse.archives.archive_database import create_database
from dowse.archives.archive_locations import ArchiveLocations, find_locations
from dowse.archives.archive_update import index_archives
from dowse.cli.composition import ComposedServer, Offer
from dowse.federation.federated_search import search_all
from dowse.federation.federation_types import SOURCE_KINDS, Item, SourceQuery
from dowse.indexes.index import ProjectIndex
from dowse.keeping.served_index import Service
from dowse.mcp.replies import CHARACTERS_PER_TOKEN
from dowse.mcp.resources import Announcer
from dowse.mcp.tools import Call, Level
from dowse.notes.notes_documents import make_note
from dowse.searching.query_terms import parse_search_query
from dowse.surfaces.documents.document_folders import DocumentFolders
from dowse.surfaces.sites.sites_surface import open_sites
from dowse.types import View
from mcp import Client

Measured = TypeVar("Measured")

MARKER = "bench federation"
PEPS, DOCUMENTS = "python+peps", "mdn+content"
ALL_FILES = 1_000_000
LIMIT = 10
SEARCHES = 200
WARM_SECONDS = 20.0
"""How long to warm up: after its start, a server compares all files with its indexes, which slows searches."""
FIRST_SECONDS = 10.0
"""When the first search is timed: after its start, a server prepares its sources."""
GOALS: dict[Level, int] = {"minimal": 600, "standard": 4_000, "full": 12_000}
"""Maximum number of tokens of the schemas of all tools."""


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.federation", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help=f"a folder with {PEPS}, {DOCUMENTS} and code")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="a folder with code-search/, scifact/ and sites/")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="the corpora of code-search, laid out")
    parser.add_argument("--searches", type=int, default=SEARCHES, help=f"timed queries (default: {SEARCHES})")
    parser.add_argument("--home", type=Path, metavar="DIR", help="keep indexes here, for the next run")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    home = options.home.resolve() if options.home else work
    os.environ["DOWSE_HOME"] = str(home / "index")
    tables = [anyio.run(_schemas, work)]
    needed = [options.eval, options.code_search, options.corpora / PEPS]
    if not all(folder and folder.is_dir() for folder in needed):
        print(f"Fairness needs --eval, --code-search and {PEPS} in {options.corpora}.", file=sys.stderr)
        return tables
    code = options.code_search.resolve()
    judged = mixed.lay_out(options.eval, code, options.corpora / PEPS, home / "mixed")
    places = _index_archive(judged, home)
    tables.append(
        _measure_server(judged.roots, [judged.documents], judged, places, lambda made: _fairness(made, judged))
    )
    documents = (options.corpora / DOCUMENTS).resolve()
    if not documents.is_dir():
        print(f"Speed needs {DOCUMENTS} in {options.corpora}.", file=sys.stderr)
        return tables
    project = _large_project(options.corpora, code, home / "code")
    speed: Callable[[ComposedServer], Awaitable[Table]] = lambda made: _speed(made, judged, options.searches)  # noqa: E731
    return [*tables, _measure_server([project], [documents], judged, places, speed)]


def federated_values(evaluation: Path, code: Path, peps: Path, home: Path) -> dict[str, list[float]]:
    """Return nDCG@10 of each query to all sources together, by the kind of source that has the answer."""
    judged = mixed.lay_out(evaluation, code, peps, home / "mixed")
    places = _index_archive(judged, home)

    async def measure(made: ComposedServer) -> dict[str, list[float]]:
        values: dict[str, list[float]] = {}
        for query in judged.queries:
            order = current_rule(query.text, await _answers(made, query.text))
            values.setdefault(query.kind, []).append(_ndcg(order, query))
        return values

    return _measure_server(judged.roots, [judged.documents], judged, places, measure)


def _large_project(folder: Path, code: Path, into: Path) -> Path:
    """Copy all code into one project, which later runs reuse."""
    if not into.is_dir():
        roots = [root for root in corpora.find(folder) if root.name not in (PEPS, DOCUMENTS)]
        corpora.sample([*roots, *corpora.find(code)], ALL_FILES, into)
    return into


# The server


def _index_archive(judged: Mixed, home: Path) -> ArchiveLocations:
    places = find_locations(judged.archive, home / "none", home / "archive.db")
    database = create_database(places.database)
    index_archives(database, places)
    database.close()
    return places


def _measure_server(
    roots: Sequence[Path],
    documents: Sequence[Path],
    judged: Mixed,
    places: ArchiveLocations,
    measure: Callable[[ComposedServer], Awaitable[Measured]],
) -> Measured:
    """Measure a server of some roots and folders of documents, with sites, an archive and notes."""
    for root in roots:
        _index(root, View.PROJECT)
    for folder in documents:
        _index(folder, View.DOCUMENTS)
    # With one root speed is measured: one site is enough for five sources.
    sites = judged.sites if len(roots) > 1 else judged.sites[:1]
    sites_surface = open_sites([f"{mixed.site_name(file)}={file}" for file in sites])
    made = ComposedServer(
        Service(list(roots)),
        roots[0],
        Offer(),
        sites_surface,
        locations=places,
    )
    made.source_list.folders = DocumentFolders(Service(list(documents)), roots[0], Announcer())

    async def run() -> Measured:
        notes = [make_note(one["doc_id"], one["content"], one["metadata"]) for one in judged.notes]
        if surface := made.source_list.notes:
            await surface.use("default", lambda index, _: index.add(notes))
        return await measure(made)

    try:
        return anyio.run(run)
    finally:
        made.close()


def _index(root: Path, view: View) -> None:
    project = ProjectIndex(root, view)
    project.update()
    project.close()


# Fairness


async def _fairness(made: ComposedServer, judged: Mixed) -> Table:
    answers = [(query, await _answers(made, query.text)) for query in judged.queries]
    alone = _by_kind(
        [(query, max((_ndcg(items, query) for items in found.values()), default=0.0)) for query, found in answers]
    )
    rows: list[Row] = [("rule", "all", *SOURCE_KINDS, "first half", "second half", "share of the first ten")]
    rows.append(("the source that has the answer, asked alone", *_figures(alone), "", "", ""))
    for name, rule in RULES.items():
        orders = [(query, rule(query.text, found)) for query, found in answers]
        scored = [(query, _ndcg(order, query)) for query, order in orders]
        halves = [f"{_mean(_by_kind(scored[start::2])):.3f}" for start in (0, 1)]
        rows.append((name, *_figures(_by_kind(scored)), *halves, _shares([order for _, order in orders])))
    sources = len(answers[0][1])
    return Table(
        f"One order over {sources} sources: nDCG@10 of {len(answers)} queries by the kind that has the answer", rows
    )


async def _answers(made: ComposedServer, text: str) -> dict[str, Sequence[Item]]:
    outcome = await search_all(made.source_list, Call(), SourceQuery(parse_search_query(text), LIMIT))
    if outcome.problems:
        print(text, dict(outcome.problems), file=sys.stderr)
    return {name: found.items for name, found in outcome.answers.items()}


def _ndcg(items: Sequence[Item], query: Judged) -> float:
    gains = [query.gains.get(_judged_id(item), 0.0) for item in items[:LIMIT]]
    ideal = sorted(query.gains.values(), reverse=True)[:LIMIT]
    return _discounted_gain(gains) / _discounted_gain(ideal)


def _judged_id(item: Item) -> str:
    """Return the id of an item; for an archived document its file name, which its id does not contain."""
    return str(item.more["path"]).rpartition("/")[2] if item.source == "archive" else item.id


def _discounted_gain(gains: Sequence[float]) -> float:
    return sum((2**gain - 1) / math.log2(place + 2) for place, gain in enumerate(gains))


def _by_kind(scored: Sequence[tuple[Judged, float]]) -> dict[str, float]:
    each = {kind: [score for query, score in scored if query.kind == kind] for kind in SOURCE_KINDS}
    return {kind: statistics.mean(values) if values else 0.0 for kind, values in each.items()}


def _mean(by_kind: Mapping[str, float]) -> float:
    return statistics.mean(by_kind.values())


def _figures(by_kind: Mapping[str, float]) -> list[str]:
    return [f"{_mean(by_kind):.3f}", *(f"{by_kind[kind]:.3f}" for kind in SOURCE_KINDS)]


def _shares(orders: Sequence[Sequence[Item]]) -> str:
    counts = Counter(item.source.partition("/")[0] for order in orders for item in order[:LIMIT])
    total = sum(counts.values()) or 1
    return ", ".join(f"{kind} {counts[kind] * 100 // total} %" for kind in SOURCE_KINDS)


# Speed


async def _speed(made: ComposedServer, judged: Mixed, searches: int) -> Table:
    queries = [query.text for query in judged.queries]
    chosen = [queries[at * len(queries) // searches] for at in range(searches)]
    server = made.server()
    times: list[float] = []
    async with Client(server) as client:
        await anyio.sleep(FIRST_SECONDS)
        began = time.perf_counter()
        await client.call_tool("search", {"query": queries[0]})
        first = (time.perf_counter() - began) * 1000
        standing = dict((await client.call_tool("get_index_status", {})).structured_content or {})
        started = time.monotonic()
        while time.monotonic() < started + WARM_SECONDS:  # until the folders were compared with their indexes
            for text in chosen[:20]:
                await client.call_tool("search", {"query": text})
        used = time.process_time()
        for text in chosen:
            began = time.perf_counter()
            await client.call_tool("search", {"query": text})
            times.append((time.perf_counter() - began) * 1000)
        used = (time.process_time() - used) * 1000 / searches
    measured = sorted(times)
    sources = standing["sources"]
    parts = {one["name"]: one.get("chunks") or one.get("pages") or one.get("documents", 0) for one in sources}
    rows: list[Row] = [
        ("", "measured", "to reach"),
        (f"`search`, median of {searches}", f"{statistics.median(measured):.1f} ms", "≤ 40 ms"),
        (f"the first, {FIRST_SECONDS:.0f} s after the start", f"{first:.0f} ms", "≤ 150 ms"),
        ("`search`, 99th percentile", f"{measured[int(len(measured) * 0.99)]:.0f} ms", ""),
        ("the same, processor time of one, mean", f"{used:.1f} ms", ""),
        *(
            (f"chunks, pages or documents in {name.partition('/')[0]}", f"{count:,}", "")
            for name, count in parts.items()
        ),
    ]
    return Table(f"{len(parts)} sources of {sum(parts.values()):,} chunks in all, over the protocol in memory", rows)


# Schemas


async def _schemas(work: Path) -> Table:
    root = work / "schemas"
    (root / "research-archive").mkdir(parents=True)
    site = {"name": "Site", "domain": "example.com", "description": "A site", "toolPrefix": "site"}
    index = {"version": "3.0", "generated": "2025-01-01T00:00:00Z", "site": site, "pageCount": 0, "pages": []}
    (root / "index.json").write_text(json.dumps(index), encoding="utf-8")
    rows: list[Row] = [("", "tools", "tokens", "to reach")]
    for level, most in GOALS.items():
        has_all = level == "full"
        made = ComposedServer(
            Service([root]), root, Offer(level=level), open_sites([str(root / "index.json")]) if has_all else None,
            locations=find_locations(folder=root) if has_all else None,
        )  # fmt: skip
        async with Client(made.server()) as client:
            tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
        size = len(json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"))) / CHARACTERS_PER_TOKEN
        served = "all surfaces" if has_all else "one project"
        rows.append((f"`--tools {level}`, {served}", str(len(tools)), f"{size:,.0f}", f"≤ {most:,}"))
    return Table("What the tools take of an assistant's context", rows)


if __name__ == "__main__":
    sys.exit(main())
