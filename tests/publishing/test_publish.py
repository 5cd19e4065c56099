"""Publishing of a commit to a folder, and what readers see of it."""

import json
import os
import shutil
import stat
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import Failed, NotFound, StoreBusy, StoreTooNew
from dowse.indexes.index import ProjectIndex
from dowse.keeping import shared_copy
from dowse.keeping.service import Service
from dowse.keeping.shared_copy import SharedCopy, prepare_version
from dowse.platform import IS_WINDOWS, storage_root
from dowse.publishing import publish as publishing
from dowse.sharing import packed_index
from dowse.sharing.object_place import FolderPlace
from dowse.sharing.place_lookup import open_place
from dowse.sharing.shared_version import read_version, require_version, write_version
from dowse.store import storage_layout
from dowse.types import KINDS
from tests.encoding_worker.conftest import wait_until
from tests.publishing.shared_places import KEY, commit, found_at, found_in, publish_words
from tests.sample_data import open_indexed

lancedb = pytest.importorskip("lancedb", reason="needs the extra lance")


def test_a_server_without_a_checkout_answers_from_the_commit_and_names_it(project: Path, place: str) -> None:
    """The working tree is not read: neither a changed file nor one that git does not track is published."""
    (project / "src/farm.py").write_text("def shear_sheep(): pass\n", encoding="utf-8")
    (project / "untracked.py").write_text("def shear_sheep(): pass\n", encoding="utf-8")
    report = publish_words(project, place)
    assert (report.is_new, report.version.files, report.added) == (True, 3, 3)
    assert found_at(place, "milk cow") == ["src/farm.py"]
    assert found_at(place, "shear sheep") == []
    root = prepare_version(open_place(place), require_version(open_place(place)))
    (notice,) = ProjectIndex(root).warnings
    assert place in notice
    assert report.version.commit in notice
    assert not list((storage_root() / "indexes").glob("*/fetched-*"))


@pytest.mark.skipif(IS_WINDOWS, reason="Windows has no umask")
@pytest.mark.parametrize("umask", [0o022, 0o027])
def test_a_published_folder_has_the_rights_that_the_umask_gives(project: Path, place: str, umask: int) -> None:
    """The lock, too, so that another user of the group can publish where the umask lets it write."""
    before = os.umask(umask)
    try:
        publish_words(project, place)
    finally:
        os.umask(before)
    published = [Path(place), *Path(place).rglob("*")]
    assert {file.name for file in published} >= {"packed", "index.json", "write.lock", "index.lancedb"}
    wanted = {file: (0o777 if file.is_dir() else 0o666) & ~umask for file in published}
    assert {file: stat.S_IMODE(file.stat().st_mode) for file in published} == wanted
    own = list(storage_root().iterdir())
    assert own
    assert not any(file.stat().st_mode & 0o077 for file in own), "the storage root is private under any umask"


def test_secrets_are_masked_in_everything_that_is_published(project: Path, place: str) -> None:
    publish_words(project, place)
    for file in Path(place).rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
        if file.suffix == ".zip":
            with zipfile.ZipFile(file) as packed:
                assert not any(KEY.encode() in packed.read(name) for name in packed.namelist())
    rows = lancedb.connect(f"{place}/index.lancedb").open_table("project_docs").search().limit(10).to_list()
    assert any("[masked: aws-access-token]" in row["text"] for row in rows)
    assert not any(KEY in row["text"] for row in rows)


def test_the_next_commit_is_published_by_what_differs(project: Path, place: str) -> None:
    first = publish_words(project, place)
    assert not publish_words(project, place).is_new
    commit(project, {"src/farm.py": None, "src/pond.py": "def count_ducks():\n    return 3\n"})
    second = publish_words(project, place)
    assert (second.added, second.updated, second.removed) == (1, 0, 1)
    assert second.version.number == first.version.number + 1
    assert found_at(place, "count ducks") == ["src/pond.py"]
    assert found_at(place, "milk cow") == []
    rows = lancedb.connect(f"{place}/index.lancedb").open_table("project_docs").search().limit(10).to_list()
    assert {row["path"] for row in rows} == {"src/zoo.py", "src/pond.py"}


def test_a_server_goes_on_with_its_version_and_follows_the_next(
    project: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_words(project, place)
    copy = SharedCopy(place)
    service = Service([copy.root])
    try:
        Path(place).rename(f"{place}-away")
        copy.refresh(service)
        assert "Nothing has been published" in service.warnings[0]
        assert found_in(service.projects[0].root, "milk cow") == ["src/farm.py"]
        Path(f"{place}-away").rename(place)
        commit(project, {"src/pond.py": "def count_ducks():\n    return 3\n"})
        publish_words(project, place)
        before = copy.root
        copy.refresh(service)
        assert service.warnings == []
        assert found_in(service.projects[0].root, "count ducks") == ["src/pond.py"]
        assert found_in(before, "count ducks") == []
    finally:
        service.close()


def test_a_server_looks_for_newer_versions_by_itself(
    project: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_copy, "CHECK_SECONDS", 0.01)
    publish_words(project, place)
    copy = SharedCopy(place)
    first = copy.root
    service = Service([first])
    try:
        copy.follow(service)
        commit(project, {"src/pond.py": "def count_ducks():\n    return 3\n"})
        publish_words(project, place)
        wait_until(lambda: service.projects[0].root != first)
        assert found_in(service.projects[0].root, "count ducks") == ["src/pond.py"]
    finally:
        copy.close()
        service.close()


def test_versions_that_nobody_reads_any_more_are_removed(project: Path, place: str) -> None:
    """The place keeps three versions, for readers that have just read an older `index.json`; a server keeps two."""
    roots = []
    for number in range(5):
        commit(project, {"count.py": f"def count_{number}(): pass\n"})
        publish_words(project, place)
        roots.append(prepare_version(open_place(place), require_version(open_place(place))))
    kept = sorted(file.name.split("-")[0] for file in (Path(place) / "packed").iterdir())
    assert kept == ["000003", "000003", "000004", "000004", "000005", "000005"]
    assert [root.exists() for root in roots] == [False, False, False, True, True]
    assert [storage_layout.index_folder(root).exists() for root in roots] == [False, False, False, True, True]
    assert found_at(place, "count") == ["count.py"]


def test_a_checkout_begins_with_the_shared_index_and_indexes_what_differs(
    project: Path, place: str, tmp_path: Path
) -> None:
    publish_words(project, place)
    (project / "src/pond.py").write_text("def count_ducks(): pass\n", encoding="utf-8")
    storage_layout.global_settings_file().parent.mkdir(parents=True, exist_ok=True)
    storage_layout.global_settings_file().write_text(json.dumps({"sharedIndex": place}), encoding="utf-8")
    index = ProjectIndex(project)
    report = index.update()
    # The file with a secret differs: its published text is masked.
    assert (report.added, report.updated, report.unchanged) == (1, 1, 2)
    assert index.warnings == []
    assert index.check() == []
    assert sum(index.whole.totals(kind).documents for kind in KINDS) == 4
    assert found_in(project, "count ducks") == ["src/pond.py"]
    assert found_in(project, f'"{KEY}"') == ["src/zoo.py"]
    index.close()


def test_a_fetch_that_was_killed_is_cleaned_up_by_the_next_update(project: Path) -> None:
    index = ProjectIndex(project)
    for name in ("fetched-abc", "shared-abc"):
        (index.folder / name).mkdir(parents=True)
        (index.folder / name / "packed.zip").write_bytes(b"half of it")
    (index.folder / "shared-tables.json").write_text("{}", encoding="utf-8")
    index.update()
    index.close()
    left = [*index.folder.glob("fetched-*"), *index.folder.glob("shared-*")]
    assert [file.name for file in left] == ["shared-tables.json"]


def test_vectors_of_common_content_are_taken_from_a_newer_version(project: Path, place: str) -> None:
    storage_layout.global_settings_file().parent.mkdir(parents=True, exist_ok=True)
    index = open_indexed(project)
    static = index.whole.catalog.encoders()[0]
    count = index.whole.vector_counts(static)
    index.whole.forget_vectors(static)
    publish_words(project, place)
    (project / "src/pond.py").write_text("def count_ducks(): pass\n", encoding="utf-8")
    from dowse.indexes.shared_base import take_vectors

    assert take_vectors(index.whole, index.settings, place) == count[0] - 1  # all but the file with a secret
    assert take_vectors(index.whole, index.settings, place) == 0
    index.close()


def test_a_place_that_is_away_is_said_and_files_are_indexed_without_it(project: Path, place: str) -> None:
    storage_layout.global_settings_file().parent.mkdir(parents=True, exist_ok=True)
    storage_layout.global_settings_file().write_text(json.dumps({"sharedIndex": place}), encoding="utf-8")
    index = ProjectIndex(project)
    assert index.update().added == 3
    assert "Nothing has been published" in index.warnings[0]
    assert "indexed without the shared index" in index.warnings[0]
    index.close()


def test_what_cannot_be_read_is_said(project: Path, place: str) -> None:
    with pytest.raises(NotFound, match="dowse publish"):
        SharedCopy(place)
    publish_words(project, place)
    manifest = Path(place) / "index.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(content | {"format": 99}), encoding="utf-8")
    with pytest.raises(StoreTooNew, match="newer dowse"):
        SharedCopy(place)
    manifest.write_text("{", encoding="utf-8")
    with pytest.raises(Failed, match=r"index\.json is damaged"):
        SharedCopy(place)
    manifest.write_text(json.dumps(content), encoding="utf-8")
    packed = Path(place) / content["packed_index"]
    whole = packed.read_bytes()
    packed.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Failed, match="damaged"):
        SharedCopy(place)
    packed.unlink()
    with pytest.raises(Failed, match="is incomplete"):
        SharedCopy(place)
    packed.write_bytes(whole)
    assert found_at(place, "milk cow") == ["src/farm.py"]


def test_a_bomb_is_refused_and_nothing_of_it_stays(project: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    version = publish_words(project, place).version
    monkeypatch.setattr(packed_index, "SMALL_BYTES", 1 << 20)
    with zipfile.ZipFile(Path(place) / version.packed_index, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("catalog.sqlite", bytes(20 << 20))
    with pytest.raises(Failed, match="too large"):
        SharedCopy(place)
    assert not list(storage_root().with_name(f"{storage_root().name}-shared").glob("*/*/"))
    assert not list((storage_root() / "indexes").iterdir())


def test_packed_files_cannot_leave_their_folder(project: Path, place: str) -> None:
    publish_words(project, place)
    version = require_version(open_place(place))
    with zipfile.ZipFile(Path(place) / version.packed_files, "w") as packed:
        packed.writestr("../../escaped.py", "x")
    with pytest.raises(Failed, match="outside of their folder"):
        SharedCopy(place)
    with zipfile.ZipFile(Path(place) / version.packed_index, "a") as packed:
        packed.writestr("lexical-1/../../escaped", "x")
    with pytest.raises(Failed, match=r"outside of their folder|no index has"):
        SharedCopy(place)


STEPS = ["pack_files", "_remove_old_objects"]


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_that_ends_early_leaves_the_version_before_or_the_next(
    step: str, project: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_words(project, place)
    commit(project, {"src/pond.py": "def count_ducks():\n    return 3\n"})
    with monkeypatch.context() as patched:
        patched.setattr(publishing, step, lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            publish_words(project, place)
    assert found_at(place, "count ducks") == (["src/pond.py"] if step == STEPS[-1] else [])
    assert found_at(place, "milk cow") == ["src/farm.py"]
    publish_words(project, place)
    assert found_at(place, "count ducks") == ["src/pond.py"]
    rows = lancedb.connect(f"{place}/index.lancedb").open_table("project_docs").search().limit(10).to_list()
    assert sorted(row["path"] for row in rows) == ["src/farm.py", "src/pond.py", "src/zoo.py"]


def test_a_writer_that_was_overtaken_changes_nothing(
    project: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_words(project, place)
    commit(project, {"src/pond.py": "def count_ducks():\n    return 3\n"})

    def overtaken(where: Any, version: Any, tag: str | None) -> bool:
        other = json.loads((Path(place) / "index.json").read_bytes()) | {"published": "2001-01-01T00:00:00Z"}
        (Path(place) / "index.json").write_text(json.dumps(other), encoding="utf-8")
        return write_version(where, version, tag)

    monkeypatch.setattr(publishing, "write_version", overtaken)
    with pytest.raises(StoreBusy, match="Another process has published"):
        publish_words(project, place)
    found = read_version(open_place(place))
    assert found
    assert found[0].published == "2001-01-01T00:00:00Z"


def test_tables_that_are_damaged_are_said_and_made_anew_once_they_are_removed(project: Path, place: str) -> None:
    publish_words(project, place)
    for file in (Path(place) / "index.lancedb").rglob("*.manifest"):
        file.write_bytes(b"damaged")
    commit(project, {"src/farm.py": "def milk_goat(): pass\n"})
    with pytest.raises(Failed, match=r"cannot be used.*remove index\.lancedb"):
        publish_words(project, place)
    assert found_at(place, "milk cow") == ["src/farm.py"]
    shutil.rmtree(Path(place) / "index.lancedb")
    assert publish_words(project, place).updated == 1
    assert lancedb.connect(f"{place}/index.lancedb").open_table("project_docs").count_rows() == 2


def test_a_folder_of_a_repository_is_published_by_itself(project: Path, place: str) -> None:
    assert publish_words(project / "src", place).version.files == 2
    assert found_at(place, "milk cow") == ["farm.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such names")
def test_names_that_only_some_systems_allow_are_published_and_served(project: Path, place: str) -> None:
    commit(project, {"docs/Zoo::Zebra.md": "# Stripes\n", "src\\odd.py": "def count_ostriches(): pass\n"})
    publish_words(project, place)
    assert found_at(place, "stripes") == ["docs/Zoo::Zebra.md"]
    assert found_at(place, "count ostriches") == ["src\\odd.py"]


def test_an_error_says_what_to_do_in_a_folder_that_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(Failed, match="git"):
        publish_words(tmp_path / "plain", FolderPlace(tmp_path / "place"))
