"""The query syntax in titles, texts and both: required and excluded terms, and the totals."""

from pathlib import Path

import pytest

from tests.sample_data import write_tree
from tests.surfaces.documents.documents_client import Reader, index, run_conversation

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
def test_what_is_required_is_there_and_what_is_excluded_is_not(folder: Path, place: str) -> None:
    index(folder)
    column = ["title", "content", "both"].index(place)

    async def conversation(reader: Reader) -> None:
        for query, *expected in CASES:
            found = await reader.search(query, searchIn=place, limit=100)
            letters = "".join(sorted(one["uri"].removeprefix("docs://")[0] for one in found["results"]))
            assert (query, letters) == (query, expected[column])
            assert (query, found["totalMatches"]) == (query, len(letters))
            assert all(
                one["matchLocation"] in {"both": ("title", "content", "both")}.get(place, (place,))
                for one in found["results"]
            )

    run_conversation("auto", conversation, folder)


def test_totals_count_what_is_not_shown(tmp_path: Path) -> None:
    files = {
        f"{number}.md": f"# Page {number}\n\nA {'red' if number % 2 else 'green'} apple, {number}.\n"
        for number in range(40)
    }
    index(write_tree(tmp_path, files))

    async def conversation(reader: Reader) -> None:
        for query, total in (
            ("apple", 40),
            ("+red apple", 20),
            ("apple -red", 20),
            ('"green apple"', 20),
            ('apple -"red apple"', 20),
        ):
            assert (query, (await reader.search(query, limit=3))["totalMatches"]) == (query, total)

    run_conversation("auto", conversation, tmp_path)
