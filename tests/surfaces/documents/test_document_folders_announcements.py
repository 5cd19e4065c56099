"""Clients are notified when the resource list changes, and only then."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from mcp_types import ResourceListChangedNotification

from dowse.indexes.document_search import ListedDocument, list_documents
from dowse.indexes.index import ProjectIndex
from dowse.keeping.service import Service
from dowse.server.composition import ComposedServer, Offer
from dowse.surfaces.documents.document_folders import ResourceList
from dowse.types import View
from mcp import Client
from tests.sample_data import write_tree
from tests.surfaces.documents.documents_client import Reader, index
from tests.surfaces.project.project_client import wait_until


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


Scenario = Callable[[Reader, NotificationCounter], Awaitable[None]]


def run_scenario(mode: str, scenario: Scenario, *roots: Path) -> None:
    async def run() -> None:
        async with connected_client(mode, *roots) as (reader, counter):
            await scenario(reader, counter)

    anyio.run(run)


def test_a_client_hears_of_documents_that_come_go_and_get_another_title(notes: Path, mode: str) -> None:
    new = notes / "guide/new.md"

    async def scenario(reader: Reader, counter: NotificationCounter) -> None:
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

    run_scenario(mode, scenario, notes)


def test_neither_the_first_index_nor_another_text_under_the_same_title_is_news(unindexed: Path, mode: str) -> None:
    async def scenario(reader: Reader, counter: NotificationCounter) -> None:
        assert len(await reader.list_all()) == 4  # from the files, while they are indexed
        write_tree(unindexed, {"README.md": "# Orchard notes\n\nNow about quinces.\n"})

        async def is_indexed() -> bool:
            return "docs://README.md" in await reader.found_uris("quinces")

        await wait_until(is_indexed)
        assert len(await reader.list_all()) == 4
        write_tree(unindexed, {"later.md": "# Later\n"})
        await counter.wait_for_more_than(0)
        assert counter.count == 1

    run_scenario(mode, scenario, unindexed)


def test_a_server_that_does_not_lead_tells_its_clients_too(notes: Path, mode: str) -> None:
    async def content_and_text() -> None:
        async with connected_client("auto", notes) as (first, _):
            await first.search("secateurs")  # by now the first one watches
            async with connected_client(mode, notes) as (reader, counter):
                await reader.list_all()
                await reader.search("secateurs")
                write_tree(notes, {"guide/new.md": "# New\n"})
                await counter.wait_for_more_than(0)
                assert "docs://guide/new.md" in await reader.uris()

    anyio.run(content_and_text)


def test_of_several_folders_each_is_heard_of(notes: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"a.md": "# A\n"})
    index(other)

    async def scenario(reader: Reader, counter: NotificationCounter) -> None:
        await reader.list_all()
        await reader.search("secateurs")
        write_tree(other, {"b.md": "# B\n"})
        await counter.wait_for_more_than(0)
        assert "docs://other/b.md" in await reader.uris()

    run_scenario("legacy", scenario, notes, other)


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
