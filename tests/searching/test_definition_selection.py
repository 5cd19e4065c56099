"""The definitions that answer: ranked over all files, with more room for a pasted issue and in a short reply."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.protocols import ScoreTexts
from dowse.searching import ranking_constants
from dowse.searching.definition_selection import Compare
from dowse.searching.passages import Passage
from dowse.searching.query_terms import parse_plain_query
from dowse.searching.search import SearchOptions, search_store
from tests.sample_data import open_indexed, write_tree

STEPS = {
    name: "\n".join(f"    {name}_{number} = parcel.weigh(scale, '{name}', {number})" for number in range(40))
    for name in "abcdefgh"
}
FILES = {
    "src/labels.py": (
        "def print_label(parcel):\n    return render(parcel.address)\n\n\n"
        "def render(address):\n    lines = address.split('\\n')\n    return lines[0]\n"
    ),
    "src/weights.py": "\n\n".join(f"def weigh_{name}(parcel, scale):\n{steps}\n" for name, steps in STEPS.items()),
    "src/customs.py": "def declare_value(parcel):\n    total = 0\n    return total\n",
}


@pytest.fixture
def index(tmp_path: Path) -> ProjectIndex:
    return open_indexed(write_tree(tmp_path / "post", FILES))


def shown(
    index: ProjectIndex, text: str, compare: Compare | None = None, score_texts: ScoreTexts | None = None
) -> list[tuple[str, Passage]]:
    """Return the definitions that are shown whole, best first."""
    options = SearchOptions(20, detail="definitions", definitions=5, compare=compare, score_texts=score_texts)
    answer = search_store(index.store, index.source.read_bytes, parse_plain_query(text), options)
    found = [(hit.path, passage) for hit in answer.hits for passage in hit.passages]
    return sorted(found, key=lambda pair: pair[1].rank)


def test_a_line_of_a_traceback_leads_to_its_function(index: ProjectIndex) -> None:
    issue = (
        "Parcels with two lines lose a line\n\nWhen a parcel is sent to the counter the second line is gone.\n\n"
        'Traceback (most recent call last):\n  File "src/customs.py", line 2, in declare_value\n    total = 0\n'
    )
    assert "src/customs.py" in [path for path, _ in shown(index, issue)][:3]


@pytest.mark.parametrize("name", ["print_label", "declare_value"])
def test_of_definitions_with_the_same_words_the_nearest_in_meaning_comes_first(index: ProjectIndex, name: str) -> None:
    found = shown(index, "parcel", lambda texts: [float(name in text) for text in texts])
    assert found[0][1].symbols == (name,)


def test_a_pasted_issue_shows_more_than_a_question(index: ProjectIndex) -> None:
    question = "weigh a parcel with a scale"
    issue = f"{question}\n\n" + "\n".join(
        f"step {number} of weighing a parcel with the scale goes wrong" for number in range(20)
    )
    assert len(shown(index, issue)) > len(shown(index, question))


def test_a_query_that_is_a_name_shows_its_definition_alone(index: ProjectIndex) -> None:
    [(path, passage)] = shown(index, "declare_value")
    assert (path, passage.symbols) == ("src/customs.py", ("declare_value",))


def test_a_short_reply_is_filled_with_further_definitions(index: ProjectIndex) -> None:
    assert len(shown(index, "label address lines")) > 1


def test_short_functions_that_are_called_are_shown_after_their_callers(index: ProjectIndex) -> None:
    found = shown(index, "where is the label of a parcel printed")
    names = [passage.symbols for _, passage in found]
    assert names.index(("render",)) > names.index(("print_label",))


def ranked_names(index: ProjectIndex, text: str, score_texts: ScoreTexts | None) -> list[tuple[str, ...]]:
    return [passage.symbols for _, passage in shown(index, text, score_texts=score_texts)]


def test_the_scores_of_texts_change_the_order(index: ProjectIndex) -> None:
    given = list[str]()

    def prefer_render(texts: Sequence[str]) -> list[float]:
        given.extend(texts)
        return [9.0 * ("def render" in text) for text in texts]

    question = "where is the label of a parcel printed"
    assert ranked_names(index, question, None)[0] == ("print_label",)
    assert ranked_names(index, question, prefer_render)[0] == ("render",)
    assert "src/labels.py\ndef print_label(parcel):\n    return render(parcel.address)" in given
    assert len(given) <= ranking_constants.SCORED_DEFINITIONS
    assert max(map(len, given)) <= ranking_constants.SCORED_CHARACTERS + len("src/weights.py\n")


@pytest.mark.parametrize("scores", [None, [], [1.0]])
def test_without_a_score_for_each_text_the_order_stays(index: ProjectIndex, scores: list[float] | None) -> None:
    question = "where is the label of a parcel printed"
    assert ranked_names(index, question, lambda _texts: scores) == ranked_names(index, question, None)


def test_the_words_of_a_long_list_count_where_they_stand_together(tmp_path: Path) -> None:
    words = ["stamp", "refund", "customer", "counter"]
    rows = "\n".join(f"- {words[number // 300]}_{number}: {number}" for number in range(1200))
    code = "def pay_back(till):\n    # a refund\n    return till.take()\n"
    made = open_indexed(write_tree(tmp_path / "post", {"prices.yaml": f"{rows}\n", "src/till.py": code}))
    path, passage = shown(made, "refund for a stamp of a customer at the counter")[0]
    assert (path, passage.symbols) == ("src/till.py", ("pay_back",))
