"""A server of all kinds of sources, and conversations with it."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from dowse.archives.archive_locations import ArchiveLocations, find_locations
from dowse.archives.archive_update import index_archives
from dowse.cli.composition import ComposedServer, Offer
from dowse.keeping.served_index import Service
from dowse.surfaces.sites.sites_surface import open_sites
from dowse.types import View
from tests.sample_data import open_indexed, write_tree
from tests.sites.sample_sites import index
from tests.surfaces.project.project_client import Assistant, converse

Result = TypeVar("Result")

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
    """Write a small project and return its root."""
    return write_tree(folder / "app", APP)


def make_indexes(root: Path, *views: View) -> Path:
    """Index a root in this process and return it."""
    for view in views or (View.PROJECT, View.DOCUMENTS):
        open_indexed(root, view).close()
    return root


def make_indexed_archives(folder: Path) -> ArchiveLocations:
    """Write archives of one report and one captured page, and index them."""
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
    index_archives(database, places)
    database.close()
    return places


def write_site_index(folder: Path) -> str:
    """Write the index of a small site and return its path."""
    file = folder / "site.json"
    file.write_text(json.dumps(index()), encoding="utf-8")
    return str(file)


def make_federated_server(
    folder: Path, root: Path, offer: Offer | None = None, *, others: tuple[Path, ...] = (), has_site: bool = True
) -> ComposedServer:
    """Return a server of a project, its documents, a site, archives and named indexes."""
    return ComposedServer(
        Service([root, *others]),
        root,
        offer or Offer(),
        open_sites([write_site_index(folder)]) if has_site else None,
        locations=make_indexed_archives(folder),
    )


def run_conversation(
    server: ComposedServer, conversation: Callable[[Assistant], Awaitable[Result]], mode: str = "auto"
) -> Result:
    """Run a conversation with a server in this process."""
    return converse(server.server, lambda connected: conversation(Assistant(connected)), mode)


def result_ids(reply: dict[str, Any]) -> list[str]:
    """Return the ids of the results."""
    return [result["id"] for result in reply["results"]]


def result_sources(reply: dict[str, Any]) -> set[str]:
    """Return the sources of the results."""
    return {result["source"] for result in reply["results"]}
