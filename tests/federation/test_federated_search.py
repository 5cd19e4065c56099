"""`search` over every kind of source: ranking, filters, excluded results, unavailable sources."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from dowse.cli.composition import ComposedServer, Offer
from dowse.federation import federated_search
from dowse.keeping.served_index import Service
from dowse.types import View
from tests.federation.federated_server import (
    call,
    make_app,
    make_federated_server,
    make_indexes,
    result_ids,
    result_sources,
    run_conversation,
)
from tests.sample_data import write_tree
from tests.surfaces.project.project_client import Assistant, Reply

NOTE = {
    "doc_id": "n1",
    "content": "A note on the quince harvest.",
    "metadata": {"title": "Harvest", "date": "2025-03-01"},
}


def search(server: ComposedServer, mode: str = "auto", **arguments: Any) -> Reply:
    async def conversation(assistant: Assistant) -> Reply:
        await assistant.client.call_tool("search_add_document", NOTE)
        return await assistant.call_tool("search", **arguments)

    return run_conversation(server, conversation, mode)


def test_one_question_is_answered_by_every_source(server: ComposedServer, app: Path, mode: str) -> None:
    reply = search(server, mode, query="quince")
    assert {"project/app", "archive", "index/default"} <= result_sources(reply)
    assert reply["metadata"]["searched"] == [
        "project/app", "site/fruit", "archive", "index/default",
    ]  # fmt: skip
    for one in reply["results"]:
        assert {"id", "title", "url", "text", "source", "score"} <= one.keys()
        assert 0 <= one["score"] <= 1
    scores = [result["score"] for result in reply["results"]]
    assert scores == sorted(scores, reverse=True)


def test_filters_are_typed_into_the_query(server: ComposedServer, mode: str) -> None:
    reply = search(server, mode, query="quince path:guide.md")
    assert {result["path"] for result in reply["results"]} == {"guide.md"}


@pytest.mark.parametrize(("query", "path"), [("quince guide knife", "guide.md"), ("blet medlars", "page.html")])
def test_a_file_that_is_code_and_a_document_is_listed_once(
    server: ComposedServer, app: Path, query: str, path: str
) -> None:
    reply = search(server, query=query)
    (found,) = [result for result in reply["results"] if result.get("path") == path]
    assert found["source"] == "project/app"
    assert "alsoIn" not in found


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        ("project", {"src/apple.py", "src/pear.js", "guide.md"}), ("documents", {"guide.md"}),
        ("documents/app", {"guide.md"}), ("project/app", {"src/apple.py", "src/pear.js", "guide.md"}),
        ("app", {"src/apple.py", "src/pear.js", "guide.md"}),
    ],
)  # fmt: skip
def test_a_root_is_asked_as_a_project_or_as_documents(
    server: ComposedServer, app: Path, source: str, paths: set[str]
) -> None:
    reply = search(server, query="quince", source=source)
    assert {result["path"] for result in reply["results"]} == paths
    assert reply["metadata"]["searched"] == ["project/app"]


def test_a_source_is_asked_for_by_its_name_as_it_is_and_as_ids_have_it(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "50%20off", {"pyproject.toml": "", "price.py": "def quince_price(): ...\n"})
    make_indexes(root, View.PROJECT)
    server = ComposedServer(Service([root]), root, Offer())
    names = ("50%20off", "50%2520off", "project/50%20off", "project/50%2520off")
    asked = [{"query": "quince", "source": name} for name in names]
    replies = run_conversation(server, lambda assistant: _search_each(assistant, *asked))
    assert [[one["path"] for one in reply["results"]] for reply in replies] == [["price.py"]] * 4


def test_a_file_under_two_roots_is_listed_once(tmp_path: Path, app: Path) -> None:
    make_indexes(app / "src", View.PROJECT)
    server = ComposedServer(Service([app, app / "src"]), app, Offer())
    reply = search(server, query="peel_apple", source="project")
    found = [result for result in reply["results"] if result["path"].endswith("apple.py")]
    assert len(found) == 1
    assert {found[0]["id"], *found[0]["alsoIn"]} == {"project/app/src/apple.py", "project/src/apple.py"}


def test_a_captured_page_and_the_page_itself_are_one(server: ComposedServer) -> None:
    reply = search(server, query="storing pears ripen")
    found = [result for result in reply["results"] if result["title"] == "Storing pears"]
    assert len(found) == 1
    assert len(found[0]["alsoIn"]) == 1


def test_what_is_held_is_left_out_and_does_not_count(server: ComposedServer) -> None:

    async def all_pages(assistant: Assistant) -> tuple[list[str], list[str]]:
        await assistant.client.call_tool("search_add_document", NOTE)
        whole = result_ids(await assistant.call_tool("search", query="quince", limit=50))
        held: list[str] = []
        while page := result_ids(await assistant.call_tool("search", query="quince", limit=2, exclude=held)):
            assert not set(page) & set(held)
            held += page
        refused = await assistant.expect_error("search", query="quince", exclude=["index/default/1"] * 501)
        assert refused["userMessage"].startswith("exclude has 501 ids")
        return whole, held

    whole, held = run_conversation(server, all_pages)
    assert len(whole) > 4
    assert sorted(held) == sorted(whole)


def test_a_file_is_held_under_each_of_its_ids(server: ComposedServer, app: Path) -> None:
    reply = search(server, query="medlars first", exclude=["project/app/page.html"])
    assert "page.html" not in {result.get("path") for result in reply["results"]}


async def _search_each(assistant: Assistant, *calls: dict[str, Any]) -> list[Reply]:
    return [await assistant.call_tool("search", **call) for call in calls]


def test_signs_and_phrases_hold_in_every_source(server: ComposedServer) -> None:

    async def conversation(assistant: Assistant) -> dict[str, Reply]:
        await assistant.client.call_tool("search_add_document", NOTE)
        queries = [
            "quince +harvest",
            "quince -peel -measured -quinces -harvest -green",
            '"measured in 2024"',
            "-quince",
            "quince harvest\n-quince",
        ]
        return {query: await assistant.call_tool("search", query=query, limit=50) for query in queries}

    replies = run_conversation(server, conversation)
    assert result_ids(replies["quince +harvest"]) == ["index/default/n1"]
    (archived,) = replies['"measured in 2024"']["results"]
    assert archived["source"] == "archive"
    assert "measured in 2024" in archived["text"]
    assert replies["-quince"]["results"] == []
    excluded = replies["quince -peel -measured -quinces -harvest -green"]
    assert excluded["results"] == []
    assert excluded["metadata"]["withoutFilters"] > 3
    assert "withoutFilters" not in replies["-quince"]["metadata"]
    pasted = replies["quince harvest\n-quince"]
    assert "index/default/n1" in result_ids(pasted)


def test_a_source_that_cannot_apply_a_filter_is_left_out_and_named(server: ComposedServer, app: Path) -> None:
    reply = search(server, query="quince peel", language="python")
    assert result_ids(reply) == ["project/app/src/apple.py"]
    assert set(reply["metadata"]["leftOut"]) == {"site/fruit", "archive", "index/default"}
    assert "language" in reply["metadata"]["leftOut"]["index/default"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/**", {"project/app/src/apple.py", "project/app/src/pear.js"}),
        ("app/src/*.js", {"project/app/src/pear.js"}),
        ("posts/*", {"site/fruit/posts/peeling-apples"}),
        ("research-archive/*", {"archive"}),
    ],
)
def test_paths_are_chosen_by_a_glob(server: ComposedServer, path: str, expected: set[str]) -> None:
    reply = search(server, query="quince peel apple", path=path)
    found = {result["source"] if result["source"] == "archive" else result["id"] for result in reply["results"]}
    assert found == expected
    assert "index/default" in reply["metadata"]["leftOut"]


def test_days_are_chosen_by_the_date_each_source_knows(server: ComposedServer, app: Path) -> None:
    for file in app.rglob("*"):
        os.utime(file, (1_500_000_000, 1_500_000_000))  # 2017-07-14
    make_indexes(app)

    async def conversation(assistant: Assistant) -> list[set[str]]:
        await assistant.client.call_tool("search_add_document", NOTE)
        periods = [
            {"since": "2025-01-01"},
            {"until": "2017-07-14", "since": "2017-07-14"},
            {"since": "2024-12-01", "until": "2025-02-01"},
        ]
        return [
            result_sources(await assistant.call_tool("search", query="quince peel pears", **days)) for days in periods
        ]

    late, early, winter = run_conversation(server, conversation)
    assert late == {"site/fruit", "index/default", "archive"}
    assert early == {"project/app"}
    assert winter == {"site/fruit"}


def test_a_project_that_is_not_indexed_does_not_fail_the_search(tmp_path: Path) -> None:
    server = make_federated_server(tmp_path, make_app(tmp_path))
    reply = search(server, query="quince")
    assert "create_index" in reply["metadata"]["problems"]["project/app"]
    assert "guide.md" in {
        result.get("path") for result in reply["results"]
    }  # documents are indexed when they are searched


def test_where_no_tool_can_ask_a_very_large_project_is_left_to_a_command(tmp_path: Path, storage: Path) -> None:
    storage.mkdir(parents=True, exist_ok=True)
    (storage / "config.json").write_text('{"maxFiles": 1}', encoding="utf-8")
    server = make_federated_server(tmp_path, make_app(tmp_path), Offer(level="minimal"))
    reply = call(server, "search", query="quince")
    problem = reply["metadata"]["problems"]["project/app"]
    assert "dowse index" in problem


def test_a_source_that_is_broken_is_named_and_the_others_answer(tmp_path: Path, app: Path, storage: Path) -> None:
    for catalog in storage.rglob("catalog.sqlite"):
        catalog.write_bytes(b"not a database" * 1000)
    reply = search(make_federated_server(tmp_path, app), query="quince")
    assert result_sources(reply)
    assert "project/app" in reply["metadata"]["problems"]


def test_sources_are_prepared_and_none_is_indexed_for_that(tmp_path: Path, storage: Path) -> None:
    root = make_indexes(make_app(tmp_path), View.PROJECT)
    other = write_tree(tmp_path / "library", {"medlar.md": "# Medlar\n"})
    made = make_federated_server(tmp_path, root, others=(other,))
    projects, archives = made.source_list.projects, made.source_list.archives
    assert projects
    assert archives
    try:
        anyio.run(made.source_list.prepare, anyio.lowlevel.checkpoint)
        assert projects.projects[0].keeper
        assert archives.keeping.has_indexes()
        assert len(list((storage / "indexes").rglob("catalog.sqlite"))) == 1
    finally:
        made.close()


def test_a_damaged_source_is_left_for_its_first_search(tmp_path: Path, app: Path, storage: Path) -> None:
    catalogs = list(storage.rglob("catalog.sqlite"))
    for catalog in catalogs:
        catalog.write_bytes(b"not a database" * 1000)
    made = make_federated_server(tmp_path, app)
    try:
        anyio.run(made.source_list.prepare, anyio.lowlevel.checkpoint)
    finally:
        made.close()
    assert all(catalog.read_bytes().startswith(b"not a database") for catalog in catalogs)


def test_a_source_that_takes_too_long_is_named(
    server: ComposedServer, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(federated_search, "ANSWER_SECONDS", 0.0)
    reply = call(server, "search", query="quince")
    assert reply["results"] == []
    assert "did not answer" in reply["metadata"]["problems"]["project/app"]


def test_several_roots_are_several_sources(tmp_path: Path, app: Path) -> None:
    other = make_indexes(write_tree(tmp_path / "b" / "app", {"pyproject.toml": "", "quince.py": "quince = 1\n"}))
    server = ComposedServer(Service([app, other]), app, Offer())
    reply = search(server, query="quince", source="project")
    assert result_sources(reply) == {"project/app", "project/app-2"}
    assert "app-2/quince.py" in {result["path"] for result in reply["results"]}


def test_nonsense_scores_low_and_a_title_high(server: ComposedServer) -> None:
    nonsense, title = run_conversation(
        server, lambda assistant: _search_each(assistant, {"query": "zzyqx blorptang"}, {"query": "Quince guide"})
    )
    assert all(one["score"] < 0.3 for one in nonsense["results"])
    assert title["results"][0]["path"] == "guide.md"
    assert title["results"][0]["score"] >= 0.8
