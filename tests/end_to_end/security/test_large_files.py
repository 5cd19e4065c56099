"""No request takes long for any file of 2 MB, whatever it is about and however the file was made.

The files are those that once stopped a server for seconds or minutes, and the bombs of the formats of text.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.examples import choose_bombs
from tests.fuzzing import bombs
from tests.mcp.http.http_server import HttpClient, HttpServer
from tests.mcp.stdio.stdio_client import NEWER

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, to measure processes")

SIZE = 2_000_000
MAX_SECONDS = 3.5
"""Processor time of the server: three seconds of a request, and what it does beside it, where ADDITIONS take an eighth of
a second: some machines need thrice as long for everything, and others now and then."""
ADDITIONS, ADDITIONS_SECONDS = 4_000_000, 0.125
SETTINGS = {"maxFileSize": "4MB", "encoder": "none"}
TICKS = os.sysconf("SC_CLK_TCK")


def repeated(line: str, end: str = "") -> bytes:
    """Return a line up to the size, with the number of each instead of 0."""
    numbered = (line.replace("0", str(number)) for number in range(SIZE // len(line) + 1))
    return "".join(numbered).encode()[: SIZE - len(end)] + end.encode()


LARGE = {
    "lines": ("page.md", b"a\n" * (SIZE // 2)),
    "headings": ("page.md", b"# a\n" * (SIZE // 4)),
    "numbered headings": ("page.md", repeated("## Heading 0\n\ntext 0\n\n")),
    "words": ("page.md", repeated("word0 ")),
    "one word": ("page.txt", b"a " * (SIZE // 2)),
    "unspaced": ("page.md", "搜索引擎".encode() * (SIZE // 12)),
    "keys": ("keys.txt", b"".join(b"token ghp_%036x\n" % (number * 7**40) for number in range(SIZE // 47))),
    "links": ("page.md", repeated("[a0](page0.md#x) [[wiki0]] https://example.org/0\n\n")),
    "functions": ("code.py", repeated("def function_0(apple, pear):\n    return function_0(apple) + pear\n\n")),
    "one line of functions": ("code.js", repeated("function a0(b,c){return a0(b)+c}")),
    "one name": ("code.py", b"def f(): pass\n" + b"f()\n" * (SIZE // 4)),
    "rows": ("data.csv", repeated("0,apple,0,pear\n")),
}


def slowness() -> float:
    """Return how much longer this machine takes just now than the one on which the limit was measured, or 1."""
    started, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return max(1.0, (time.process_time() - started) / ADDITIONS_SECONDS)


class ServerTime:
    """The processor time that a server takes for requests."""

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self.over: list[tuple[str, float]] = []

    def measure(self, what: str, ask: Callable[[], object]) -> None:
        """Send a request; remember it if it takes too long."""
        before = self._taken()
        ask()
        taken = self._taken() - before
        if taken > MAX_SECONDS and taken > MAX_SECONDS * slowness():
            self.over.append((what, taken))

    def _taken(self) -> float:
        stat = Path(f"/proc/{self._server.process.pid}/stat").read_text(encoding="latin-1")
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def samples_of(data: bytes) -> tuple[str, str, str]:
    """Return the beginning of a text, a line in the middle of it, and its first word."""
    text = data.decode("utf-8", "replace")
    middle = text[len(text) // 2 : len(text) // 2 + 200].split("\n")
    line = next((one for one in middle if one.strip()), "a")[:150]
    word = re.search(r"\w+", text[:100_000])
    return text[:4000] or "a", line, word[0] if word else "a"


def calls(name: str, data: bytes) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield calls of the tools about a file."""
    beginning, line, word = samples_of(data)
    for query in (beginning, line):
        yield "search_code", {"query": query}
        yield "search_docs", {"query": query, "detail": "full", "top_k": 50}
        yield "search", {"query": query}
    yield "search_documents", {"query": line, "limit": 100}
    yield "search_code", {"query": f'+{word[:100]} "{word[:100]} {word[:100]}"'}
    for text in (line, word[:2]):
        yield "find_text", {"text": text, "limit": 1000}
    for pattern in ("(a+)+b|.*x.*y$", "(?s)a.*b.*c", "."):
        yield "find_text", {"text": pattern, "regex": True, "limit": 1000}
    yield "find_references", {"name": word[:400], "limit": 1000}
    yield "related_files", {"path": name}
    yield "explain", {"path": name, "query": line}
    for tool in ("get_document_outline", "read_document", "find_links"):
        yield tool, {"uri": f"docs://{name}"}
    yield "fetch", {"id": f"project/root/{name}"}
    yield "searchLocalArchives", {"query": line, "includeCitations": True, "limit": 50}
    yield "search_add_document", {"doc_id": "a", "content": data.decode("utf-8", "replace")}
    yield "search_index", {"query": line}


def assistant_calls(name: str, data: bytes) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield calls of the tools for assistants."""
    beginning, line, word = samples_of(data)
    for text in (beginning, line, word, name):
        yield "search", {"query": text}
        yield "find", {"texts": [text]}
        yield "uses", {"names": [text]}
    yield "read", {"places": [name, f"{name}:20000-20100", f"{name}#{word[:100]}"]}


def views(name: str, data: bytes) -> Iterator[str]:
    """Yield addresses of the page."""
    beginning, line, word = samples_of(data)
    item = f"project/root/{name}"
    for path, arguments in (
        ("/results", {"q": line}), ("/results", {"q": beginning[:1000]}), ("/results", {"q": line, "mode": "exact"}),
        ("/results", {"q": "a.*b", "mode": "regex"}), ("/read", {"id": item}), ("/read", {"id": item, "line": "20000"}),
        ("/lines", {"id": item, "start": "20000", "end": "20200"}), ("/outline", {"id": item}),
        ("/symbol", {"id": item, "name": word[:400]}), ("/related", {"id": item}), ("/links", {"id": item}),
        ("/why", {"id": item, "q": line}),
    ):  # fmt: skip
        yield f"{path}?{urlencode(arguments)}"


def slow_requests(home: Path, name: str, data: bytes) -> list[tuple[str, float]]:
    """Return the requests about a file that took too long."""
    root = home / "root"
    for folder in (root, home / "dowse"):
        folder.mkdir(parents=True)
    (home / "dowse" / "config.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    (root / name).write_bytes(data)
    (root / "small.md").write_text("# Apple\n\nSee [it](page.md).\n", encoding="utf-8")
    environment = os.environ | {
        "HOME": str(home), "DOWSE_HOME": str(home / "dowse"), "RESEARCH_ARCHIVE_PATH": str(root),
        "SEARCH_DB_PATH": str(home / "archives.db"),
    }  # fmt: skip
    subprocess.run([sys.executable, "-m", "dowse", "index", root], env=environment, check=True, capture_output=True)
    over = []
    for tools, asked in (("full", calls), ("assistant", assistant_calls)):
        with HttpServer(root, options=("--tools", tools, "--rate", "0"), env=environment) as server:
            client, spent = HttpClient(server, NEWER), ServerTime(server)
            different = {json.dumps(call): call for call in asked(name, data)}
            for tool, arguments in different.values():
                shown = f"{tool} {json.dumps(arguments)[:80]}"
                spent.measure(shown, partial(client.call, "tools/call", name=tool, arguments=arguments))
            if tools == "full":
                for address in dict.fromkeys(views(name, data)):
                    spent.measure(address[:80], partial(server.send_request, "GET", address))
            assert "Traceback" not in server.stderr
            over += spent.over
    return over


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("title", LARGE)
def test_no_request_takes_long_for_a_large_file(title: str, tmp_path: Path) -> None:
    assert slow_requests(tmp_path, *LARGE[title]) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("extension", ["md", "html", "rst", "adoc", "ipynb", "txt"])
def test_no_request_takes_long_for_a_bomb(extension: str, tmp_path: Path) -> None:
    """Some of the bombs of a format; all of them together take an hour (`BOMBS=100`)."""
    over, made = {}, {bomb.name: bomb for bomb in bombs.document_bombs(extension, SIZE - 1000)}
    for number, name in enumerate(sorted(choose_bombs(list(made), extension))):
        bomb = made[name]
        if found := slow_requests(tmp_path / str(number), f"page.{extension}", bomb.data):
            over[bomb.name] = found
    assert over == {}
