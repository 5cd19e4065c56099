"""The search of dependencies: off until the user turns it on, at the version that is installed, with one index for all."""

import shutil
from pathlib import Path

import pytest

from dowse.errors import UsageError
from dowse.federation.answers.definition_search import describe_definitions
from dowse.indexes.dependencies import package_search
from dowse.indexes.dependencies.package_index import limit_size, packages_folder
from dowse.indexes.dependencies.package_search import Dependencies, PackageAnswer
from dowse.indexes.project_search import definition_options
from dowse.searching.query_terms import parse_search_query
from dowse.store.storage_layout import global_settings_file
from tests.end_to_end.security.fake_secrets import GITHUB
from tests.indexes.dependencies import environments
from tests.sample_data import write_tree

RETRY = "how often is a request sent again by the retry policy"


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Turn dependencies on; return the commands of processes that would be started in the background."""
    environments.enable_dependencies()
    commands: list[list[str]] = []
    monkeypatch.setattr(package_search, "start_in_background", commands.append)
    return commands


def search(dependencies: Dependencies, text: str, name: str | None = None) -> PackageAnswer:
    return dependencies.search(parse_search_query(text), definition_options(5, None, None), name)


def first(found: PackageAnswer) -> tuple[str, str]:
    best = describe_definitions({}, found.answer, found.show).whole[0]
    return best.path, ".".join((*best.passage.headings, *best.passage.symbols))


def test_nothing_is_read_before_the_user_turns_it_on(tmp_path: Path) -> None:
    root = environments.python_project(tmp_path)
    global_settings_file().unlink()
    write_tree(root, {"config.json": '{"dependencies": true}', ".dowse/config.json": '{"dependencies": true}'})
    with pytest.raises(UsageError, match="dowse deps --enable"):
        search(Dependencies(root), RETRY)
    assert not packages_folder().exists()


def test_the_first_answer_comes_from_the_files_while_they_are_indexed(tmp_path: Path, started: list[list[str]]) -> None:
    root = environments.python_project(tmp_path)
    dependencies = Dependencies(root)
    found = search(dependencies, RETRY)
    assert first(found)[0] == "tinyhttp 1.2.0 · tinyhttp/__init__.py"
    assert "1 of 1 packages are being indexed" in found.notes[0]
    assert [command[-4:] for command in started] == [["deps", "--index", "--", str(root)]]
    assert dependencies.index_packages() == 1
    found = search(dependencies, RETRY)
    assert first(found) == ("tinyhttp 1.2.0 · tinyhttp/__init__.py", "RetryPolicy")
    assert found.notes == ()
    assert dependencies.index_packages() == 0


def test_vendored_code_comes_after_that_of_the_package(tmp_path: Path) -> None:
    dependencies = Dependencies(environments.python_project(tmp_path))
    dependencies.index_packages()
    assert first(search(dependencies, "retry policy"))[0].endswith("tinyhttp/__init__.py")


def test_secrets_of_a_package_are_masked(tmp_path: Path) -> None:
    root = environments.python_project(tmp_path)
    file = root / environments.SITE / "tinyhttp/__init__.py"
    file.write_text(environments.HTTP.replace("is sent again.", f"is sent again with {GITHUB}."), encoding="utf-8")
    found = search(Dependencies(root), RETRY)
    text = describe_definitions({}, found.answer, found.show).text
    assert "[masked: github-pat]" in text
    assert GITHUB not in text


def test_two_projects_share_the_index_of_a_version_and_show_their_own_files(tmp_path: Path) -> None:
    one, two = (Dependencies(environments.python_project(tmp_path / name)) for name in ("one", "two"))
    one.index_packages()
    assert two.index_packages() == 0
    assert len([folder for folder in packages_folder().iterdir() if folder.is_dir()]) == 1
    shutil.rmtree(one.root)
    assert first(search(two, RETRY))[1] == "RetryPolicy"


def test_a_copy_that_lacks_files_hides_none_of_another_project(tmp_path: Path) -> None:
    evil, good = (environments.python_project(tmp_path / name) for name in ("evil", "good"))
    (evil / environments.SITE / "tinyhttp/__init__.py").write_text("", encoding="utf-8")
    Dependencies(evil).index_packages()
    dependencies = Dependencies(good)
    assert first(search(dependencies, RETRY))[0].endswith("tinyhttp/__init__.py")
    assert dependencies.index_packages() == 1
    assert first(search(dependencies, RETRY))[1] == "RetryPolicy"


def test_a_changed_copy_of_a_version_is_shown_as_it_is(tmp_path: Path) -> None:
    one, two = (Dependencies(environments.python_project(tmp_path / name)) for name in ("one", "two"))
    one.index_packages()
    assert two.index_packages() == 0
    file = two.root / environments.SITE / "tinyhttp/__init__.py"
    file.write_text(environments.HTTP.replace("How often a request", "How seldom requests"), encoding="utf-8")
    found = search(two, RETRY)
    assert found.notes == ()
    assert "How seldom requests" in describe_definitions({}, found.answer, found.show).text


def test_an_upgrade_is_seen_at_the_next_question(tmp_path: Path) -> None:
    root = environments.python_project(tmp_path)
    dependencies = Dependencies(root)
    dependencies.index_packages()
    assert first(search(dependencies, RETRY))[0].startswith("tinyhttp 1.2.0")
    shutil.rmtree(root / environments.SITE)
    environments.python_project(root, "1.3.0")
    assert first(search(dependencies, RETRY))[0].startswith("tinyhttp 1.3.0")
    with pytest.raises(UsageError, match=r"tinyhttp 1.2.0 is not installed here. There is tinyhttp 1.3.0"):
        dependencies.find("tinyhttp 1.2.0 · tinyhttp/__init__.py")


def test_packages_of_all_ecosystems_are_ranked_together(tmp_path: Path) -> None:
    home, root = Path.home(), environments.python_project(tmp_path)
    environments.node_project(root)
    environments.rust_project(root, home)
    environments.go_project(root, home)
    environments.ruby_project(root)
    environments.php_project(root)
    environments.java_project(root, home)
    dependencies = Dependencies(root)
    assert dependencies.index_packages() == 9
    expected = {
        "drain the queue": "@tools/queue 1.4.0 · dist/index.d.ts",
        "overwrite the oldest element": "ringbuf 2.1.0 · src/lib.rs",
        "mount a path": "github.com/Acme/router v1.5.0 · router.go",
        "parse cookies of a header": "rackish 3.1.0 · lib/rackish.rb",
        "push a handler of the logger": "acme/log 3.2.0 · src/Logger.php",
        "lenient json": "org.acme:json 2.9.0 · org/acme/Json.java",
        "wrap lines of a text": "org.acme:text 1.1 · org/acme/Text.kt",
        "pad left": "left 2.0.1 · index.js",
        RETRY: "tinyhttp 1.2.0 · tinyhttp/__init__.py",
    }
    assert {query: first(search(dependencies, query))[0] for query in expected} == expected


def test_a_package_is_named_by_its_name_its_last_part_or_with_its_version(tmp_path: Path) -> None:
    dependencies = Dependencies(environments.node_project(environments.python_project(tmp_path)))
    for name in ("@tools/queue", "queue", "@tools/queue@1.4.0", "queue 1.4.0"):
        assert [package.name for package in dependencies.choose(name)[0]] == ["@tools/queue"]
    assert [package.name for package in dependencies.choose("six")[0]] == ["six"]
    with pytest.raises(UsageError, match="ghost cannot be searched: not installed"):
        dependencies.choose("ghost")
    with pytest.raises(UsageError, match="There is tinyhttp"):
        dependencies.choose("tiny")


def test_a_query_that_names_a_package_is_about_it_alone(tmp_path: Path) -> None:
    dependencies = Dependencies(environments.node_project(environments.python_project(tmp_path)))
    dependencies.index_packages()
    found = search(dependencies, "does tinyhttp export a request limit")
    assert {found.show(hit.path).partition(" ")[0] for hit in found.answer.hits} == {"tinyhttp"}
    assert found.notes == ("Only tinyhttp 1.2.0 was searched, which the query names.",)
    elsewhere = search(dependencies, "does tinyhttp export a limit")
    assert first(elsewhere)[0] == "@tools/queue 1.4.0 · dist/index.d.ts"


def test_indexes_that_were_not_used_for_longest_are_removed_at_the_limit(tmp_path: Path) -> None:
    dependencies = Dependencies(environments.node_project(environments.python_project(tmp_path)))
    dependencies.index_packages()
    packages = dependencies.choose()[0]
    dependencies.close()
    assert limit_size(10**9) == 0
    assert limit_size(0) == len(packages)
    assert not any(dependencies.index(package).folder.exists() for package in packages)
    assert first(search(dependencies, RETRY))[0].startswith("tinyhttp")
