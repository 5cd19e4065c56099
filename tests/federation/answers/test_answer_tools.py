"""The tools for assistants: which they are, and what their descriptions take."""

import json
from pathlib import Path

from tests.federation.federated_server import assistants_server, tokens_of, tools_of

MAX_TOKENS = 900


def test_four_tools_without_output_schemas_take_at_most_900_tokens(tmp_path: Path, mode: str) -> None:
    tools = tools_of(assistants_server(tmp_path), mode)
    assert list(tools) == ["search", "read", "find", "uses"]
    assert not any("outputSchema" in tool for tool in tools.values())
    assert tokens_of(tools) <= MAX_TOKENS


def test_several_projects_can_be_named(tmp_path: Path) -> None:
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
    assert all("project" in str(tool["inputSchema"]) for tool in tools_of(assistants_server(*roots)).values())
    assert '"project"' not in json.dumps(tools_of(assistants_server(roots[0])))
