"""`dowse deps` and `dowse search --deps`: what is listed, what is turned on, and what is found."""

import json
from pathlib import Path

import pytest

from dowse.store.storage_layout import global_settings_file
from tests.cli.conftest import Run
from tests.indexes.dependencies import environments
from tests.sample_data import write_tree


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return environments.python_project(tmp_path / "shop")


def test_packages_are_listed_with_versions_and_places(run: Run, shop: Path) -> None:
    ran = run("deps", shop)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        f"python      tinyhttp 1.2.0  {shop / environments.SITE}",
        "python      ghost  not installed",
    ]
    assert "1 package, 1 missing" in ran.err
    assert "dowse deps --enable" in ran.err
    assert "six 1.17.0" in run("deps", shop, "--all").out


def test_a_project_without_packages_ends_with_1(run: Run, tmp_path: Path) -> None:
    assert run("deps", write_tree(tmp_path / "empty", {"a.txt": ""})).code == 1


def test_the_json_has_every_package(run: Run, shop: Path) -> None:
    reply = json.loads(run("deps", shop, "--json").out)
    assert reply["enabled"] is False
    assert reply["packages"] == [
        {
            "ecosystem": "python", "name": "tinyhttp", "version": "1.2.0", "path": str(shop / environments.SITE),
            "direct": True,
        }
    ]  # fmt: skip
    assert reply["missing"] == [{"ecosystem": "python", "name": "ghost", "reason": "not installed"}]


def test_turning_it_on_and_off_changes_one_key_of_the_users_settings(run: Run, shop: Path) -> None:
    file = global_settings_file()
    write_tree(file.parent, {file.name: '{"maskSecrets": true, "mine": 1}'})
    ran = run("search", "--deps", "retry policy", shop)
    assert (ran.code, "dowse deps --enable" in ran.err) == (2, True)
    assert run("deps", "--enable").code == 0
    assert json.loads(file.read_text(encoding="utf-8")) == {"maskSecrets": True, "mine": 1, "dependencies": True}
    assert json.loads(run("deps", shop, "--json").out)["enabled"] is True
    assert json.loads(run("deps", "--disable", "--json").out)["dependencies"] is False
    assert run("search", "--deps", "retry policy", shop).code == 2


def test_a_search_names_package_version_and_definition(run: Run, shop: Path) -> None:
    run("deps", "--enable")
    ran = run("search", "--deps", "--wait", "send a request again as the retry policy says", shop)
    assert ran.out.splitlines()[0] == "tinyhttp 1.2.0 · tinyhttp/__init__.py:11-13  send_request"
    assert ran.code == 0
    reply = json.loads(run("search", "--deps", "retry policy", shop, "--package", "tinyhttp", "--json").out)
    assert reply["results"][0]["path"] == "tinyhttp 1.2.0 · tinyhttp/__init__.py"
    assert run("search", "--deps", "retry policy", shop, "--package", "ghost").code == 2


@pytest.mark.parametrize("options", [("--deps", "--exact"), ("--deps", "--history"), ("--package", "x")])
def test_options_that_have_no_effect_together_are_refused(run: Run, shop: Path, options: tuple[str, ...]) -> None:
    assert run("search", "retry", shop, *options).code == 2
