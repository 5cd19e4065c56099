"""All surfaces in one server: the offered tools, and the refusal of two tools with one name."""

import json
from pathlib import Path

import anyio
import pytest

from dowse.cli.composition import ComposedServer, Offer
from dowse.errors import UsageError
from dowse.keeping.served_index import Service
from dowse.mcp.tools import SURFACES, Level, Surface
from dowse.surfaces.sites.sites_surface import open_sites
from mcp import Client
from tests.sample_data import write_tree
from tests.sites.sample_sites import SITE, index

CODE = {
    "search_code", "search_docs", "search_by_path", "find_text", "get_index_status", "list_projects",
    "create_index", "reindex_project", "reindex_file", "delete_index",
}  # fmt: skip
SITES = {"search_fruit", "get_article", "get_index_info"}
FEDERATED = {"search", "fetch"}
INDEXES = {"search_index", "search_add_document", "search_create_index"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_tree(tmp_path / "app", {"pyproject.toml": "", "src/pear.py": "pear = 1\n", "guide.md": "# Pears\n"})


def site_file(folder: Path, prefix: str = "fruit") -> str:
    file = folder / "index.json"
    file.write_text(json.dumps(index(site={**SITE, "toolPrefix": prefix})), encoding="utf-8")
    return str(file)


def composed(
    root: Path,
    *sites: str,
    surfaces: tuple[Surface, ...] = SURFACES,
    level: Level = "standard",
    is_public: bool = False,
) -> ComposedServer:
    offer = Offer(surfaces, level, is_public=is_public)
    return ComposedServer(Service([root]), root, offer, open_sites(sites) if sites else None)


def offered_tools(server: ComposedServer, mode: str = "auto") -> set[str]:
    async def listed() -> list[str]:
        async with Client(server.server(), mode=mode) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    names = anyio.run(listed)
    assert len(names) == len(set(names))
    return set(names)


def test_every_surface_is_offered_where_there_is_something_to_it(root: Path, tmp_path: Path, mode: str) -> None:
    assert offered_tools(composed(root), mode) == CODE | INDEXES | FEDERATED | {"search_documents"}
    (tmp_path / "research-archive").mkdir()
    with_all = composed(root, site_file(tmp_path))
    everything = CODE | INDEXES | SITES | FEDERATED | {"search_documents", "searchLocalArchives"}
    assert offered_tools(with_all, mode) == everything


def test_to_the_public_nothing_is_offered_that_writes_or_tells_of_projects(root: Path, tmp_path: Path) -> None:
    (tmp_path / "research-archive").mkdir()
    assert offered_tools(composed(root, site_file(tmp_path), is_public=True)) == SITES | FEDERATED | {
        "search_documents"
    }
    with pytest.raises(UsageError, match="--public"):
        composed(root, surfaces=("code", "archive", "indexes"), is_public=True)


@pytest.mark.parametrize("prefix", ["code", "docs", "by_path", "documents", "index", "add_document", "create_index"])
def test_a_site_whose_tool_has_the_name_of_another_is_refused_with_the_remedy(
    root: Path, tmp_path: Path, prefix: str
) -> None:
    file = site_file(tmp_path, prefix)
    with pytest.raises(UsageError, match=rf"search_{prefix}\b.*--site NAME=FILE"):
        composed(root, file)
    assert f"search_{prefix}" in offered_tools(composed(root, file, surfaces=("site",)))
    assert {"search_mine", f"search_{prefix}"} <= offered_tools(composed(root, f"mine={file}"))


def test_a_server_of_nothing_says_what_is_missing(root: Path) -> None:
    with pytest.raises(UsageError, match="--site FILE"):
        composed(root, surfaces=("site",))
    with pytest.raises(UsageError, match="RESEARCH_ARCHIVE_PATH"):
        composed(root, surfaces=("archive",))
