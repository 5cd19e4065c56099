"""Where a project begins."""

from pathlib import Path

import pytest

from dowse.errors import ProjectNotDetected
from dowse.sources import detect_root
from dowse.sources.roots import MARKERS
from tests.making import write_tree


@pytest.mark.parametrize("marker", MARKERS)
def test_the_nearest_folder_with_a_marker_is_the_root(tmp_path: Path, marker: str) -> None:
    write_tree(tmp_path, {".git/HEAD": "", f"inner/{marker}": "", "inner/src/deep/a.py": ""})
    found = detect_root(tmp_path / "inner" / "src" / "deep")
    assert (found.path, found.marker) == (tmp_path / "inner", marker)


def test_of_several_markers_the_first_is_named(tmp_path: Path) -> None:
    write_tree(tmp_path, {"go.mod": "", "package.json": "", ".git": "gitdir: elsewhere"})
    assert detect_root(tmp_path).marker == ".git"


def test_without_a_marker_it_is_the_folder_itself_and_says_so(tmp_path: Path) -> None:
    found = detect_root(tmp_path)
    assert (found.path, found.marker) == (tmp_path, None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tree(tmp_path, {"home/package.json": "", "home/notes/a.txt": "", ".git/HEAD": ""})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_home_folder_is_never_found_even_with_a_marker(home: Path) -> None:
    with pytest.raises(ProjectNotDetected, match="choose a directory"):
        detect_root(home)


def test_a_folder_in_home_without_a_marker_of_its_own_stands_for_itself(home: Path) -> None:
    found = detect_root(home / "notes")
    assert (found.path, found.marker) == (home / "notes", None)


def test_a_project_that_holds_the_home_folder_is_found_by_its_marker(home: Path) -> None:
    assert detect_root(home.parent).marker == ".git"


def test_a_folder_that_holds_the_home_folder_needs_a_marker(home: Path) -> None:
    (home.parent / ".git" / "HEAD").unlink()
    (home.parent / ".git").rmdir()
    with pytest.raises(ProjectNotDetected):
        detect_root(home.parent)


def test_the_file_systems_root_is_never_found() -> None:
    with pytest.raises(ProjectNotDetected):
        detect_root(Path(Path.cwd().anchor))


def test_a_start_through_a_symlink_is_where_it_leads(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/go.mod": "", "real/pkg/a.go": ""})
    (tmp_path / "link").symlink_to("real/pkg")
    assert detect_root(tmp_path / "link").path == tmp_path / "real"
