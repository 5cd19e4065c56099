"""A server of all kinds of sources, and conversations with it."""

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp_types import TextContent

from dowse.archives.archive_locations import ArchiveLocations, find_locations
from dowse.archives.archive_update import index_archives
from dowse.cli.composition import ComposedServer, Offer
from dowse.keeping.served_index import Service
from dowse.mcp.replies import CHARACTERS_PER_TOKEN
from dowse.surfaces.sites.sites_surface import open_sites
from dowse.types import View
from mcp import Client
from tests.sample_data import open_indexed, write_tree
from tests.sites.sample_sites import index
from tests.surfaces.project.project_client import Assistant, Reply, converse

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


def assistants_server(*roots: Path) -> ComposedServer:
    """Return a server of projects with the tools for assistants."""
    return ComposedServer(Service(list(roots)), roots[0], Offer(level="assistant"))


def texts_of(
    server: ComposedServer,
    calls: Sequence[tuple[str, dict[str, Any]]],
    *,
    fails: bool | None = False,
    mode: str = "auto",
) -> list[str]:
    """Return the replies of a server to calls of the tools for assistants; each is text alone. Some may fail if `fails` is None."""

    async def conversation() -> list[str]:
        replies = []
        async with Client(server.server(), mode=mode) as client:
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                (block,) = result.content
                assert isinstance(block, TextContent)
                assert result.structured_content is None
                assert fails in (None, bool(result.is_error)), block.text
                replies.append(block.text)
        return replies

    return anyio.run(conversation)


def tools_of(server: ComposedServer, mode: str = "auto") -> dict[str, dict[str, Any]]:
    """Return the tools that a client is offered, by name."""

    async def listed() -> dict[str, dict[str, Any]]:
        async with Client(server.server(), mode=mode) as client:
            found = (await client.list_tools()).tools
            return {tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in found}

    return anyio.run(listed)


def tokens_of(tools: dict[str, dict[str, Any]]) -> float:
    """Return how many tokens a list of tools takes."""
    text = json.dumps({"tools": list(tools.values())}, ensure_ascii=False, separators=(",", ":"))
    return len(text) / CHARACTERS_PER_TOKEN


def run_conversation(
    server: ComposedServer, conversation: Callable[[Assistant], Awaitable[Result]], mode: str = "auto"
) -> Result:
    """Run a conversation with a server in this process."""
    return converse(server.server, lambda connected: conversation(Assistant(connected)), mode)


def call(server: ComposedServer, tool: str, mode: str = "auto", **arguments: Any) -> Reply:
    """Return the reply of a server to one call."""
    return run_conversation(server, lambda assistant: assistant.call_tool(tool, **arguments), mode)


def result_ids(reply: dict[str, Any]) -> list[str]:
    """Return the ids of the results."""
    return [result["id"] for result in reply["results"]]


def result_sources(reply: dict[str, Any]) -> set[str]:
    """Return the sources of the results."""
    return {result["source"] for result in reply["results"]}
