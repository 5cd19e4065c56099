"""The commands: their output on stdout and stderr, and their exit codes."""

import os
import shlex
import shutil
from pathlib import Path

import click
import pytest

from dowse.cli.command_list import COMMANDS, dowse
from dowse.indexes.freshness.pending_paths import PendingPaths
from dowse.notes.registry import index_file
from dowse.store import storage_layout
from tests.cli.conftest import Run
from tests.sample_data import write_tree


def test_index_without_a_folder_takes_the_project_around(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "src")
    assert run("index", "--json").json["projectPath"] == str(root)


def test_status_lists_the_changes_that_a_watcher_has_noticed_and_not_indexed_yet(run: Run, root: Path) -> None:
    run("index", root)
    write_tree(root, {".env": "TOKEN=1\n", "src/apple.py": "def changed(): ...\n", "docs/guide.md": "# Changed\n"})
    noticed = PendingPaths(storage_layout.index_folder(root))
    noticed.add([".env", "src/apple.py", "docs/guide.md"], 0)
    noticed.save()
    assert "\n  pending: 2 paths, docs/guide.md, src/apple.py" in run("status", root).out


def test_the_indexes_of_missing_folders_are_forgotten_and_others_kept(run: Run, root: Path, tmp_path: Path) -> None:
    write_tree(tmp_path, {"gone/a.py": "x = 1\n", "disk/project/b.py": "x = 1\n"})
    for folder in (root, tmp_path / "gone", tmp_path / "disk/project"):
        run("index", folder)
    shutil.rmtree(tmp_path / "gone")
    shutil.rmtree(tmp_path / "disk")
    listed = run("projects", "--json").json
    assert {Path(one["projectPath"]).name: one["rootState"] for one in listed["projects"]} == {
        "gone": "missing", "my project": "present", "project": "unreachable",
    }  # fmt: skip
    shown = run("projects").out
    assert "(the folder no longer exists; dowse forget --missing deletes the index)" in shown
    assert "(the folder cannot be reached now; the index is kept)" in shown
    forgotten = run("forget", "--missing")
    assert forgotten.out == f"Deleted the index of {tmp_path / 'gone'}, a folder that no longer exists.\n"
    assert f"Kept the index of {tmp_path / 'disk/project'}" in forgotten.err
    again = run("forget", "--missing", "--json").json
    assert (again["removed"], again["kept"]) == ([], [str(tmp_path / "disk/project")])
    assert len(run("projects", "--json").json["projects"]) == 2
    assert run("forget").code == 2
    assert run("forget", root, "--missing").code == 2


def test_why_takes_a_path_from_the_working_directory(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("index", root)
    monkeypatch.chdir(root / "src")
    assert run("why", "apple.py").code == 0
    write_tree(root, {"src/new.py": "x = 1\n"})
    assert "not yet" in run("why", "new.py").out


def test_why_answers_about_a_link_and_not_about_its_target(run: Run, root: Path, tmp_path: Path) -> None:
    target = write_tree(tmp_path / "outside", {"package.json": "{}\n", "a.py": "x = 1\n"})
    (root / "link").symlink_to(target)
    (root / "link.py").symlink_to(target / "a.py")
    for is_indexed in (False, True):
        for name in ("link", "link.py"):
            ran = run("why", root / name, "--json")
            assert (ran.code, ran.json["reason"], ran.json["path"]) == (1, "symlink", name)
        if is_indexed:
            below = run("why", root / "link" / "a.py", "--json")
            assert (below.code, below.json["reason"], below.json["path"]) == (1, "symlink", "link/a.py")
        run("index", root)


def test_why_reaches_a_project_through_a_link_above_it(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").symlink_to(tmp_path)
    ran = run("why", tmp_path / "elsewhere" / "my project" / "src/apple.py")
    assert (ran.code, ran.out) == (0, f"src/apple.py would be indexed: run dowse index {root}\n")


def test_why_names_the_rule_that_lets_a_file_in_and_that_of_documents(run: Run, root: Path) -> None:
    write_tree(root, {".gitignore": "src/*\n", ".dowseignore": "!src/apple.py\n", ".obsidian/note.md": "# Note\n"})
    ran = run("why", root / "src/apple.py")
    assert (ran.code, "  rule: !src/apple.py  (.dowseignore, line 1)\n" in ran.out) == (0, True)
    ran = run("why", root / ".obsidian/note.md")
    assert ran.code == 0
    assert ran.out.endswith(
        "As a document, it is not served: hidden\n"
        "  rule: .*  (built-in rule for documents)\n"
        "  because of its folder .obsidian/\n"
    )


def test_doctor_finds_and_repairs_drift(run: Run, root: Path) -> None:
    run("index", root)
    (root / "src/apple.py").write_text("def pear(): ...\n", encoding="utf-8")
    write_tree(root, {"src/new.py": "x = 1\n"})
    (root / "docs/guide.md").unlink()
    folder = storage_layout.index_folder(root)
    (folder / "fingerprints.json").write_text("{}", encoding="utf-8")
    (folder / "metadata.json").unlink()
    shutil.rmtree(next(folder.glob("lexical-*")))
    sick = run("doctor", root, "--json")
    parts = {finding["part"] for finding in sick.json["findings"]}
    assert (sick.code, parts >= {"lexical index", "fingerprints", "metadata"}) == (1, True)
    problems = " ".join(finding["problem"] for finding in sick.json["findings"])
    assert all(path in problems for path in ("src/new.py", "src/apple.py", "docs/guide.md"))
    mended = run("doctor", root, "--fix")
    assert (mended.code, mended.out.splitlines()[-1]) == (0, f"{root}: repaired")
    assert run("doctor", root).code == 0


def test_doctor_finds_a_changed_byte_in_a_note_and_does_not_claim_to_repair_it(run: Run, root: Path) -> None:
    run("index", root)
    run("notes", "create", "fruit")
    run("notes", "add", "fruit", "one", "How to peel an apple.")
    assert run("doctor", root).code == 0
    file = index_file("fruit")
    file.write_bytes(file.read_bytes().replace(b"peel an apple", b"peel an apply"))
    sick = run("doctor", root, "--json")
    assert (sick.code, sick.json["findings"]) == (
        1,
        [{"part": "notes", "problem": "fruit: the note one is not what was written. Add it again."}],
    )
    unmended = run("doctor", root, "--fix")
    assert (unmended.code, unmended.out.splitlines()[-2:]) == (
        1,
        [f"{root}: the index is complete and matches the files", "notes: 1 problem that --fix does not repair"],
    )
    run("notes", "add", "fruit", "one", "How to peel a pear.")
    assert run("doctor", root).code == 0


def test_a_huge_project_needs_a_yes(run: Run, root: Path, storage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(storage, {"config.json": '{"maxFiles": 2}'})
    ran = run("index", root)
    assert ran.code == 2
    assert "very large" in ran.err
    assert "--yes" in ran.err
    assert not (storage_layout.index_folder(root) / "catalog.sqlite").exists()
    assert run("index", root, "--yes").code == 0
    assert run("index", root).code == 0, "once it is indexed nobody is asked again"


def test_home_and_the_file_systems_root_are_not_taken_by_accident(
    run: Run, storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(os.environ["HOME"])
    ran = run("index")
    assert ran.code == 2
    assert "home" in ran.err.lower()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_json_and_an_example(
    run: Run, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"shop/a": "", "handbook/a": "", "public/a": ""})
    monkeypatch.chdir(tmp_path)
    _, *words = shlex.split(COMMANDS[name][1])
    command: click.Command = dowse
    context = None
    while isinstance(command, click.Group):
        context = click.Context(command, context)
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
    command.make_context(name, words)
    ran = run(name, "--help")
    assert (ran.code, COMMANDS[name][1] in ran.out) == (0, True)
    assert "--json" in ran.out or name == "serve"  # the whole output is JSON


def test_a_misspelled_command_gets_a_suggestion(run: Run) -> None:
    wrong = run("serch", "x")
    assert (wrong.code, wrong.err) == (
        2,
        "dowse: No such command 'serch'. Did you mean search or serve? See: dowse --help\n",
    )
