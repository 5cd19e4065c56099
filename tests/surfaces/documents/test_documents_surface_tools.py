"""With `--tools full`: the outline of a document, some lines of it, and its links."""

import json
from pathlib import Path
from typing import Any

import pytest

from dowse.mcp.replies import CHARACTERS_PER_TOKEN
from dowse.store.catalog_writer import MAX_LINKS
from tests.sample_data import write_tree
from tests.surfaces.documents.documents_client import connect, index

pytestmark = pytest.mark.anyio


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A small site whose pages have every kind of link to each other."""
    root = write_tree(
        tmp_path / "site",
        {
            "index.md": (
                "# Start\n\n"
                "[relative](guide/install.md) [pretty](/guide/install/) [anchor](guide/install.md#on-linux)\n"
                "[gone](guide/gone.md) [no section](guide/install.md#on-mars) [web](https://example.org/x)\n"
                "[encoded](guide/with%20space.md) [reference][ref] [[Install]]\n"
                "`[code](not/a/link.md)`\n\n[ref]: guide/notes.txt\n"
            ),
            "guide/install.md": "# Install\n\nText.\n\n## On Linux\n\n[back](../index.md)\n\n## On Linux\n\nAgain.\n",
            "guide/with space.md": "# Spaced\n\n[out](../../outside.md) [up](../index.md#start)\n",
            "guide/notes.txt": "Notes\nhttps://example.org\n",
            "page.html": '<title>Page</title><p><a href="guide/install.md">in</a> <a href="missing.html">m</a></p>',
        },
    )
    index(root)
    return root


async def test_a_long_document_is_read_in_pieces_that_make_the_whole(tmp_path: Path) -> None:
    text = "# Long\n\n" + "".join(f'Line {number} with "quotes" and \\ more.\n' for number in range(3000))
    write_tree(tmp_path, {"long.md": text, "wide.md": "x" * 100_000, "empty.md": ""})
    index(tmp_path)
    async with connect("auto", tmp_path, level="full", budget_tokens=2000) as reader:
        pieces, start = [], 1
        while True:
            got = await reader.call_tool("read_document", uri="docs://long.md", startLine=start)
            pieces.append(got["text"])
            assert 2 * len(json.dumps(got)) <= 2000 * CHARACTERS_PER_TOKEN * 1.2
            if "truncated" not in got:
                break
            start = got["endLine"] + 1
        assert "".join(pieces) == text
        wide = await reader.call_tool("read_document", uri="docs://wide.md")
        assert "longer than a reply" in wide["truncated"]
        empty = await reader.call_tool("read_document", uri="docs://empty.md")
        assert empty["text"] == ""


async def test_broken_links_are_found_in_one_document_or_all(site: Path) -> None:
    async with connect("auto", site, level="full") as reader:

        async def broken(**how: Any) -> list[tuple[str, str]]:
            found = await reader.call_tool("find_links", direction="broken", **how)
            return [(one["from"].removeprefix("docs://"), one["text"]) for one in found["links"]]

        assert await broken(uri="docs://index.md") == [("index.md", "gone"), ("index.md", "no section")]
        assert await broken() == [("guide/with%20space.md", "out"), ("index.md", "gone"), ("page.html", "m")]
        assert await broken(limit=1, offset=1) == [("index.md", "gone")]
        page = await reader.call_tool("find_links", direction="broken", limit=2)
        assert (page["totalLinks"], page["nextOffset"]) == (3, 2)
        for direction in ("in", "out"):
            message = await reader.expect_error("find_links", direction=direction)
            assert message == f"uri: which document? Links '{direction}' are those of one."


async def test_a_link_to_a_file_that_is_no_document_is_not_broken(tmp_path: Path) -> None:
    """Links to programs and data were called broken, although their files exist."""
    files = {
        "docs/a.md": "[x](../src/x.py) [data](d.json) [f](/src/) [gone](gone.py)\n",
        "src/x.py": "",
        "docs/d.json": "",
    }
    write_tree(tmp_path, files)
    async with connect("auto", tmp_path, level="full") as reader:
        (broken,) = (await reader.call_tool("find_links", direction="broken"))["links"]
        assert broken["text"] == "gone"
        links = (await reader.call_tool("find_links", uri="docs://docs/a.md"))["links"]
        assert [link["kind"] for link in links] == ["file", "file", "file", "broken"]
        (tmp_path / "docs/d.json").unlink()
        assert len((await reader.call_tool("find_links", direction="broken"))["links"]) == 2


async def test_the_first_links_of_a_document_are_kept(tmp_path: Path) -> None:
    links = "".join(f"[n{number}](b.md)\n" for number in range(MAX_LINKS + 2))
    write_tree(tmp_path, {"a.md": links, "b.md": "# B\n"})
    async with connect("auto", tmp_path, level="full") as reader:
        found = await reader.call_tool("find_links", uri="docs://a.md", offset=MAX_LINKS - 2)
        assert (found["totalLinks"], [link["text"] for link in found["links"]]) == (MAX_LINKS, ["n19998", "n19999"])


async def test_links_follow_what_was_just_changed(site: Path) -> None:
    async with connect("auto", site, level="full") as reader:

        async def broken() -> set[str]:
            return {one["text"] for one in (await reader.call_tool("find_links", direction="broken"))["links"]}

        assert await broken() == {"out", "gone", "m"}
        write_tree(site, {"guide/gone.md": "# Back\n"})  # the links of another page lead there now
        assert await broken() == {"out", "m"}
        write_tree(site, {"page.html": "<title>Page</title><p>No <a href='nowhere.md'>link</a>.</p>"})
        assert await broken() == {"out", "link"}
        into = await reader.call_tool("find_links", uri="docs://guide/install.md", direction="in")
        assert "docs://page.html" not in {one["from"] for one in into["links"]}
        (site / "guide/install.md").unlink()
        assert {"relative", "pretty", "anchor"} <= await broken()
