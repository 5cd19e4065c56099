"""Reading of documents from their files: title, date, source, type and question."""

import json
from pathlib import Path

import pytest

from tests.archives.sample_archives import HOSTILE, captured_page, cited_titles, document_titled, make_database


def test_a_dated_report(tmp_path: Path) -> None:
    database = make_database(tmp_path, {"2025-05-20/intro.md": "# Introduction\n\nWords.\n"})
    found = document_titled(database, "Introduction")
    assert (found.date, found.source, found.type) == ("2025-05-20", "research", "report")
    assert found.path == "research-archive/2025-05-20/intro.md"


def test_front_matter_goes_before_the_path(tmp_path: Path) -> None:
    text = "---\ntitle: Stated\ndate: 2024-01-02\nquestion: Why?\ntype: essay\n---\n# Heading\n"
    found = document_titled(make_database(tmp_path, {"2025-05-20/intro.md": text}), "Stated")
    assert (found.date, found.question, found.type) == ("2024-01-02", "Why?", "essay")


def test_a_captured_page_is_one_document_with_its_original(tmp_path: Path) -> None:
    page = captured_page("https://example.com/x", "As captured", "# Other heading\n\nWords.")
    database = make_database(tmp_path, {}, {"a1b2": {**page, "original.html": "<p>Raw</p>", "shot.png": b"\0"}})
    (found,) = database.documents().values()
    assert (found.title, found.date, found.source, found.type) == ("As captured", "2025-05-21", "url-content", "page")
    assert (found.url, found.path) == ("https://example.com/x", "url-content-archive/a1b2/content.md")


def test_a_captured_page_without_text_is_its_original(tmp_path: Path) -> None:
    files = {"metadata.json": '{"url": "https://example.com/x"}', "original.html": "<title>T</title><p>Raw words</p>"}
    database = make_database(tmp_path, {}, {"a1b2": files})
    assert "Raw words" in database.text(document_titled(database, "T").number)


def test_a_query_folder_is_its_answer(tmp_path: Path) -> None:
    files = {
        "q/7f/metadata.json": json.dumps({"query": "What is a monad?", "timestamp": "2025-05-20T00:00:00Z"}),
        "q/7f/result.json": json.dumps(
            {
                "answer": "A monad is a *burrito*, see [1].",
                "sources": [{"title": "On [monads]", "url": "https://example.com/m"}, "https://example.com/n"],
                "model": "not shown",
            }
        ),
    }
    database = make_database(tmp_path, files)
    (found,) = database.documents().values()
    assert (found.title, found.question, found.type, found.date) == (
        "What is a monad?", "What is a monad?", "query", "2025-05-20",
    )  # fmt: skip
    assert "burrito" in database.text(found.number)
    assert "not shown" not in database.text(found.number)
    assert cited_titles(database, found.title) == ["https://example.com/m", "https://example.com/n"]


@pytest.mark.parametrize(
    "result", ['{"choices": [{"message": {"content": "Deep words"}}]}', '"Deep words"', "Deep words"]
)
def test_a_result_is_read_in_whatever_shape_it_has(tmp_path: Path, result: str) -> None:
    database = make_database(tmp_path, {"7f/result.json": result})
    (found,) = database.documents().values()
    assert found.title == "7f"
    assert "Deep words" in database.text(found.number)


@pytest.mark.parametrize("metadata", ["", "{", "[]", '"x"', '{"url": 7, "title": null}', "[" * 5000, b"\xff\xfe\x00"])
def test_metadata_that_makes_no_sense_is_no_reason_to_lose_a_page(tmp_path: Path, metadata: str | bytes) -> None:
    database = make_database(tmp_path, {}, {"a1": {"content.md": "# Heading\n", "metadata.json": metadata}})
    assert document_titled(database, "Heading").url == "" if metadata != b"\xff\xfe\x00" else True


def test_any_text_may_stand_anywhere(tmp_path: Path) -> None:
    notes, pages = dict[str, str](), dict[str, dict[str, str]]()
    for n, hostile in enumerate(HOSTILE):
        pages[f"p{n}"] = captured_page(f"https://example.com/{hostile}", hostile, hostile)
        notes[f"{n}.md"] = f"# {hostile}\n\n{hostile} [{hostile}]({hostile}) [[{hostile}]] <{hostile}>\n"
        quoted = json.dumps(hostile)
        notes[f"matter{n}.md"] = f"---\ntitle: {quoted}\nquestion: {quoted}\n---\n{hostile}\n"
    database = make_database(tmp_path, notes, pages)
    assert len(database.documents()) == 3 * len(HOSTILE)
    for document in database.documents().values():
        database.citations("source", [document.number])
        assert database.text(document.number).encode()
