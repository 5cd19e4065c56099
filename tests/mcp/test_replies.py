"""Replies stay under the budget, say when they are truncated, and the next pages give the rest."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult

from dowse.mcp.replies import BUDGET_TOKENS, CHARACTERS_PER_TOKEN
from tests.sample_data import index, write_tree
from tests.surfaces.project.project_client import connect, content_of

pytestmark = pytest.mark.anyio

QUOTED = '"needle": "\\\\path\\"quoted\\"",'


def module(number: int) -> str:
    """A file whose every line has the word and many characters that JSON escapes."""
    functions = (
        f'def needle_{number}_{part}():\n    return {{{QUOTED * 6} "n": {part}}}  # needle' for part in range(30)
    )
    return "\n\n\n".join(functions)


def one_line(size: int) -> str:
    """Return a file of one very long line, with the word at its end."""
    return json.dumps({"numbers": list(range(size // 8)), "needle": "haystack"})


def transferred_characters(result: CallToolResult) -> int:
    """Return the size of a reply in characters."""
    return len(result.model_dump_json(by_alias=True, exclude_none=True))


async def pages(
    root: Path, tool: str, arguments: dict[str, Any], budget_tokens: int = BUDGET_TOKENS
) -> list[dict[str, Any]]:
    """Return every page of an answer; assert that none is larger than the budget."""
    async with connect("auto", root, budget_tokens=budget_tokens) as assistant:
        replies: list[dict[str, Any]] = []
        limit = next(iter(arguments.keys() & {"top_k", "limit"}))
        offset, wanted = 0, arguments[limit]
        while wanted > 0:
            result = await assistant.client.call_tool(tool, {**arguments, "offset": offset, limit: wanted})
            assert transferred_characters(result) <= budget_tokens * CHARACTERS_PER_TOKEN
            replies.append(content_of(result))
            shown = len(replies[-1].get("results") or replies[-1].get("matches") or ())
            assert shown, "a page is empty"
            offset, wanted = offset + shown, wanted - shown
            if "truncated" not in replies[-1]:
                break
            assert f"offset: {offset}." in replies[-1]["truncated"]
        return replies


@pytest.mark.parametrize(("files", "budget_tokens"), [(45, 8000), (12, 3000), (5, 1000)])
async def test_a_large_answer_comes_in_pages_without_repeats(tmp_path: Path, files: int, budget_tokens: int) -> None:
    root = write_tree(tmp_path / "big", {f"src/needle{number:02}.py": module(number) for number in range(files)})
    index(root)
    replies = await pages(root, "search_code", {"query": "needle", "top_k": 50}, budget_tokens)
    paths = [hit["path"] for reply in replies for hit in reply["results"]]
    assert len(replies) > 1
    assert len(paths) == len(set(paths)) == files


async def test_of_a_very_long_line_the_part_with_the_match_is_shown(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "big", {"data.json": one_line(300_000), "small.json": one_line(2000)})
    index(root)
    (reply,) = await pages(root, "search_code", {"query": "haystack", "top_k": 50})
    assert sorted(hit["path"] for hit in reply["results"]) == ["data.json", "small.json"]
    for hit in reply["results"]:
        assert "haystack" in hit["text"]
        assert len(hit["text"]) < 1000


async def test_paths_come_in_pages_too(tmp_path: Path) -> None:
    names = sorted(f"{'long' * 40}/{'name' * 30}{number:03}.py" for number in range(300))
    root = write_tree(tmp_path / "p", dict.fromkeys(names, "x = 1\n"))
    index(root)
    for budget_tokens in (BUDGET_TOKENS, 1000):
        replies = await pages(root, "search_by_path", {"pattern": "**", "limit": 300}, budget_tokens)
        assert len(replies) > 1
        assert [path for reply in replies for path in reply["matches"]] == names
        assert all(reply["totalMatches"] == 300 for reply in replies)


async def test_many_projects_are_cut_and_that_is_said(root: Path, tmp_path: Path) -> None:
    roots = [write_tree(tmp_path / "many" / f"{'name' * 20}{number}", {"a.py": "x = 1\n"}) for number in range(20)]
    index(*roots)
    async with connect("auto", root, budget_tokens=1000) as assistant:
        result = await assistant.client.call_tool("list_projects", {})
        reply = content_of(result)
        assert transferred_characters(result) <= 1000 * CHARACTERS_PER_TOKEN
        assert (0 < len(reply["projects"]) < 20, reply["totalProjects"]) == (True, 20)
        assert "dowse projects" in reply["truncated"]
