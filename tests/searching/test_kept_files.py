"""Files that are searched before they are indexed: kept for the next search, and counted about as in an index."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.searching import kept_files
from dowse.searching.kept_files import FileCounts, KeptFiles, read_directly
from dowse.sources.project_files import ProjectFiles
from dowse.text.analysis import rarity
from dowse.types import Chunk, Entry, FileContent, Reading, Symbol, Verdict
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import direct_files


@pytest.fixture
def source(tmp_path: Path) -> ProjectFiles:
    files = {"apple.py": "def apple(): ...\n", "guide.md": "# Guide\n\n## Fruit\n", "picture.txt": "a\0b\n"}
    return ProjectIndex(write_tree(tmp_path / "project", files)).source


def read(kept: KeptFiles, source: ProjectFiles, path: str) -> FileContent:
    entry = source.entry(path)
    assert isinstance(entry, Entry)
    found = kept.read(entry)
    assert not isinstance(found, Verdict)
    return found[0]


def test_a_file_is_read_once_until_it_changes(source: ProjectFiles) -> None:
    kept = KeptFiles(source.read)
    first = read(kept, source, "apple.py")
    assert read(kept, source, "apple.py") is first
    (source.root / "apple.py").write_text("def pear_tree(): ...\n", encoding="utf-8")
    assert read(kept, source, "apple.py").data == b"def pear_tree(): ...\n"


def test_a_file_that_changed_after_the_walk_is_read_again(source: ProjectFiles) -> None:
    kept = KeptFiles(source.read)
    seen = source.entry("apple.py")
    assert isinstance(seen, Entry)
    (source.root / "apple.py").write_text("def pear_tree(): ...\n", encoding="utf-8")
    assert kept.read(seen) is not kept.read(seen)


def test_no_more_bytes_are_kept_than_the_limit(source: ProjectFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "MAX_KEPT_BYTES", 20)
    kept = KeptFiles(source.read)
    first = read(kept, source, "apple.py")
    assert read(kept, source, "guide.md") is not read(kept, source, "guide.md")
    assert read(kept, source, "apple.py") is first


def test_chunks_are_cut_once_and_named(source: ProjectFiles) -> None:
    kept = KeptFiles(source.read)
    cut = kept.cut(read(kept, source, "apple.py"), read_directly)
    assert cut is not None
    assert cut is kept.cut(read(kept, source, "apple.py"), read_directly)
    assert [symbol.name for symbol in cut.named_chunk(0).symbols] == ["apple"]
    guide = kept.cut(read(kept, source, "guide.md"), read_directly)
    assert guide is not None
    assert guide.named_chunk(0).headings == ("Guide",)


def test_a_text_that_takes_too_long_is_not_cut(source: ProjectFiles) -> None:
    kept = KeptFiles(source.read)
    assert kept.cut(read(kept, source, "guide.md"), lambda _: None) is None
    assert kept.cut(read(kept, source, "guide.md"), read_directly) is not None


def test_a_file_is_parsed_once_until_it_changes(source: ProjectFiles) -> None:
    asked: list[str] = []

    def parse(files: Sequence[FileContent]) -> Iterator[tuple[FileContent, Reading, list[Chunk]]]:
        for content in files:
            asked.append(content.path)
            if content.path == "apple.py":
                reading = read_directly(content)
                yield content, reading, [Chunk(reading.text, 0, 17, 1, 1, (Symbol("parsed", "function", 1),))]

    kept = KeptFiles(source.read)
    contents = [read(kept, source, path) for path in ("apple.py", "guide.md")]
    first = kept.parse(contents, parse)
    assert [symbol.name for symbol in first["apple.py"].named_chunk(0).symbols] == ["parsed"]
    assert "guide.md" not in first  # it was not ready in time
    assert kept.parse(contents, parse) == first
    assert asked == ["apple.py", "guide.md", "guide.md"]
    (source.root / "apple.py").write_text("def pear_tree(): ...\n", encoding="utf-8")
    kept.parse([read(kept, source, "apple.py")], parse)
    assert asked[3:] == ["apple.py"]


def test_a_file_that_was_cut_before_is_parsed_when_there_is_time(source: ProjectFiles) -> None:
    kept = KeptFiles(source.read)
    content = read(kept, source, "apple.py")
    plain = kept.cut(content, read_directly)
    found = kept.parse([content], lambda files: [(files[0], read_directly(files[0]), [])])
    assert kept.cut(content, read_directly) is found["apple.py"] is not plain


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
    assert direct_files(project, "range").chunk_count() == pytest.approx(project.store.chunk_count(), rel=0.4)


@pytest.mark.parametrize("term", ["rang", "null", "join", "type", "trace", "extract"])
def test_a_word_is_about_as_rare_as_in_an_index(project: ProjectIndex, term: str) -> None:
    """`strange`, `contract` and `prototype` have the letters of other words."""
    files = direct_files(project, "range null join type trace extract")
    indexed = rarity(project.store.frequency("parts", term), project.store.chunk_count())
    assert rarity(files.frequency("parts", term), files.chunk_count()) == pytest.approx(indexed, abs=1.5)


def test_a_word_that_only_one_file_has_is_found(project: ProjectIndex) -> None:
    assert direct_files(project, "trace").chunk_frequencies(["trace"])["trace"] >= 1
    assert direct_files(project, "zebra").chunk_frequencies(["zebra"]) == {"zebra": 0}


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
