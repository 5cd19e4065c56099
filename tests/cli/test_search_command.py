"""`dowse search`: its hits, messages and exit codes."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse.indexes.cloned_repositories import parse_address
from dowse.indexes.index import ProjectIndex
from dowse.system.platform import Lock
from tests.cli.conftest import Run
from tests.sample_data import make_words_older, write_tree
from tests.searching.history.repositories import Change, git, make_repository

HOSTILE_QUERIES = [
    "'; DROP TABLE chunks; --", '"unclosed', "((((", "a AND OR NOT", "field:value^2~", "*", "?" * 50, "\\", "[a-", "🍎",
    "\x1b[31mapple", "\u202eapple", "apple\nbanana", "+", "-apple", '""', "apple " * 500, "a" * 5000, "../../etc/passwd",
    "\udcff\udcfe", "%s%n", "{0}", "--", "NaN", "\t", "apple\x00pear",
]  # fmt: skip


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    """Make ten files about apples, in two languages and of two kinds."""
    files = {f"src/m{number}.py": f"def apple_{number}():\n    return 'banana {number}'\n" for number in range(6)}
    files |= {f"web/w{number}.js": f"function appleTree{number}() {{ return {number} }}\n" for number in range(2)}
    files |= {
        "docs/guide.md": "# Guide\n\n## Eating\n\nHow to eat an apple.\n",
        "docs/other.md": "# Other\n\nCherry.\n",
    }
    return write_tree(tmp_path / "fruit", {"package.json": "{}\n", **files})


def test_a_search_answers_while_the_project_is_indexed_and_says_how_much_was_searched(
    start: Run, run: Run, fruit: Path
) -> None:
    run("index", fruit)
    project = ProjectIndex(fruit)
    with Lock(project.folder / "index.lock").held(1.0):  # as an indexing process does
        first = start("search", "apple", fruit, "--limit", "1", "--json")
        process = start("search", "apple", fruit, "--limit", "1")
    assert (first.code, first.json["totalResults"]) == (0, 1)
    coverage = first.json["coverage"]
    # Some were read in the tick in which they were written.
    assert coverage["indexedFiles"] + coverage.get("searchedDirectly", 0) == 11
    assert process.code == 0


def test_definitions_are_printed_as_an_assistant_gets_them(run: Run, tmp_path: Path) -> None:
    text = "def peel(fruit):\n    return fruit.skin\n\n\ndef juice(fruit):\n    return peel(fruit)\n"
    root = write_tree(tmp_path / "kitchen", {"pyproject.toml": "", "src/peeler.py": text})
    found = run("search", "how is fruit peeled", root, "--name", "remove_skin", "--name", "peel")
    assert found.code == 0
    assert found.out.startswith(
        "src/peeler.py:1-2  peel\n1 def peel(fruit):\n2     return fruit.skin\n  called by :6 juice\n"
    )
    assert run("search", "xyzzy", root).code == 1
    assert run("search", "+juice fruit", root).out.startswith("src/peeler.py:5-6  juice\n")


def test_callers_are_known_once_a_project_is_indexed(run: Run, fruit: Path) -> None:
    """Until all references were read, each search read some, and took twice as long."""
    for way in (["index", fruit], ["search", "apple", fruit, "--wait"]):
        run(*way)
        index = ProjectIndex(fruit)
        assert index.whole.references.is_current(), way
        index.whole.references.forget()
        index.close()


def test_a_search_of_a_project_without_an_index_starts_one_that_is_finished_behind_it(
    start: Run, tmp_path: Path
) -> None:
    files = {f"src/m{number}.py": f"def apple_{number}(): ...\n" for number in range(300)}
    big = write_tree(tmp_path / "big", {"package.json": "{}\n", **files})
    first = start("search", "apple", big, "--limit", "1", "--json")
    assert (first.code, first.json["totalResults"]) == (0, 1)
    coverage = first.json["coverage"]
    assert (coverage["indexedFiles"] + coverage["searchedDirectly"], coverage["indexing"]) == (301, True)
    project = ProjectIndex(big)
    deadline = time.monotonic() + 60
    while project.is_being_updated() and time.monotonic() < deadline:
        time.sleep(0.05)
    after = start("search", "apple", big, "--wait", "--json").json["coverage"]
    assert after == {"indexedFiles": 301, "expectedFiles": 301, "complete": True}
    # After an update of dowse, the words are indexed again behind the answer too.
    make_words_older(project.folder)
    with Lock(project.folder / "write.lock").held(30.0):  # holds the rebuilding process back
        again = start("search", "apple", big, "--limit", "1", "--json").json
    assert (again["totalResults"], again["coverage"]["searchedDirectly"], again["coverage"]["indexing"]) == (
        1,
        301,
        True,
    )
    while project.whole.has_backlog() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not project.whole.check()


def test_a_hit_says_why_it_was_found_where_that_is_asked_for(run: Run, fruit: Path) -> None:
    first = run("search", "how to eat an apple", fruit, "--wait", "--json", "--detail", "outline").json["results"][0]
    assert first["why"].endswith(("words", "meaning", "path", "defines it", "file name")), first
    assert "why" not in run("search", "how to eat an apple", fruit, "--json").json["results"][0]


def test_filters_that_leave_nothing_say_how_many_hits_there_would_be(run: Run, fruit: Path) -> None:
    ran = run("search", "cherry +zeppelin", fruit, "--wait")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == 'nothing found\nwithout +, -, "…" and filters there would be 1 hit\n'
    found = run("search", "cherry -cherry", fruit, "--json")
    assert (found.code, found.json["withoutFilters"]) == (1, 1)
    assert "withoutFilters" not in run("search", "cherry", fruit, "--json").json


@pytest.mark.parametrize(
    "wrong",
    [
        ["--limit", "0"], ["--limit", "x"], ["--limit", "1001"], ["--offset", "-1"], ["--budget", "0"],
        ["--exact", "--regex"], ["--seconds", "0"], ["--nonsense"],
        ["--offset", "1001"], ["--seconds", "2"], ["--exact", "--mode", "vector"],
        ["--regex", "--alpha", "0.5"], ["--exact", "--mode", "hybrid"], ["--exact", "--name", "x"],
    ],
)  # fmt: skip
def test_wrong_options_are_one_line_and_exit_code_2(run: Run, fruit: Path, wrong: list[str]) -> None:
    ran = run("search", "apple", fruit, *wrong)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert run("search", "apple", fruit, *wrong, "--json").json["error"]["message"]


def test_hostile_queries_are_only_text(run: Run, fruit: Path) -> None:
    run("index", fruit)
    for query in HOSTILE_QUERIES:
        for how in ([], ["--exact"], ["--regex"]):
            ran = run("search", *how, "--json", "--", query, fruit)
            assert ran.code in (0, 1) or (ran.code == 2 and (how == ["--regex"] or not query.strip())), (query, ran.err)
            assert isinstance(ran.json, dict)
            text = run("search", *how, "--", query, fruit)
            assert text.code == ran.code
            assert "Unexpected" not in text.err
            assert "\x1b" not in text.out + text.err


def test_queries_reach_a_background_run_as_they_are(fruit: Path) -> None:
    for query in ("-apple", "--yes", "'; touch owned; '", "$(touch owned)", "\udcff"):
        done = subprocess.run(
            [sys.executable, "-m", "dowse", "search", "--json", "--", os.fsencode(query), str(fruit)],
            capture_output=True, text=True, check=False, cwd=fruit,
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
        assert isinstance(json.loads(done.stdout), dict)
    project = ProjectIndex(fruit)
    deadline = time.monotonic() + 60
    while project.is_being_updated() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not (fruit / "owned").exists()


def test_commits_are_found_and_kept_with_the_index(run: Run, tmp_path: Path) -> None:
    changes = [
        Change("Begin", {"pay.py": "def charge():\n    bill()\n"}),
        Change("Charge only once\n\nA retry billed \x1b[31mtwice.", {"pay.py": "def charge():\n    once()\n"}),
    ]
    root = make_repository(tmp_path / "shop", changes)
    name = git(root, "rev-parse", "HEAD")[:10]
    found = run("search", "--history", "retry billed", root)
    assert (found.code, found.err) == (0, "searched: all 2 commits\n")
    assert found.out == f"{name}  2023-11-14  Charge only once\n     A retry billed \\x1b[31mtwice.\n     pay.py\n"
    assert (ProjectIndex(root).folder / "history.sqlite").exists()
    git(root, "checkout", "-q", "main")
    found = run("search", "--history", "retry", root, "--json", "--authors", "--path", "*.py", "--until", "2023-12")
    assert [(hit["commit"], hit["author"]) for hit in found.json["results"]] == [(name, "Ada")]
    assert run("search", "--history", "xyzzy", root).code == 1


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--exact"], 2, "--exact has no effect with --history"),
        (["--code"], 2, "--code or --docs has no effect with --history"),
        (["--since", "monday"], 2, "since is 'monday', which is no date"),
        ([], 3, "git cannot read the history: the folder is not in a git repository."),
    ],
)
def test_a_search_of_the_history_says_what_is_wrong(
    run: Run, fruit: Path, options: list[str], code: int, message: str
) -> None:
    if "--since" in options:
        make_repository(fruit, [Change("Begin", {"a.py": "x\n"})])
    failed = run("search", "--history", "apple", fruit, *options)
    assert (failed.code, message in failed.err) == (code, True)
    assert code == 2 or not ProjectIndex(fruit).folder.exists()
    assert "--since needs --history" in run("search", "apple", fruit, "--since", "2025").err


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (["apple", "--path", "web"], {"web/w0.js", "web/w1.js"}),
        (["apple path:web"], {"web/w0.js", "web/w1.js"}),
        (["apple", "--path", "m3.py"], {"src/m3.py"}),
        (["apple", "--language", "js"], {"web/w0.js", "web/w1.js"}),
        (["apple lang:js -path:w0.js"], {"web/w1.js"}),
        (["apple kind:docs"], {"docs/guide.md"}),
        (["apple", "--docs"], {"docs/guide.md"}),
        (["apple eat path:docs path:web", "--code", "--docs"], {"docs/guide.md", "web/w0.js", "web/w1.js"}),
    ],
)
def test_filters_mean_what_people_write(run: Run, fruit: Path, arguments: list[str], paths: set[str]) -> None:
    found = run("search", *arguments, fruit, "--wait", "--json", "--limit", "50").json
    assert {hit["path"] for hit in found["results"]} == paths


def test_a_filter_that_no_file_has_says_what_may_be_meant(run: Run, fruit: Path) -> None:
    assert "language 'pyhton'. Did you mean python?" in run("search", "apple lang:pyhton", fruit, "--wait").err
    assert (
        "No path here matches 'gide.md'. Did you mean docs/guide.md?"
        in run("search", "apple", fruit, "--path", "gide.md").err
    )
    assert run("search", "apple", fruit, "--path", "nowhere", "--json").json["warnings"] == [
        "No path here matches 'nowhere'."
    ]


def test_several_folders_are_ranked_together(run: Run, fruit: Path, tmp_path: Path) -> None:
    kitchen = write_tree(tmp_path / "kitchen", {"package.json": "{}\n", "peel.py": "def peel_apple(): ...\n"})
    found = run("search", "peel apple", fruit, kitchen, "--json")
    assert found.json["results"][0]["path"] == "kitchen/peel.py"
    assert any(hit["path"].startswith("fruit/src/") for hit in found.json["results"])
    assert found.json["coverage"] == {"indexedFiles": 13, "expectedFiles": 13, "complete": True}
    assert run("search", "peel apple", fruit, kitchen).out.startswith("kitchen/peel.py:1  peel_apple\n")
    counted = run("search", "--exact", "apple", fruit, kitchen)
    assert "kitchen/peel.py:1:10: def peel_apple(): ...\n" in counted.out
    assert counted.err == "10 occurrences in 10 files, complete: yes\n"
    listed = run("search", "--exact", "apple", fruit, kitchen, "--offset", "9", "--json").json
    assert [one["path"] for one in listed["matches"]] == ["kitchen/peel.py"]
    only = run("search", "apple", fruit, kitchen, "--path", "kitchen/peel.py", "--json")
    assert [hit["path"] for hit in only.json["results"]] == ["kitchen/peel.py"]
    assert "take one DIR" in run("search", "apple tree", fruit, kitchen, "--history").err
    within = run("search", "apple", fruit / "src", fruit / "web", "--json").json[
        "results"
    ]  # parts of an indexed project
    assert {hit["path"].partition("/")[0] for hit in within} == {"src", "web"}


def test_words_without_quotes_are_a_query_up_to_the_folders_at_their_end(
    run: Run, fruit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path / "kitchen", {"package.json": "{}\n", "peel.py": "def peel_apple(): ...\n"})
    monkeypatch.chdir(tmp_path)
    assert run("search", "peel", "apple", "fruit", "kitchen").out.startswith("kitchen/peel.py")
    assert run("search", "fruit", "kitchen", "--json").code == 1  # one word is left for the query
    monkeypatch.chdir(fruit)
    assert run("search", "eat", "apple").out.startswith("docs/guide.md")
    assert "docs/other.md" in run("search", "cherry", "docs").out
    assert run("search", "apple", "./nowhere").err == "dowse: ./nowhere is not a folder.\n"
    assert "nowhere is not a folder" in run("search", "eat an apple", ".", "nowhere").err
    assert "no where is not a folder" in run("search", "eat an apple", "no where").err
    spaced = write_tree(tmp_path / "my kitchen", {"package.json": "{}\n", "peel.py": "def peel_apple(): ...\n"})
    assert run("search", "peel", "apple", spaced).out.startswith("peel.py")
    assert run("search", "peel an apple", spaced, fruit).out.startswith("my kitchen/peel.py")


def test_folders_that_are_not_indexed_yet_are_searched_together_with_others(
    run: Run, fruit: Path, tmp_path: Path
) -> None:
    files = {f"m{number}.py": f"def cherry_{number}(): ...\n" for number in range(400)}
    big = write_tree(tmp_path / "big", {"package.json": "{}\n", **files})
    run("index", fruit)
    project = ProjectIndex(big)
    project.folder.mkdir(parents=True)
    with Lock(project.folder / "index.lock").held(1.0):  # as an indexing process does
        found = run("search", "cherry_77", fruit, big, "--json").json
        assert found["results"][0]["path"] == "big/m77.py"
        assert not found["coverage"]["complete"]
        assert found["coverage"]["searchedDirectly"] >= 401
        assert (
            run("search", "how to eat an apple", fruit, big, "--json").json["results"][0]["path"]
            == "fruit/docs/guide.md"
        )


def test_a_repository_is_searched_by_its_address(run: Run, tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin" / "orchard", [Change("Begin", {"a.py": "def apple_tree(): ...\n"})])
    address = f"file://{origin}"
    assert run("search", "apple tree", address).out.startswith("a.py:1  apple_tree\n")
    git(origin, "checkout", "-q", "-b", "pears")
    (origin / "b.py").write_text("def pear_tree(): ...\n", encoding="utf-8")
    git(origin, "add", "b.py")
    git(origin, "commit", "-qm", "Pears")
    assert run("search", "pear", "tree", f"{address}@pears").out.startswith("b.py:1  pear_tree\n")
    served = subprocess.run(
        [sys.executable, "-m", "dowse", "serve", f"{address}@main"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert served.stdout == b""
    assert (parse_address(f"{address}@main").folder / "a.py").exists()
    origin.rename(origin.with_name("gone"))
    offline = run("search", "apple tree", address)
    assert offline.out.startswith("a.py:1  apple_tree\n")
    assert "cannot be fetched" in offline.err
    assert run("search", "apple tree", "https://user:secret@host.example/a/b").code == 2
    assert run("forget", address).code == 0
    assert not parse_address(address).folder.exists()
    assert run("forget", address).code == 1
    assert run("search", "apple tree", address).code == 3
