"""What a folder has is known from its index."""

from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.indexes.root_overview import folder_files, root_overview
from tests.sample_data import open_indexed, write_tree


def test_languages_newest_files_and_folders(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", {"a.py": "x = 1\n" * 50, "src/b.py": "y = 2\n", "src0.md": "# S\n"})
    empty = ProjectIndex(root)
    assert root_overview(empty).size_bytes == 0
    assert [one.path for one in folder_files(empty, "src/")] == ["src/b.py"]  # it is read as it is
    empty.close()
    index = open_indexed(root)
    found = root_overview(index)
    assert [(one.language, one.files) for one in found.languages] == [("python", 2), ("markdown", 1)]
    assert found.size_bytes == sum(file.stat().st_size for file in root.rglob("*.*"))
    assert {one.path for one in found.newest} == {"a.py", "src/b.py", "src0.md"}
    assert [one.path for one in folder_files(index, "src/")] == ["src/b.py"]
    assert [one.path for one in folder_files(index, "")] == ["a.py", "src/b.py", "src0.md"]
    index.close()
