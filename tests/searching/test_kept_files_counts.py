"""How rare words are in files that are not indexed, compared with an index of the same files."""

from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.searching.direct_index import DirectIndex
from dowse.searching.query_terms import parse_search_query
from dowse.text.analysis import rarity
from dowse.types import Entry
from tests.sample_data import open_indexed, write_tree

METHODS = "".join(
    f"    public static String joinRange_{number}(final Object[] array) {{\n"
    "        // the strange contract of a prototype that an operator extracts\n"
    f"{'        array.sort(this.first, this.last);' * 20}\n        return null;\n    }}\n\n"
    for number in range(40)
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectIndex:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(tmp_path_factory.mktemp("home")))
        files = {f"src/Tool{number}.java": f"class Tool{number} {{\n{METHODS}}}\n" for number in range(4)}
        files["src/Type.java"] = "class Type {\n    int trace;\n}\n"
        return open_indexed(write_tree(tmp_path_factory.mktemp("project"), files))


def read_directly(project: ProjectIndex, text: str) -> DirectIndex:
    entries = [entry for entry in project.source.entries() if isinstance(entry, Entry)]
    files = DirectIndex(entries, project.source.read, parse_search_query(text))
    assert files.read_files(60)
    return files


def test_there_are_about_as_many_chunks_as_in_an_index(project: ProjectIndex) -> None:
    assert read_directly(project, "range").chunk_count() == pytest.approx(project.store.chunk_count(), rel=0.4)


@pytest.mark.parametrize("term", ["rang", "null", "join", "type", "trace", "extract"])
def test_a_word_is_about_as_rare_as_in_an_index(project: ProjectIndex, term: str) -> None:
    """`strange`, `contract` and `prototype` have the letters of other words."""
    files = read_directly(project, "range null join type trace extract")
    indexed = rarity(project.store.frequency("parts", term), project.store.chunk_count())
    assert rarity(files.frequency("parts", term), files.chunk_count()) == pytest.approx(indexed, abs=1.5)


def test_a_word_that_only_one_file_has_is_found(project: ProjectIndex) -> None:
    assert read_directly(project, "trace").chunk_frequencies(["trace"])["trace"] >= 1
    assert read_directly(project, "zebra").chunk_frequencies(["zebra"]) == {"zebra": 0}


@pytest.mark.timeout(30)
def test_a_word_without_end_and_a_name_on_every_place_take_no_time(tmp_path: Path) -> None:
    """They took minutes: each place was compared with the whole word, and with the beginning of its line."""
    files = {"page.txt": "搜索引擎" * 100_000, "code.py": "apple " * 150_000}
    project = open_indexed(write_tree(tmp_path / "p", files))
    assert read_directly(project, "搜索引擎 apple").frequency("parts", "appl") >= 1
