"""A server of everything, and an assistant that asks it; every reply is held against what the tool promises."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio

from dowse.archives.archive_locations import ArchiveLocations, find_locations
from dowse.archives.archive_watcher import index_once
from dowse.indexes.index import IndexKind, ProjectIndex
from dowse.keeping.service import Service
from dowse.server.composition import ComposedServer, Offer
from dowse.surfaces.sites.sites_surface import open_sites
from mcp import Client
from tests.sample_data import write_tree
from tests.sites.sample_sites import index
from tests.surfaces.project.project_client import Assistant

Got = TypeVar("Got")

APP = {
    "pyproject.toml": "[project]\nname = 'app'\n",
    "src/apple.py": "def peel_apple():\n    return 'red quince'\n",
    "src/pear.js": "function peelPear() { return 'green quince' }\n",
    "guide.md": "# Quince guide\n\nHow to peel a quince with a knife.\n",
    "page.html": "<html><head><title>Medlars</title></head><body><p>Blet the medlars first.</p></body></html>",
    "naïve folder/ünï %41#?.md": "# Oddly named\n\nA sloe in an odd place.\n",
    ".env": "TOKEN=hunter2 quince\n",
    ".gitignore": "*.gen.py\n",
    "src/x.gen.py": "quince = 'hunter2'\n",
}
REPORT = "# Report on quinces\n\nQuinces were measured in 2024. They are hard.\n"


def make_app(folder: Path) -> Path:
    """A small project."""
    return write_tree(folder / "app", APP)


def indexed(root: Path, *whats: IndexKind) -> Path:
    """Index a root in this process."""
    for what in whats or ("project", "documents"):
        project = ProjectIndex(root, what)
        project.update()
        project.close()
    return root


def archived(folder: Path) -> ArchiveLocations:
    """Archives of one report and one captured page, indexed."""
    facts = {"url": "https://fruit.example/posts/storing-pears", "title": "Storing pears", "capturedAt": "2025-05-20"}
    write_tree(
        folder,
        {
            "research-archive/quinces.md": REPORT,
            "url-content-archive/1/content.md": "# Storing pears\n\nPears ripen from the inside out.\n",
            "url-content-archive/1/metadata.json": json.dumps(facts),
        },
    )
    places = find_locations(folder=folder, environment={})
    from dowse.archives.archive_database import create_database

    database = create_database(places.database)
    index_once(database, places)
    database.close()
    return places


def site_file(folder: Path) -> str:
    """The index of a small site."""
    file = folder / "site.json"
    file.write_text(json.dumps(index()), encoding="utf-8")
    return str(file)


def everything(
    folder: Path, root: Path, offer: Offer | None = None, *, library: tuple[Path, ...] = (), has_site: bool = True
) -> ComposedServer:
    """A server of a project, its documents, a site, archives and notes."""
    return ComposedServer(
        Service([root]),
        root,
        offer or Offer(),
        open_sites([site_file(folder)]) if has_site else None,
        documents_service=Service([root, *library]) if library else None,
        locations=archived(folder),
    )


def talk(made: ComposedServer, conversation: Callable[[Assistant], Awaitable[Got]], mode: str = "auto") -> Got:
    """Have a conversation with a server in this process."""

    async def have_it() -> Got:
        async with Client(made.server(), mode=mode) as connected:
            try:
                return await conversation(Assistant(connected))
            except Exception as error:  # raised once more outside, where no group is made of it
                failure = error
        raise failure

    return anyio.run(have_it)


def ids(reply: dict[str, Any]) -> list[str]:
    """The ids of what was found."""
    return [one["id"] for one in reply["results"]]


def sources(reply: dict[str, Any]) -> set[str]:
    """The sources that something was found in."""
    return {one["source"] for one in reply["results"]}
