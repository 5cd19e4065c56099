"""The federated tools: which are offered, to whom, their size in tokens, and their status."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from dowse.cli.composition import ComposedServer, Offer
from dowse.keeping.served_index import Service
from dowse.mcp.tools import Level, Surface
from dowse.surfaces.sites.sites_surface import open_sites
from tests.end_to_end.security.fake_secrets import private_key
from tests.federation.federated_server import (
    call,
    make_app,
    make_federated_server,
    make_indexed_archives,
    make_indexes,
    result_ids,
    run_conversation,
    tokens_of,
    tools_of,
    write_site_index,
)
from tests.mcp.http.http_server import HttpClient, HttpServer
from tests.mcp.stdio.stdio_client import NEWER
from tests.sample_data import write_tree
from tests.surfaces.project.project_client import Assistant, Reply

FEDERATED = {"search", "fetch"}
MINIMAL = {*FEDERATED, "get_index_status"}


@pytest.mark.parametrize(("level", "most"), [("minimal", 600), ("standard", 4_000)])
def test_the_tools_of_one_project_take_no_more_than_this(app: Path, level: Level, most: int) -> None:
    server = ComposedServer(Service([app]), app, Offer(level=level))
    assert tokens_of(tools_of(server)) <= most


def test_all_tools_of_all_surfaces_take_no_more_than_this(tmp_path: Path, app: Path) -> None:
    assert tokens_of(tools_of(make_federated_server(tmp_path, app, Offer(level="full")))) <= 12_000


def test_minimal_is_three_tools_over_everything(tmp_path: Path, app: Path, mode: str) -> None:
    server = make_federated_server(tmp_path, app, Offer(level="minimal"))
    assert tools_of(server, mode).keys() == MINIMAL

    async def conversation(assistant: Assistant) -> tuple[Reply, Reply]:
        return await assistant.call_tool("search", query="quince peel"), await assistant.call_tool("get_index_status")

    found, status = run_conversation(make_federated_server(tmp_path, app, Offer(level="minimal")), conversation, mode)
    assert len({result["source"] for result in found["results"]}) > 2
    assert [one["name"] for one in status["sources"]] == ["project/app", "site/fruit", "archive"]


@pytest.mark.parametrize("offer", [Offer(level="minimal"), Offer(("federated",))])
def test_where_no_tool_creates_an_index_the_server_does_when_it_starts(tmp_path: Path, mode: str, offer: Offer) -> None:
    root = make_app(tmp_path)

    async def conversation(assistant: Assistant) -> tuple[Reply, Reply]:
        first = await assistant.call_tool("search", query="quince", source="project/app")
        deadline = time.monotonic() + 60
        while (status := await assistant.call_tool("get_index_status"))["status"] != "ready":
            assert time.monotonic() < deadline, status
            await asyncio.sleep(0.1)
        return first, status

    first, status = run_conversation(ComposedServer(Service([root]), root, offer), conversation, mode)
    assert first["results"][0]["source"] == "project/app"
    (row,) = [one for one in status["sources"] if one["name"] == "project/app"]
    assert (row["state"], row["files"] > 0) == ("ready", True)


def test_search_is_over_the_surfaces_that_are_named_with_it(tmp_path: Path, app: Path) -> None:
    def searched(*surfaces: Surface) -> list[str]:
        server = make_federated_server(tmp_path, app, Offer(surfaces))
        reply = call(server, "search", query="quince")
        return list(reply["metadata"]["searched"])

    assert searched("site", "federated") == ["site/fruit"]
    assert searched("federated") == ["project/app", "site/fruit", "archive"]


def test_the_status_of_a_project_keeps_its_shape_and_tells_of_all_sources(
    server: ComposedServer, app: Path, mode: str
) -> None:
    status = call(server, "get_index_status", mode)
    assert {"status", "projectPath", "totalFiles", "totalChunks", "lastUpdated", "storageSize", "watcherActive"} <= (
        status.keys()
    )
    assert status["projectPath"] == str(app)
    rows = {one["name"]: one for one in status["sources"]}
    assert rows["project/app"]["files"] == status["totalFiles"]
    assert rows["project/app"]["documents"] == 3
    assert "documents/app" not in rows
    assert rows["archive"]["documents"] == 2
    assert all(one["state"] == "ready" for one in rows.values())


def test_a_project_that_cannot_be_found_does_not_hide_the_rest(tmp_path: Path) -> None:
    server = ComposedServer(
        Service([]), Path("/"), Offer(), open_sites([write_site_index(tmp_path)]), locations=make_indexed_archives(tmp_path)
    )  # fmt: skip

    async def conversation(assistant: Assistant) -> tuple[Reply, Reply]:
        return await assistant.call_tool("search", query="peeling apples"), await assistant.call_tool(
            "get_index_status"
        )

    found, status = run_conversation(server, conversation)
    assert found["results"][0]["source"] == "site/fruit"
    assert "project" in found["metadata"]["problems"]
    assert {one["name"] for one in status["sources"]} >= {"project", "site/fruit", "archive"}


def test_over_http(tmp_path: Path) -> None:
    root = make_app(tmp_path)
    with HttpServer(cwd=root) as server:
        assert HttpClient(server, NEWER).call_tool("get_index_status")["projectPath"] == str(root)


NOTE = {"doc_id": "a/b ü%2F..", "content": "A note on the quince harvest.", "metadata": {"title": "Harvest"}}


def test_everything_that_is_found_can_be_fetched(server: ComposedServer, app: Path, mode: str) -> None:
    async def conversation(assistant: Assistant) -> dict[str, tuple[Reply, Reply]]:
        await assistant.client.call_tool("search_add_document", NOTE)
        found = {}
        for query in ("quince", "peel apple", "storing pears", "medlars", "sloe"):
            for result in (await assistant.call_tool("search", query=query, limit=50))["results"]:
                for known in (result["id"], *result.get("alsoIn", ())):
                    found[known] = result, await assistant.call_tool("fetch", id=known)
        return found

    found = run_conversation(server, conversation, mode)
    assert {known.partition("/")[0] for known in found} == {"project", "site", "archive", "index"}
    for known, (_, whole) in found.items():
        assert whole.keys() == {"id", "title", "text", "url", "metadata"}
        assert whole["id"] == known
        assert whole["text"]
        assert "hunter2" not in whole["text"]
    odd = found["project/app/na%C3%AFve%20folder/%C3%BCn%C3%AF%20%2541%23%3F.md"]
    assert odd[1]["text"] == "# Oddly named\n\nA sloe in an odd place.\n"
    assert found["project/app/page.html?as=document"][1]["text"].strip().endswith("Blet the medlars first.")
    assert found["index/default/a/b%20%C3%BC%252F.."][1]["title"] == "Harvest"
    assert found["site/fruit/posts/peeling-apples"][1]["url"] == "https://fruit.example/posts/peeling-apples"


def test_an_id_outlasts_a_restart_a_new_index_and_changes_around_it(
    server: ComposedServer, tmp_path: Path, app: Path
) -> None:
    before = call(server, "search", query="quince guide", limit=50)
    write_tree(app, {"aaa.md": "# Another quince\n", "src/zzz.py": "quince = 2\n"})
    for folder in Path(os.environ["DOWSE_HOME"]).joinpath("indexes").iterdir():
        folder.rename(folder.with_name(f"{folder.name}.old"))
    make_indexes(app)

    async def conversation(assistant: Assistant) -> list[Reply]:
        return [await assistant.call_tool("fetch", id=known) for known in result_ids(before)]

    again = run_conversation(make_federated_server(tmp_path, app), conversation)
    assert [one["id"] for one in again] == result_ids(before)
    assert [one["url"] for one in again] == [one["url"].partition("#")[0] for one in before["results"]]


def test_what_is_gone_is_a_clear_error(server: ComposedServer, app: Path) -> None:
    (app / "guide.md").unlink()
    failed = run_conversation(server, lambda assistant: assistant.expect_error("fetch", id="project/app/guide.md"))
    assert failed["code"] == "INVALID_ARGUMENT"
    assert "guide.md" in failed["userMessage"]
    assert "search" in failed["userMessage"]


HOSTILE = [
    "project/app/.env", "project/app/%2Eenv", "project/app/.env?as=document", "project/app/./.env", "project/app/src/../.env",
    "project/app/src/%2e%2e/.env", "project/app/.ENV", "project/app/.env/", "project/app/.env%00.py",
    "project/app//etc/passwd", "project/app/%2Fetc%2Fpasswd", "project/app/..%2F..%2F..%2F..%2Fetc%2Fpasswd",
    "project/app/../../../../../etc/passwd", "project/app/src\\..\\.env", "project/app/C:\\Windows\\win.ini",
    "project/app/link.py", "project/app/linked/inside.py", "project/app/linked/inside.md?as=document",
    "project/app/.git/config", "project/app/.git/hooks/a.py", "project/app/.ssh/a.md",
    "project/app/secret.gen.py", "project/app/src/x.gen.py", "project/app/id_rsa",
    "project/app/", "project/app", "project/app/src", "project/other/src/apple.py", "PROJECT/app/src/apple.py",
    "file:///etc/passwd", "docs://.env", "/etc/passwd", "..", "site/fruit/../../etc/passwd", "site/fruit/nowhere",
    "archive/../../etc/passwd", "archive/' OR 1=1 --", "archive/research-archive/quinces.md",
    "index/default/nothing", "index/../../../etc/passwd", "index/default", "project/app/" + "a" * 20_000,
    "project/app/notes.md", "project/app/notes.md?as=document", "project/app/\ud800", "\u202eproject/app/src/apple.py",
]  # fmt: skip


def test_no_id_leads_to_what_may_not_be_read(server: ComposedServer, tmp_path: Path, app: Path) -> None:
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----\n"
    write_tree(tmp_path / "outside", {"inside.py": "hunter2 = 1\n", "inside.md": "hunter2\n"})
    write_tree(app, {".git/config": "hunter2\n", ".git/hooks/a.py": "hunter2 = 1\n", ".ssh/a.md": "hunter2\n"})
    write_tree(app, {"id_rsa": key, "notes.md": private_key(), "secret.gen.py": "hunter2 = 1\n"})
    (app / "link.py").symlink_to(tmp_path / "outside" / "inside.py")
    (app / "linked").symlink_to(tmp_path / "outside")

    async def conversation(assistant: Assistant) -> None:
        for hostile in HOSTILE:
            failed = await assistant.expect_error("fetch", id=hostile)
            assert failed["code"] == "INVALID_ARGUMENT", hostile
            assert "hunter2" not in str(failed), hostile
            assert len(failed["userMessage"]) < 700, hostile

    run_conversation(server, conversation)


def test_a_long_text_is_given_in_pieces_that_make_it_whole(tmp_path: Path) -> None:
    text = "# Long\n\n" + "".join(f"Line {n} with “quotes”, \\ and \ttabs.\n" for n in range(3000)) + "x" * 30_000
    root = make_indexes(write_tree(tmp_path / "app", {"pyproject.toml": "", "long.md": text}))
    server = ComposedServer(Service([root]), root, Offer(budget_tokens=2000))

    async def conversation(assistant: Assistant) -> list[Reply]:
        pieces = [await assistant.call_tool("fetch", id="project/app/long.md")]
        while "nextOffset" in pieces[-1]["metadata"]:
            offset = pieces[-1]["metadata"]["nextOffset"]
            pieces.append(await assistant.call_tool("fetch", id="project/app/long.md", offset=offset))
        with pytest.raises(AssertionError, match="behind the end"):
            await assistant.call_tool("fetch", id="project/app/long.md", offset=len(text))
        return pieces

    pieces = run_conversation(server, conversation)
    assert "".join(piece["text"] for piece in pieces) == text
    assert f"offset {len(pieces[0]['text'])}" in pieces[0]["metadata"]["truncated"]
    assert pieces[0]["text"].endswith("\n")
    assert pieces[0]["metadata"]["totalCharacters"] == len(text)
    from dowse.mcp.replies import wire_characters

    assert all(wire_characters(piece) <= 8000 for piece in pieces)


def test_a_file_is_fetched_as_it_is_now_indexed_or_not(tmp_path: Path) -> None:
    root = make_app(tmp_path)
    server = ComposedServer(Service([root]), root, Offer())
    write_tree(root, {"new.py": "fresh = 'now'\n"})
    assert call(server, "fetch", id="project/app/new.py")["text"] == "fresh = 'now'\n"
