"""The archive surface as an assistant uses it."""

import asyncio
import contextlib
import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from jsonschema import Draft202012Validator
from mcp_types import CallToolResult, TextContent

from dowse.archives.archive_database import create_database
from dowse.archives.archive_index import ArchiveIndex
from dowse.archives.archive_locations import ArchiveLocations
from dowse.mcp.protocol import make_server
from dowse.mcp.replies import BUDGET_TOKENS, wire_characters
from dowse.surfaces.archives.archive_surface import INSTRUCTIONS, ArchiveSurface
from dowse.system.platform import Lock, make_private_folder
from mcp import Client
from tests.archives.sample_archives import captured_page, index_archives, locations_in, make_archives
from tests.mcp.fixed_tools import fixed_tools
from tests.sample_data import write_tree
from tests.surfaces.project.project_client import connect_to, wait_until

pytestmark = pytest.mark.anyio

Result = TypeVar("Result")
Reply = dict[str, Any]

RESEARCH = {
    "2025-05-20/machine_learning_intro.md": (
        "# Introduction to Machine Learning\n\nMachine learning is a subset of artificial intelligence.\n\n"
        "For more information on ML algorithms, see [this resource](https://example.com/ml-algorithms).\n"
    )
}
PAGES = {"1f": captured_page("https://example.com/ml-algorithms", "Algorithms", "# Gradient descent\n\nAnd others.\n")}


@pytest.fixture
def locations(tmp_path: Path) -> ArchiveLocations:
    found = make_archives(tmp_path, RESEARCH, PAGES)
    index_archives(found).close()
    return found


@asynccontextmanager
async def connect(
    mode: str, locations: ArchiveLocations, *, keeps_fresh: bool = False, budget: int = BUDGET_TOKENS
) -> AsyncIterator[Client]:
    """Connect a client to a server of archives only."""
    with contextlib.closing(ArchiveSurface(locations, keeps_fresh=keeps_fresh)) as surface:
        server = partial(make_server, fixed_tools(surface.tools), instructions=INSTRUCTIONS, budget_tokens=budget)
        async with connect_to(server, mode) as client:
            yield client


async def find(client: Client, query: str) -> list[Reply]:
    """Return what is found."""
    return list(content_of(await client.call_tool("searchLocalArchives", {"query": query}))["results"])


async def call(
    mode: str, locations: ArchiveLocations, tool: str, arguments: Reply, budget: int = BUDGET_TOKENS
) -> CallToolResult:
    async with connect(mode, locations, budget=budget) as client:
        result = await client.call_tool(tool, arguments)
        listed = {listed_tool.name: listed_tool for listed_tool in (await client.list_tools()).tools}
        Draft202012Validator(listed[tool].output_schema).validate(result.structured_content)
        return result


def content_of(result: CallToolResult) -> Reply:
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert not result.is_error, block.text
    assert json.loads(block.text) == result.structured_content
    return dict(result.structured_content or {})


@pytest.mark.parametrize("empty", ["the pages", "the reports", "both"])
async def test_an_archive_without_a_document_is_searched_like_any_other(tmp_path: Path, empty: str) -> None:
    """Every query of words ended in an error: no word weighs anything there."""
    for name in ("research-archive", "url-content-archive"):
        (tmp_path / name).mkdir()
    found = make_archives(tmp_path, RESEARCH if empty == "the pages" else {}, PAGES if empty == "the reports" else {})
    index_archives(found).close()
    async with connect("auto", found, keeps_fresh=True) as client:
        titles = [one["document"]["title"] for one in await find(client, "gradient learning")]
    assert titles == {"the pages": ["Introduction to Machine Learning"], "the reports": ["Algorithms"]}.get(empty, [])


async def test_the_specification_s_example_field_for_field(mode: str, locations: ArchiveLocations) -> None:
    arguments = {"query": "machine learning", "fuzzy": True, "includeCitations": True, "limit": 5}
    reply = content_of(await call(mode, locations, "searchLocalArchives", arguments))
    first, second = (result["document"]["id"] for result in [*reply["results"], {"document": {"id": ""}}][:2])
    (result,) = reply["results"]
    graph = reply["citationGraph"]
    second = graph["nodes"][1]["id"]
    citation = {
        "sourceId": first,
        "targetId": second,
        "targetUrl": "https://example.com/ml-algorithms",
        "context": "For more information on ML algorithms, see [this resource](https://example.com/ml-algorithms).",
        "confidence": 1.0,
    }
    assert first.startswith("doc-")
    assert 0.8 <= result["document"]["score"] <= 1
    assert {key: result["document"][key] for key in ("title", "path", "source", "date")} == {
        "title": "Introduction to Machine Learning",
        "path": "research-archive/2025-05-20/machine_learning_intro.md",
        "source": "research",
        "date": "2025-05-20",
    }
    assert result["highlights"] == [
        {"field": "title", "snippets": ["Introduction to <mark>Machine Learning</mark>"]},
        {
            "field": "content",
            "snippets": ["<mark>Machine learning</mark> is a subset of artificial intelligence."],
        },
    ]
    assert result["citations"] == {"citing": [citation], "cited": []}
    assert graph == {
        "nodes": [
            {"id": first, "label": "Introduction to Machine Learning", "type": "source"},
            {"id": second, "label": "Algorithms", "type": "target"},
        ],
        "edges": [{"from": first, "to": second, "confidence": 1.0}],
    }
    assert reply["metadata"] == {
        "totalResults": 1, "query": "machine learning", "fuzzy": True, "includeCitations": True, "citationDepth": 1,
        "limit": 5,
    }  # fmt: skip


async def test_no_database_fails_in_the_words_of_the_specification_and_names_no_folder(tmp_path: Path) -> None:
    result = await call("auto", locations_in(tmp_path), "searchLocalArchives", {"query": "x"})
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert block.text.startswith("Failed to search local archives: No archive has been indexed")
    assert str(tmp_path) not in block.text


async def test_a_damaged_database_is_said_to_be_one(locations: ArchiveLocations) -> None:
    locations.database.write_bytes(b"SQLite format 3\0" + os.urandom(5000))
    result = await call("auto", locations, "searchLocalArchives", {"query": "x"})
    assert result.is_error
    assert (result.structured_content or {})["userMessage"].startswith("Failed to search local archives: the database")
    assert str(locations.database) not in (result.structured_content or {})["userMessage"]


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> ArchiveLocations:
    """A hundred documents, each of which cites all of them."""
    folder = tmp_path_factory.mktemp("linked")
    links = " ".join(f"[{n}]({n}.md)" for n in range(100))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(folder / "dowse"))
        locations = make_archives(folder, {f"{n}.md": f"# Apple {n}\n\n{links}\n" for n in range(100)})
        index_archives(locations).close()
    return locations


async def test_a_reply_keeps_to_its_budget_and_says_what_is_left_out(linked: ArchiveLocations) -> None:
    for budget in (1000, 4000):
        arguments = {"query": "apple", "includeCitations": True, "citationDepth": 3, "limit": 50}
        reply = content_of(await call("auto", linked, "searchLocalArchives", arguments, budget))
        assert wire_characters(reply) <= budget * 4
        assert "truncated" in reply["metadata"]
        ids = {node["id"] for node in reply["citationGraph"]["nodes"]}
        assert all({edge["from"], edge["to"]} <= ids for edge in reply["citationGraph"]["edges"])
        shorter = content_of(await call("auto", linked, "find_citations", {"document": "0.md", "limit": 500}, budget))
        assert wire_characters(shorter) <= budget * 4
        assert "truncated" in shorter
        around = content_of(
            await call("auto", linked, "find_citations", {"document": "0.md", "limit": 500, "depth": 3}, budget)
        )
        assert wire_characters(around) <= budget * 4
        assert around["citationGraph"]["truncated"].startswith("Left out")
        assert around["citing"], "the citations themselves are worth more than the graph around them"


async def test_a_server_indexes_by_itself_and_sees_changes(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, RESEARCH, PAGES)
    async with connect("auto", locations, keeps_fresh=True) as client:
        assert await find(client, "machine")
        make_archives(tmp_path, {"2025-06-01/new.md": "# Pomegranates\n"})

        await wait_until(lambda: find(client, "pomegranates"))


@contextlib.contextmanager
def held_back(locations: ArchiveLocations) -> Iterator[None]:
    """Let the processes that index wait."""
    with contextlib.ExitStack() as locked:
        for root in locations.roots.values():
            make_private_folder(ArchiveIndex.folder_of(root))
            locked.enter_context(Lock(ArchiveIndex.folder_of(root) / "index.lock").held(5))
        yield


async def test_the_first_search_reads_the_files_that_are_not_indexed_yet(tmp_path: Path) -> None:
    """It waited for the whole index and failed after 20 s; later, paths began with the name of the archive until then."""
    locations = make_archives(tmp_path, RESEARCH, PAGES)
    async with connect("auto", locations, keeps_fresh=True) as client:

        async def search(query: str) -> Reply:
            return content_of(await client.call_tool("searchLocalArchives", {"query": query}))

        with held_back(locations):
            first, second = await search("machine learning"), await search("gradient")
        for found in (first, second):
            expected = "2 of 2 documents were searched, 2 of them as they are written."
            assert found["metadata"]["warnings"] == [f"The archives are being indexed. {expected}"]
            assert found["metadata"]["indexing"]
        names = [[found["document"]["title"] for found in reply["results"]] for reply in (first, second)]
        assert names == [["Introduction to Machine Learning"], ["Algorithms"]]

        async def is_indexed() -> bool:
            found = await search("machine learning")
            about = [
                [(result["document"]["id"], result["document"]["path"]) for result in reply["results"]]
                for reply in (first, found)
            ]
            return "warnings" not in found["metadata"] and about[0] == about[1]

        await wait_until(is_indexed)


@pytest.mark.parametrize("query", ["ordinary zymurgy", "über"])
async def test_the_first_search_finds_a_word_of_every_document_that_it_says_it_searched(
    tmp_path: Path, query: str
) -> None:
    """Of 2,501 documents that were said to be searched, one with the rare word of a query was not found."""
    files = {f"{number}.md": f"# Note {number}\n\n{'Ordinary words. ' * 9}\n" for number in range(60)}
    page = captured_page("https://example.com/late", "Über beer", "Notes about zymurgy.\n")
    locations = make_archives(tmp_path, files, {"late": page})

    found: Reply = {}
    with held_back(locations):
        async with connect("auto", locations, keeps_fresh=True) as client:

            async def says_that_all_were_searched() -> bool:
                nonlocal found
                found = content_of(await client.call_tool("searchLocalArchives", {"query": query}))
                return "61 of 61 documents were searched" in found["metadata"]["warnings"][0]

            await wait_until(says_that_all_were_searched)
            assert found["metadata"]["indexing"]
            assert "Über beer" in [result["document"]["title"] for result in found["results"]]


@pytest.mark.parametrize("obstacle", ["a folder", "another file", "a file above it"])
async def test_a_wrong_database_is_an_error_of_the_first_call(tmp_path: Path, obstacle: str) -> None:
    """The first search was answered, and the second failed."""
    locations = make_archives(tmp_path, RESEARCH)
    text = "Notes of somebody else, which are no database.\n" * 100
    if obstacle == "a folder":
        locations.database.mkdir(parents=True)
    elif obstacle == "another file":
        write_tree(tmp_path, {"data/search.db": text})
    else:
        write_tree(tmp_path, {"data": text})
    async with connect("auto", locations, keeps_fresh=True) as client:
        for _ in range(2):
            result = await client.call_tool("searchLocalArchives", {"query": "machine"})
            assert result.is_error
            assert str(tmp_path) not in str((result.structured_content or {})["userMessage"])


async def test_no_search_of_a_new_archive_meets_a_busy_database(tmp_path: Path) -> None:
    """6 of 15 servers failed with "in use by another program", because the process that indexes held the database."""
    files = {f"{number}.md": f"# Apple {number}\n\nSee [another]({number + 1}.md).\n" for number in range(400)}
    locations = make_archives(tmp_path, files, PAGES)
    async with connect("auto", locations, keeps_fresh=True) as client:
        calls = [
            client.call_tool("searchLocalArchives", {"query": "apple", "includeCitations": number % 2 == 0})
            for number in range(6)
        ]
        for result in await asyncio.gather(*calls):
            assert content_of(result)["results"]


async def test_the_database_follows_changes_for_other_programs(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, RESEARCH)

    def titles() -> set[str]:
        with contextlib.closing(create_database(locations.database)) as database:
            return {document.title for document in database.documents().values()}

    async with connect("auto", locations, keeps_fresh=True) as client:
        assert await find(client, "machine")

        async def has_both() -> bool:
            return titles() == {"Introduction to Machine Learning", "Pomegranates"}

        make_archives(tmp_path, {"new/one.md": "# Pomegranates\n"})
        await wait_until(has_both)


async def test_an_archive_that_is_named_and_missing_is_said_without_its_path(tmp_path: Path) -> None:
    found = make_archives(tmp_path, RESEARCH)
    index_archives(found).close()
    named = replace(found, named=frozenset({"url-content"}))
    result = await call("auto", named, "searchLocalArchives", {"query": "machine"})
    assert result.structured_content is not None
    (warning,) = result.structured_content["metadata"]["warnings"]
    assert warning.startswith("The url-content archive that is named does not exist. Create the folder, or correct")
    assert str(tmp_path) not in json.dumps(result.structured_content)


async def test_a_server_searches_an_archive_whose_disk_is_absent(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, RESEARCH, PAGES)
    index_archives(locations).close()
    locations.research.rename(tmp_path / "unplugged")
    async with connect("auto", locations, keeps_fresh=True) as client:

        def ask() -> Any:
            return client.call_tool("searchLocalArchives", {"query": "machine", "includeCitations": True})

        assert content_of(await ask())["results"]
        (tmp_path / "unplugged").rename(locations.research)
        make_archives(tmp_path, {"new.md": "# Pomegranates\n"})

        await wait_until(lambda: find(client, "pomegranates"))


async def test_no_document_is_read_that_was_just_denied(tmp_path: Path) -> None:
    """All but the first 20 were in the database, with their texts, until they had left the index one after the other."""
    reports = {f"made/r{number}.md": f"# Report {number}\n\nThe sloe [grows](r0.md).\n" for number in range(60)}
    locations = make_archives(tmp_path, {"start.md": "# Start\n\nA hedge.\n", **reports}, {})
    index_archives(locations).close()
    with contextlib.closing(ArchiveSurface(locations)) as surface:
        assert len((await surface.database()).documents()) == 61
        write_tree(next(iter(locations.roots.values())), {".dowseignore": "made/\n"})
        assert [document.title for document in (await surface.database()).documents().values()] == ["Start"]


async def test_an_archive_whose_disk_is_not_mounted_keeps_its_documents(locations: ArchiveLocations) -> None:
    """Its folder is empty then, as if all documents had been deleted."""
    for root in locations.roots.values():
        with contextlib.closing(ArchiveIndex(root)) as index:
            index.whole.set_fact("device", "another one")
        for below in list(root.iterdir()):
            shutil.rmtree(below)
    with contextlib.closing(ArchiveSurface(locations)) as surface:
        assert len((await surface.database()).documents()) == 2
    for root in locations.roots.values():
        with contextlib.closing(ArchiveIndex(root)) as index:
            assert len(index.store.paths()) == 1


async def test_the_status_of_a_missing_archive_has_its_numbers(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, {"a.md": "# A\n", "long.md": "x\n" * 100_001}, {})
    index_archives(locations).close()
    root = next(iter(locations.roots.values()))
    with contextlib.closing(ArchiveIndex(root)) as index:
        assert list(index.status().unparsed) == ["long.md"]
        root.rename(tmp_path / "away")
        status = index.status()
        assert (status.state, status.files, status.unparsed) == ("failed", 2, {})
