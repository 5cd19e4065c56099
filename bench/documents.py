"""`python -m bench.documents CORPORA`: measure indexing, serving and searching of a folder of documents."""

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import corpora, meter, program
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from dowse.reading.link_resolution import Broken, Internal, find_site_prefixes, resolve_link
from dowse.reading.link_targets import LinkTarget, LinkTargets
from dowse.settings import Settings
from dowse.sources.document_files import DocumentFiles
from dowse.types import Entry, StoredDocument, View
from mcp import Client

MARKER = "bench documents"
QUERIES = 300
"""Number of queries, each asked twice; half are titles, half are words of a description."""
ROUNDS = 3
PAGES = 20


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.documents", description=__doc__)
    parser.add_argument(
        "corpora", type=Path, metavar="CORPORA", help="a folder of corpora; the one with most documents is measured"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"full indexes to measure (default: {ROUNDS})")
    parser.add_argument("--queries", type=int, default=QUERIES, help=f"queries (default: {QUERIES})")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    roots = corpora.find(options.corpora) or [corpora.installed_packages(work / "origin")]
    root = max(roots, key=_count)
    folder = work / "documents" / root.name
    shutil.copytree(root, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return [_measure(folder, work, options)]


def _count(root: Path) -> int:
    return sum(isinstance(one, Entry) for one in DocumentFiles(root, Settings()).entries())


def _measure(folder: Path, work: Path, options: argparse.Namespace) -> Table:
    runs = [_full_index(folder, work / f"home-{number}") for number in range(options.rounds)]
    os.environ["DOWSE_HOME"] = str(work / f"home-{options.rounds - 1}")
    project = ProjectIndex(folder, View.DOCUMENTS)
    documents = list(project.store.documents())
    links = _links(project, documents)
    project.close()
    served = anyio.run(_measure_server, folder, _questions(documents, options.queries))
    seconds, cpu = (
        statistics.median(run) for run in zip(*((r.seconds, r.cpu_seconds or 0) for r in runs), strict=True)
    )
    rows: list[Row] = [
        ("", "measured", "to reach"),
        ("documents", f"{len(documents):,}", ""),
        (f"full index, files/s, median of {len(runs)}", f"{len(documents) / seconds:,.0f}", "≥ 300"),
        ("the same by processor time", f"{len(documents) / cpu:,.0f}" if cpu else "not measured", ""),
        ("peak memory while indexing, not file-backed", _megabytes(max(r.own_bytes or 0 for r in runs)), ""),
        *served.rows(),
        ("links between documents", f"{links[Internal] + links[Broken]:,}", ""),
        ("of them lead to a document", f"{links[Internal] / max(1, links[Internal] + links[Broken]):.1%}", ""),
    ]
    return Table(f"{folder.name} as a folder of documents", rows)


def _full_index(folder: Path, home: Path) -> meter.Run:
    """Run a search in a new process with an empty storage root, which indexes everything first."""
    command = [sys.executable, "-m", "dowse", "docs", "search", "the", str(folder), "--limit", "1", "--json"]
    run = meter.measure_command(command, {**os.environ, "DOWSE_HOME": str(home)})
    _log(f"indexed in {run.seconds:.1f} s, {run.cpu_seconds or 0:.1f} s of the processor")
    return run


def _links(project: ProjectIndex, documents: list[StoredDocument]) -> "Counter[type]":
    paths = {one.id: one.path for one in documents}
    pages = LinkTargets(LinkTarget(one.path, one.title) for one in documents)
    pages = pages.with_prefixes(
        find_site_prefixes(((paths[one], target) for one, _, target in project.store.catalog.link_targets()), pages)
    )
    return Counter(
        type(resolve_link(target, paths[one], pages)) for one, _, target in project.store.catalog.link_targets()
    )


def _questions(documents: list[StoredDocument], count: int) -> list[str]:
    """Return titles, and five words in the middle of descriptions, of documents evenly drawn from the folder."""
    chosen = [documents[at * len(documents) // count] for at in range(min(count, len(documents)))]
    questions = []
    for number, document in enumerate(chosen):
        words = document.description.split()
        middle = max(0, len(words) // 2 - 2)
        questions.append(" ".join(words[middle : middle + 5]) if number % 2 and len(words) > 4 else document.title)
    return questions


# The server


@dataclass(slots=True)
class Served:
    """The times in milliseconds and the memory in bytes of one server."""

    first_page: float = 0.0
    settled: float = 0.0
    pages: tuple[float, ...] = ()
    searches: tuple[tuple[float, float], ...] = ()
    """Times through stdio and in the server, of queries that are asked for the first time."""
    again: tuple[tuple[float, float], ...] = ()
    found_first: float = 0.0
    changed: float = 0.0
    links: tuple[float, float, float] = (0.0, 0.0, 0.0)
    memory: tuple[int, int] = (0, 0)

    def rows(self) -> list[Row]:
        """Return the rows of the table."""
        titles = f"{self.found_first:.0%}"
        return [
            ("first page of the list, right after the start", f"{self.first_page:.0f} ms", "≤ 100 ms"),
            ("until a first look at all files has ended", f"{self.settled / 1000:.1f} s", ""),
            ("a page of the list, median", f"{statistics.median(self.pages):.0f} ms", "≤ 100 ms"),
            *_search_rows("search, asked for the first time", self.searches, ""),
            *_search_rows("search, asked again", self.again, "≤ 15 ms"),
            ("titles that are found first, or with an equal before them", titles, ""),
            ("from a changed file to the search that finds it", f"{self.changed:.0f} ms", ""),
            ("find_links in, first", f"{self.links[0]:.0f} ms", ""),
            ("find_links in, again", f"{self.links[1]:.0f} ms", ""),
            ("find_links broken, of all documents", f"{self.links[2]:.0f} ms", ""),
            ("memory after all searches, not file-backed", _megabytes(self.memory[0]), "≤ 150 MB"),
            ("memory after all links, too", _megabytes(self.memory[1]), ""),
        ]


def _search_rows(what: str, times: tuple[tuple[float, float], ...], goal: str) -> list[Row]:
    through, inside = (sorted(one) for one in zip(*times, strict=True))
    worst = int(len(inside) * 0.99)
    return [
        (f"{what}: in the server, median", f"{statistics.median(inside):.1f} ms", goal),
        (f"{what}: through stdio, median", f"{statistics.median(through):.1f} ms", ""),
        (f"{what}: through stdio, 99th percentile", f"{through[worst]:.1f} ms", ""),
    ]


async def _measure_server(folder: Path, questions: list[str]) -> Served:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "docs", str(folder), "--tools", "full"],
        env=dict(os.environ),
    )
    served = Served()
    async with Client(server, read_timeout_seconds=600) as client:
        served.first_page, listed = await _time(client.list_resources(cache_mode="bypass"))
        served.settled = await _wait_until_complete(client)
        served.pages = tuple([(await _time(client.list_resources(cache_mode="bypass")))[0] for _ in range(PAGES)])
        served.searches, served.found_first = await _time_searches(client, questions)
        served.again, _ = await _time_searches(client, questions)
        process = meter.server_process()
        after, _ = meter.memory(process)
        served.changed = await _time_change(client, folder)
        uri = str(listed.resources[0].uri)
        first, _ = await _time(client.call_tool("find_links", {"uri": uri, "direction": "in"}))
        again, _ = await _time(client.call_tool("find_links", {"uri": uri, "direction": "in"}))
        broken, _ = await _time(client.call_tool("find_links", {"direction": "broken"}))
        served.links, served.memory = (first, again, broken), (after, meter.memory(process)[0])
    return served


async def _time_searches(client: Client, questions: list[str]) -> tuple[tuple[tuple[float, float], ...], float]:
    times, hits = [], []
    for number, question in enumerate(questions):
        took, result = await _time(client.call_tool("search_documents", {"query": question}))
        content = dict(result.structured_content or {})
        times.append((took, float(content["searchTimeMs"])))
        if not number % 2:  # a title
            best = content["results"][0]["title"] if content["results"] else ""
            hits.append(best.casefold() == " ".join(question.split()).casefold())
    _log(f"searches: {statistics.median(time for time, _ in times):.1f} ms through stdio")
    return tuple(times), sum(hits) / max(1, len(hits))


async def _wait_until_complete(client: Client) -> float:
    """Search until the server reports complete coverage; before that, every reply waits a moment for it."""
    began = time.perf_counter()
    while True:
        result = await client.call_tool("search_documents", {"query": "anything"})
        if dict(result.structured_content or {})["coverage"]["complete"]:
            return (time.perf_counter() - began) * 1000


async def _time_change(client: Client, folder: Path) -> float:
    """Write a new document and search for it at once."""
    word = "zyzzogeton"
    (folder / "changed.md").write_text(f"# A change\n\n{word}\n", encoding="utf-8")
    began = time.perf_counter()
    while time.perf_counter() < began + 60:
        result = await client.call_tool("search_documents", {"query": word})
        if json.dumps(result.structured_content).count("docs://changed.md"):
            return (time.perf_counter() - began) * 1000
    raise RuntimeError("a changed document was not found")


async def _time(work: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    got = await work
    return (time.perf_counter() - began) * 1000, got


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size else "not measured"


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
