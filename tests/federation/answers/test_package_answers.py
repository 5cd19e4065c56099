"""The tools for assistants on dependencies: search, read, find and uses."""

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from mcp_types import TextContent

from dowse.cli.composition import ComposedServer, Offer
from dowse.indexes.dependencies.package_search import Dependencies
from dowse.keeping.served_index import Service
from dowse.mcp.replies import CHARACTERS_PER_TOKEN
from mcp import Client
from tests.federation.answers.test_answer_tools import MAX_TOKENS, listed
from tests.indexes.dependencies import environments

PLACE = "tinyhttp 1.2.0 · tinyhttp/__init__.py"
Ask = Callable[..., str]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return environments.python_project(tmp_path / "shop")


@pytest.fixture
def ask(shop: Path) -> Ask:
    environments.enable_dependencies()
    Dependencies(shop).index_packages()

    def call(tool: str, **arguments: object) -> str:
        async def run() -> str:
            server = ComposedServer(Service([shop]), shop, Offer(level="assistant")).server()
            async with Client(server) as client:
                content = (await client.call_tool(tool, arguments)).content[0]
                assert isinstance(content, TextContent)
                return content.text

        return anyio.run(run)

    return call


def test_the_tools_know_of_dependencies_only_once_they_are_turned_on(shop: Path) -> None:
    assert "package" not in json.dumps(listed("auto", shop))
    environments.enable_dependencies()
    tools = listed("auto", shop)
    assert "dependencies" in json.dumps(tools[0]["inputSchema"])
    assert len(json.dumps(tools)) / CHARACTERS_PER_TOKEN <= MAX_TOKENS


def test_a_question_is_answered_from_dependencies_where_that_is_asked_for(ask: Ask) -> None:
    found = {"in": "dependencies"}
    assert ask("search", query="send a request again", **found).startswith(f"{PLACE}:11-13  send_request\n")
    assert ask("search", query="send a request again", package="tinyhttp").startswith(PLACE)
    assert PLACE not in ask("search", query="send a request again")
    assert "ghost cannot be searched" in ask("search", query="x", package="ghost")


def test_a_place_of_a_hit_can_be_read(ask: Ask) -> None:
    assert "4 class RetryPolicy:" in ask("read", places=[f"{PLACE}:4-8"])
    assert "def send_request" in ask("read", places=[f"{PLACE}#send_request", "shop.py"])
    assert "is not installed here" in ask("read", places=["tinyhttp 9.9 · tinyhttp/__init__.py"])


def test_a_place_is_found_without_its_package_and_where_it_is_installed(shop: Path, ask: Ask) -> None:
    [installed] = shop.glob(".venv/lib/*/site-packages/tinyhttp/__init__.py")
    whole = ask("read", places=[f"{PLACE}:11-13"])
    assert "def send_request" in whole
    for path in ("tinyhttp/__init__.py", installed.relative_to(shop).as_posix()):
        assert ask("read", places=[f"{path}:11-13"]) == whole
    assert "nowhere.py" in ask("read", places=["tinyhttp/nowhere.py"])


def test_paths_of_a_search_are_those_within_a_package(ask: Ask) -> None:
    found = {"query": "send a request again", "package": "tinyhttp"}
    assert ask("search", path="tinyhttp/*.py", **found).startswith(PLACE)
    assert ask("search", path="elsewhere/**", **found).startswith("No package answers this.")
    assert ask("search", query="send a request again path:elsewhere", package="tinyhttp").startswith("No package")


def test_no_place_leads_out_of_a_package(ask: Ask) -> None:
    for path in ("../../../../shop.py", "six.py", "tinyhttp/../six.py", "/etc/passwd"):
        reply = ask("read", places=[f"tinyhttp 1.2.0 · {path}"])
        assert "ensure_text" not in reply
        assert "import tinyhttp" not in reply
        assert "root:" not in reply


def test_lines_and_uses_of_packages_are_found(ask: Ask) -> None:
    assert f"{PLACE}" in ask("find", texts=["self.attempts"], package="tinyhttp")
    assert "nowhere in 1 packages" in ask("find", texts=["absent words"], package="*")
    assert f"{PLACE}:4" in ask("uses", names=["RetryPolicy"], package="*")
    assert "absent_name: nowhere" in ask("uses", names=["absent_name"], package="tinyhttp")
