"""`python -m bench.browser_page`: the page in a headless Chromium: keystroke to painted results, a long file, the first page."""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import quote_plus

from tests.browser import Browser

from bench import calls, corpora, program
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from dowse.types import KINDS, View

MARKER = "bench page"
LINES = 10_000
TYPED = (
    "where is a token compared", "parse date from string", "retry failed request", "read configuration file",
    "connection pool timeout", "render template", "split text into words", "validate email address",
)  # fmt: skip
PREPARE_SECONDS = 20.0
"""After this long a server has opened its indexes and compared all files with them."""
QUIET_SECONDS = 600.0
GOALS_MS = {
    "keystroke p50": 120, "keystroke p95": 300, "10,000 lines": 500, "first page": 200,
    "first results, 3,000 chunks, documents not indexed": 500,
}  # fmt: skip
_WATCH = """(() => {
  window.times = [];
  document.addEventListener("input", () => { window.pressed = performance.now(); }, true);
  document.addEventListener("painted", () => requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - pressed))));
})()"""
_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.browser_page", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="more corpora: those of code-search, laid out")
    parser.add_argument("--home", type=Path, metavar="DIR", help="keep the index here, as bench.calls does")
    parser.add_argument(
        "--root", type=Path, metavar="DIR", help="search this folder instead of all files of the corpora"
    )
    parser.add_argument("--letters", type=int, default=10_000, help="type at most this many letters")
    parser.add_argument("--first", type=int, metavar="N", help="measure only the first page and results of N servers")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    home = options.home.resolve() if options.home else work
    os.environ["DOWSE_HOME"] = str(home / "index")
    folders = [folder for folder in (options.corpora, options.code_search) if folder]
    roots = [root for folder in folders for root in corpora.find(folder)]
    if options.first:
        return [_first_only(_small(roots, home), options.first)]
    project = options.root or calls.draw(roots, calls.SIZES["large"], home / "large")
    long_file = work / "long" / "steps.py"
    long_file.parent.mkdir()
    long_file.write_text(
        "".join(f"def step_{n}(x):\n    # step {n}\n    return [x, 'a', {n}]\n\n" for n in range(LINES // 4))
    )
    chunks = sum(map(_make_index, (project.resolve(), long_file.parent)))
    small = _small(roots, home)
    with Browser() as browser:
        with _serving(project, long_file.parent) as (address, pid):
            browser.visit(f"{address}/")
            first = browser.value(_LOADED)
            time.sleep(PREPARE_SECONDS)
            _wait_for_quiet(address)
            times, seconds = _type(browser, address, options.letters, pid)
            browser.visit(f"{address}/read?id=project/long/steps.py")
            opened = [_open(browser, f"{address}/read?id=project/long/steps.py") for _ in range(5)]
        results = _first_results(browser, small)
    percentiles = quantiles(times, n=20)
    measured = [percentiles[9], percentiles[18], sorted(opened)[2], first, results]
    rows: list[Row] = [("", "measured", "goal")]
    rows += [
        (name, f"{ms:.0f} ms", f"≤ {goal} ms") for (name, goal), ms in zip(GOALS_MS.items(), measured, strict=True)
    ]
    rows.append(("processor time of the server for a keystroke", f"{1000 * seconds / len(times):.0f} ms", ""))
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return [Table(f"The page: {chunks:,} chunks, {len(times)} keystrokes, {load}", rows)]


def _small(roots: list[Path], home: Path) -> Path:
    """Return a project of 3,000 chunks whose documents are not indexed."""
    small = calls.draw(roots, calls.SIZES["small"], home / "small")
    with contextlib.closing(ProjectIndex(small)) as index:
        index.update()
    return small


def _first_results(browser: Browser, small: Path) -> float:
    with _serving(small, "--tools", "minimal") as (address, _):  # as `dowse open` serves it
        browser.visit(f"{address}/?q={quote_plus(TYPED[0])}")
        loaded = float(browser.value(_LOADED))
        if not browser.value("document.querySelectorAll('.hit').length"):
            raise SystemExit("The first query has no results.")
    return loaded


def _first_only(small: Path, count: int) -> Table:
    pages, results = [], []
    with Browser() as browser:
        for _ in range(count):
            with _serving(small, "--tools", "minimal") as (address, _):
                browser.visit(f"{address}/")
                pages.append(float(browser.value(_LOADED)))
            results.append(_first_results(browser, small))
    rows: list[Row] = [("", "median", "highest", "goal")]
    for name, measured in (("first page", pages), ("first results, 3,000 chunks, documents not indexed", results)):
        rows.append((name, f"{median(measured):.0f} ms", f"{max(measured):.0f} ms", f"≤ {GOALS_MS[name]} ms"))
    return Table(f"The first page and the first results of {count} servers", rows)


@contextlib.contextmanager
def _serving(*arguments: str | Path) -> Iterator[tuple[str, int]]:
    """Serve folders over HTTP; give the address and the process."""
    command = [sys.executable, "-m", "dowse", "serve", *map(str, arguments), "--http", "127.0.0.1:0"]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(command, stderr=log.fileno())
        try:
            yield _wait_for_address(log.fileno(), server), server.pid
        finally:
            server.terminate()
            server.wait()


def _make_index(root: Path) -> int:
    """Index a project and its documents, as a server does before long; return the number of chunks of the project."""
    with contextlib.closing(ProjectIndex(root, View.BOTH)) as index:
        index.update()
        calls.fill_model_vectors(index)
    with contextlib.closing(ProjectIndex(root)) as index:
        return sum(index.store.totals(kind).chunks for kind in KINDS)


def _wait_for_address(log: int, server: "subprocess.Popen[bytes]") -> str:
    while server.poll() is None:
        if found := re.search(r" at (http://\S+)/mcp", os.pread(log, 10_000, 0).decode()):
            return found[1]
        time.sleep(0.005)
    raise SystemExit(os.pread(log, 10_000, 0).decode())


def _wait_for_quiet(address: str) -> None:
    """Wait until nothing is indexed or encoded; the words of documents get vectors of their own, which takes a minute."""
    deadline = time.monotonic() + QUIET_SECONDS
    while b"data-live" in urllib.request.urlopen(f"{address}/status").read():  # noqa: S310 - our own server
        if time.monotonic() > deadline:
            raise SystemExit("The server still indexes or encodes; measure again when it is ready.")
        time.sleep(1.0)


def _type(browser: Browser, address: str, letters: int, pid: int) -> tuple[list[float], float]:
    """Type queries letter by letter, each after the results of the last; return the times and the processor time."""
    browser.visit(f"{address}/")
    browser.value(_WATCH)
    count, before = 0, _processor_seconds(pid)
    for query in TYPED:
        browser.value("(() => { const box = document.getElementById('q'); box.focus(); box.value = ''; })()")
        for letter in query[: max(0, letters - count)]:
            browser.type(letter)
            count += 1
            browser.wait_for(f"times.length >= {count}")
    times: list[float] = browser.value("times")
    return times, _processor_seconds(pid) - before


def _open(browser: Browser, url: str) -> float:
    browser.visit(url)
    if not browser.value("document.querySelector('.code .k') !== null"):
        raise SystemExit("The first lines have no colours.")
    return float(browser.value(_LOADED))


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
