"""Citations in every form people write them, and links that are not citations."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from dowse.archives.archive_database import open_database
from dowse.errors import StoreDamaged
from tests.archives.sample_archives import (
    captured_page,
    citation_at,
    cited_titles,
    document_titled,
    locations_in,
    make_database,
)

PAGE = {"p": captured_page("https://example.com/page", "The page", "# The page\n\nWords.\n")}


@pytest.mark.parametrize(
    "text",
    [
        "See [it](https://example.com/page).",
        "See [it](http://EXAMPLE.com/page/?utm_source=a#top \"title\").",
        "See [it][1].\n\n[1]: https://example.com/page",
        "See [it][].\n\n[it]: <https://example.com/page>",
        "See <https://example.com/page>.",
        "See https://example.com/page.",
        "See [it](../url-content-archive/p/content.md).",
        "See [it](../url-content-archive/p/).",
        "See <a href='https://example.com/page'>it</a>.",
        "---\nsources:\n  - https://example.com/page\n---\nWords.",
        "| a | b |\n|---|---|\n| [it](https://example.com/page) | c |",
    ],
)  # fmt: skip
def test_a_link_is_a_citation(tmp_path: Path, text: str) -> None:
    database = make_database(tmp_path, {"note.md": text}, PAGE)
    assert cited_titles(database, "note") == ["The page"]


@pytest.mark.parametrize(
    "text",
    [
        "![picture](https://example.com/page)", "[part](#part)", "[write](mailto:a@example.com)", "<a@example.com>",
        "`https://example.com/page`", "```\nhttps://example.com/page\n```", "    [it](https://example.com/page)",
        "[itself](note.md)", "[itself](note.md#part)", "Write to @somebody.", "[script](javascript:alert)",
    ],
)  # fmt: skip
def test_an_image_an_anchor_an_address_of_mail_and_code_are_none(tmp_path: Path, text: str) -> None:
    database = make_database(tmp_path, {"note.md": f"Words.\n\n{text}\n"}, PAGE)
    assert cited_titles(database, "note") == []


def test_a_task_with_a_doi_is_a_citation(tmp_path: Path) -> None:
    """The box of a task once stopped the indexing of the whole archive."""
    database = make_database(tmp_path, {"note.md": "- [ ] read 10.1000/xyz\n- [x] done\n"})
    assert cited_titles(database, "note") == ["https://doi.org/10.1000/xyz"]


def test_a_page_that_is_not_archived_has_an_address_and_no_target(tmp_path: Path) -> None:
    database = make_database(tmp_path, {"note.md": "See [it](https://elsewhere.org/x)."})
    found = citation_at(database, "note")
    assert (found.target_id, found.target_url, found.confidence) == (None, "https://elsewhere.org/x", 1.0)


def test_a_citation_of_a_document_that_the_database_lacks_is_damage(tmp_path: Path) -> None:
    make_database(tmp_path, {"note.md": "See [it](https://example.com/page)."}, PAGE).close()
    file = locations_in(tmp_path).database
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE citations SET target = 999")
    with pytest.raises(StoreDamaged, match="remove it and run: dowse archive index"):
        citation_at(open_database(file), "note")


def test_two_links_to_one_page_are_two_citations(tmp_path: Path) -> None:
    database = make_database(
        tmp_path, {"note.md": "[a](https://example.com/page) and [b](https://example.com/page)"}, PAGE
    )
    assert cited_titles(database, "note") == ["The page", "The page"]


VAULT = {
    "Home.md": "[[Ideas]] [[folder/Deep|deep]] [[Ideas#Part]] [[Nothing]] [[Second name]] ![[Ideas]]",
    "Ideas.md": "---\naliases: [Second name]\n---\nIdeas.",
    "folder/Deep.md": "[[Home]] [up](../Home.md)",
}


def test_wiki_links_lead_to_pages_by_name_path_and_alias(tmp_path: Path) -> None:
    database = make_database(tmp_path, VAULT)
    assert cited_titles(database, "Home") == ["Ideas", "Deep", "Ideas", "[[Nothing]]", "Ideas"]
    assert cited_titles(database, "Deep") == ["Home", "Home"]


def test_the_links_of_a_captured_page_begin_at_its_address(tmp_path: Path) -> None:
    pages = {
        "a": captured_page("https://example.com/docs/a", "A", "[b](b) [root](/c) [self](#x)"),
        "b": captured_page("https://example.com/docs/b", "B", "B"),
        "c": captured_page("https://example.com/c", "C", "C"),
    }
    assert cited_titles(make_database(tmp_path, {}, pages), "A") == ["B", "C"]


def test_of_several_captures_the_newest_is_cited(tmp_path: Path) -> None:
    pages = {
        "new": captured_page("https://example.com/page", "New", "n", "2025-06-01"),
        "old": captured_page("https://example.com/page", "Old", "o", "2024-06-01"),
    }
    assert cited_titles(make_database(tmp_path, {"note.md": "https://example.com/page"}, pages), "note") == ["New"]


def test_dois_and_arxiv_ids_are_citations(tmp_path: Path) -> None:
    pages = {
        "d": captured_page("https://doi.org/10.1000/182", "By DOI", "d"),
        "x": captured_page("https://arxiv.org/pdf/2101.00001v2", "On arXiv", "x"),
    }
    text = "As shown (doi:10.1000/182), in arXiv:2101.00001v1 and arXiv:hep-th/9901001. Code: `10.1000/182`."
    database = make_database(tmp_path, {"note.md": text}, pages)
    assert cited_titles(database, "note") == ["By DOI", "On arXiv", "https://arxiv.org/abs/hep-th/9901001"]


PEPS = {
    "pep-0008.rst": "PEP: 8\nTitle: Style Guide\nCreated: 05-Jul-2001\nReplaces: 7\n\n\nStyle\n=====\n\nWords of PEP 8.\n",
    "pep-0007.rst": (
        "PEP: 7\nTitle: C Style\nSuperseded-By: 8\nCreated: 05-Jul-2001\n\n\nAbstract\n========\n\n"
        "See :pep:`8` and :pep:`the tabs <8#tabs>`, and :rfc:`2616`. Also PEP 20.\n\n"
        "::\n\n    :pep:`20`\n"
    ),
    "rfc2616.txt": (
        "Network Working Group                                      R. Fielding\n"
        "Request for Comments: 2616                                   UC Irvine\n"
        "Obsoletes: 2068                                              J. Gettys\n"
        "Category: Standards Track                                    June 1999\n\n\n"
        "                Hypertext Transfer Protocol -- HTTP/1.1\n\n"
        "Status of this Memo\n\n   See RFC 2026 and http://example.com/page.\n"
    ),
}


def test_roles_and_heads_of_proposals_are_citations_and_mentions_are_not(tmp_path: Path) -> None:
    database = make_database(tmp_path, PEPS)
    http = "RFC 2616 – Hypertext Transfer Protocol -- HTTP/1.1"
    assert cited_titles(database, "PEP 7 – C Style") == ["PEP 8 – Style Guide"] * 3 + [http]
    assert cited_titles(database, "PEP 8 – Style Guide") == ["PEP 7 – C Style"]
    [cited] = database.citations("source", [document_titled(database, "PEP 7 – C Style").number]).values()
    kinds = [one.kind for one in cited]
    assert kinds == ["header", "role", "role", "role"]


def test_an_rfc_has_its_title_date_and_links(tmp_path: Path) -> None:
    database = make_database(tmp_path, PEPS, PAGE)
    http = document_titled(database, "RFC 2616 – Hypertext Transfer Protocol -- HTTP/1.1")
    assert (http.date, http.type) == ("1999-06", "rfc")
    assert cited_titles(database, http.title) == ["https://www.rfc-editor.org/rfc/rfc2068", "The page"]


def test_a_context_has_about_a_hundred_characters_either_side_within_the_paragraph(tmp_path: Path) -> None:
    words = "word " * 60
    database = make_database(tmp_path, {"note.md": f"Before.\n\n{words}[it](https://e.org/x) {words}\n\nAfter."})
    context = citation_at(database, "note").context
    assert "[it](https://e.org/x)" in context
    assert context.startswith("...word")
    assert context.endswith("word...")
    assert 180 <= len(context) <= 240
    assert "Before" not in context
