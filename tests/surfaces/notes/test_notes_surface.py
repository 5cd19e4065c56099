"""The tools of named indexes."""

import subprocess
import sys
from typing import Any

import anyio
import pytest

from dowse.notes import limits
from tests.notes.notes_server import connect

pytestmark = pytest.mark.anyio


async def test_the_example_of_the_specification(mode: str) -> None:
    async with connect(mode) as assistant:
        content = "Rate limiting protects APIs from abuse by throttling request frequency."
        metadata = {"module": "rate_limiting", "type": "readme", "deep": [{"a": [1, 1.5, None, True, "ü"]}]}
        added = await assistant.call_tool(
            "search_add_document", doc_id="readme-rate-limiting", content=content, metadata=metadata
        )
        assert added == {"status": "indexed", "doc_id": "readme-rate-limiting", "token_count": 10}
        again = await assistant.call_tool(
            "search_add_document", doc_id="readme-rate-limiting", content="Python rate limiting"
        )
        assert again["status"] == "re-indexed"
        await assistant.call_tool(
            "search_add_document", doc_id="readme-rate-limiting", content=content, metadata=metadata
        )
        found = await assistant.call_tool("search_index", query='+rate "request frequency" -java throttling', k=3)
        assert found["total_matches"] == 1
        (one,) = found["results"]
        assert one.keys() == {"doc_id", "score", "highlights", "metadata"}
        assert one["metadata"] == metadata
        assert found["query_parsed"] == {
            "terms": ["throttling"], "must": ["rate"], "must_not": ["java"], "phrases": ["request frequency"],
        }  # fmt: skip


async def test_errors_read_as_specified() -> None:
    async with connect("auto") as assistant:
        expect_error = assistant.expect_error
        assert await expect_error("search_index", query="x", index_name="nope") == "Index not found: nope"
        assert await expect_error("search_index", query="", index_name="../../etc") == "Index not found: ../../etc"
        blank = "Content must be a non-empty string"
        contents: list[Any] = ["", "  \n\t", None, 5, ["x"], {}]
        for content in contents:
            assert await expect_error("search_add_document", doc_id="a", content=content) == blank
        assert await expect_error("search_add_document", doc_id="a") == blank
        assert (
            await expect_error("search_add_document", doc_id="a", content="x", index_name="nope")
            == "Index not found: nope"
        )
        assert await expect_error("search_create_index", index_name="default") == "Index already exists: default"
        assert await expect_error("search_create_index", index_name="n", backend="redis") == "Unknown backend: redis"
        made = await assistant.call_tool("search_create_index", index_name="n", backend="disk")
        assert made == {"status": "created", "index_name": "n", "backend": "disk"}
        assert await expect_error("search_create_index", index_name="n", backend="memory") == "Index already exists: n"
        for name in ("", "a b", "../x", "a" * 65, "ü", "a.b", "a\n"):
            assert "letters, digits, - and _" in await expect_error("search_create_index", index_name=name)
        wrong: list[dict[str, Any]] = [
            {"k": 0}, {"k": 1.5}, {"k": True}, {"k": "3"}, {"k": 10**400}, {"offset": -1},
        ]  # fmt: skip
        for arguments in wrong:
            assert next(iter(arguments)) in await expect_error("search_index", query="x", **arguments)
        assert "has no argument 'limit'" in await expect_error("search_index", query="x", limit=3)
        assert "2 has to" not in await expect_error("search_index", query=2)


HARD: dict[str, dict[str, Any]] = {
    "an empty id": {"doc_id": " "},
    "a long id": {"doc_id": "x" * 1025},
    "a number as an id": {"doc_id": 7},
    "too much content": {"content": "x " * (10 * 2**19 + 1)},
    "deep metadata": {"metadata": {}},
    "long metadata": {"metadata": {"a": "x" * 70_000}},
    "a list as metadata": {"metadata": []},
}


async def test_what_cannot_be_added_leaves_the_old_document_untouched() -> None:
    deep: Any = {}
    for _ in range(150):
        deep = {"a": deep}
    HARD["deep metadata"]["metadata"] = deep
    async with connect("auto") as assistant:
        await assistant.call_tool("search_add_document", doc_id="a", content="old words", metadata={"v": 1})
        for hard in HARD.values():
            assert await assistant.expect_error("search_add_document", **{"doc_id": "a", "content": "new", **hard})
        found = await assistant.call_tool("search_get_document", doc_id="a")
        assert found == {"doc_id": "a", "content": "old words", "metadata": {"v": 1}, "token_count": 2}


async def test_large_and_odd_things_that_are_allowed_work() -> None:
    async with connect("auto") as assistant:
        words = [f"word{number}" for number in range(10_000)]
        text = " ".join(words)
        size = 2 * 2**20
        huge = (text + " ") * (size // (len(text) + 1))
        added = await assistant.call_tool("search_add_document", doc_id="huge", content=huge)
        assert added["token_count"] == 10_000 * (size // (len(text) + 1))
        for doc_id in ("a/b?c#d", "日本", "' OR 1=1; --", "x\0y", "\N{PILE OF POO}", "../../etc/passwd", "x" * 1024):
            await assistant.call_tool("search_add_document", doc_id=doc_id, content=f"about {doc_id[:50]}")
            assert (await assistant.call_tool("search_get_document", doc_id=doc_id))["doc_id"] == doc_id
        found = await assistant.call_tool("search_index", query=text)
        assert found["results"][0]["doc_id"] == "huge"
        assert (await assistant.call_tool("search_index", query=f'"{text}"'))["total_matches"] == 1
        assert (await assistant.call_tool("search_index", query="about", k=10_000))["total_matches"] == 7


async def test_a_reply_keeps_its_budget_and_says_how_to_go_on() -> None:
    async with connect("auto", budget_tokens=1000) as assistant:
        documents = [
            {"doc_id": f"d{n:03}", "content": f"words {n} " * 200, "metadata": {"x": "y" * 300}} for n in range(60)
        ]
        reply = await assistant.call_tool("search_add_documents", documents=documents)
        assert "truncated" in reply
        seen: list[str] = []
        offset: int | None = 0
        while offset is not None:
            found = await assistant.call_tool("search_index", query="words", k=60, offset=offset)
            assert len(str(found)) * 2 < 1000 * 4 * 1.2
            assert found["results"]
            seen += [one["doc_id"] for one in found["results"]]
            offset = found.get("next_offset")
        assert seen == sorted(str(one["doc_id"]) for one in documents)
        text, offset = "", 0
        while offset is not None:
            part = await assistant.call_tool("search_get_document", doc_id="d007", offset=offset)
            text, offset = text + part["content"], part.get("next_offset")
        assert text == documents[7]["content"]


async def test_limits_are_told_when_they_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_INDEXES", 2)
    monkeypatch.setattr(limits, "MAX_MEMORY_BYTES", 3_000_000)
    async with connect("auto") as assistant:
        await assistant.call_tool("search_create_index", index_name="one")
        assert "There are 2 indexes" in await assistant.expect_error("search_create_index", index_name="two")
        await assistant.call_tool("search_add_document", doc_id="a", content="old words")
        reply = await assistant.expect_error("search_add_document", doc_id="a", content="new text " * 500_000)
        assert "are full" in reply
        assert 'backend "disk"' in reply
        assert (await assistant.call_tool("search_index", query="old"))["total_matches"] == 1
        await assistant.call_tool("search_add_document", doc_id="b", content="small", index_name="one")


async def test_a_cancelled_search_stands_in_nobodys_way(mode: str) -> None:
    async with connect(mode) as assistant:
        documents = [{"doc_id": f"d{n}", "content": f"w{n} common text"} for n in range(300)]
        await assistant.call_tool("search_add_documents", documents=documents)
        long_query = " ".join(f"w{n}" for n in range(20_000))
        for _ in range(20):
            with anyio.move_on_after(0.02):
                await assistant.client.call_tool("search_index", {"query": long_query})
        with anyio.fail_after(30):
            assert (await assistant.call_tool("search_index", query="common"))["total_matches"] == 300


def test_nothing_heavy_is_imported_before_the_first_call() -> None:
    program = (
        "import sys; from dowse.surfaces.notes.notes_surface import NotesSurface; NotesSurface(); "
        "print(sorted({'numpy', 'regex', 'tantivy', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
