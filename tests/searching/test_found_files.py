"""Files that are found are put in order by the scores of the model, and data is told from code and prose."""

import base64
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.protocols import ScoreTexts
from dowse.searching import ranking_constants
from dowse.searching.found_files import is_blob
from dowse.searching.query_terms import parse_plain_query
from dowse.searching.search import Answer, SearchOptions, search_store
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import paths

QUESTION = "how is a parcel weighed at the counter"
FILES = {
    "src/counter.py": "def weigh_parcel(parcel):\n    return counter.scale.weigh(parcel)\n",
    "src/scale.py": "def read_scale(parcel):\n    return parcel.grams\n",
    **{f"src/part{number}.py": f"def take_{number}(parcel):\n    return {number}\n" for number in range(20)},
}


@pytest.fixture
def index(tmp_path: Path) -> ProjectIndex:
    return open_indexed(write_tree(tmp_path / "post", FILES))


def search(index: ProjectIndex, score_texts: ScoreTexts | None) -> Answer:
    options = SearchOptions(20, keeps_weak=True, score_texts=score_texts)
    return search_store(index.store, index.source.read_bytes, parse_plain_query(QUESTION), options)


def test_the_scores_of_the_best_files_change_their_order(index: ProjectIndex) -> None:
    given = list[str]()

    def prefer_scale(texts: Sequence[str]) -> list[float]:
        given.extend(texts)
        return [90.0 * ("read_scale" in text) for text in texts]

    before, after = search(index, None), search(index, prefer_scale)
    assert (paths(before)[0], paths(after)[0]) == ("src/counter.py", "src/scale.py")
    assert [path for path in paths(after) if path != "src/scale.py"] == [
        path for path in paths(before) if path != "src/scale.py"
    ]
    assert "src/scale.py\ndef read_scale(parcel):\n    return parcel.grams" in [text.rstrip() for text in given]
    assert len(given) == ranking_constants.SCORED_FILES
    scores = [hit.score for hit in after.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("scores", [None, [], [1.0]])
def test_without_a_score_for_each_file_the_order_stays(index: ProjectIndex, scores: list[float] | None) -> None:
    assert paths(search(index, lambda _texts: scores)) == paths(search(index, None))


def test_a_file_that_is_gone_is_scored_by_its_path(index: ProjectIndex) -> None:
    (index.root / "src/scale.py").unlink()
    given = list[str]()

    def score(texts: Sequence[str]) -> list[float]:
        given.extend(texts)
        return [0.0] * len(texts)

    assert "src/scale.py" not in paths(search(index, score))
    assert "src/scale.py\n" in given


NOISE = random.Random(1).randbytes(6000)
PEM = b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(NOISE) + b"-----END CERTIFICATE-----\n"
MINIFIED = b"!function(e,t){return e.a(t)||e.b[t]}(this,function(){var n=1;" * 100
NUMBERS = b"\n".join(b"%d,%d,0.%d" % (one, one * 7, one * 13) for one in range(900))
PYTHON = (
    b'def send(request):\n    """Send it."""\n    return request.session.post(request.url, data=request.data)\n' * 20
)
PROSE = ("A paragraph of a text that was written without line ends, as many people do. " * 30 + "\n\n").encode() * 3
CHINESE = "这是一个没有空格的段落。\n".encode() * 60
TABLE = b"| name | meaning |\n|---|---|\n" + b"| `limit` | how many hits |\n" * 40


def test_data_is_a_blob() -> None:
    for data in (PEM, MINIFIED, NUMBERS):
        assert is_blob(data)


def test_code_and_prose_are_not() -> None:
    for data in (PYTHON, PROSE, CHINESE, TABLE, b"", b"1,2,3\n"):
        assert not is_blob(data)
