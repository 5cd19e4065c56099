"""How rare words are in files that are not indexed, compared with an index of the same files."""

from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.searching.kept_files import FileCounts
from dowse.text.analysis import rarity
from dowse.types import Entry
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import read_directly

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


def test_of_a_word_without_end_a_part_is_compared(tmp_path: Path) -> None:
    """A file of 2 MB in one word took minutes: each place was compared with all of it."""
    project = open_indexed(write_tree(tmp_path / "p", {"page.txt": "搜索引擎" * 10_000}))
    entries = [entry for entry in project.source.entries() if isinstance(entry, Entry)]
    letters, seen = "搜索".encode(), list[str]()
    counts = FileCounts(entries, project.source.read, [letters], ["搜索"], [], seconds=60)
    assert not counts.unread_paths

    def is_word(word: str) -> bool:
        seen.append(word)
        return "搜索" in word

    assert counts.chunk_frequency(letters, is_word) > 1
    assert seen
    assert max(map(len, seen)) < 100
