"""Files that links lead to: those below the root exist, and nothing else."""

from pathlib import Path

from dowse.sources.open_folders import exists_below
from tests.sample_data import write_tree


def test_only_files_below_the_root_exist(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "root", {"a/b.py": "b", "c.json": "{}"})
    write_tree(tmp_path, {"outside.md": "x"})
    (root / "link").symlink_to(tmp_path)
    assert all(exists_below(root, path) for path in ("a/b.py", "a", "c.json"))
    others = ("b.py", "../outside.md", "link/outside.md", "a/b.py/c", "a\0b", "x" * 5000, "/etc/hosts")
    assert not any(exists_below(root, path) for path in others)
