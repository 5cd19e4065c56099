"""The tools for assistants on dependencies: search, read, find and uses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse.indexes.dependencies.package_search import Dependencies
from tests.federation.answers.test_answer_tools import MAX_TOKENS
from tests.federation.federated_server import assistants_server, texts_of, tokens_of, tools_of
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
        [text] = texts_of(assistants_server(shop), [(tool, arguments)], fails=None)
        return text

    return call


def test_the_tools_know_of_dependencies_only_once_they_are_turned_on(shop: Path) -> None:
    assert "package" not in json.dumps(tools_of(assistants_server(shop)))
    environments.enable_dependencies()
    tools = tools_of(assistants_server(shop))
    assert "dependencies" in json.dumps(tools["search"]["inputSchema"])
    assert tokens_of(tools) <= MAX_TOKENS


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
