"""The files of a store are removed, also while another process closes its databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.errors import DiskFull
from dowse.indexes import index as index_module
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import list_projects
from dowse.store import store_files
from dowse.store.storage_layout import set_forgotten
from dowse.system.platform import disk_full_error
from tests.sample_data import open_indexed, write_tree


def test_a_file_that_sqlite_removes_meanwhile_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, gone = tmp_path / "catalog.sqlite", tmp_path / "catalog.sqlite-wal"
    kept.touch()
    monkeypatch.setattr(store_files, "_catalog_files", lambda _: [kept, gone])  # the second is gone after the listing
    store_files.remove_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ProjectIndex]:
    write_tree(tmp_path / "project", {"a.py": "def a(): return 1\n"})
    project = open_indexed(tmp_path / "project")
    yield project
    project.close()


def test_an_index_that_cannot_be_built_again_stays_as_it_was(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity, names = project.store.catalog.id, sorted(path.name for path in project.folder.iterdir())

    def fail(*_: object, **__: object) -> None:
        raise disk_full_error(project.folder)

    with monkeypatch.context() as patch:
        patch.setattr(index_module, "update_index", fail)
        with pytest.raises(DiskFull):
            project.rebuild()
    assert project.store.catalog.id == identity
    assert project.store.paths() == ["a.py"]
    assert not project.check()
    project.close()
    left = {path.name for path in project.folder.iterdir()} ^ set(names)
    assert {name.removesuffix("-wal").removesuffix("-shm") for name in left} <= {"catalog.sqlite"}
    project.rebuild()
    assert project.store.catalog.id != identity


def test_an_update_removes_what_killed_processes_left(project: ProjectIndex, tmp_path: Path) -> None:
    write_tree(tmp_path / "other", {"b.py": "def b(): return 2\n"})
    other = open_indexed(tmp_path / "other")
    other.close()
    set_forgotten(other.folder)
    assert [listed.root for listed in list_projects()] == [project.root], "a folder that is to be removed is no project"
    leftovers = ("lexical-dead", "replaced-dead")
    for name in leftovers:
        (project.folder / name).mkdir()
        (project.folder / name / "file").write_bytes(b"x")
    (project.folder / "vectors-dead.tmp").write_bytes(b"x")
    project.update()
    assert not [name for name in (*leftovers, "vectors-dead.tmp") if (project.folder / name).exists()]
    assert len(list(project.folder.parent.iterdir())) == 1
    assert not project.check()
