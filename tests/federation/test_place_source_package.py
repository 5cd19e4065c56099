"""The packages of a project as a source: searched where it is named, read by its ids, and never beside the others."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import pytest

from dowse.errors import ItemNotFound
from dowse.federation.federated_search import fetch_one, search_all, source_statuses
from dowse.federation.federation_types import SourceQuery
from dowse.federation.source_list import SourceList
from dowse.indexes.dependencies.package_search import Dependencies
from dowse.indexes.index import ProjectIndex
from dowse.keeping.served_index import Service
from dowse.mcp.tools import Call
from dowse.searching.query_terms import parse_search_query
from tests.indexes.dependencies import environments

Result = TypeVar("Result")
ID = "dependencies/shop/tinyhttp%401.2.0/tinyhttp/__init__.py"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = environments.python_project(tmp_path / "shop")
    environments.enable_dependencies()
    Dependencies(root).index_packages()
    ProjectIndex(root).update()
    return root


def with_sources(shop: Path, ask: Callable[[SourceList], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        service = Service([shop])
        try:
            return await ask(SourceList(shop, projects=service))
        finally:
            service.close()

    return anyio.run(run)


def ids_of(shop: Path, source: str | None) -> list[str]:
    async def ask(sources: SourceList) -> list[str]:
        query = SourceQuery(parse_search_query("retry policy of tinyhttp"), 5)
        found = await search_all(sources, Call(), query, source)
        return [ranked.item.id for ranked in found.results]

    return with_sources(shop, ask)


def test_packages_are_searched_only_where_they_are_named(shop: Path) -> None:
    assert ids_of(shop, "dependencies")[0] == ID
    assert ids_of(shop, "dependencies/shop")[0] == ID
    for source in (None, "shop"):
        assert all(one.startswith("project/") for one in ids_of(shop, source))


def test_an_item_is_read_by_its_id(shop: Path) -> None:
    _, item = with_sources(shop, lambda sources: fetch_one(sources, Call(), ID))
    assert item.title == "tinyhttp 1.2.0 · tinyhttp/__init__.py"
    assert item.metadata["version"] == "1.2.0"
    for wrong in ("tinyhttp%401.2.0/../six.py", "tinyhttp%401.2.0/six.py", "tinyhttp%409/tinyhttp/__init__.py", "x"):
        with pytest.raises(ItemNotFound):
            with_sources(shop, partial(fetch_one, call=Call(), item_id=f"dependencies/shop/{wrong}"))


def test_the_status_counts_packages(shop: Path) -> None:
    statuses = with_sources(shop, lambda sources: source_statuses(sources, Call()))
    (found,) = [status for status in statuses if status.kind == "dependencies"]
    assert (found.state, found.counts) == ("ready", {"packages": 1})


def test_all_files_of_packages_are_listed(shop: Path) -> None:
    async def ask(sources: SourceList) -> list[str]:
        (source,) = [one for one in (await sources.find(Call()))[0] if one.kind == "dependencies"]
        return [item.locator for item in await source.list_items()]

    listed = with_sources(shop, ask)
    assert "tinyhttp@1.2.0/tinyhttp/__init__.py" in listed
