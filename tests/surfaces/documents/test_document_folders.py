"""Several folders in one server: their names, and lists, reads and searches over all of them."""

from pathlib import Path

import pytest

from dowse.surfaces.documents.documents_surface import PAGE
from tests.sample_data import write_tree
from tests.surfaces.documents.documents_client import NOT_FOUND, Reader, index, run_conversation


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two folders of one name, an empty one, and one with another name."""
    found = [
        write_tree(tmp_path / "a/notes", {"apple.md": "# Apples\n\nRed [pear](pear.md).\n", "both.md": "# Fruit\n"}),
        write_tree(tmp_path / "b/notes", {"pear.md": "# Pears\n\nGreen and red.\n", "both.md": "# Fruit\n"}),
        tmp_path / "c/empty",
        write_tree(tmp_path / "d/web notes", {"kiwi #1.html": "<title>Kiwis</title><p>Brown, not red.</p>"}),
    ]
    found[2].mkdir(parents=True)
    index(*found)
    return found


def test_addresses_begin_with_the_name_of_their_folder(folders: list[Path]) -> None:
    async def conversation(reader: Reader) -> None:
        uris = await reader.uris()
        assert uris == [
            "docs://notes/apple.md",
            "docs://notes/both.md",
            "docs://notes-2/both.md",
            "docs://notes-2/pear.md",
            "docs://web%20notes/kiwi%20%231.html",
        ]
        for uri in uris:
            assert await reader.read(uri)
        for uri in ("docs://apple.md", "docs://notes", "docs://notes/pear.md", "docs://notes-2/../notes/apple.md"):
            assert await reader.read_error(uri) == (NOT_FOUND["auto"], f"Resource not found: {uri}")

    run_conversation("auto", conversation, *folders)


def test_all_folders_are_searched_and_counted_together(folders: list[Path]) -> None:
    async def conversation(reader: Reader) -> None:
        text, content = await reader.search_with_text("red", limit=2)
        assert text.startswith("Search results: 3 matches (showing 2)")
        assert content["coverage"] == {"indexedFiles": 5, "expectedFiles": 5, "complete": True}
        assert set(await reader.found_uris("red")) == {
            "docs://notes/apple.md",
            "docs://notes-2/pear.md",
            "docs://web%20notes/kiwi%20%231.html",
        }
        assert await reader.found_uris("fruit") == ["docs://notes/both.md", "docs://notes-2/both.md"]
        scores = [one["relevance"] for one in (await reader.search("pears red"))["results"]]
        assert scores == sorted(scores, reverse=True)

    run_conversation("auto", conversation, *folders)


def test_links_stay_within_their_folder(folders: list[Path]) -> None:
    async def conversation(reader: Reader) -> None:
        (broken,) = (await reader.call_tool("find_links", direction="broken"))["links"]
        assert (broken["from"], broken["target"]) == ("docs://notes/apple.md", "pear.md")

    run_conversation("auto", conversation, *folders, level="full")


def test_pages_go_over_from_one_folder_to_the_next(tmp_path: Path) -> None:
    sizes = (PAGE - 1, 1, PAGE, 3)
    roots = [
        write_tree(tmp_path / f"f{number}", {f"{at:04}.md": f"# {number} {at}\n" for at in range(size)})
        for number, size in enumerate(sizes)
    ]
    index(*roots)

    async def conversation(reader: Reader) -> None:
        sizes_told, uris, cursor = [], list[str](), None
        while True:
            page, cursor = await reader.list_page(cursor)
            sizes_told.append(len(page))
            uris += [str(one.uri) for one in page]
            if cursor is None:
                break
        assert sizes_told == [PAGE, PAGE, 3]
        assert uris == [f"docs://f{number}/{at:04}.md" for number, size in enumerate(sizes) for at in range(size)]

    run_conversation("auto", conversation, *roots)
