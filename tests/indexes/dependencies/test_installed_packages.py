"""The packages of a project are found with their versions, and those that are missing are named."""

import os
from pathlib import Path

import pytest

from dowse.indexes.dependencies.installed_packages import find_packages
from dowse.indexes.dependencies.node_packages import PLUG_AND_PLAY
from dowse.indexes.dependencies.package_types import MAX_MANIFEST_BYTES, FoundPackages, is_plain_name, read_manifest
from dowse.indexes.dependencies.python_packages import is_imported_as
from tests.indexes.dependencies import environments
from tests.sample_data import write_tree


def labels(found: FoundPackages) -> list[str]:
    return [package.label for package in found.packages]


def missing(found: FoundPackages) -> dict[str, str]:
    return {one.name: one.why for one in found.missing}


def test_packages_of_python_are_those_that_are_declared_and_installed(tmp_path: Path) -> None:
    root = environments.python_project(tmp_path)
    found = find_packages(root)
    assert labels(found) == ["tinyhttp 1.2.0"]
    assert missing(found) == {"ghost": "not installed"}
    everything = find_packages(root, is_all=True)
    assert [(one.name, one.is_direct) for one in everything.packages] == [("tinyhttp", True), ("six", False)]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("requirements.txt", "# web\nTinyHTTP==1.2.0  # pinned\n-r other.txt\n"),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.12"\ntinyhttp = "^1"\n'),
        ("pyproject.toml", '[dependency-groups]\ndev = ["tinyhttp", {include-group = "x"}]\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    tinyhttp>=1\nzip_safe = no\n"),
        ("Pipfile", '[packages]\ntinyhttp = "*"\n'),
    ],
)
def test_every_manifest_of_python_counts(tmp_path: Path, file: str, text: str) -> None:
    root = environments.python_project(tmp_path)
    (root / "pyproject.toml").unlink()
    write_tree(root, {file: text})
    assert labels(find_packages(root)) == ["tinyhttp 1.2.0"]


def test_an_activated_environment_counts_for_a_project_without_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = environments.python_project(tmp_path / "one")
    other = write_tree(tmp_path / "two", {"requirements.txt": "tinyhttp\n"})
    assert "no environment" in missing(find_packages(other))["tinyhttp"]
    monkeypatch.setenv("VIRTUAL_ENV", str(root / ".venv"))
    assert labels(find_packages(other)) == ["tinyhttp 1.2.0"]
    assert labels(find_packages(write_tree(tmp_path / "three", {"main.c": "int main;"}))) == []


def test_an_environment_behind_a_link_is_followed_once_dependencies_are_enabled(tmp_path: Path) -> None:
    root = environments.python_project(tmp_path / "one")
    other = write_tree(tmp_path / "two", {"requirements.txt": "tinyhttp\n", ".pdm-python": f"{root}/.venv/bin/python"})
    (other / ".venv").symlink_to(root / ".venv")
    assert "dowse deps --enable" in missing(find_packages(other))["tinyhttp"]
    environments.enable_dependencies()
    assert "no environment" in missing(find_packages(other))["tinyhttp"]  # nothing says that it is one
    write_tree(root, {".venv/pyvenv.cfg": "version = 3.12\n"})
    assert [one.root for one in find_packages(other).packages] == [root / environments.SITE]
    (other / "requirements.txt").unlink()
    assert labels(find_packages(other)) == ["six 1.17.0", "tinyhttp 1.2.0"]


def test_a_distribution_is_known_by_the_name_it_is_imported_by(tmp_path: Path) -> None:
    root = environments.python_project(tmp_path)
    tiny, six = find_packages(root, is_all=True).packages
    assert is_imported_as(tiny, "tinyhttp")
    assert is_imported_as(six, "six")
    assert not any(is_imported_as(one, name) for one in (tiny, six) for name in ("ghost", "../six", "bin", ""))
    assert not is_imported_as(tiny, "six")


def test_packages_of_node_are_followed_into_the_store_of_pnpm_and_nowhere_else(tmp_path: Path) -> None:
    found = find_packages(environments.node_project(tmp_path))
    assert labels(found) == ["@tools/queue 1.4.0", "left 2.0.1"]
    assert found.packages[1].root == tmp_path / "node_modules/.pnpm/left@2.0.1/node_modules/left"
    assert missing(found) == {"own": "a link out of node_modules, which is not followed", "ghost": "not installed"}


def test_no_link_leads_out_of_the_folders_of_packages(tmp_path: Path) -> None:
    elsewhere = environments.node_project(tmp_path / "elsewhere")
    root = write_tree(tmp_path / "root", {"package.json": '{"dependencies": {"left": "2"}}', "composer.json": "{}"})
    (root / "node_modules").symlink_to(elsewhere / "node_modules")
    assert labels(find_packages(root)) == []
    vendored = environments.php_project(tmp_path / "php")
    (vendored / "vendor/acme/log").rename(tmp_path / "log")
    (vendored / "vendor/acme/log").symlink_to(tmp_path / "log")
    assert labels(find_packages(vendored)) == []
    python = environments.python_project(tmp_path / "python")
    site = python / environments.SITE
    (site / "tinyhttp-1.2.0.dist-info").rename(tmp_path / "metadata")
    (site / "tinyhttp-1.2.0.dist-info").symlink_to(tmp_path / "metadata")
    assert labels(find_packages(python)) == []


def test_packages_of_a_workspace_are_found_above_it(tmp_path: Path) -> None:
    environments.node_project(tmp_path)
    part = write_tree(tmp_path / "apps/web", {"package.json": '{"dependencies": {"left": "2"}}'})
    assert labels(find_packages(part)) == ["left 2.0.1"]


def test_plug_and_play_is_said_to_be_unsupported(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"package.json": '{"dependencies": {"left": "2"}}', ".pnp.cjs": ""})
    assert find_packages(root).notes == [PLUG_AND_PLAY]


def test_the_crate_is_of_the_version_that_the_project_uses(tmp_path: Path) -> None:
    root = environments.rust_project(tmp_path, Path.home())
    found = find_packages(root)
    assert labels(found) == ["ringbuf 2.1.0"]
    assert missing(found) == {"ghost": "not in Cargo.lock"}
    assert labels(find_packages(root, is_all=True)) == ["ringbuf 2.1.0", "ringbuf 1.0.0"]


def test_modules_of_go_are_found_by_their_escaped_names(tmp_path: Path) -> None:
    root = environments.go_project(tmp_path, Path.home())
    found = find_packages(root)
    assert labels(found) == ["github.com/Acme/router v1.5.0"]
    assert missing(found) == {"github.com/acme/local": "not installed"}
    assert len(find_packages(root, is_all=True).packages) == 2


def test_gems_are_found_in_the_bundle(tmp_path: Path) -> None:
    root = environments.ruby_project(tmp_path)
    assert labels(find_packages(root)) == ["rackish 3.1.0"]
    assert labels(find_packages(root, is_all=True)) == ["rackish 3.1.0", "tilt 2.4.0"]


def test_packages_of_composer_lie_below_vendor_whatever_their_metadata_says(tmp_path: Path) -> None:
    found = find_packages(environments.php_project(tmp_path))
    assert [(one.label, one.root) for one in found.packages] == [("acme/log 3.2.0", tmp_path / "vendor/acme/log")]
    assert missing(found) == {"acme/ghost": "not installed"}


def test_source_jars_are_found_in_both_caches(tmp_path: Path) -> None:
    found = find_packages(environments.java_project(tmp_path, Path.home()))
    assert labels(found) == ["org.acme:json 2.9.0", "org.acme:text 1.1"]
    assert "sources" in missing(found)["org.acme:ghost"]


def test_parts_of_a_project_are_looked_through(tmp_path: Path) -> None:
    environments.python_project(tmp_path / "backend")
    environments.node_project(tmp_path / "frontend")
    assert labels(find_packages(tmp_path)) == ["@tools/queue 1.4.0", "left 2.0.1", "tinyhttp 1.2.0"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.timeout(30)
def test_a_manifest_that_is_a_pipe_or_too_large_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pom.xml")
    with (tmp_path / "package.json").open("wb") as stream:
        stream.truncate(MAX_MANIFEST_BYTES + 1)
    assert read_manifest(tmp_path / "pom.xml") == read_manifest(tmp_path / "package.json") == ""


def test_a_name_that_leads_elsewhere_or_cannot_be_shown_is_none() -> None:
    for name in ("../../etc", "..", "a/../b", "/etc", "a//b", "", "a\0b", "a b", "x" * 300, None, "a\x1b[31m"):
        assert not is_plain_name(name)


def test_manifests_that_name_other_places_or_are_damaged_find_nothing(tmp_path: Path) -> None:
    write_tree(Path.home(), {".m2/repository/x-sources.jar": "", "secrets/package.json": '{"version": "1"}'})
    write_tree(
        tmp_path,
        {
            "package.json": '{"dependencies": {"../../secrets": "1", "..": "1"}}',
            "node_modules/x": "",
            "requirements.txt": "../../secrets\n-e git+x\n\0\n",
            "go.mod": "require ../../../etc v1.0.0\nrequire github.com/a/b v1/../../../..\n",
            "Cargo.toml": "[" * 100_000,
            "Cargo.lock": '[[package]]\nname = "../../../etc"\nversion = "1"\nsource = "x"\n',
            "Gemfile.lock": "GEM\n  specs:\n    ../../etc (1.0)\n\nDEPENDENCIES\n  ../../etc\n",
            "composer.json": '{"require": {"../../etc": "1"}}',
            "vendor/composer/installed.json": '{"packages": [{"name": "../../etc", "version": "1"}, 5, null]}',
            "pom.xml": "<dependency><groupId>../..</groupId><artifactId>etc</artifactId><version>1</version></dependency>"
            + "<dependency>" * 50_000,
            "build.gradle": "'..:..:..'",
        },
    )
    found = find_packages(tmp_path, is_all=True)
    assert found.packages == []
    assert not any(".." in one.name for one in found.missing)
