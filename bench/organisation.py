"""`python -m bench.organisation PLACE --projects DIR`: measure a place with the projects of an organisation.

DIR has a git checkout for each project. With --rows, rows of the projects are repeated under other names until the place
has so many. What is there already is not published again, so that a place can be measured several times.
"""

import argparse
import contextlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench import meter, program, quality
from bench.report import Row, Table
from dowse.api.publishing import publish as publishing
from dowse.encoding.selection import STATIC_VERSION, static_encoder
from dowse.indexes.query_vectors import plain_text
from dowse.places.place_indexes import tend
from dowse.places.place_rows import chunk_id, number_of, project_of, project_row, quote, schema
from dowse.places.place_store import PlaceStore
from dowse.places.place_table import SharedPlace
from dowse.searching import ranking_constants
from dowse.searching.candidates import QueryVector, Scope, gather_evidence
from dowse.searching.query_terms import parse_search_query
from dowse.searching.ranking import rank_files
from dowse.searching.search import SearchOptions
from dowse.surfaces.organisation.place_search import search_place

MARKER = "an organisation"
MEASURES = ("build", "quality", "latency", "server", "requests", "publish")
WARM_SEARCHES, SEARCHES, CHANGED_FILES, SERVERS = 50, 100, 50, 4
EXPECTED_SECONDS = 300.0


def main() -> int:
    """Measure a place."""
    parser = argparse.ArgumentParser(prog="python -m bench.organisation", description=__doc__)
    parser.add_argument("place", help="a folder, or an s3:// address")
    parser.add_argument("--projects", type=Path, metavar="DIR", help="a folder of checkouts to publish")
    parser.add_argument("--rows", type=int, default=0, help="repeat rows until there are so many chunks")
    parser.add_argument("--seconds", type=float, default=EXPECTED_SECONDS, help="stop building after so long")
    parser.add_argument("--eval", type=Path, metavar="EVAL", help="code-search/ with judged questions")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="their projects, for the local index")
    parser.add_argument("--only", choices=MEASURES, action="append", help="measure this alone; may be repeated")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth judged question")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    chosen = options.only or MEASURES
    measures: Mapping[str, Callable[[argparse.Namespace, Path], list[Row]]] = {
        "build": _build, "quality": _quality, "latency": _latency, "server": _server, "requests": _requests,
        "publish": _publish,
    }  # fmt: skip
    rows: list[Row] = [("", "measured")]
    for name in chosen:
        rows += measures[name](options, work)
    with contextlib.closing(PlaceStore(SharedPlace(options.place))) as store:
        heading = f"{len(store.projects())} projects, {store.chunk_count():,} chunks, {store.size_bytes() / 1e9:.2f} GB"
    kind = urlsplit(options.place).scheme or "folder"
    return [Table(f"{kind}: {heading}", rows)]


# Building


def _build(options: argparse.Namespace, work: Path) -> list[Row]:  # noqa: ARG001 - as the others
    place, started = SharedPlace(options.place), time.monotonic()
    table = place.make_table()
    setattr(publishing, "tend", lambda _: None)  # noqa: B010 - once, at the end
    for root in sorted(options.projects.iterdir()) if options.projects else ():
        if time.monotonic() < started + options.seconds and project_of(publishing.find_facts(table, root.name)) is None:
            report = publishing.publish(root, place, lambda *_: None, print, with_model=False)
            print(root.name, report.project.chunks, f"{report.seconds:.1f} s", file=sys.stderr)
    published = time.monotonic() - started
    table.checkout_latest()
    _repeat(table, options.rows)
    repeated = time.monotonic() - started - published
    begun = time.monotonic()
    tend(table, now=True)
    return [
        ("publish the projects that were missing", f"{published:.0f} s"),
        ("repeat rows under other names", f"{repeated:.0f} s"),
        ("make the indexes", f"{time.monotonic() - begun:.0f} s"),
    ]


def _repeat(table: Any, rows: int) -> None:
    """Copy the rows of projects under other names, and the words with them, until there are enough."""
    import pyarrow as pa

    query = table.search().where("row = 'project'").select(["facts"]).limit(100_000)
    projects = [one for row in query.to_list() if (one := project_of(row["facts"]))]
    count, copies = sum(one.chunks for one in projects), 0
    originals = [one for one in projects if "~" not in one.name]
    while count < rows:
        copies += 1
        for one in originals:
            name = f"{one.name}~{copies}"
            if count >= rows or any(known.name == name for known in projects):
                continue
            condition = f"project = {quote(one.name)} AND row IN ('file', 'chunk')"
            found = table.search().where(condition).limit(10_000_000).to_arrow().select(schema().names)
            documents = {number: number_of(name, number) for number in found["document"].unique().to_pylist()}
            columns = (found[name].to_pylist() for name in ("document", "ordinal", "path"))
            rows_found = [
                (documents[document], ordinal, path) for document, ordinal, path in zip(*columns, strict=True)
            ]
            changed = {
                "id": pa.array([one if n is None else chunk_id(one, n) for one, n, _ in rows_found], pa.int64()),
                "document": pa.array([one for one, _, _ in rows_found], pa.int64()),
                "project": pa.array([name] * len(rows_found), pa.string()),
                "file": pa.array([f"{name}/{path}" if n is None else None for _, n, path in rows_found], pa.string()),
            }
            for column, values in changed.items():
                found = found.set_column(found.schema.get_field_index(column), schema().field(column), values)
            own = pa.Table.from_pylist([project_row(replace(one, name=name))], schema())
            table.add(pa.concat_tables([own, found.cast(schema())]), on_bad_vectors="null")
            count += one.chunks


# Quality


def _ranked(store: Any, text: str) -> list[str]:
    """Return the first ten paths by words and the static table."""
    query, encoder = parse_search_query(text), static_encoder()
    vector = encoder.encode([plain_text(query)])[0]
    vectors = [QueryVector(STATIC_VERSION, vector, 1.0)] if encoder.has_meaning(text) and vector.any() else []
    evidence = gather_evidence(store, query, Scope(), vectors)
    ranked = rank_files(evidence, ranking_constants.RANKED_FILES, store.paths_by_id)
    return [file.path for file in ranked[: quality.DEPTH]]


def _quality(options: argparse.Namespace, work: Path) -> list[Row]:  # noqa: ARG001
    queries = quality.code_search(options.eval / "code-search")[:: options.every]
    place = SharedPlace(options.place)
    with contextlib.closing(PlaceStore(place)) as every:
        known = set(every.names())
        queries = [one for one in queries if one.corpus in known]
        found = []
        for one in queries:
            paths = [path.partition("/") for path in _ranked(every.narrowed(), one.text)]
            is_right = any(
                project.partition("~")[0] == one.corpus and quality.ndcg([path], one.answers)
                for project, _, path in paths
            )
            found.append((one.corpus, float(is_right)))
    rows: list[Row] = [
        (f"right file in the first ten, of all projects ({len(queries)} questions)", f"{_mean(found):.3f}")
    ]
    scores: dict[str, list[tuple[str, float]]] = {"place": [], "local": []}
    for corpus in dict.fromkeys(one.corpus for one in queries):
        some = [one for one in queries if one.corpus == corpus]
        with contextlib.closing(PlaceStore(place, [corpus])) as store:
            scores["place"] += [(corpus, quality.ndcg(_ranked(store, one.text), one.answers)) for one in some]
        if options.code_search:
            index = quality.open_index(options.code_search / corpus)
            scores["local"] += [(corpus, quality.ndcg(_ranked(index.store, one.text), one.answers)) for one in some]
            index.close()
    return [
        *rows,
        *((f"nDCG@10, each project alone, {name}", f"{_mean(some):.4f}") for name, some in scores.items() if some),
    ]


def _mean(found: Sequence[tuple[str, float]]) -> float:
    corpora = dict.fromkeys(corpus for corpus, _ in found)
    return statistics.mean(statistics.mean(value for one, value in found if one == corpus) for corpus in corpora)


# Time


def _questions(options: argparse.Namespace) -> list[str]:
    texts = [one.text for one in quality.code_search(options.eval / "code-search")]
    random.Random(1).shuffle(texts)  # noqa: S311 - an order
    return texts


def _latency(options: argparse.Namespace, work: Path) -> list[Row]:  # noqa: ARG001
    texts, times = _questions(options), list[float]()
    with contextlib.closing(PlaceStore(SharedPlace(options.place))) as store:
        for text in texts[: WARM_SEARCHES + SEARCHES]:
            begun = time.perf_counter()
            search_place(store, parse_search_query(text), SearchOptions(10, "code"))
            times.append(time.perf_counter() - begun)
    return [
        ("a search in the process, the first", _ms(times[0])),
        (f"the first {WARM_SEARCHES}, p50", _ms(statistics.median(times[:WARM_SEARCHES]))),
        ("after them, p50", _ms(statistics.median(times[WARM_SEARCHES:]))),
        ("after them, p95", _ms(statistics.quantiles(times[WARM_SEARCHES:], n=20)[-1])),
    ]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


def _server(options: argparse.Namespace, work: Path) -> list[Row]:  # noqa: ARG001
    return anyio.run(_ask_server, options)


@contextlib.asynccontextmanager
async def _served(place: str) -> Any:
    arguments = ["-m", "dowse", "serve", "--store", place, "--only", "code"]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        yield client


async def _ask_server(options: argparse.Namespace) -> list[Row]:
    texts, times = _questions(options), list[float]()
    started = time.monotonic()
    async with _served(options.place) as client:
        await client.call_tool("search_code", {"query": texts[0]})
        first = time.monotonic() - started
        for text in texts[1 : WARM_SEARCHES + SEARCHES]:
            begun = time.monotonic()
            await client.call_tool("search_code", {"query": text})
            times.append(time.monotonic() - begun)
        own, resident = meter.memory(meter.server_process())
    times = times[WARM_SEARCHES:]
    return [
        ("first answer of a server, from the start of its process", f"{first:.2f} s"),
        (f"its answers after {WARM_SEARCHES}, p50", _ms(statistics.median(times))),
        (f"its answers after {WARM_SEARCHES}, p95", _ms(statistics.quantiles(times, n=20)[-1])),
        ("its memory then, not file-backed", f"{own / 1e6:.0f} MB"),
        ("its memory then, resident", f"{resident / 1e6:.0f} MB"),
    ]


# Requests


def _requests(options: argparse.Namespace, work: Path) -> list[Row]:  # noqa: ARG001
    """Count the requests of searches by a proxy in front of the store."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3", "")
    if not options.place.startswith("s3://") or not endpoint:
        return []
    texts = _questions(options)
    with _counting(endpoint) as (address, counts):
        os.environ["AWS_ENDPOINT_URL_S3"] = address
        try:
            with contextlib.closing(PlaceStore(SharedPlace(options.place))) as store:
                found = []
                for text in texts[:WARM_SEARCHES]:
                    before = tuple(counts)
                    search_place(store, parse_search_query(text), SearchOptions(10, "code"))
                    found.append((counts[0] - before[0], counts[1] - before[1]))
        finally:
            os.environ["AWS_ENDPOINT_URL_S3"] = endpoint
    rows: list[Row] = [
        ("requests of the first search", f"{found[0][0]}"),
        ("bytes of the first search", f"{found[0][1] / 1e6:.1f} MB"),
    ]
    last = found[len(found) // 2 :]
    rows.append(("requests of a search then, p50", f"{statistics.median(one for one, _ in last):.0f}"))
    rows.append(("bytes of a search then, p50", f"{statistics.median(size for _, size in last) / 1e6:.2f} MB"))
    return rows


@contextlib.contextmanager
def _counting(url: str) -> Iterator[tuple[str, list[int]]]:
    """Give a block the address of a proxy, and the numbers of requests and of bytes that it has passed on."""
    counts, target = [0, 0], urlsplit(url)

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            connection = HTTPConnection(target.hostname or "", target.port or 80, timeout=60)
            connection.request(self.command, self.path, body, dict(self.headers.items()))
            reply = connection.getresponse()
            content = reply.read()
            connection.close()
            counts[0] += 1
            counts[1] += len(content)
            self.send_response_only(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            length = reply.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = answer  # noqa: N815 - the names of the base class

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", counts
    finally:
        server.shutdown()
        server.server_close()


# Publishing


def _publish(options: argparse.Namespace, work: Path) -> list[Row]:
    """Publish a commit that changes some files, while servers search."""
    source = max(options.projects.iterdir(), key=lambda root: len(list(root.rglob("*.py"))))
    root = work / f"{source.name}-changed"
    shutil.copytree(source, root, symlinks=True)
    place = SharedPlace(options.place)
    publishing.publish(root, place, lambda *_: None, print, with_model=False)
    files = sorted(file for file in root.rglob("*.py") if ".git" not in file.parts)
    for number, file in enumerate(files[:: max(1, len(files) // CHANGED_FILES)][:CHANGED_FILES]):
        file.write_text(file.read_text(errors="replace") + f"\n\ndef added_{number}():\n    return {time.time_ns()}\n")
    person = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", "-C", str(root), *person, "commit", "-qam", "Change"], check=True, capture_output=True)
    report = anyio.run(_publish_beside, options, root, place)
    publishing.remove(root.name, place)
    return [
        (
            f"publish {report[0].added} changed files of {report[0].project.chunks:,} chunks",
            f"{report[0].seconds:.1f} s",
        ),
        (f"searches of {SERVERS} servers meanwhile", f"{report[1]}, {report[2]} failed"),
    ]


async def _publish_beside(options: argparse.Namespace, root: Path, place: SharedPlace) -> tuple[Any, int, int]:
    texts, counts, is_over = _questions(options), [0, 0], anyio.Event()

    async def search() -> None:
        async with _served(options.place) as client:
            number = 0
            while not is_over.is_set():
                number += 1
                reply = await client.call_tool("search_code", {"query": texts[number % len(texts)]})
                counts[0] += 1
                counts[1] += bool(reply.is_error)

    async with anyio.create_task_group() as group:
        for _ in range(SERVERS):
            group.start_soon(search)
        await anyio.sleep(5)
        try:
            report = await anyio.to_thread.run_sync(
                lambda: publishing.publish(root, place, lambda *_: None, print, with_model=False)
            )
        finally:
            is_over.set()
    return report, counts[0], counts[1]


if __name__ == "__main__":
    sys.exit(main())
