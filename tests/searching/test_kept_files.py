"""Files that are searched before they are indexed, kept for the next search."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.searching import kept_files
from dowse.searching.kept_files import KeptFiles, read_directly
from dowse.sources.project_files import ProjectFiles
from dowse.types import Chunk, Entry, FileContent, Reading, Symbol, Verdict
from tests.sample_data import write_tree


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
