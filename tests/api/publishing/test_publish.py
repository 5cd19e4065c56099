"""Publishing of commits of several projects to one place, and what readers see of them."""

import threading
from pathlib import Path

import pytest

from dowse.api.publishing.publish import find_project, publish, remove, replace_rows
from dowse.errors import Failed, NotFound, StoreTooNew, UsageError
from dowse.places import place_rows, place_table
from dowse.places.place_rows import PublishedProject
from dowse.places.place_table import SharedPlace
from dowse.system.platform import IS_WINDOWS
from tests import lance_extra
from tests.api.publishing.shared_places import (
    KEY,
    PLANTS,
    commit,
    found_at,
    make_project,
    opened,
    publish_words,
    rows_at,
)
from tests.reading.test_docx import archive, paragraph, part

lancedb = lance_extra.import_or_skip()


@pytest.fixture
def plants(tmp_path: Path) -> Path:
    return make_project(tmp_path / "plants", PLANTS)


def test_two_projects_are_searched_at_once_or_one_by_one(project: Path, plants: Path, place: str) -> None:
    """The working tree is not read: neither a changed file nor one that git does not track is published."""
    (project / "src/farm.py").write_text("def shear_sheep(): pass\n", encoding="utf-8")
    (project / "untracked.py").write_text("def shear_sheep(): pass\n", encoding="utf-8")
    report = publish_words(project, place)
    assert (report.is_new, report.project.files, report.added, report.removed) == (True, 3, 3, 0)
    assert found_at(place, "milk cow") == ["src/farm.py"], "of one project, paths are those of the project"
    publish_words(plants, place)
    assert found_at(place, "milk cow")[0] == "animals/src/farm.py"
    assert found_at(place, "water rose")[0] == "plants/garden.py"
    assert found_at(place, "water rose", ["plants"])[0] == "garden.py"
    assert found_at(place, "shear sheep", mode="lexical") == []
    with opened(place) as store:
        assert [one.name for one in store.projects()] == ["animals", "plants"]
        assert store.projects()[0].commit == report.project.commit


def test_secrets_are_masked_in_everything_that_is_published(project: Path, place: str) -> None:
    publish_words(project, place)
    assert not any(KEY.encode() in file.read_bytes() for file in Path(place).rglob("*") if file.is_file())
    texts = [row["text"] for row in rows_at(place) if row["text"]]
    assert any("[masked: aws-access-token]" in text for text in texts)


def test_secrets_are_masked_in_files_that_are_converted(project: Path, place: str) -> None:
    """The bytes of a Word file do not show its text: its key was published."""
    text = f"The cow is brown, and her key is {KEY}."
    report = archive({"word/document.xml": part("document", paragraph(text, "Heading1") + paragraph(text))})
    commit(project, {"report.docx": report})
    publish_words(project, place)
    rows = [row for row in rows_at(place) if row["path"] == "report.docx"]
    assert "brown" in rows[0]["text"]
    assert KEY.lower() not in str(rows).lower()
    assert not any(KEY.encode() in file.read_bytes() for file in Path(place).rglob("*") if file.is_file())


def test_the_next_commit_is_published_by_what_differs(project: Path, place: str) -> None:
    publish_words(project, place)
    kept = {row["id"] for row in rows_at(place) if row["path"] == "src/zoo.py"}
    assert not publish_words(project, place).is_new
    commit(project, {"src/farm.py": None, "src/pond.py": "def count_ducks():\n    return 3\n"})
    second = publish_words(project, place)
    assert (second.added, second.removed, second.project.files) == (1, 1, 3)
    assert found_at(place, "count ducks")[0] == "src/pond.py"
    assert found_at(place, "milk cow", mode="lexical") == []
    rows = rows_at(place)
    assert {row["path"] for row in rows if row["row"] == "file"} == {"src/zoo.py", "src/pond.py", "README.md"}
    assert kept == {row["id"] for row in rows if row["path"] == "src/zoo.py"}


def test_other_rules_are_applied_to_files_that_did_not_change(project: Path, place: str) -> None:
    publish_words(project, place)
    commit(project, {".dowseignore": "src/farm.py\n"})
    publish_words(project, place)
    assert "src/farm.py" not in {row["path"] for row in rows_at(place)}


def test_a_project_is_removed_and_the_others_stay(project: Path, plants: Path, place: str) -> None:
    publish_words(project, place)
    publish_words(plants, place)
    remove("plants", SharedPlace(place))
    assert {row["project"] for row in rows_at(place)} == {"animals", None}
    with pytest.raises(NotFound, match="has no project 'plants'"):
        remove("plants", SharedPlace(place))
    with pytest.raises(NotFound, match="It has: animals"):
        found_at(place, "rose", ["plants"])


def test_publishers_of_one_project_at_once_do_not_mix(tmp_path: Path, project: Path, place: str) -> None:
    """Also where neither of them has published the project before: every second race is of a new one."""
    race(tmp_path, project, place, 3)


@pytest.mark.soak
def test_publishers_of_one_project_at_once_never_mix(tmp_path: Path, project: Path, place: str) -> None:
    race(tmp_path, project, place, 50)


def race(tmp_path: Path, project: Path, place: str, races: int) -> None:
    other = make_project(tmp_path / "other" / "animals", PLANTS)
    for number in range(races):
        name = f"animals{number // 2}"
        threads = [threading.Thread(target=publish_words, args=(root, place, name)) for root in (project, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = [row for row in rows_at(place) if row["project"] == name]
        assert sum(row["row"] == "project" for row in rows) == 1
        files = {row["path"] for row in rows if row["row"] == "file"}
        assert files in ({"garden.py", "field.py"}, {"src/zoo.py", "src/farm.py", "README.md"})
        assert {row["path"] for row in rows if row["row"] == "chunk"} == files


def test_a_project_row_without_its_files_is_not_a_project(project: Path, place: str) -> None:
    """A publisher makes the row first; one that is killed then leaves it."""
    table = SharedPlace(place).make_table()
    place_table.merge(table, [place_rows.project_row(PublishedProject("animals"))], None)
    assert find_project(table, "animals") is None
    with opened(place) as store:
        assert store.projects() == []
    publish_words(project, place)
    assert found_at(place, "milk cow") == ["src/farm.py"]


def test_a_place_of_a_newer_format_or_of_another_program_is_left_alone(
    project: Path, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(place_rows, "FORMAT", place_rows.FORMAT + 1)
        newer.setattr(place_table, "FORMAT", place_rows.FORMAT)
        publish_words(project, place)
    with pytest.raises(StoreTooNew, match="Update dowse"):
        publish_words(project, place)
    with pytest.raises(StoreTooNew, match="Update dowse"):
        found_at(place, "milk cow")
    lancedb.connect(tmp_path / "theirs").create_table("dowse", [{"a": 1}])
    with pytest.raises(Failed, match="another program"):
        publish_words(project, str(tmp_path / "theirs"))
    with pytest.raises(Failed, match="another program"):
        found_at(str(tmp_path / "theirs"), "milk cow")


@pytest.mark.parametrize("name", ["a\0b", "a/b", "..", "a\nb", "x" * 101])
def test_a_name_that_is_none_is_refused(project: Path, place: str, name: str) -> None:
    with pytest.raises(UsageError, match="--name NAME"):
        publish(project, SharedPlace(place), lambda *_: None, lambda _: None, with_model=False, name=name)


@pytest.mark.parametrize("location", ["", " ", "ftp://host/a", "s3://", "a\0b"])
def test_a_place_that_is_none_is_refused(location: str) -> None:
    with pytest.raises(UsageError, match="is no place"):
        SharedPlace(location)


@pytest.mark.skipif(IS_WINDOWS, reason="Windows has no links that any user can make")
def test_a_link_and_a_pipe_in_a_place_are_refused(project: Path, place: str) -> None:
    """Reading a pipe never ends, and neither does /dev/zero."""
    import os

    publish_words(project, place)
    versions = Path(place) / "dowse.lance" / "_versions"
    manifest = max(versions.iterdir())
    kept = manifest.read_bytes()
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        manifest.unlink()
        make(manifest)
        with pytest.raises(Failed, match="is not a regular file"):
            found_at(place, "milk cow")
    manifest.unlink()
    manifest.write_bytes(kept)
    assert found_at(place, "milk cow") == ["src/farm.py"]
    table = versions.parent.rename(Path(place).with_name("elsewhere"))
    versions.parent.symlink_to(table)
    with pytest.raises(Failed, match="is not a regular file"):
        found_at(place, "milk cow")


@pytest.mark.skipif(IS_WINDOWS, reason="as above")
def test_a_place_that_never_answers_is_given_up(project: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_words(project, place)
    monkeypatch.setattr(place_table, "ANSWER_SECONDS", 0.0)
    with pytest.raises(Failed, match="does not answer"):
        found_at(place, "milk cow")


@pytest.mark.parametrize(
    "facts",
    [
        "{",
        "[]",
        "[" * 100_000,
        '{"commit": 1}',
        '{"commit": "a", "files": "x"}',
        '{"other": 1}',
        '{"name": "a/b", "commit": "c"}',
        '{"name": "..", "commit": "c"}',
    ],
)
def test_a_damaged_row_of_a_project_is_not_used(project: Path, place: str, facts: str) -> None:
    publish_words(project, place)
    table = SharedPlace(place).open_table()
    table.update(where="row = 'project'", values={"facts": facts})
    with opened(place) as store:
        assert store.projects() == []


def test_damage_in_a_file_of_the_table_is_said(project: Path, place: str) -> None:
    publish_words(project, place)
    for file in (Path(place) / "dowse.lance" / "data").iterdir():
        file.write_bytes(b"x" * 100)
    with pytest.raises(Failed, match="cannot be read"):
        found_at(place, "milk cow")


def test_what_a_search_asks_for_is_a_value(project: Path, place: str) -> None:
    publish_words(project, place)
    always = "x' OR 'a' = 'a"
    assert found_at(place, "milk cow", language="python")
    assert found_at(place, "milk cow", language=always) == []
    with opened(place) as store:
        assert [path for path, _ in store.texts("milk_cow", None, None, 10)] == ["src/farm.py"]
        assert list(store.texts(f"{always}') OR contains(text, '", None, None, 10)) == []
    with pytest.raises(NotFound):
        found_at(place, "milk cow", [always])


def test_rows_replace_those_of_their_project_alone(place: str) -> None:
    import pyarrow as pa

    table = SharedPlace(place).make_table()
    for name in ("it's", "b"):
        rows = pa.Table.from_pylist(
            [{"id": place_rows.number_of(name), "row": "file", "project": name}], place_rows.schema()
        )
        replace_rows(table, PublishedProject(name, "c"), rows)
    replace_rows(table, PublishedProject("it's", "d"), place_rows.schema().empty_table(), is_known=True)
    assert {(row["project"], row["row"]) for row in rows_at(place)} == {
        (None, "place"), ("it's", "project"), ("b", "project"), ("b", "file"),
    }  # fmt: skip
