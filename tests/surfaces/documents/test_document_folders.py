"""Several folders in one server: their names, and lists, reads and searches over all of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import ResourceListChangedNotification

from dowse.cli.composition import ComposedServer, Offer
from dowse.indexes.document_search import ListedDocument, list_documents
from dowse.indexes.index import ProjectIndex
from dowse.keeping.served_index import Service
from dowse.surfaces.documents.document_folders import ResourceList
from dowse.surfaces.documents.documents_surface import PAGE
from dowse.types import View
from mcp import Client, MCPError
from tests.sample_data import write_tree
from tests.surfaces.documents.conftest import LISTED
from tests.surfaces.documents.documents_client import NOT_FOUND, Reader, connect, index, run_conversation
from tests.surfaces.project.project_client import wait_until

pytestmark = pytest.mark.anyio


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


async def test_addresses_begin_with_the_name_of_their_folder(folders: list[Path]) -> None:
    async with connect("auto", *folders) as reader:
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


async def test_all_folders_are_searched_and_counted_together(folders: list[Path]) -> None:
    async with connect("auto", *folders) as reader:
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


async def test_links_stay_within_their_folder(folders: list[Path]) -> None:
    async with connect("auto", *folders, level="full") as reader:
        (broken,) = (await reader.call_tool("find_links", direction="broken"))["links"]
        assert (broken["from"], broken["target"]) == ("docs://notes/apple.md", "pear.md")


async def test_pages_go_over_from_one_folder_to_the_next(tmp_path: Path) -> None:
    sizes = (PAGE - 1, 1, PAGE, 3)
    roots = [
        write_tree(tmp_path / f"f{number}", {f"{at:04}.md": f"# {number} {at}\n" for at in range(size)})
        for number, size in enumerate(sizes)
    ]
    index(*roots)
    async with connect("auto", *roots) as reader:
        sizes_told, uris, cursor = [], list[str](), None
        while True:
            page, cursor = await reader.list_page(cursor)
            sizes_told.append(len(page))
            uris += [str(one.uri) for one in page]
            if cursor is None:
                break
        assert sizes_told == [PAGE, PAGE, 3]
        assert uris == [f"docs://f{number}/{at:04}.md" for number, size in enumerate(sizes) for at in range(size)]


async def test_the_list_is_the_same_without_an_index(unindexed: Path) -> None:
    async with connect("auto", unindexed) as reader:
        assert await reader.uris() == LISTED


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


async def test_a_page_that_was_begun_goes_on_when_the_index_is_made_in_between(tmp_path: Path) -> None:
    root = _many(tmp_path)
    async with connect("auto", root) as reader:
        first, cursor = await reader.list_page()
        index(root)
        second, cursor = await reader.list_page(cursor)
        (root / "a10.md").unlink()  # before the current position
        third, end = await reader.list_page(cursor)
        titles = [str(one.title) for one in (*first, *second, *third)]
        assert titles == sorted(titles)
        assert len(set(titles)) == len(titles) == 420
        assert end is None


CURSORS = ["", "1", "!!", "MA==", "Ojo=", "MDph/w==", "LTE6", "wrI6", "OTk5OTk5OTk5OTk5Og==", "💥", "a" * 10_000]


async def test_a_cursor_that_is_not_ours_is_refused(notes: Path, mode: str) -> None:
    async with connect(mode, notes) as reader:
        for cursor in CURSORS:
            with pytest.raises(MCPError, match="The cursor did not come from this server") as caught:
                await reader.list_page(cursor)
            assert caught.value.error.code == -32602, cursor


class NotificationCounter:
    """Counts the notifications that a client receives."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ResourceListChangedNotification):
            self.count += 1

    async def wait_for_more_than(self, before: int) -> None:
        async def has_more() -> bool:
            return self.count > before

        await wait_until(has_more)


@asynccontextmanager
async def connected_client(mode: str, *roots: Path) -> AsyncIterator[tuple[Reader, NotificationCounter]]:
    """A client that receives notifications as its revision of the protocol defines."""
    counter = NotificationCounter()
    server = ComposedServer(Service(list(roots)), Path("/"), Offer(("documents",))).server()
    if mode == "legacy":
        async with Client(server, mode=mode, message_handler=counter) as client:
            yield Reader(client), counter
        return
    async with (
        Client(server, mode=mode) as client,
        client.listen(resources_list_changed=True) as events,
        anyio.create_task_group() as tasks,
    ):

        async def listen() -> None:
            async for _ in events:
                counter.count += 1

        tasks.start_soon(listen)
        yield Reader(client), counter
        tasks.cancel_scope.cancel()


async def test_a_client_hears_of_documents_that_come_go_and_get_another_title(notes: Path, mode: str) -> None:
    new = notes / "guide/new.md"
    async with connected_client(mode, notes) as (reader, counter):
        assert len(await reader.list_all()) == 4
        for change, titles in (
            (lambda: new.write_text("# New\n", encoding="utf-8"), ["New"]),
            (lambda: new.write_text("# Newer\n", encoding="utf-8"), ["Newer"]),
            (new.unlink, []),
        ):
            before = counter.count
            change()
            await counter.wait_for_more_than(before)
            assert [one.title for one in await reader.list_all() if "New" in str(one.title)] == titles
        assert counter.count == 3


async def test_neither_the_first_index_nor_another_text_under_the_same_title_is_news(
    unindexed: Path, mode: str
) -> None:
    async with connected_client(mode, unindexed) as (reader, counter):
        assert len(await reader.list_all()) == 4  # from the files, while they are indexed
        write_tree(unindexed, {"README.md": "# Orchard notes\n\nNow about quinces.\n"})

        async def is_indexed() -> bool:
            return "docs://README.md" in await reader.found_uris("quinces")

        await wait_until(is_indexed)
        assert len(await reader.list_all()) == 4
        write_tree(unindexed, {"later.md": "# Later\n"})
        await counter.wait_for_more_than(0)
        assert counter.count == 1


async def test_a_server_that_does_not_lead_tells_its_clients_too(notes: Path, mode: str) -> None:
    async with connected_client("auto", notes) as (first, _):
        await first.search("secateurs")  # by now the first one watches
        async with connected_client(mode, notes) as (reader, counter):
            await reader.list_all()
            await reader.search("secateurs")
            write_tree(notes, {"guide/new.md": "# New\n"})
            await counter.wait_for_more_than(0)
            assert "docs://guide/new.md" in await reader.uris()


async def test_of_several_folders_each_is_heard_of(notes: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"a.md": "# A\n"})
    index(other)
    async with connected_client("legacy", notes, other) as (reader, counter):
        await reader.list_all()
        await reader.search("secateurs")
        write_tree(other, {"b.md": "# B\n"})
        await counter.wait_for_more_than(0)
        assert "docs://other/b.md" in await reader.uris()


# The resource list


def test_a_list_is_another_one_when_a_path_or_title_is(notes: Path) -> None:
    listing, project = ResourceList(), ProjectIndex(notes, View.DOCUMENTS)
    assert not listing.has_changed(project.store)
    for changes, is_news in (
        ({"README.md": "# Orchard notes\n\nAnother text.\n"}, False),
        ({"README.md": "# Another title\n\nAnother text.\n"}, True),
        ({"new.md": "# New\n"}, True),
        ({}, False),
    ):
        write_tree(notes, changes)
        project.update()
        assert listing.has_changed(project.store) is is_news
    (notes / "new.md").rename(notes / "old.md")
    project.update()
    assert listing.has_changed(project.store)
    project.rebuild()
    assert not listing.has_changed(project.store)
    (notes / "old.md").unlink()
    project.update()
    assert listing.has_changed(project.store)
    project.close()


def test_what_was_shown_before_there_was_an_index_is_compared_with_it(notes: Path) -> None:
    project = ProjectIndex(notes, View.DOCUMENTS)
    pages = list_documents(project)

    def is_another(page: list[ListedDocument], *, is_last: bool) -> bool:
        listing = ResourceList()
        listing.record_page(page, is_last=is_last)
        return listing.has_changed(project.store)

    assert not is_another(pages, is_last=True)
    assert not is_another(pages[:2], is_last=False)
    assert not is_another([], is_last=False)
    assert is_another(pages[:2], is_last=True)  # documents were added
    assert is_another([*pages[:2], ListedDocument("guide/a.md", "A", "")], is_last=False)  # a document was removed
    assert is_another([replace(pages[0], title="Before"), *pages[1:]], is_last=True)
    assert is_another([], is_last=True)
    project.close()
