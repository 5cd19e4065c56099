"""The project tools over a place, as an assistant calls them."""

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from mcp import Client, StdioServerParameters
from tests import lance_extra
from tests.api.publishing.shared_places import PLANTS, make_project, publish_words

lance_extra.import_or_skip()
pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A place with two projects."""
    found = str(tmp_path / "place")
    publish_words(make_project(tmp_path / "animals"), found)
    publish_words(make_project(tmp_path / "plants", PLANTS), found)
    return found


@asynccontextmanager
async def served(place: str, *options: str) -> AsyncIterator[Client]:
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "dowse", "serve", "--store", place, *options], env=dict(os.environ)
    )
    async with Client(stdio_client(program)) as client:
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    reply = await client.call_tool(tool, arguments)
    assert not reply.is_error, reply
    content = reply.content[0]
    assert isinstance(content, TextContent)
    found: dict[str, Any] = json.loads(content.text)
    return found


async def test_the_tools_answer_from_all_projects_or_one(place: str) -> None:
    async with served(place) as client:
        code = await ask(client, "search_code", query="water rose")
        assert code["results"][0]["path"] == "plants/garden.py"
        assert code["commits"].keys() >= {"plants"}
        assert code["coverage"]["indexedFiles"] == 5
        one = await ask(client, "search_code", query="milk cow", project="animals")
        assert {hit["path"].partition("/")[0] for hit in one["results"]} == {"animals"}
        globbed = await ask(client, "search_code", query="def", path="field.py", mode="lexical")
        assert {hit["path"] for hit in globbed["results"]} <= {"plants/field.py"}
        docs = await ask(client, "search_docs", query="how to feed them")
        assert docs["results"][0]["path"] == "animals/README.md"
        paths = await ask(client, "search_by_path", pattern="**/*.py")
        assert paths["matches"] == ["animals/src/farm.py", "animals/src/zoo.py", "plants/field.py", "plants/garden.py"]
        assert (await ask(client, "search_by_path", pattern="plants/f*"))["matches"] == ["plants/field.py"]
        text = await ask(client, "find_text", text="_rose(")
        assert [(one["path"], one["line"]) for one in text["matches"]] == [("plants/garden.py", 1)]
        assert (text["totalMatches"], text["complete"]) == (1, True)
        pattern = await ask(client, "find_text", text="def m[a-z]+_", regex=True)
        assert pattern["totalMatches"] == 2
        projects = await ask(client, "list_projects")
        assert [one["projectPath"] for one in projects["projects"]] == ["animals", "plants"]
        status = await ask(client, "get_index_status")
        assert (status["status"], status["totalProjects"], status["totalFiles"]) == ("ready", 2, 5)


async def test_search_and_fetch_answer_from_a_place(place: str) -> None:
    async with served(place, "--tools", "minimal") as client:
        found = (await ask(client, "search", query="mow grass"))["results"]
        assert found[0]["path"] == "plants/field.py"
        fetched = await ask(client, "fetch", id=found[0]["id"])
        assert fetched["text"] == PLANTS["field.py"]
        lost = await client.call_tool("fetch", {"id": found[0]["id"] + "x"})
        assert lost.is_error


async def test_an_assistant_gets_text(place: str) -> None:
    async with served(place, "--tools", "assistant") as client:
        reply = await client.call_tool("search", {"query": "water rose"})
        content = reply.content[0]
        assert isinstance(content, TextContent)
        assert "plants/garden.py" in content.text


def files_below(folder: Path) -> Iterator[tuple[str, int]]:
    for file in sorted(folder.rglob("*")):
        yield str(file), file.stat().st_mtime_ns


def test_nothing_is_written_by_a_server(place: str, storage: Path) -> None:
    before = [*files_below(Path(place)), *files_below(storage.parent)]
    tools = anyio.run(tools_after_a_search, place)
    assert not [name for name in tools if name.endswith("_index") or name.startswith("reindex")]
    assert [*files_below(Path(place)), *files_below(storage.parent)] == before


async def tools_after_a_search(place: str) -> list[str]:
    async with served(place, "--tools", "full") as client:
        await ask(client, "search_code", query="water rose")
        return [tool.name for tool in (await client.list_tools()).tools]


async def test_an_unknown_project_and_an_absent_place_are_said(place: str, tmp_path: Path) -> None:
    async with served(place) as client:
        reply = await client.call_tool("search_code", {"query": "rose", "project": "fungi"})
        assert reply.is_error
        assert "It has: animals, plants" in str(reply.content)
    async with served(str(tmp_path / "none")) as client:
        reply = await client.call_tool("search_code", {"query": "rose"})
        assert "Nothing has been published" in str(reply.content)
