"""The federated tools: which are offered, to whom, their size in tokens, and their status."""

import asyncio
import json
import time
from pathlib import Path

import anyio
import pytest

from dowse.errors import UsageError
from dowse.keeping.service import Service
from dowse.mcp.reply_budget import CHARACTERS_PER_TOKEN
from dowse.mcp.tools import Level, Surface
from dowse.server.composition import ComposedServer, Offer
from dowse.surfaces.sites.sites_surface import open_sites
from mcp import Client
from tests.federation.federated_server import (
    make_app,
    make_federated_server,
    make_indexed_archives,
    result_ids,
    run_conversation,
    write_site_index,
)
from tests.sites.sample_sites import SITE, index
from tests.surfaces.project.project_client import Assistant, Reply

FEDERATED = {"search", "fetch"}
MINIMAL = {*FEDERATED, "get_index_status"}


def offered_tools(server: ComposedServer, mode: str = "auto") -> dict[str, str]:
    async def listed() -> dict[str, str]:
        async with Client(server.server(), mode=mode) as client:
            tools = (await client.list_tools()).tools
            return {tool.name: tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools}

    return anyio.run(listed)


@pytest.mark.parametrize(("level", "most"), [("minimal", 600), ("standard", 4_000)])
def test_the_tools_of_one_project_take_no_more_than_this(app: Path, level: Level, most: int) -> None:
    server = ComposedServer(Service([app]), app, Offer(level=level))
    assert _tokens(offered_tools(server, "auto")) <= most


def test_all_tools_of_all_surfaces_take_no_more_than_this(tmp_path: Path, app: Path) -> None:
    assert _tokens(offered_tools(make_federated_server(tmp_path, app, Offer(level="full")))) <= 12_000


def _tokens(tools: dict[str, str]) -> float:
    return len(f'{{"tools":[{",".join(tools.values())}]}}') / CHARACTERS_PER_TOKEN


def test_minimal_is_three_tools_over_everything(tmp_path: Path, app: Path, mode: str) -> None:
    server = make_federated_server(tmp_path, app, Offer(level="minimal"))
    assert offered_tools(server, mode).keys() == MINIMAL

    async def conversation(assistant: Assistant) -> tuple[Reply, Reply]:
        return await assistant.call_tool("search", query="quince peel"), await assistant.call_tool("get_index_status")

    found, status = run_conversation(make_federated_server(tmp_path, app, Offer(level="minimal")), conversation, mode)
    assert len({result["source"] for result in found["results"]}) > 2
    assert [one["name"] for one in status["sources"]] == [
        "project/app", "documents/app", "site/fruit", "archive", "index/default",
    ]  # fmt: skip


@pytest.mark.parametrize("offer", [Offer(level="minimal"), Offer(("federated",))])
def test_where_no_tool_creates_an_index_the_server_does_when_it_starts(tmp_path: Path, mode: str, offer: Offer) -> None:
    root = make_app(tmp_path)

    async def conversation(assistant: Assistant) -> tuple[Reply, Reply]:
        first = await assistant.call_tool("search", query="quince", source="project/app")
        deadline = time.monotonic() + 60
        while (status := await assistant.call_tool("get_index_status"))["status"] != "ready":
            assert time.monotonic() < deadline, status
            await asyncio.sleep(0.1)
        return first, status

    first, status = run_conversation(ComposedServer(Service([root]), root, offer), conversation, mode)
    assert first["results"][0]["source"] == "project/app"
    (row,) = [one for one in status["sources"] if one["name"] == "project/app"]
    assert (row["state"], row["files"] > 0) == ("ready", True)


def test_search_is_over_the_surfaces_that_are_named_with_it(tmp_path: Path, app: Path) -> None:
    def searched(*surfaces: Surface) -> list[str]:
        server = make_federated_server(tmp_path, app, Offer(surfaces))
        reply = run_conversation(server, lambda assistant: assistant.call_tool("search", query="quince"))
        return list(reply["metadata"]["searched"])

    assert searched("site", "federated") == ["site/fruit"]
    assert searched("federated") == ["project/app", "documents/app", "site/fruit", "archive", "index/default"]


def test_a_site_alone_has_a_status_too(tmp_path: Path) -> None:
    server = ComposedServer(None, tmp_path, Offer(("site",), "minimal"), open_sites([write_site_index(tmp_path)]))
    status = run_conversation(server, lambda assistant: assistant.call_tool("get_index_status"))
    assert status["status"] == "ready"
    assert [(one["kind"], one["name"], one["pages"]) for one in status["sources"]] == [("site", "site/fruit", 4)]


def test_the_status_of_a_project_keeps_its_shape_and_tells_of_all_sources(tmp_path: Path, app: Path, mode: str) -> None:
    status = run_conversation(
        make_federated_server(tmp_path, app), lambda assistant: assistant.call_tool("get_index_status"), mode
    )
    assert {"status", "projectPath", "totalFiles", "totalChunks", "lastUpdated", "storageSize", "watcherActive"} <= (
        status.keys()
    )
    assert status["projectPath"] == str(app)
    rows = {one["name"]: one for one in status["sources"]}
    assert rows["project/app"]["files"] == status["totalFiles"]
    assert rows["archive"]["documents"] == 2
    assert all(one["state"] == "ready" for one in rows.values())


def test_a_broken_source_is_seen_in_the_status(tmp_path: Path, app: Path, storage: Path) -> None:
    for catalog in storage.rglob("catalog.sqlite"):
        catalog.write_bytes(b"not a database" * 1000)
    status = run_conversation(
        make_federated_server(tmp_path, app), lambda assistant: assistant.call_tool("get_index_status")
    )
    (row,) = [one for one in status["sources"] if one["name"] == "documents/app"]
    assert row["state"] == "failed"
    assert row["problem"]


def test_a_site_whose_tool_has_another_s_name_is_refused_unless_only_search_is_offered(
    tmp_path: Path, app: Path
) -> None:
    file = tmp_path / "docs.json"
    file.write_text(json.dumps(index(site={**SITE, "toolPrefix": "docs"})), encoding="utf-8")
    with pytest.raises(UsageError, match="search_docs"):
        ComposedServer(Service([app]), app, Offer(), open_sites([str(file)]))
    server = ComposedServer(Service([app]), app, Offer(level="minimal"), open_sites([str(file)]))
    assert result_ids(
        run_conversation(
            server, lambda assistant: assistant.call_tool("search", query="storing pears", source="site/docs")
        )
    )


def test_a_project_that_cannot_be_found_does_not_hide_the_rest(tmp_path: Path) -> None:
    server = ComposedServer(
        Service([]), Path("/"), Offer(), open_sites([write_site_index(tmp_path)]), locations=make_indexed_archives(tmp_path)
    )  # fmt: skip

    async def conversation(assistant: Assistant) -> tuple[Reply, Reply]:
        return await assistant.call_tool("search", query="peeling apples"), await assistant.call_tool(
            "get_index_status"
        )

    found, status = run_conversation(server, conversation)
    assert found["results"][0]["source"] == "site/fruit"
    assert "project" in found["metadata"]["problems"]
    assert {one["name"] for one in status["sources"]} >= {"project", "site/fruit", "archive"}


def test_a_status_before_anything_is_indexed_says_what_to_do(tmp_path: Path) -> None:
    root = make_app(tmp_path)
    status = run_conversation(
        ComposedServer(Service([root]), root, Offer()), lambda assistant: assistant.call_tool("get_index_status")
    )
    (row,) = [one for one in status["sources"] if one["name"] == "project/app"]
    assert row["state"] == status["status"] == "not_found"
    assert "create_index" in row["problem"]
