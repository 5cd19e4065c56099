"""Publishing of commits of several projects to one place, and what readers see of them."""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dowse.api.publishing import publish as publish_module
from dowse.api.publishing.publish import find_facts, publish, remove, replace_rows
from dowse.errors import Failed, NotFound, StoreTooNew, UsageError
from dowse.places import place_rows, place_table
from dowse.places.place_rows import PublishedProject, project_of
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
from tests.reading.test_office_files import archive, paragraph, part
from tests.sample_data import write_tree

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
    """The bytes of a Word file do not show its text: its key was published."""
    text = f"The cow is brown, and her key is {KEY}."
    report = archive({"word/document.xml": part("document", paragraph(text, "Heading1") + paragraph(text))})
    commit(project, {"report.docx": report})
    publish_words(project, place)
    rows = [row for row in rows_at(place) if row["path"] == "report.docx"]
    assert "brown" in rows[0]["text"]
    assert KEY.lower() not in str(rows).lower()
    assert any(
        "[masked: aws-access-token]" in str(row["text"]) for row in rows_at(place) if row["path"] == "src/zoo.py"
    )
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


def test_rules_above_the_published_folder_and_those_of_today_are_applied(project: Path, place: str) -> None:
    """Only the rules in the folder itself were."""
    commit(project, {".dowseignore": "src/farm.py\n", "src/pond.py": "def count_ducks():\n    return 3\n"})
    write_tree(project, {".git/info/exclude": "pond.py\n"})
    publish_words(project / "src", place)
    assert {row["path"] for row in rows_at(place) if row["row"] == "file"} == {"zoo.py"}
    write_tree(project, {".git/info/exclude": "zoo.py\n"})
    publish_words(project / "src", place)
    assert {row["path"] for row in rows_at(place) if row["row"] == "file"} == {"pond.py"}


def test_the_rules_in_a_folder_that_is_denied_today_are_not_published(project: Path, place: str) -> None:
    commit(project, {"private/.gitignore": "customer.csv\n", "private/plan.md": "# Plan\n", ".gitignore": "*.o\n"})
    write_tree(project, {".git/info/exclude": "private/\n"})
    publish_words(project, place)
    paths = {row["path"] for row in rows_at(place) if row["row"] == "file"}
    assert ".gitignore" in paths
    assert not any(path.startswith("private/") for path in paths)


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
    place_table.merge(table, [place_rows.project_row(PublishedProject("animals"))], "target.row = 'project'")
    assert project_of(find_facts(table, "animals")) is None
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


def test_a_row_of_a_project_that_an_earlier_dowse_wrote_is_used(project: Path, place: str) -> None:
    """It has the number of terms as well."""
    publish_words(project, place)
    facts = json.dumps({**json.loads(find_facts(SharedPlace(place).open_table(), "animals") or ""), "terms": 7})
    SharedPlace(place).open_table().update(where="row = 'project'", values={"facts": facts})
    assert found_at(place, "milk cow") == ["src/farm.py"]


def test_a_row_of_a_project_that_says_nothing_is_damage(project: Path, place: str) -> None:
    """Nothing equals it, so that a publisher would have added rows without the project."""
    publish_words(project, place)
    commit(project, {"src/pond.py": "def count_ducks(): pass\n"})
    SharedPlace(place).open_table().update(where="row = 'project'", values_sql={"facts": "NULL"})
    with pytest.raises(Failed, match="publish --remove animals"):
        publish_words(project, place)
    remove("animals", SharedPlace(place))
    assert publish_words(project, place).project.files == 4


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


def test_rows_are_replaced_only_if_the_project_is_as_it_was(place: str) -> None:
    """Also where its name has signs that conditions use."""
    import pyarrow as pa

    table = SharedPlace(place).make_table()
    for name in ("it's \\ é %", "b"):
        first, second = (place_rows.number_of(name, file) for file in "xy")
        rows = [{"id": number, "row": "file", "project": name} for number in (first, second)]
        made = pa.Table.from_pylist(rows, place_rows.schema())
        assert replace_rows(table, None, PublishedProject(name, "c"), made, [])
        assert not replace_rows(table, None, PublishedProject(name, "d"), made, [first]), "it is not new"
        facts = find_facts(table, name)
        nothing = place_rows.schema().empty_table()
        assert replace_rows(table, facts, PublishedProject(name, "d"), nothing, [first])
        assert not replace_rows(table, facts, PublishedProject(name, "e"), nothing, [second]), "it was replaced"
        assert project_of(find_facts(table, name)) == PublishedProject(name, "d", encoders=[])
        assert [row["id"] for row in rows_at(place) if row["project"] == name and row["row"] == "file"] == [
            rows[1]["id"]
        ]


def test_a_file_that_comes_back_is_found_again(project: Path, place: str) -> None:
    """Its row was emptied when it went, and nobody has removed that row yet."""
    with pytest.MonkeyPatch.context() as untended:
        untended.setattr("dowse.api.publishing.publish.tend", lambda _: None)
        publish_words(project, place)
        farm = (project / "src/farm.py").read_text(encoding="utf-8")
        commit(project, {"src/farm.py": None})
        assert publish_words(project, place).project.files == 2
        assert found_at(place, "milk cow", mode="lexical") == []
        assert "removed" in {row["row"] for row in rows_at(place)}
        commit(project, {"src/farm.py": farm})
        publish_words(project, place)
        assert found_at(place, "milk cow") == ["src/farm.py"]
    commit(project, {"src/pond.py": "def count_ducks(): pass\n"})
    publish_words(project, place)
    assert "removed" not in {row["row"] for row in rows_at(place)}


def test_counts_of_a_project_are_those_of_its_rows(project: Path, tmp_path: Path) -> None:
    """They are those of the commit before, and of the rows that came and went."""
    steps = str(tmp_path / "steps")
    for files in (
        {"src/farm.py": "def feed_cow(hay, water):\n    return hay + water\n", "src/new.js": "let a = 1\n"},
        {"src/zoo.py": None, "notes.md": "# Notes\n\nCows eat hay.\n"},
        {"src/new.js": None},
    ):
        commit(project, files)
        in_steps = publish_words(project, steps).project
        at_once = publish_words(project, str(tmp_path / in_steps.commit)).project
        assert replace(in_steps, published="") == replace(at_once, published="")


def test_a_project_that_is_removed_while_it_is_published_is_published_whole(
    project: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_words(project, place)
    commit(project, {"src/pond.py": "def count_ducks(): pass\n"})
    real = publish_module.replace_rows

    def remove_first(*arguments: Any) -> bool:
        monkeypatch.setattr(publish_module, "replace_rows", real)
        remove("animals", SharedPlace(place))
        return real(*arguments)

    monkeypatch.setattr(publish_module, "replace_rows", remove_first)
    assert publish_words(project, place).project.files == 4
    files = {row["path"] for row in rows_at(place) if row["project"] == "animals" and row["row"] == "file"}
    assert files == {"README.md", "src/zoo.py", "src/farm.py", "src/pond.py"}


def test_a_publisher_that_others_overtake_again_and_again_gives_up(
    project: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish_module, "replace_rows", lambda *_: False)
    with pytest.raises(Failed, match="Publish it again when they have ended"):
        publish_words(project, place)
