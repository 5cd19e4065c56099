"""Searching: typos, the order of results, snippets, and hostile queries."""

import re
from pathlib import Path

import pytest

from dowse.archives.archive_database import create_database
from dowse.archives.archive_locations import ArchiveLocations
from tests.archives.sample_archives import HOSTILE, index_archives, make_archives, search, update

FRUIT = {
    "ml.md": "# Introduction to Machine Learning\n\nMachine learning is a subset of artificial intelligence.\n",
    "bread.md": "# Sourdough bread\n\nFlour, water, salt and patience. A machine may knead it.\n",
    "cafe.md": "# Le café français\n\nLe café noir, servi à Orléans.\n",
    "run.md": "---\nquestion: How do marathon runners train?\n---\n# Endurance\n\nThey run a lot.\n",
    "train.md": "# Railways\n\nSteam trains of the nineteenth century carried marathon runners, too. How they train!\n",
    "cn.md": "# 机器学习\n\n机器学习是人工智能的一个分支。\n",
    "hindi.md": "# हिन्दी पाठ\n\nयह एक परीक्षण है।\n",
}


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path_factory.getbasetemp() / "archive-search-home"))


@pytest.fixture(scope="module")
def fruit(tmp_path_factory: pytest.TempPathFactory) -> ArchiveLocations:
    return indexed(tmp_path_factory.mktemp("fruit"), FRUIT)


def indexed(folder: Path, files: dict[str, str]) -> ArchiveLocations:
    locations = make_archives(folder, files)
    index_archives(locations).close()
    return locations


def titles(fruit: ArchiveLocations, query: str, *, fuzzy: bool = True) -> list[str]:
    return [hit.document.title for hit in search(fruit, query, fuzzy=fuzzy)]


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
def test_the_document_that_was_meant_is_first(fruit: ArchiveLocations, query: str, title: str) -> None:
    assert titles(fruit, query)[0] == title


@pytest.mark.parametrize("query", ["sourdogh", "sourd", "intelligences", "cafe", "machin learning", "orleans"])
def test_exact_words_are_exact(fruit: ArchiveLocations, query: str) -> None:
    assert titles(fruit, query, fuzzy=False) == []


def test_exact_words_are_found_in_any_case(fruit: ArchiveLocations) -> None:
    assert titles(fruit, "MACHINE Learning", fuzzy=False) == ["Introduction to Machine Learning"]
    assert titles(fruit, "café", fuzzy=False) == ["Le café français"]


def test_a_title_outranks_a_question_outranks_content(tmp_path: Path) -> None:
    files = {
        "content.md": "# One\n\n" + "Zeppelin history. " * 30,
        "question.md": "---\nquestion: What is the history of the zeppelin?\n---\n# Two\n\nShort.\n",
        "title.md": "# Zeppelin history in a nutshell\n\nShort.\n",
    }
    assert titles(indexed(tmp_path, files), "zeppelin history") == ["Zeppelin history in a nutshell", "Two", "One"]


def test_scores_mean_relevance(fruit: ArchiveLocations) -> None:
    for title in (hit for hit in titles(fruit, "machine learning railways bread")):
        assert search(fruit, title, 1)[0].score >= 0.8
    for nonsense in ("xylophagous qwertz", "zzzzzz", "blorf", "asdfgh jklö"):
        assert all(hit.score < 0.3 for hit in search(fruit, nonsense, 10))
    scores = [hit.score for hit in search(fruit, "machine learning runners", 10)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_words_that_follow_each_other_share_a_mark(fruit: ArchiveLocations) -> None:
    (hit,) = search(fruit, "machine learning", 1)
    shown = {one.field: one.snippets for one in hit.highlights}
    assert shown["title"] == ["Introduction to <mark>Machine Learning</mark>"]
    assert shown["content"] == ["<mark>Machine learning</mark> is a subset of artificial intelligence."]


def test_archived_text_is_escaped(tmp_path: Path) -> None:
    text = (
        "# <mark>Trick</mark> & <script>\n\nA <mark>trick</mark> with\n<script>alert(1)</script> &amp; more tricks.\n"
    )
    (hit,) = search(indexed(tmp_path, {"a.md": text}), "trick", 1)
    for highlight in hit.highlights:
        for snippet in highlight.snippets:
            assert "<script>" not in snippet
            assert "\n" not in snippet
            assert re.sub(r"</?mark>", "", snippet).count("<") == 0
            assert re.findall(r"<mark>(.*?)</mark>", snippet)


def test_a_long_text_is_shown_in_a_few_passages(tmp_path: Path) -> None:
    text = "# Long\n\n" + "\n\n".join(f"Paragraph {n} of many. " + "filler " * 40 + "needle here." for n in range(50))
    (hit,) = search(indexed(tmp_path, {"a.md": text}), "needle", 1)
    (content,) = (one for one in hit.highlights if one.field == "content")
    assert len(content.snippets) == 3
    assert all(snippet.count("<mark>needle</mark>") == 1 and len(snippet) < 300 for snippet in content.snippets)


@pytest.mark.parametrize("query", [*HOSTILE, "", "   ", "?", "x" * 100_000, "word " * 2000, "\0", "a\0b", "\ud800"[:0]])
def test_every_odd_query_is_answered(fruit: ArchiveLocations, query: str) -> None:
    for fuzzy in (True, False):
        for hit in search(fruit, query, 50, fuzzy=fuzzy):
            assert 0 <= hit.score <= 1


@pytest.mark.parametrize("query", ["", "  ", "?!", "👩‍👩‍👧‍👦", "+++"])
def test_a_query_without_words_finds_nothing(fruit: ArchiveLocations, query: str) -> None:
    assert search(fruit, query, 10) == []


def test_passages_far_into_a_long_text_are_found(tmp_path: Path) -> None:
    text = "# Orchard\n\n" + "filler Naïve\u0301 " * 2000 + "a ripe pear beside\u00a0an apple\n\n" + "filler " * 3000
    (hit,) = search(indexed(tmp_path, {"long.md": text}), "pear apple", 5)
    (snippet,) = hit.highlights[0].snippets
    assert "<mark>pear</mark> beside\u00a0an <mark>apple</mark>".replace("\u00a0", " ") in snippet


def test_the_limit_is_kept(tmp_path: Path) -> None:
    fruit = indexed(tmp_path, {f"{n}.md": f"# Apple {n}\n" for n in range(30)})
    assert len(search(fruit, "apple", 7)) == 7


def test_one_page_per_document_however_long(tmp_path: Path) -> None:
    fruit = indexed(tmp_path, {"a.md": "apple " * 200_000})
    assert len(search(fruit, "apple", 10)) == 1


def test_words_far_apart_find_a_document(tmp_path: Path) -> None:
    """Only the best passage of a document counted once, and one word of five was in it."""
    filling = "\n\n".join(f"Paragraph {number} about nothing in particular." for number in range(200))
    long = f"# Fruit\n\nApples.\n\n{filling}\n\nPears and quinces.\n"
    near = {f"near{number}.md": f"# Note {number}\n\nApples, apples and more apples.\n" for number in range(20)}
    locations = indexed(tmp_path, {"long.md": long, **near})
    assert titles(locations, "apples pears quinces")[0] == "Fruit"


def test_a_misspelled_word_that_exists_is_corrected_too(tmp_path: Path) -> None:
    """A typo made another word, which one document has."""
    many = {f"{number}.md": f"# Report {number}\n\nSourdough.\n" for number in range(8)}
    locations = indexed(tmp_path, {"right.md": "# Baking sourdough\n", "wrong.md": "# Sourdouhg\n", **many})
    assert titles(locations, "baking sourdouhg")[0] == "Baking sourdough"


def test_a_misspelled_word_whose_parts_are_common_is_corrected_too(tmp_path: Path) -> None:
    many = {f"{number}.md": f"# Report {number}\n\nBaking n loaves of bread.\n" for number in range(30)}
    locations = indexed(tmp_path, {"right.md": "# Baking bread\n", **many})
    assert titles(locations, "Bakin nBread")[0] == "Baking bread"


def test_an_archive_whose_disk_is_absent_is_searched_from_its_index(tmp_path: Path) -> None:
    locations = indexed(tmp_path, {"bread.md": "# Sourdough bread\n\nFlour, water and patience.\n"})
    locations.research.rename(tmp_path / "unplugged")
    (hit,) = search(locations, "patience")
    assert hit.document.path == "research-archive/bread.md"
    assert [one.snippets for one in hit.highlights if one.field == "content"] == [
        ["Flour, water and <mark>patience</mark>."]
    ]
    update(create_database(locations.database), locations, prunes=True)
    assert search(locations, "patience") == []
