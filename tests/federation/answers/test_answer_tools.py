"""The tools for assistants: which they are, and what their descriptions take."""

import json
from pathlib import Path

import anyio
import pytest

from dowse.cli.composition import ComposedServer, Offer
from dowse.keeping.served_index import Service
from dowse.mcp.replies import CHARACTERS_PER_TOKEN
from mcp import Client

MAX_TOKENS = 900


def listed(mode: str, *roots: Path) -> list[dict[str, object]]:
    async def tools() -> list[dict[str, object]]:
        server = ComposedServer(Service(list(roots)), roots[0], Offer(level="assistant")).server()
        async with Client(server, mode=mode) as client:
            found = (await client.list_tools()).tools
            return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in found]

    return anyio.run(tools)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_four_tools_without_output_schemas_take_at_most_900_tokens(tmp_path: Path, mode: str) -> None:
    tools = listed(mode, tmp_path)
    assert [tool["name"] for tool in tools] == ["search", "read", "find", "uses"]
    assert not any("outputSchema" in tool for tool in tools)
    assert len(json.dumps(tools)) / CHARACTERS_PER_TOKEN <= MAX_TOKENS


def test_several_projects_can_be_named(tmp_path: Path) -> None:
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
    assert all("project" in str(tool["inputSchema"]) for tool in listed("auto", *roots))
    assert not any('"project"' in json.dumps(tool["inputSchema"]) for tool in listed("auto", roots[0]))
