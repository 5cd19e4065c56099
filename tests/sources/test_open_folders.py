"""Files that links lead to: those below the root exist, and nothing else."""

from pathlib import Path

import pytest

from dowse.sources.open_folders import OpenFolders, exists_below
from tests.sample_data import write_tree


def test_only_files_below_the_root_exist(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "root", {"a/b.py": "b", "c.json": "{}"})
    write_tree(tmp_path, {"outside.md": "x"})
    (root / "link").symlink_to(tmp_path)
    assert all(exists_below(root, path) for path in ("a/b.py", "a", "c.json"))
    others = ("b.py", "../outside.md", "link/outside.md", "a/b.py/c", "a\0b", "x" * 5000, "/etc/hosts")
    assert not any(exists_below(root, path) for path in others)


def test_a_folder_that_became_a_link_after_it_was_listed_is_not_entered(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "root", {"folder/a.py": ""})
    write_tree(tmp_path, {"outside/secret.py": ""})
    with OpenFolders(root) as folders:
        assert [item.name for item, _ in folders.list_items()] == ["folder"]
        (root / "folder").rename(tmp_path / "spare")
        (root / "folder").symlink_to(tmp_path / "outside")
        with pytest.raises(OSError, match="folder"):
            folders.enter("folder")
