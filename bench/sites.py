"""`python -m bench.sites CORPORA`: measure the server of a site of 10,000 pages, and Fuse.js in the same run."""

import argparse
import json
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import corpora, fuse, meter, program
from bench.report import Row, Table
from dowse.errors import DowseError
from dowse.searching.query_terms import parse_search_query
from dowse.sites.building.builder import BuildSettings, build
from dowse.sites.site import load_site
from mcp import Client

MARKER = "bench sites"
PAGES = 10_000
PAGES_ASKED = 150
"""Number of pages; four queries are made from each."""
FUSE_QUERIES = 4
"""One of each kind, since Fuse.js takes most of a minute for each."""
STARTS = 3
KINDS = ("title", "typo", "swapped", "body")


@dataclass(frozen=True, slots=True)
class Query:
    """A query, and the URL of the relevant page."""

    kind: str
    text: str
    url: str


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.sites", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders hold Markdown")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="a folder with sites/, for its queries")
    parser.add_argument("--pages", type=int, default=PAGES, help=f"pages of the index (default: {PAGES:,})")
    parser.add_argument("--asked", type=int, default=PAGES_ASKED, help=f"pages asked for (default: {PAGES_ASKED})")
    parser.add_argument(
        "--fuse", type=int, default=FUSE_QUERIES, help=f"questions to Fuse.js (default: {FUSE_QUERIES})"
    )
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "home")
    index = _index(options.corpora, options.pages, work)
    pages = json.loads(index.read_bytes())["pages"]
    queries = _queries(pages, options.asked)
    _log(f"{len(pages):,} pages, {index.stat().st_size / 1e6:.0f} MB; {len(queries)} queries")
    ours = anyio.run(_measure_server, index, queries)
    chosen = [query for kind in KINDS for query in [one for one in queries if one.kind == kind][: options.fuse // 4]]
    theirs = fuse.ask(index, [query.text for query in chosen]) if chosen else None
    if theirs is None:
        _log(fuse.MISSING)
    tables = [_process_table(index, len(pages), ours, theirs), _quality_table(queries, ours, chosen, theirs)]
    return [*tables, *_eval_table(options.eval)]


def _index(folder: Path, count: int, work: Path) -> Path:
    """Make an index of random Markdown pages of the corpora; without corpora, of the installed packages."""
    roots = [path for path in sorted(folder.iterdir()) if path.is_dir()] if folder.is_dir() else []
    if not roots:
        _log(corpora.MISSING.format(folder=folder))
        roots = [corpora.installed_packages(work / "origin")]
    pages: list[dict[str, Any]] = []
    for root in roots:
        try:
            built = build(root, BuildSettings(name="Bench", domain="bench.example", future=True))
        except DowseError as error:  # a corpus may have no Markdown
            _log(str(error))
            continue
        _log(f"{root.name}: {built.pages:,} pages")
        pages += [{**one, "url": f"/{root.name}{one['url']}"} for one in json.loads(built.data)["pages"]]
    random.Random(1).shuffle(pages)  # noqa: S311 - a sample, no secret
    pages = pages[:count]
    site = {"name": "Bench", "domain": "bench.example", "toolPrefix": "bench"}
    whole = {
        "version": "3.0",
        "generated": "2025-01-01T00:00:00Z",
        "site": site,
        "pageCount": len(pages),
        "pages": pages,
    }
    file = work / "search-index.json"
    file.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    return file


def _queries(pages: list[dict[str, Any]], count: int) -> list[Query]:
    """Return queries from pages with a unique title: the title, with one letter missing, reversed, and words of the body."""
    chance = random.Random(5)  # noqa: S311 - a sample, no secret
    titles = Counter(one["title"].lower() for one in pages)
    unique = [one for one in pages if titles[one["title"].lower()] == 1 and len(max(one["title"].split(), key=len)) > 4]
    found = []
    for one in chance.sample(unique, min(count, len(unique))):
        title, url = one["title"], one["url"]
        longest = max(title.split(), key=len)
        at = chance.randrange(1, len(longest) - 1)
        found += [
            Query("title", title, url),
            Query("typo", title.replace(longest, longest[:at] + longest[at + 1 :]), url),
        ]
        if len(title.split()) > 1:
            found.append(Query("swapped", " ".join(reversed(title.split())), url))
        words = re.findall(r"[A-Za-z]{4,}", one.get("body", ""))
        if len(words) > 30:
            start = chance.randrange(len(words) - 5)
            found.append(Query("body", " ".join(words[start : start + 5]), url))
    return found


@dataclass(frozen=True, slots=True)
class Served:
    """The figures of one server."""

    ready_seconds: float
    ready_processor_seconds: float
    load_seconds: float
    load_processor_seconds: float
    peak_bytes: int
    after_bytes: int
    inside_ms: list[float]
    through_ms: list[float]
    urls: list[list[str]]


async def _measure_server(index: Path, queries: list[Query]) -> Served:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "site", "serve", str(index)],
        env={"DOWSE_HOME": os.environ["DOWSE_HOME"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )
    starts = [await _time_start(server, queries[0].text) for _ in range(STARTS)]
    ready, busy = (statistics.median(column) for column in zip(*starts, strict=True))
    _log(f"ready after {ready:.2f} s, {busy:.2f} s of a processor")
    async with Client(server) as client:
        pid = meter.server_process()
        with meter.Sampler(pid) as sampler:
            await _ask(client, queries[0].text)
            for query in queries[: len(queries) // 4]:
                await _ask(client, query.text)
            replies, through = [], []
            for query in queries:
                began = time.perf_counter()
                replies.append(await _ask(client, query.text))
                through.append((time.perf_counter() - began) * 1000)
            after, _ = meter.memory(pid)
    data = index.read_bytes()
    began, used = time.perf_counter(), time.process_time()
    load_site(data)
    loading, loading_used = time.perf_counter() - began, time.process_time() - used
    inside = [float(reply["searchTimeMs"]) for reply in replies]
    urls = [[one["path"] for one in reply["results"]] for reply in replies]
    return Served(
        ready, busy, loading, loading_used, max(sampler.own_bytes, after), after, sorted(inside), sorted(through), urls
    )


async def _time_start(server: StdioServerParameters, query: str) -> tuple[float, float]:
    """Return the seconds from the start of the process to the first reply, and its processor time until then."""
    began = time.perf_counter()
    async with Client(server) as client:
        await _ask(client, query)
        return time.perf_counter() - began, _processor_seconds(meter.server_process())


def _processor_seconds(pid: int) -> float:
    """Return the processor time of a process; 0 if the system does not report it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _ask(client: Client, query: str) -> dict[str, Any]:
    result = await client.call_tool("search_bench", {"query": query})
    if result.is_error:
        raise RuntimeError(f"the search failed: {result.structured_content}")
    return dict(result.structured_content or {})


def _process_table(index: Path, pages: int, ours: Served, theirs: fuse.FuseAnswers | None) -> Table:
    size = index.stat().st_size
    allowed = 3 * size + 100_000_000
    their_times = sorted(theirs.times) if theirs else []
    rows: list[Row] = [
        ("", "dowse", "Fuse.js", "to reach"),
        ("start until the first search is answered", f"{ours.ready_seconds:.2f} s", "", "≤ 3 s"),
        ("the same, processor time", f"{ours.ready_processor_seconds:.2f} s", "", ""),
        ("index read, checked and taken apart", f"{ours.load_seconds:.2f} s", _seconds(theirs), ""),
        ("the same, processor time", f"{ours.load_processor_seconds:.2f} s", "", ""),
        ("search in the server, median", _ms(ours.inside_ms, 0.5), _ms(their_times, 0.5), "≤ 25 ms"),
        ("search in the server, 99th percentile", _ms(ours.inside_ms, 0.99), "", "≤ 100 ms"),
        ("search in the server, slowest", _ms(ours.inside_ms, 1), _ms(their_times, 1), ""),
        ("search through stdio, median", _ms(ours.through_ms, 0.5), "", ""),
        ("search through stdio, 99th percentile", _ms(ours.through_ms, 0.99), "", ""),
        (
            "peak memory",
            _megabytes(ours.peak_bytes),
            _megabytes(theirs.bytes if theirs else 0),
            f"≤ {allowed / 1e6:.0f} MB",
        ),
        ("memory after all searches", _megabytes(ours.after_bytes), "", f"≤ {allowed / 1e6:.0f} MB"),
    ]
    asked = f"{len(ours.inside_ms)} questions" + (f", {len(their_times)} to Fuse.js" if theirs else "")
    return Table(f"A site of {pages:,} pages, {size / 1e6:.0f} MB, {asked}", rows)


def _quality_table(queries: list[Query], ours: Served, chosen: list[Query], theirs: fuse.FuseAnswers | None) -> Table:
    rows: list[Row] = [("question", "asked", "first", "in ten", "Fuse.js asked", "Fuse.js first", "Fuse.js in ten")]
    for kind in KINDS:
        mine = _position_cells(
            [(query, urls) for query, urls in zip(queries, ours.urls, strict=True) if query.kind == kind]
        )
        fused = list(zip(chosen, theirs.urls, strict=True)) if theirs else []
        their = _position_cells([(query, urls) for query, urls in fused if query.kind == kind])
        rows.append((kind, *mine, *(their if theirs else ("", "", ""))))
    return Table("Where the page is that was meant", rows)


def _eval_table(folder: Path | None) -> list[Table]:
    """Compare the answers on the real sites of the evaluation with those of Fuse.js."""
    rows: list[Row] = [
        ("site and question", "asked", "first", "in ten", "Fuse.js first", "Fuse.js in ten", "lost to Fuse.js")
    ]
    for file in sorted((folder / "sites").glob("*.fuse.json")) if folder else ():
        site = load_site(file.with_name(file.name.replace(".fuse.", ".index.")).read_bytes())
        asked = json.loads(file.read_text(encoding="utf-8"))
        for kind in dict.fromkeys(one["kind"] for one in asked):
            same = [one for one in asked if one["kind"] == kind]
            ours, theirs, lost = [], [], 0
            for one in same:
                found = [site.page(hit.page).url for hit in site.search(parse_search_query(one["q"]), 10).hits]
                fused = [url for url, _ in one["hits"]]
                query = Query(kind, one["q"], one["want"])
                ours.append((query, found))
                theirs.append((query, fused))
                lost += one["want"] in fused and one["want"] not in found
            rows.append(
                (
                    f"{file.name.partition('.')[0]}, {kind}",
                    *_position_cells(ours),
                    *_position_cells(theirs)[1:],
                    str(lost),
                )
            )
    return [Table("Real sites", rows)] if len(rows) > 1 else []


def _position_cells(answers: list[tuple[Query, list[str]]]) -> tuple[str, str, str]:
    first = sum(urls[:1] == [query.url] for query, urls in answers)
    in_ten = sum(query.url in urls[:10] for query, urls in answers)
    return str(len(answers)), _share(first, len(answers)), _share(in_ten, len(answers))


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _ms(times: list[float], share: float) -> str:
    if not times:
        return ""
    value = times[min(len(times) - 1, int(len(times) * share))]
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.1f} ms"


def _seconds(theirs: fuse.FuseAnswers | None) -> str:
    return f"{theirs.ready_seconds:.2f} s" if theirs else ""


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size else ""


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
