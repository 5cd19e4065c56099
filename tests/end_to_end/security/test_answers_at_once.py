"""What has just been denied or rewritten is in no answer, whichever tool is asked, though the index has it so far."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import NEWER, StdioClient, wait_until
from tests.sample_data import index, write_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux's events are known at once")

COUNT = 30
"""More files than leave the index, or are indexed again, before an answer."""
MADE = "made/"

Ask = tuple[str, dict[str, Any]]
ALL_TOOLS: tuple[Ask, ...] = (
    ("search_code", {"query": "bramble"}),
    ("search_docs", {"query": "bramble"}),
    ("search", {"query": "bramble"}),
    ("search_documents", {"query": "bramble"}),
    ("find_text", {"text": "bramble", "limit": 100}),
    ("find_references", {"name": "plum"}),
    ("find_references", {"name": "bramble_of_3"}),
    ("find_links", {"uri": "docs://docs/target.md", "direction": "in"}),
    ("find_links", {"direction": "broken"}),
    ("resources/list", {}),
)
ONLY_PATHS: tuple[Ask, ...] = (
    ("search_by_path", {"pattern": "**/*"}),
    ("related_files", {"path": "src/lib.py"}),
    ("get_index_status", {}),
)
ASSISTANT_TOOLS: tuple[Ask, ...] = (
    ("search", {"query": "bramble grows"}),
    ("find", {"texts": ["bramble", "plum"]}),
    ("uses", {"names": ["plum"]}),
    ("uses", {"names": ["bramble_of_3"]}),
)


def made(word: str) -> dict[str, str]:
    """Return files that have a word in every line that an answer may show."""
    files = dict[str, str]()
    for number in range(COUNT):
        code = f"from src.lib import plum  # {word}\n\n\ndef bramble_of_{number}():  # {word}\n    return plum({number})  # {word}\n"
        page = f"# Bramble and {word}\n\nThe bramble grows. See [the {word}](../docs/target.md) and [no {word}](gone.md).\n"
        files |= {f"{MADE}b{number}.py": code, f"{MADE}b{number}.md": page}
    return files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "pyproject.toml": "[project]\nname = 'hedge'\n",
        "src/lib.py": "def plum(number):\n    return number\n",
        "src/use.py": "from src.lib import plum\n\n\ndef bush():\n    return plum(1)\n",
        "docs/target.md": "# Target\n\nA bush.\n",
    }
    root = write_tree(tmp_path / "hedge", files | made("hawthorn"))
    index(root)
    return root


@pytest.fixture(params=["full", "assistant"])
def client(root: Path, request: pytest.FixtureRequest) -> Iterator[StdioClient]:
    with StdioClient("--tools", request.param, root) as found:
        yield found.initialize(NEWER)


def asks_of(client: StdioClient) -> tuple[Ask, ...]:
    listed = client.request("tools/list")["result"]["tools"]
    return ALL_TOOLS if any(one["name"] == "find_text" for one in listed) else ASSISTANT_TOOLS


def answer(client: StdioClient, ask: Ask) -> str:
    name, arguments = ask
    if "/" in name:
        return json.dumps(client.request(name, **arguments)["result"])
    return json.dumps(client.request("tools/call", name=name, arguments=arguments)["result"])


def test_no_tool_shows_what_was_just_denied(client: StdioClient, root: Path) -> None:
    asks = asks_of(client)
    for ask in (*asks, *ONLY_PATHS) if asks is ALL_TOOLS else (*asks, ("read", {"places": ["."]})):
        if ask[0] != "get_index_status":  # which names files that are pending alone
            wait_until(lambda: MADE in answer(client, ask))  # noqa: B023 - called within its round
        (root / ".gitignore").write_text(f"{MADE}\n", encoding="utf-8")
        assert MADE not in answer(client, ask), ask
        (root / ".gitignore").unlink()


def test_no_tool_shows_a_line_that_was_just_rewritten(client: StdioClient, root: Path) -> None:
    """Links did, until their documents were indexed again, and so did the list of documents."""
    before, after = "hawthorn", "blackthorn"
    for ask in asks_of(client):
        wait_until(lambda: before in answer(client, ask))  # noqa: B023 - called within its round
        write_tree(root, made(after))
        assert before not in answer(client, ask), ask
        before, after = after, before


MANY = 100
"""More than are taken out before an answer and repaired for it."""
SHARED_TOOLS: tuple[Ask, ...] = (
    ("find_references", {"name": "get"}),
    ("find_references", {"name": "plum"}),
    ("find_references", {"name": "Sloee5"}),
    ("find_links", {"uri": "docs://docs/start.md", "direction": "out"}),
    ("search_code", {"query": "plum"}),
    ("search_code", {"query": "zzqx", "path": "b4.pyx"}),
    ("explain", {"path": "src/lib.py", "query": "thorn"}),
    ("search_code", {"query": "hawthorm"}),
    ("search", {"query": "hawthorm"}),
)
ONLY_THERE = {"Sloee5": "Sloe95", "hawthorm": "hawthorn"}
"""What an answer to a misspelled name or word has of these files."""
SHARED_ASSISTANT_TOOLS: tuple[Ask, ...] = (
    ("uses", {"names": ["get"]}),
    ("uses", {"names": ["plum"]}),
    ("uses", {"names": ["Sloee5"]}),
    ("search", {"query": "plum"}),
)
PAGES = ("/read?id=project/hedge/made/", "/read?id=project/hedge/", "/results?q=", "/find?q=b4", "/find?q=Sloe4")


def sharing_names() -> dict[str, str]:
    """Return files that define the same name, use another one, and are linked by their titles."""
    files = dict[str, str]()
    for number in range(MANY):
        code = f"from src.lib import plum\n\n\nclass Sloe{number}:\n    def get(self):  # hawthorn\n        return plum({number})\n"
        files |= {f"{MADE}b{number}.py": code, f"{MADE}p{number}.md": f"# Sloe {number}\n\nA thorn of hawthorn.\n"}
    return files


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    files = {
        "pyproject.toml": "[project]\nname = 'hedge'\n",
        "src/lib.py": "def plum(number):\n    return number\n",
        "src/use.py": "from made.b7 import Sloe7\n\n\ndef bush():\n    return Sloe7().get()\n",
        "docs/start.md": "# Start\n\nSee [[Sloe 45]].\n",
    }
    root = write_tree(tmp_path / "hedge", files | sharing_names())
    index(root)
    return root


@pytest.mark.parametrize("tools", ["full", "assistant"])
def test_no_tool_names_what_was_just_denied_where_many_files_share_a_name(shared: Path, tools: str) -> None:
    """Lists of owners, callers, links and similar names came from the index alone."""
    with StdioClient("--tools", tools, shared) as client:
        client.initialize(NEWER)
        for ask in SHARED_TOOLS if asks_of(client) is ALL_TOOLS else SHARED_ASSISTANT_TOOLS:
            wanted = next((word for asked, word in ONLY_THERE.items() if asked in str(ask)), MADE)
            wait_until(lambda: wanted in answer(client, ask))  # noqa: B023 - called within its round
            (shared / ".gitignore").write_text(f"{MADE}\n", encoding="utf-8")
            found = answer(client, ask)
            (shared / ".gitignore").unlink()
            assert wanted not in found, ask


@pytest.mark.parametrize("is_indexed_before", [True, False])
def test_no_view_of_the_page_names_what_was_just_denied(
    shared: Path, monkeypatch: pytest.MonkeyPatch, is_indexed_before: bool
) -> None:
    """Where there was no index when the server started, nothing kept it fresh until somebody searched."""

    def view(server: HttpServer, address: str) -> str:
        return server.send_request("GET", address, Accept="text/html").body.decode()

    monkeypatch.setenv("DOWSE_HOME", str(shared.parent / "dowse"))
    if is_indexed_before:
        index(shared)
    with HttpServer(shared, home=shared.parent) as server:
        if not is_indexed_before:
            view(server, "/")
            index(shared)
        for address in PAGES:
            wait_until(lambda: f"hedge/{MADE}" in view(server, address))  # noqa: B023 - called within its round
            (shared / ".gitignore").write_text(f"{MADE}\n", encoding="utf-8")
            found = view(server, address)
            (shared / ".gitignore").unlink()
            assert "made/b" not in found, address
            assert "made/p" not in found, address


def test_the_first_list_of_documents_has_none_that_was_denied_before_the_server_started(shared: Path) -> None:
    with StdioClient("--tools", "full", shared) as client:
        client.initialize(NEWER)
        wait_until(lambda: MADE in answer(client, ("resources/list", {})))
    (shared / ".gitignore").write_text(f"{MADE}\n", encoding="utf-8")
    with StdioClient("--tools", "full", shared) as client:
        client.initialize(NEWER)
        assert MADE not in answer(client, ("resources/list", {}))
