"""`find_references` lists definitions and uses by file, within its budget, and follows changes."""

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dowse.indexes.index import ProjectIndex
from tests.sample_data import index, write_tree
from tests.surfaces.project import project_client

KITCHEN = {
    "pyproject.toml": "",
    "apple.py": "def peel(skin):\n    return skin\n",
    "cook.py": "from apple import peel\n\n\ndef cook():\n    peel(1)\n    peel(2)  # password = 'hunter2hunter2X9'\n",
    ".env": "peel=hunter2\n",
}


connect = partial(project_client.connect, "auto", level="full")
pytestmark = pytest.mark.anyio


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "kitchen", KITCHEN)
    index(root)
    return root


def lines(reply: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(file["path"], use["line"], use["kind"]) for file in reply["references"] for use in file["uses"]]


async def test_definitions_and_uses_are_listed_by_file(kitchen: Path) -> None:
    async with connect(kitchen) as assistant:
        reply = await assistant.call_tool("find_references", name="peel")
    assert reply["definitions"] == [{"path": "apple.py", "line": 1, "text": "def peel(skin):", "kind": "function"}]
    assert lines(reply) == [("cook.py", 1, "import"), ("cook.py", 5, "call"), ("cook.py", 6, "call")]
    assert reply["references"][0]["uses"][1] == {"line": 5, "text": "peel(1)", "kind": "call", "within": "cook"}
    assert (reply["totalReferences"], reply["totalFiles"], reply["kinds"]) == (3, 1, {"call": 2, "import": 1})


async def test_pages_filters_and_budgets_bound_a_reply(kitchen: Path) -> None:
    async with connect(kitchen) as assistant:
        first = await assistant.call_tool("find_references", name="peel", limit=2)
        assert (len(lines(first)), first["nextOffset"]) == (2, 2)
        rest = await assistant.call_tool("find_references", name="peel", limit=2, offset=2)
        assert lines(rest) == [("cook.py", 6, "call")]
        assert "nextOffset" not in rest
        assert lines(await assistant.call_tool("find_references", name="peel", kind="import"))[0][1] == 1
        assert (await assistant.call_tool("find_references", name="peel", path="a*"))["totalReferences"] == 0


async def test_an_unknown_name_and_a_wrong_argument_are_told(kitchen: Path) -> None:
    async with connect(kitchen) as assistant:
        reply = await assistant.call_tool("find_references", name="peeel")
        assert (reply["message"], reply["similarNames"]) == ("Nothing here is called 'peeel'.", ["peel"])
        error = await assistant.expect_error("find_references", name="def peel():")
        assert error["code"] == "INVALID_ARGUMENT"


async def test_a_change_is_seen_at_once(kitchen: Path) -> None:
    async with connect(kitchen) as assistant:
        await assistant.call_tool("find_references", name="peel")
        (kitchen / "cook.py").write_text("import apple\n\napple.peel(3)\n", encoding="utf-8")
        (kitchen / "new.py").write_text("from apple import peel as pare\n\npare(4)\n", encoding="utf-8")
        reply = await assistant.call_tool("find_references", name="peel")
        assert lines(reply) == [("cook.py", 3, "call"), ("new.py", 1, "import"), ("new.py", 3, "call")]


async def test_an_index_without_references_gets_them_and_says_so_until_then(kitchen: Path) -> None:
    write_tree(kitchen, {f"more/{number}.py": "from apple import peel\npeel()\n" for number in range(60)})
    index(kitchen)
    with closing(ProjectIndex(kitchen)) as project:
        project.whole.references.forget()
    async with connect(kitchen) as assistant:
        reply = await assistant.call_tool("find_references", name="peel")
        while reply["totalReferences"] < 123:  # a process reads them
            assert "coverage" in reply
            reply = await assistant.call_tool("find_references", name="peel")


async def test_the_files_around_a_file_are_listed(kitchen: Path) -> None:
    async with connect(kitchen) as assistant:
        reply = await assistant.call_tool("related_files", path="apple.py")
        assert reply["importedBy"] == [{"path": "cook.py", "reason": "imports peel in line 1"}]
        assert (reply["imports"], reply["tests"], reply["changesWith"]) == ([], [], [])
        error = await assistant.expect_error("related_files", path=".env")
        assert error["userMessage"] == "The file '.env' doesn't exist or isn't indexed."


async def test_files_that_are_not_looked_at_yet_are_named_beside_related_ones(kitchen: Path) -> None:
    async with connect(kitchen) as assistant:
        await assistant.call_tool("related_files", path="apple.py")
        write_tree(kitchen, {f"more/{number}.py": "from apple import peel\npeel()\n" for number in range(60)})
        reply = await assistant.call_tool("related_files", path="apple.py", limit=200)
        assert len(reply["importedBy"]) == 61 or "pending" in reply or "warnings" in reply
        while "pending" in reply or "warnings" in reply:  # the names of some files are still being read
            reply = await assistant.call_tool("related_files", path="apple.py", limit=200)
        assert len(reply["importedBy"]) == 61
