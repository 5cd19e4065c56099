"""`dowse publish`, and what it says."""

from pathlib import Path

import pytest

from tests import lance_extra
from tests.api.publishing.shared_places import PLANTS, commit, found_at, make_project, rows_at
from tests.cli.conftest import Run
from tests.sample_data import write_tree
from tests.searching.history.repositories import git

lance_extra.import_or_skip()


@pytest.fixture
def animals(tmp_path: Path) -> Path:
    return make_project(tmp_path / "animals")


def test_it_says_what_was_published_and_what_is_there_already(run: Run, animals: Path, tmp_path: Path) -> None:
    place, name = tmp_path / "place", git(animals, "rev-parse", "HEAD")[:12]
    first = run("publish", animals, place, "--without-model")
    title, changes = first.out.splitlines()
    assert (first.code, title) == (0, f"{place}: published commit {name} of animals ({animals}): 3 files, 3 chunks")
    assert changes.startswith("  3 files read, 0 replaced or removed, in ")
    assert found_at(str(place), "milk cow") == ["src/farm.py"]
    again = run("publish", animals, place, "--without-model")
    assert (again.code, again.out) == (
        0,
        f"{place}: commit {name} of animals is published already: 3 files, 3 chunks\n",
    )


def test_the_json_has_the_version_and_the_differences(
    run: Run, animals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without DIR, the project around the working directory is published."""
    place = tmp_path / "place"
    monkeypatch.chdir(animals / "src")
    assert run("publish", place, "--without-model", "--json").json["status"] == "published"
    commit(animals, {"src/farm.py": None, "src/pond.py": "def count_ducks(): pass\n"})
    second = run("publish", place, "--without-model", "--json").json
    assert second.pop("seconds") >= 0
    assert second == {
        "status": "published", "place": str(place), "project": "animals", "commit": git(animals, "rev-parse", "HEAD"),
        "files": 3, "chunks": 3, "encoders": second["encoders"], "added": 1, "removed": 1,
    }  # fmt: skip
    assert run("publish", place, "--without-model", "--json").json["status"] == "unchanged"


def test_the_vectors_of_the_model_are_published_unless_asked_otherwise(run: Run, animals: Path, tmp_path: Path) -> None:
    """The process that encodes did not find the publisher's index, and the command never ended."""
    place = str(tmp_path / "place")
    published = run("index", animals, "--store", place)
    assert (published.code, published.out.splitlines()[0].endswith("3 files, 3 chunks")) == (0, True)
    rows = [row for row in rows_at(place) if row["row"] == "chunk"]
    assert [len(row["model_vector"]) for row in rows] == [384] * 3


def test_what_cannot_be_published_is_said(run: Run, animals: Path, tmp_path: Path) -> None:
    twin = write_tree(tmp_path / "other" / animals.name, {"a.py": "x = 1\n"})
    same = run("publish", animals, twin, tmp_path / "place")
    assert (same.code, "have the same name" in same.err) == (2, True)
    plain = write_tree(tmp_path / "plain", {"pyproject.toml": "", "a.py": "x = 1\n"})
    without = run("publish", plain, tmp_path / "place")
    assert (without.code, "is not in a git repository" in without.err) == (3, True)
    assert run("index", plain, "--store", tmp_path / "place").err == without.err
    other = run("publish", animals, "ftp://bucket")
    assert (other.code, other.out) == (2, "")
    assert not (tmp_path / "place").exists()


def test_several_projects_are_published_listed_searched_and_removed(run: Run, animals: Path, tmp_path: Path) -> None:
    place, plants = tmp_path / "place", make_project(tmp_path / "plants", PLANTS)
    both = run("publish", animals, plants, place, "--without-model", "--json").json["projects"]
    assert [one["project"] for one in both] == ["animals", "plants"]
    listed = run("projects", "--store", place)
    assert [line.split("  ")[0] for line in listed.out.splitlines()] == ["animals", "plants"]
    assert run("projects", "--store", place, "--json").json["totalProjects"] == 2
    found = run("search", "water rose", "--store", place)
    assert (found.code, "plants/garden.py" in found.out, "def water_rose" in found.out) == (0, True, True)
    hits = run("search", "water rose", "--store", place, "--project", "plants", "--json").json["results"]
    assert hits[0]["path"] == "garden.py"
    exact = run("search", "milk_cow", "--store", place, "--exact")
    assert (exact.code, "animals/src/farm.py" in exact.out) == (0, True)
    assert run("publish", "--remove", "plants", place).code == 0
    assert run("projects", "--store", place, "--json").json["totalProjects"] == 1
    assert run("publish", "--remove", "plants", place).code == 1
    for wrong in (("--history",), (str(animals),)):
        assert run("search", "x", "--store", place, *wrong).code == 2
    assert run("search", "x", "--project", "plants").code == 2
