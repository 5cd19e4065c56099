"""Searching: typos, the order of results, snippets, and hostile queries."""

import contextlib
import re
import sqlite3
from pathlib import Path

import pytest

from dowse.archives.archive_database import ArchiveDatabase, open_database
from dowse.archives.archive_search import search_archives
from dowse.errors import StoreDamaged
from tests.archives.sample_archives import HOSTILE, locations_in, make_database

FRUIT = {
    "ml.md": "# Introduction to Machine Learning\n\nMachine learning is a subset of artificial intelligence.\n",
    "bread.md": "# Sourdough bread\n\nFlour, water, salt and patience. A machine may knead it.\n",
    "cafe.md": "# Le café français\n\nLe café noir, servi à Orléans.\n",
    "run.md": "---\nquestion: How do marathon runners train?\n---\n# Endurance\n\nThey run a lot.\n",
    "train.md": "# Railways\n\nSteam trains of the nineteenth century carried marathon runners, too. How they train!\n",
    "cn.md": "# 机器学习\n\n机器学习是人工智能的一个分支。\n",
    "hindi.md": "# हिन्दी पाठ\n\nयह एक परीक्षण है।\n",
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> ArchiveDatabase:
    return make_database(tmp_path_factory.mktemp("fruit"), FRUIT)


def titles(database: ArchiveDatabase, query: str, *, fuzzy: bool = True) -> list[str]:
    return [hit.document.title for hit in search_archives(database, query, 10, fuzzy=fuzzy)]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("sourdough", "Sourdough bread"),
        ("sourdogh", "Sourdough bread"),
        ("suordough", "Sourdough bread"),
        ("sourdougth bred", "Sourdough bread"),
        ("sourd", "Sourdough bread"),
        ("intelligences", "Introduction to Machine Learning"),
        ("learn machines", "Introduction to Machine Learning"),
        ("machin lerning", "Introduction to Machine Learning"),
        ("cafe francais", "Le café français"),
        ("orleans", "Le café français"),
        ("kneading", "Sourdough bread"),
        ("机器学习", "机器学习"),
        ("人工智能", "机器学习"),
        ("परीक्षण", "हिन्दी पाठ"),
        ("what is machine learning?", "Introduction to Machine Learning"),
    ],
)
def test_the_document_that_was_meant_is_first(database: ArchiveDatabase, query: str, title: str) -> None:
    assert titles(database, query)[0] == title


@pytest.mark.parametrize("query", ["sourdogh", "sourd", "intelligences", "cafe", "machin learning", "orleans"])
def test_exact_words_are_exact(database: ArchiveDatabase, query: str) -> None:
    assert titles(database, query, fuzzy=False) == []


def test_exact_words_are_found_in_any_case(database: ArchiveDatabase) -> None:
    assert titles(database, "MACHINE Learning", fuzzy=False) == ["Introduction to Machine Learning"]
    assert titles(database, "café", fuzzy=False) == ["Le café français"]


def test_a_title_outranks_a_question_outranks_content(tmp_path: Path) -> None:
    files = {
        "content.md": "# One\n\n" + "Zeppelin history. " * 30,
        "question.md": "---\nquestion: What is the history of the zeppelin?\n---\n# Two\n\nShort.\n",
        "title.md": "# Zeppelin history in a nutshell\n\nShort.\n",
    }
    assert titles(make_database(tmp_path, files), "zeppelin history") == [
        "Zeppelin history in a nutshell",
        "Two",
        "One",
    ]


def test_scores_mean_relevance(database: ArchiveDatabase) -> None:
    for title in (hit for hit in titles(database, "machine learning railways bread")):
        assert search_archives(database, title, 1)[0].score >= 0.8
    for nonsense in ("xylophagous qwertz", "zzzzzz", "blorf", "asdfgh jklö"):
        assert all(hit.score < 0.3 for hit in search_archives(database, nonsense, 10))
    scores = [hit.score for hit in search_archives(database, "machine learning runners", 10)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_words_that_follow_each_other_share_a_mark(database: ArchiveDatabase) -> None:
    (hit,) = search_archives(database, "machine learning", 1)
    shown = {one.field: one.snippets for one in hit.highlights}
    assert shown["title"] == ("Introduction to <mark>Machine Learning</mark>",)
    assert shown["content"] == ("<mark>Machine learning</mark> is a subset of artificial intelligence.",)


def test_archived_text_is_escaped(tmp_path: Path) -> None:
    text = "# <mark>Trick</mark> & <script>\n\nA <mark>trick</mark> with <script>alert(1)</script> &amp; more tricks.\n"
    (hit,) = search_archives(make_database(tmp_path, {"a.md": text}), "trick", 1)
    for highlight in hit.highlights:
        for snippet in highlight.snippets:
            assert "<script>" not in snippet
            assert re.sub(r"</?mark>", "", snippet).count("<") == 0
            assert re.findall(r"<mark>(.*?)</mark>", snippet)


def test_a_long_text_is_shown_in_a_few_passages(tmp_path: Path) -> None:
    text = "# Long\n\n" + "\n\n".join(f"Paragraph {n} of many. " + "filler " * 40 + "needle here." for n in range(50))
    (hit,) = search_archives(make_database(tmp_path, {"a.md": text}), "needle", 1)
    (content,) = (one for one in hit.highlights if one.field == "content")
    assert len(content.snippets) == 3
    assert all(snippet.count("<mark>needle</mark>") == 1 and len(snippet) < 300 for snippet in content.snippets)


@pytest.mark.parametrize("query", [*HOSTILE, "", "   ", "?", "x" * 100_000, "word " * 2000, "\0", "a\0b", "\ud800"[:0]])
def test_every_odd_query_is_answered(database: ArchiveDatabase, query: str) -> None:
    for fuzzy in (True, False):
        for hit in search_archives(database, query, 50, fuzzy=fuzzy):
            assert 0 <= hit.score <= 1


@pytest.mark.parametrize("query", ["", "  ", "?!", "👩‍👩‍👧‍👦", "+++"])
def test_a_query_without_words_finds_nothing(database: ArchiveDatabase, query: str) -> None:
    assert search_archives(database, query, 10) == []


def test_passages_far_into_a_long_text_are_found(tmp_path: Path) -> None:
    text = "# Orchard\n\n" + "filler Naïve\u0301 " * 2000 + "a ripe pear beside\u00a0an apple\n\n" + "filler " * 3000
    (hit,) = search_archives(make_database(tmp_path, {"long.md": text}), "pear apple", 5)
    (snippet,) = hit.highlights[0].snippets
    assert "<mark>pear</mark> beside\u00a0an <mark>apple</mark>".replace("\u00a0", " ") in snippet


def test_the_limit_is_kept(tmp_path: Path) -> None:
    database = make_database(tmp_path, {f"{n}.md": f"# Apple {n}\n" for n in range(30)})
    assert len(search_archives(database, "apple", 7)) == 7


def test_one_page_per_document_however_long(tmp_path: Path) -> None:
    database = make_database(tmp_path, {"a.md": "apple " * 200_000})
    assert len(search_archives(database, "apple", 10)) == 1


def test_a_document_without_text_is_damage(tmp_path: Path) -> None:
    make_database(tmp_path, {"note.md": "# Note\n\nGradient descent.\n"}).close()
    file = locations_in(tmp_path).database
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'text TEXT NOT NULL', 'text TEXT')")
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE content SET text = NULL")
    with pytest.raises(StoreDamaged, match="remove it and run: dowse archive index"):
        search_archives(open_database(file), "gradient", 5)
