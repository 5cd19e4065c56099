"""`search_documents`: its exact text, and its hits."""

from pathlib import Path
from typing import Any

import pytest

from dowse.text.excerpts import PASSAGE_CHARACTERS
from tests.sample_data import write_tree
from tests.surfaces.documents.documents_client import connect, index

pytestmark = pytest.mark.anyio


async def test_the_reply_has_the_form_of_the_specification(notes: Path) -> None:
    async with connect("auto", notes) as reader:
        text, content = await reader.search_with_text("rootstock")
        (one,) = content["results"]
        assert text == (
            "Search results: 1 matches\n\n"
            f'1. docs://guide/grafting.html - "Grafting & budding" (relevance: {one["relevance"]:.2f})\n'
            "   Excerpt: # Grafting Join a **scion** to a rootstock. ## Whip and tongue Two cuts.\n"
            "   Match location: content"
        )
        assert content["totalMatches"] == 1
        assert one == {
            "uri": "docs://guide/grafting.html",
            "title": "Grafting & budding",
            "relevance": one["relevance"],
            "excerpt": "# Grafting Join a **scion** to a rootstock. ## Whip and tongue Two cuts.",
            "matchLocation": "content",
            "startLine": 1,
            "endLine": 7,
            "headings": ["Grafting"],
        }
        assert content["coverage"] == {"indexedFiles": 4, "expectedFiles": 4, "complete": True}


async def test_the_header_says_how_many_there_are_and_how_many_are_shown(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {f"{number}.md": f"# Page {number}\n\nA pear.\n" for number in range(5)})
    index(root)
    async with connect("auto", root) as reader:
        for limit, header in (
            (2, "Search results: 5 matches (showing 2)"),
            (5, "Search results: 5 matches"),
            (100, "Search results: 5 matches"),
        ):
            text, content = await reader.search_with_text("pear", limit=limit)
            assert text.split("\n")[0] == header
            assert content["totalMatches"] == 5
            assert len(content["results"]) == min(limit, 5)
        assert (await reader.search_with_text("zeppelin"))[0] == "Search results: 0 matches"
        for empty in ("", "  ", "\n"):
            text, content = await reader.search_with_text(empty)
            assert text == "Search results: 0 matches"
            assert content["results"] == []


async def test_where_is_looked_can_be_chosen(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path,
        {
            "title.html": "<title>Quince</title><p>A fruit.</p>",
            "text.md": "# Fruit\n\nThe quince is hard.\n",
            "both.md": "# Quince\n\nThe quince is sour.\n",
        },
    )
    index(root)
    async with connect("auto", root) as reader:

        async def places(**how: Any) -> dict[str, str]:
            return {one["uri"]: one["matchLocation"] for one in (await reader.search("quince", **how))["results"]}

        assert await places() == {"docs://both.md": "both", "docs://title.html": "title", "docs://text.md": "content"}
        assert await places(searchIn="both") == await places() == await places(searchIn=None)
        assert await places(searchIn="title") == {"docs://both.md": "title", "docs://title.html": "title"}
        assert await places(searchIn="content") == {"docs://both.md": "content", "docs://text.md": "content"}
        (title, *_) = [one for one in (await reader.search("quince"))["results"] if one["uri"] == "docs://title.html"]
        assert title["excerpt"] == "A fruit."
        assert "startLine" not in title


async def test_a_title_outranks_the_same_words_in_a_text(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path,
        {
            "a.md": "# Notes\n\n" + "Storing apples. Apples are stored. Storing apples, storing apples.\n\n" * 5,
            "storing/apples/storing-apples.md": "# Something else\n\nStoring apples in storing boxes.\n",
            "z.md": "# Storing apples\n\nIn a cellar.\n",
            "y.md": "# All about storing apples and pears in winter\n\nIn a cellar.\n",
        },
    )
    index(root)
    async with connect("auto", root) as reader:
        found = (await reader.search("storing apples"))["results"]
        assert [one["uri"] for one in found[:2]] == ["docs://z.md", "docs://y.md"]
        assert found[0]["relevance"] == 1.0
        assert found[1]["relevance"] >= 0.8 > found[2]["relevance"]
        scores = [one["relevance"] for one in found]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "title", ["Pruning apple trees", "How to do it", "C++", "日本語の文書", "🎉", "The 100% rule!", "naïve café"]
)
async def test_an_exact_title_comes_first_and_is_relevant(tmp_path: Path, title: str) -> None:
    others = {f"{number}.md": f"# Page {number}\n\nIt mentions {title} and more.\n" for number in range(20)}
    root = write_tree(tmp_path, {**others, "this.md": f"# {title}\n\nText.\n"})
    index(root)
    async with connect("auto", root) as reader:
        for place in ("both", "title"):
            (first, *_) = (await reader.search(title, searchIn=place))["results"]
            assert first["uri"] == "docs://this.md"
            assert first["relevance"] >= 0.8


async def test_nonsense_is_not_relevant(notes: Path) -> None:
    write_tree(notes, {f"{number}.md": f"# Page {number}\n\nWords and orchards and ladders.\n" for number in range(30)})
    index(notes)
    async with connect("auto", notes) as reader:
        for query in (
            "xqzjv",
            "wkrrp blorft zzyx",
            "qwertzuiop asdfghjkl",
            "the of and xqzjv",
            "orchrdx qqqq zzzz vvvv",
        ):
            for place in ("title", "content", "both"):
                found = (await reader.search(query, searchIn=place))["results"]
                assert max((one["relevance"] for one in found), default=0) < 0.3, (query, found)


async def test_an_excerpt_is_around_the_best_passage_and_cut_at_words(tmp_path: Path) -> None:
    filler = "Nothing of interest happens here at all. " * 30
    root = write_tree(
        tmp_path,
        {
            "long.md": f"# Long\n\n{filler}\n\n## Middle\n\n{filler}The quince ripens late. {filler}\n\n## End\n\n{filler}\n",
            "front.md": "---\ntitle: Front\nkeywords: medlar\nslug: a/b\n---\n\nThe medlar is eaten when it is soft.\n",
            "only.md": "---\ntitle: Only\nkeywords: loquat\n---\n\nNo such word here.\n",
        },
    )
    index(root)
    async with connect("auto", root) as reader:
        (one,) = (await reader.search("quince"))["results"]
        assert "The quince ripens late." in one["excerpt"]
        assert one["excerpt"].startswith("...")
        assert one["excerpt"].endswith("...")
        assert len(one["excerpt"]) <= PASSAGE_CHARACTERS + 7
        assert one["headings"] == ["Long", "Middle"]
        assert one["startLine"] <= 7 <= one["endLine"]
        words = one["excerpt"].removeprefix("...").removesuffix("...").split()
        assert set(words) <= set((root / "long.md").read_text(encoding="utf-8").split())
        (one,) = (await reader.search("medlar"))["results"]
        assert one["excerpt"] == "The medlar is eaten when it is soft."
        (one,) = (await reader.search("loquat"))["results"]
        assert one["excerpt"] == "No such word here."


async def test_as_many_are_shown_as_were_asked_for_where_there_are_so_many(tmp_path: Path) -> None:
    chapters = "".join(f"\n## Chapter {number}\n\nPears, {'pears and ' * 90} pears.\n" for number in range(60))
    few = {f"book{number}.md": f"# Book {number}\n{chapters}" for number in range(6)}
    many = {f"note{number}.md": f"# Note {number}\n\nOne pear.\n" for number in range(120)}
    index(write_tree(tmp_path, {**few, **many}))
    async with connect("auto", tmp_path) as reader:
        for limit in (1, 7, 50, 100):
            text, content = await reader.search_with_text("pear", limit=limit)
            assert text.startswith(f"Search results: 126 matches (showing {limit})")
            uris = [one["uri"] for one in content["results"]]
            assert len(set(uris)) == len(uris) == limit
            scores = [one["relevance"] for one in content["results"]]
            assert scores == sorted(scores, reverse=True)


async def test_answers_follow_a_file_that_was_just_changed_or_deleted(notes: Path) -> None:
    async with connect("auto", notes) as reader:
        assert await reader.found_uris("ladder") == ["docs://memo.txt"]
        (notes / "memo.txt").write_text("Sell the tractor\n", encoding="utf-8")
        assert await reader.found_uris("ladder") == []
        assert await reader.found_uris("tractor") == ["docs://memo.txt"]
        assert (await reader.search("sell the tractor", searchIn="title"))["results"][0]["relevance"] == 1.0
        (notes / "guide/new.md").write_text("# Medlars\n", encoding="utf-8")
        assert await reader.found_uris("medlars", searchIn="title") == ["docs://guide/new.md"]
        (notes / "guide/new.md").rename(notes / "guide/newer.md")
        assert await reader.found_uris("medlars") == ["docs://guide/newer.md"]
        (notes / "guide/newer.md").unlink()
        (notes / "memo.txt").unlink()
        text, content = await reader.search_with_text("tractor medlars")
        assert text == "Search results: 0 matches"
        assert content["totalMatches"] == 0


FOLDER = {
    "a.html": "<title>Apple guide</title><body><p>Prune in winter. Store the fruit well.</p></body>",
    "b.html": "<title>Pear guide</title><body><p>Prune the apple in summer.</p></body>",
    "c.html": "<title>Winter work</title><body><p>Apple and pear, side by side.</p></body>",
    "d.html": "<title>Notes</title><body><p>Nothing but a red apple, in winter.</p></body>",
    "e.html": "<title>C++ and node-js</title><body><p>Programs for orchards.</p></body>",
}

CASES = [
    # query, found in titles, in texts, in both
    ("apple", "a", "bcd", "abcd"),
    ("apple winter", "ac", "abcd", "abcd"),
    ("+apple winter", "a", "bcd", "abcd"),
    ("+apple +winter", "", "d", "acd"),
    ("+guide +prune", "", "", "ab"),
    ("apple -winter", "a", "bc", "b"),
    ("apple -guide", "", "bcd", "cd"),
    ("apple -pear", "a", "bd", "ad"),
    ('"apple guide"', "a", "", "a"),
    ('"guide apple"', "", "", ""),
    ('"red apple"', "", "d", "d"),
    ('+"red apple"', "", "d", "d"),
    ('apple -"red apple"', "a", "bc", "abc"),
    ('apple -"apple guide"', "", "bcd", "bcd"),
    ('"winter work" apple', "c", "", "c"),
    ('"side by side" +winter', "", "", "c"),
    ('guide -"side by side"', "ab", "", "ab"),
    ("-apple", "", "", ""),
    ('-"red apple"', "", "", ""),
    ('+ - "" apple', "a", "bcd", "abcd"),
    ('"apple', "a", "bcd", "abcd"),
    ("C++", "e", "", "e"),
    ("node-js", "e", "", "e"),
    ("+quince apple", "", "", ""),
    ("+the +apple", "", "b", "ab"),
    ("APPLE", "a", "bcd", "abcd"),
    ("apples", "a", "bcd", "abcd"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("syntax") / "orchard", FOLDER)


@pytest.mark.parametrize("place", ["title", "content", "both"])
async def test_what_is_required_is_there_and_what_is_excluded_is_not(folder: Path, place: str) -> None:
    index(folder)
    column = ["title", "content", "both"].index(place)
    async with connect("auto", folder) as reader:
        for query, *expected in CASES:
            found = await reader.search(query, searchIn=place, limit=100)
            letters = "".join(sorted(one["uri"].removeprefix("docs://")[0] for one in found["results"]))
            assert (query, letters) == (query, expected[column])
            assert (query, found["totalMatches"]) == (query, len(letters))
            assert all(
                one["matchLocation"] in {"both": ("title", "content", "both")}.get(place, (place,))
                for one in found["results"]
            )
