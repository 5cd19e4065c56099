"""The faces of dowse give one answer: `--json` of a command is the reply of the tool that does the same."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from dowse.cli import main
from dowse.cli.composition import ComposedServer, Offer
from dowse.federation.federated_search import source_statuses
from dowse.keeping.served_index import Service
from dowse.mcp.tools import Call
from dowse.page.item_links import root_name
from dowse.page.status_view import STATE_NAMES, status_view
from dowse.visible_text import pluralize
from mcp import Client
from tests.federation.federated_server import make_app, make_indexed_archives, make_indexes
from tests.sample_data import write_tree
from tests.searching.history.repositories import Change, make_repository

Reply = dict[str, Any]

APPLE, GUIDE = "src/apple.py", "guide.md"
PAIRS: list[tuple[str, str, Reply]] = [
    ("search quince --code", "search_code", {"query": "quince"}),
    ("search quince --code --detail outline --limit 1", "search_code", {"query": "quince", "detail": "outline", "top_k": 1}),
    ("search quince --code --offset 1", "search_code", {"query": "quince", "offset": 1}),
    ("search zzzqqq --code --language klingon", "search_code", {"query": "zzzqqq", "language": "klingon"}),
    ("search quinse --docs", "search_docs", {"query": "quinse"}),
    ("search --exact quince --limit 2", "find_text", {"text": "quince", "limit": 2}),
    ("search --exact quince --limit 2 --offset 2", "find_text", {"text": "quince", "limit": 2, "offset": 2}),
    ("search --regex peel_?[aA]pple --path src/**", "find_text", {"text": "peel_?[aA]pple", "regex": True, "path": "src/**"}),
    ("search --history quince --authors", "search_history", {"query": "quince", "authors": True}),
    ("refs peel_apple", "find_references", {"name": "peel_apple"}),
    ("refs peel_aple", "find_references", {"name": "peel_aple"}),
    (f"related {APPLE}", "related_files", {"path": APPLE}),
    (f"why {APPLE}", "explain", {"path": APPLE}),
    (f"why quince {APPLE}", "explain", {"path": APPLE, "query": "quince"}),
    ("why .env", "explain", {"path": ".env"}),
    ("status", "get_index_status", {}),
    ("projects", "list_projects", {}),
    ("index", "create_index", {}),
    ("docs search quince", "search_documents", {"query": "quince"}),
    ("docs search quince --in title --limit 1", "search_documents", {"query": "quince", "searchIn": "title", "limit": 1}),
    (f"docs read {GUIDE}", "read_document", {"uri": f"docs://{GUIDE}"}),
    ("archive search quinces --citations", "searchLocalArchives", {"query": "quinces", "includeCitations": True}),
    ("notes list", "search_list_indexes", {}),
    ("notes search ideas figs -k 1", "search_index", {"index_name": "ideas", "query": "figs", "k": 1}),
    ("notes search ideas -", "search_index", {"index_name": "ideas", "query": "-"}),
    ("notes show ideas b", "search_get_document", {"index_name": "ideas", "doc_id": "b"}),
    ("notes add ideas b Figs!", "search_add_document", {"index_name": "ideas", "doc_id": "b", "content": "Figs!"}),
]  # fmt: skip
"""Each command, the tool that does the same, and its arguments."""
MEASURED = {
    "searchTimeMs", "duration", "storageSize", "lastUpdated", "lastCheck", "watcher", "watcherActive",
    "total_indexes",
}  # fmt: skip
"""Keys whose values are times, sizes, or about the process that answers."""


class Faces:
    """A project with archives and notes, and the replies of all tools of a server of them."""

    def __init__(self, folder: Path) -> None:
        write_tree(folder / "dowse", {"config.json": '{"encoder": "none"}'})
        self.root = make_app(folder)
        files = {path: (self.root / path).read_text(encoding="utf-8") for path in (APPLE, GUIDE)}
        make_repository(self.root, [Change("Begin with a quince", files), Change("Add a quince guide", {GUIDE: "new"})])
        make_indexed_archives(folder)
        for words in ("notes create ideas", "notes add ideas a Figs", "notes add ideas b Figs!"):
            assert main(words.split()) == 0
        make_indexes(self.root)

    def server(self) -> ComposedServer:
        return ComposedServer(Service([self.root]), self.root, Offer(level="full"))

    async def ask_tools(self) -> list[Reply]:
        async with Client(self.server().server()) as client:
            results = [await client.call_tool(tool, arguments) for _, tool, arguments in PAIRS]
        assert not [result for result in results if result.is_error]
        return [result.structured_content for result in results if isinstance(result.structured_content, dict)]


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    folder = tmp_path_factory.mktemp("faces")
    with pytest.MonkeyPatch.context() as patch:
        set_places(patch, folder)
        yield Faces(folder)


def set_places(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Name the storage root and the archives for commands and servers."""
    patch.setenv("DOWSE_HOME", str(folder / "dowse"))
    patch.setenv("RESEARCH_ARCHIVE_PATH", str(folder / "research-archive"))
    patch.setenv("URL_CONTENT_ARCHIVE_PATH", str(folder / "url-content-archive"))
    patch.setenv("SEARCH_DB_PATH", str(folder / "data/search.db"))


@pytest.fixture(scope="module")
def replies(faces: Faces) -> dict[str, Reply]:
    """Return the reply of each tool, by the command that does the same."""
    return dict(zip((command for command, _, _ in PAIRS), anyio.run(faces.ask_tools), strict=True))


@pytest.fixture(autouse=True)
def _in_the_project(faces: Faces, monkeypatch: pytest.MonkeyPatch) -> None:
    set_places(monkeypatch, faces.root.parent)
    monkeypatch.chdir(faces.root)


def comparable(value: Any) -> Any:
    """Return a reply with `None` for what is measured, and without the indexes that only a server has, in memory."""
    if isinstance(value, list):
        return [comparable(one) for one in value if not isinstance(one, dict) or one.get("backend") != "memory"]
    if not isinstance(value, dict):
        return value
    return {key: None if key in MEASURED else comparable(one) for key, one in value.items()}


@pytest.mark.parametrize("command", [command for command, _, _ in PAIRS])
def test_the_json_of_a_command_is_the_reply_of_its_tool(
    replies: dict[str, Reply], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*command.split(), "--json"])
    assert comparable(json.loads(capsys.readouterr().out)) == comparable(replies[command])


def test_deleting_has_one_reply(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    roots = [make_indexes(make_app(tmp_path / name)) for name in ("one", "two")]
    for name in ("one", "two"):
        main(["notes", "create", name])
    capsys.readouterr()

    async def delete() -> list[Any]:
        async with Client(ComposedServer(Service([roots[0]]), roots[0], Offer(level="full")).server()) as client:
            calls = [("delete_index", {}), ("search_delete_index", {"index_name": "one"})]
            return [(await client.call_tool(tool, {**how, "confirm": True})).structured_content for tool, how in calls]

    for words, reply in zip(
        (["forget", str(roots[1])], ["notes", "remove", "two", "--yes"]), anyio.run(delete), strict=True
    ):
        main([*words, "--json"])
        told = json.loads(capsys.readouterr().out)
        assert {**told, "projectPath": None, "index_name": None} == {**reply, "projectPath": None, "index_name": None}


def test_there_is_one_status(faces: Faces) -> None:
    """The tool and the command are compared above; the page shows the same values."""

    async def ask() -> tuple[Reply, str]:
        composed = faces.server()
        statuses = await source_statuses(composed.source_list, Call())
        return await composed.status(Call()), await status_view(composed.source_list, statuses, None, is_public=False)

    reply, shown = asyncio.run(ask())
    skipped = ", ".join(f"{pluralize(count, 'file')} {why}" for why, count in reply["skipped"].items())
    for value in (reply["storageSize"], reply["projectPath"], skipped):
        assert f"<dd>{value}</dd>" in shown
    assert f"<dd>{pluralize(reply['totalFiles'], 'file')}" in shown
    assert f'<time datetime="{reply["lastUpdated"]}"' in shown
    for source in reply["sources"]:
        name = root_name(source["name"])
        assert f'{name}</a> <span class="about">{STATE_NAMES[source["state"]]}</span>' in shown
