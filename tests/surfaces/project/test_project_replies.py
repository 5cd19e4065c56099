"""`find_text` counts every occurrence, `explain` says why, and searches leave out what they are told to."""

from pathlib import Path
from typing import Any

import pytest

from tests.sample_data import index, write_tree
from tests.surfaces.project.project_client import call_tool, connect, expect_error

MANY = {
    "pyproject.toml": "",
    "src/apple.py": "def peel():\n    return peel  # peel\n",
    "src/pear.py": "from src.apple import peel\n",
    "tests/test_apple.py": "def test_peel():\n    peel()\n",
    "examples/peel.py": "peel()\n",
    ".env": "peel=hunter2\n",
}


@pytest.fixture
def many(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "many", MANY)
    index(root)
    return root


def places(reply: dict[str, Any]) -> list[tuple[str, int]]:
    return [(match["path"], match["line"]) for match in reply["matches"]]


def test_every_occurrence_is_found_and_counted(many: Path) -> None:
    reply = call_tool("auto", "find_text", many, text="peel")
    assert (reply["totalMatches"], reply["totalFiles"], reply["complete"]) == (7, 4, True)
    assert places(reply)[:2] == [("examples/peel.py", 1), ("src/apple.py", 1)]
    assert reply["matches"][1]["text"] == "def peel():"


@pytest.mark.anyio
async def test_pages_follow_each_other(many: Path) -> None:
    async with connect("auto", many) as assistant:
        every, found = await assistant.call_tool("find_text", text="peel"), list[tuple[str, int]]()
        offset: int | None = 0
        while offset is not None:
            reply = await assistant.call_tool("find_text", text="peel", limit=3, offset=offset)
            found += places(reply)
            offset = reply.get("nextOffset")
        assert found == places(every)


def test_a_pattern_and_a_glob_narrow_it_down(many: Path) -> None:
    reply = call_tool("auto", "find_text", many, text=r"^def \w*peel", regex=True, path="{src,tests}/**")
    assert places(reply) == [("src/apple.py", 1), ("tests/test_apple.py", 1)]
    assert call_tool("auto", "find_text", many, text="p.el")["totalMatches"] == 0


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({}, {"src/apple.py", "src/pear.py", "tests/test_apple.py", "examples/peel.py"}),
        ({"tests": "none"}, {"src/apple.py", "src/pear.py"}),
        ({"tests": "only"}, {"tests/test_apple.py", "examples/peel.py"}),
        ({"exclude": ["src/apple.py", "tests/**"]}, {"src/pear.py", "examples/peel.py"}),
        ({"exclude": ["./src/*"], "language": "python", "tests": "none"}, set()),
    ],
)
def test_a_search_leaves_out_what_it_is_told_to(many: Path, arguments: dict[str, Any], paths: set[str]) -> None:
    reply = call_tool("auto", "search_code", many, query="peel", **arguments)
    assert {hit["path"] for hit in reply["results"]} <= paths
    assert reply["totalResults"] + reply.get("weakerMatches", 0) == len(paths)


def test_a_glob_that_leads_out_of_the_project_is_refused(many: Path) -> None:
    assert expect_error("auto", "search_code", many, query="peel", exclude=["../x"])["code"] == "INVALID_PATTERN"


@pytest.mark.anyio
async def test_a_place_is_explained(many: Path) -> None:
    async with connect("auto", many, level="full") as assistant:
        ranked = await assistant.call_tool("explain", path="src/apple.py", query="peel")
        assert (ranked["allowed"], ranked["indexed"], ranked["rank"]) == (True, True, 1)
        assert ranked["signals"]
        assert (await assistant.call_tool("explain", path="src/pear.py", query="zzzqqq"))["rank"] == 0
        denied = await assistant.call_tool("explain", path=".env", query="peel")
        assert (denied["allowed"], denied["indexed"], "rank" in denied) == (False, False, False)
        assert denied["rule"]["pattern"]


@pytest.mark.anyio
async def test_with_several_projects_a_place_is_explained_with_their_names(many: Path, indexed: Path) -> None:
    async with connect("auto", many, indexed, level="full") as assistant:
        reply = await assistant.call_tool("explain", path="many/src/pear.py", query="peel")
        assert (reply["path"], reply["best"]) == ("many/src/pear.py", "many/src/apple.py")
