"""Several projects in one server: their names, combined results, and calls that must name a project."""

from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_status import format_size
from tests.sample_data import index, write_tree
from tests.surfaces.project.project_client import (
    DECLINE,
    ScriptedUser,
    accept,
    call_tool,
    connect,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def roots(tmp_path: Path) -> list[Path]:
    """Two projects with the same name, and one with another."""
    return [
        write_tree(tmp_path / "a/app", {"src/apple.py": "def peel_apple(): ...\n", "guide.md": "# Peel apples\n"}),
        write_tree(
            tmp_path / "b/app", {"src/pear.py": "def peel_pear(): ...\n", "src/fig.py": "def peel_fig(): ...\n"}
        ),
        write_tree(tmp_path / "c/web", {"src/kiwi.ts": "function peelKiwi() {}\n"}),
    ]


@pytest.fixture
def indexed_roots(roots: list[Path]) -> list[Path]:
    index(*roots)
    return roots


async def test_every_project_has_a_name_of_its_own(indexed_roots: list[Path]) -> None:
    async with connect("auto", *indexed_roots) as assistant:
        tools = await assistant.tools()
        for name, tool in tools.items():
            project = tool.input_schema["properties"].get("project")
            assert (project or {}).get("enum") == (None if name == "list_projects" else ["app", "app-2", "web"])
            assert "project" not in tool.input_schema.get("required", [])
        matches = (await assistant.call_tool("search_by_path", pattern="**"))["matches"]
        assert matches == [
            "app-2/src/fig.py",
            "app-2/src/pear.py",
            "app/guide.md",
            "app/src/apple.py",
            "web/src/kiwi.ts",
        ]


def test_one_project_named_twice_is_one(indexed_roots: list[Path], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(indexed_roots[0])
    reply = call_tool("auto", "search_by_path", indexed_roots[0], indexed_roots[0], tmp_path / "link", pattern="**")
    assert reply["matches"] == ["guide.md", "src/apple.py"]


async def test_a_page_goes_on_over_all_projects(indexed_roots: list[Path]) -> None:
    async with connect("auto", *indexed_roots) as assistant:
        every = (await assistant.call_tool("search_code", query="peel"))["results"]
        pages = [
            (await assistant.call_tool("search_code", query="peel", top_k=1, offset=at))["results"] for at in range(4)
        ]
        assert [hit for page in pages for hit in page] == every


def test_the_size_is_that_of_all(indexed_roots: list[Path]) -> None:
    reply = call_tool("auto", "get_index_status", *indexed_roots)
    sizes = [ProjectIndex(root).status().size_bytes for root in indexed_roots]
    units = {"B": 1, "KB": 1e3, "MB": 1e6}
    unit = reply["storageSize"].lstrip("0123456789.")
    said = float(reply["storageSize"].removesuffix(unit)) * units[unit]
    assert said > 1.5 * max(sizes), (reply["storageSize"], [format_size(size) for size in sizes])


def test_the_status_of_all_is_that_of_the_worst(indexed_roots: list[Path], tmp_path: Path) -> None:
    new = write_tree(tmp_path / "new", {"a.py": "x = 1\n"})
    reply = call_tool("auto", "get_index_status", *indexed_roots, new)
    assert (reply["status"], reply["totalFiles"]) == ("incomplete", 5)


async def test_all_are_indexed_after_one_question(roots: list[Path], mode: str) -> None:
    user, recorder = ScriptedUser(DECLINE, accept()), list[tuple[float, float | None]]()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        recorder.append((progress, total))

    async with connect(mode, *roots, **user.client) as assistant:
        assert await assistant.call_tool("create_index") == {"status": "cancelled"}
        result = await assistant.client.call_tool("create_index", {}, progress_callback=note)
        reply = result.structured_content
        assert reply["status"], reply["filesIndexed"] == ("success", 5)
        assert [one["filesIndexed"] for one in reply["projects"]] == [2, 2, 1]
    assert user.questions == ["Index 5 files of app, app-2, web?"] * 2
    assert [done for done, _ in recorder] == sorted({done for done, _ in recorder}), "it only grows, over all projects"
    assert recorder[-1] == (5, 5)
