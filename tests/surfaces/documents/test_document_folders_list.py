"""The capabilities, and the resource list: its fields, order and pages."""

from pathlib import Path

import pytest

from dowse.surfaces.documents.documents_surface import PAGE
from mcp import MCPError
from tests.sample_data import write_tree
from tests.surfaces.documents.conftest import LISTED
from tests.surfaces.documents.documents_client import Reader, index, run_conversation


def test_resources_and_tools_are_announced_and_nothing_else(notes: Path, mode: str) -> None:
    async def conversation(reader: Reader) -> None:
        capabilities = reader.client.server_capabilities.model_dump(by_alias=True, exclude_none=True)
        assert capabilities["resources"] == {"subscribe": False, "listChanged": True}
        assert capabilities.keys() == {"resources", "tools"}
        assert not capabilities["tools"].get("listChanged")

    run_conversation(mode, conversation, notes)


def test_a_resource_is_listed_with_its_metadata_and_nothing_of_its_content(notes: Path, mode: str) -> None:
    async def conversation(reader: Reader) -> None:
        listed = [one.model_dump(by_alias=True, exclude_none=True, mode="json") for one in await reader.list_all()]
        assert listed == [
            {
                "uri": "docs://README.md",
                "name": "README.md",
                "title": "Orchard notes",
                "description": "How the orchard is kept.",
                "mimeType": "text/markdown",
            },
            {
                "uri": "docs://guide/grafting.html",
                "name": "grafting.html",
                "title": "Grafting & budding",
                "description": "Join a scion to a rootstock.",
                "mimeType": "text/markdown",
            },
            {
                "uri": "docs://guide/pruning.md",
                "name": "pruning.md",
                "title": "Pruning apple trees",
                "description": "When and how to cut.",
                "mimeType": "text/markdown",
            },
            {
                "uri": "docs://memo.txt",
                "name": "memo.txt",
                "title": "Buy secateurs",
                "description": "and a ladder before spring",
                "mimeType": "text/plain",
            },
        ]

    run_conversation(mode, conversation, notes)


def test_the_list_is_the_same_without_an_index(unindexed: Path) -> None:
    async def conversation(reader: Reader) -> None:
        assert await reader.uris() == LISTED

    run_conversation("auto", conversation, unindexed)


def _many(folder: Path) -> Path:
    names = [f"{name}{number}.md" for number in range(70) for name in ("a", "a/b", "a-b", "a.b", "ä", "Z/y/x")]
    return write_tree(folder / "many", {name: f"# {name}\n" for name in names})


def test_pages_follow_each_other_by_path_before_and_after_the_index_is_made(tmp_path: Path) -> None:
    root = _many(tmp_path)
    paths = sorted(str(file.relative_to(root)) for file in root.rglob("*.md"))

    async def conversation(reader: Reader) -> list[str]:
        pages, cursor = [await reader.list_page()], None
        while cursor := pages[-1][1]:
            pages.append(await reader.list_page(cursor))
        assert [len(page) for page, _ in pages] == [PAGE, PAGE, len(paths) - 2 * PAGE]
        return [str(one.title) for page, _ in pages for one in page]

    assert run_conversation("auto", conversation, root) == paths  # by a folder without an index
    index(root)
    assert run_conversation("legacy", conversation, root) == paths
    assert run_conversation("auto", conversation, root) == paths


def test_a_page_that_was_begun_goes_on_when_the_index_is_made_in_between(tmp_path: Path) -> None:
    root = _many(tmp_path)

    async def conversation(reader: Reader) -> None:
        first, cursor = await reader.list_page()
        index(root)
        second, cursor = await reader.list_page(cursor)
        (root / "a10.md").unlink()  # before the current position
        third, end = await reader.list_page(cursor)
        titles = [str(one.title) for one in (*first, *second, *third)]
        assert titles == sorted(titles)
        assert len(set(titles)) == len(titles) == 420
        assert end is None

    run_conversation("auto", conversation, root)


def test_a_list_that_fills_its_page_has_no_empty_page_after_it(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "full", {f"{number:03}.md": "# x\n" for number in range(PAGE)})
    index(root)

    async def conversation(reader: Reader) -> None:
        page, cursor = await reader.list_page()
        assert len(page) == PAGE
        assert cursor is None

    run_conversation("auto", conversation, root)


@pytest.mark.parametrize(
    "cursor", ["", "1", "!!", "MA==", "Ojo=", "MDph/w==", "LTE6", "wrI6", "OTk5OTk5OTk5OTk5Og==", "💥", "a" * 10_000]
)
def test_a_cursor_that_is_not_ours_is_refused(notes: Path, cursor: str, mode: str) -> None:
    async def conversation(reader: Reader) -> None:
        with pytest.raises(MCPError) as caught:
            await reader.list_page(cursor)
        assert caught.value.error.code == -32602
        assert "The cursor did not come from this server" in caught.value.error.message

    run_conversation(mode, conversation, notes)
