"""`dowse install` and `dowse uninstall` as a user types them."""

import json
from pathlib import Path

import pytest

from dowse.cli.assistants.known_assistants import Places, known_assistants
from tests.cli.assistants.conftest import places
from tests.cli.conftest import Run

__all__ = ["places"]


@pytest.fixture
def cursor(places: Places) -> Path:
    """The configuration of Cursor with another server."""
    file = places.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{\n  "mcpServers": {\n    "x": {"command": "y"}\n  }\n}\n', encoding="utf-8")
    return file


def test_every_assistant_is_served_by_what_was_written_and_is_as_before_afterwards(
    run: Run, root: Path, places: Places
) -> None:
    for assistant in known_assistants().values():
        places.resolve(assistant.signs[0]).mkdir(parents=True, exist_ok=True)
        (places.resolve(assistant.signs[0]) / "state").touch()
    before = sorted(places.home.rglob("*"))
    ran = run("install", root, "--yes", "--json")
    assert ran.code == 0, ran.err
    rows = ran.json["assistants"]
    assert {row["name"] for row in rows} == set(known_assistants())
    assert {(row["action"], row["serverStarts"], row["problem"]) for row in rows} == {("added", True, None)}
    assert run("uninstall", "--yes").code == 0
    assert sorted(places.home.rglob("*")) == before


def written_files(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Return the time and the bytes of every file in a folder."""
    return {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("scope", ["--user", "--project"])
def test_a_second_install_changes_nothing_for_any_assistant(
    run: Run, root: Path, places: Places, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    monkeypatch.setenv("DOWSE_HOME", str(places.home / "storage"))
    for assistant in known_assistants().values():
        places.resolve(assistant.signs[0]).mkdir(parents=True, exist_ok=True)
    assert run("install", root, scope, "--yes").code == 0
    before = written_files(places.home), written_files(root)
    ran = run("install", root, scope, "--json")
    assert (ran.code, ran.json["written"]) == (0, False), ran.err
    names = {row["name"] for row in ran.json["assistants"]}
    assert names == {name for name, one in known_assistants().items() if scope == "--user" or one.project}
    assert {row["action"] for row in ran.json["assistants"]} == {"unchanged"}
    assert (written_files(places.home), written_files(root)) == before


def test_cursor_and_vs_code_get_a_link_that_makes_the_same_change(run: Run, cursor: Path, places: Places) -> None:
    (places.support / "Code" / "User").mkdir(parents=True)
    ran = run("install", "--dry-run")
    assert "  or with one click: cursor://anysphere.cursor-deeplink/mcp/install?name=dowse&config=" in ran.out
    assert "  or with one click: vscode:mcp/install?%7B%22name%22%3A%22dowse%22" in ran.out
    links = {row["name"]: row["link"] for row in run("install", "--dry-run", "--json").json["assistants"]}
    assert links["vscode"] in ran.out
    assert links["cursor"] in ran.out


def test_nothing_is_written_before_a_yes(run: Run, cursor: Path) -> None:
    before = cursor.read_bytes()
    ran = run("install")
    assert (ran.code, cursor.read_bytes()) == (2, before)
    assert '+    "dowse": {' in ran.out
    assert "Add --yes" in ran.err
    ran = run("install", "--dry-run")
    assert (ran.code, cursor.read_bytes()) == (0, before)
    assert not list(cursor.parent.glob("*before*"))


def test_a_change_is_told_with_the_backup_and_undone(run: Run, cursor: Path) -> None:
    before = cursor.read_bytes()
    ran = run("install", "--yes", "--agent", "cursor")
    assert ran.code == 0, ran.err
    assert f"Cursor: added, and the server starts; {cursor}.before-dowse is the file as it was" in ran.out
    ran = run("install", "--yes", "--agent", "cursor")
    assert (ran.code, f"{cursor} has dowse already" in ran.out) == (0, True)
    ran = run("uninstall", "--yes")
    assert (ran.code, cursor.read_bytes()) == (0, before)
    assert f"Cursor: dowse was removed from {cursor}" in ran.out
    ran = run("uninstall", "--yes")
    assert (ran.code, ran.err) == (1, "dowse: there is nothing to remove.\n")


def test_a_server_that_does_not_start_is_told_and_nobody_is_sent_to_use_it(
    run: Run, cursor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dowse.cli.assistants.start_command.SERVE", ("serve", "--unknown"))
    ran = run("install", "--yes", "--agent", "cursor")
    assert (ran.code, "Start the assistant again" in ran.out) == (3, False)
    assert "Cursor: the server does not start this way" in ran.err


def test_a_projects_file_names_the_open_folder(run: Run, root: Path, places: Places) -> None:
    ran = run("install", root, "--project", "--agent", "vscode", "--yes", "--json")
    assert (ran.code, ran.json["assistants"][0]["serverStarts"]) == (0, True), ran.err
    entry = json.loads((root / ".vscode" / "mcp.json").read_text(encoding="utf-8"))["servers"]["dowse"]
    assert (entry["type"], entry["args"]) == ("stdio", ["serve", "--tools", "assistant", "${workspaceFolder}"])
    assert run("uninstall", root, "--project", "--yes").code == 0
    assert not (root / ".vscode").exists()
    assert list(places.home.iterdir()) == []


def test_an_assistant_without_a_current_project_needs_a_folder(run: Run, places: Places) -> None:
    (places.support / "Claude").mkdir(parents=True)
    ran = run("install", "--yes")
    assert ran.code == 1
    assert "name the folder to serve, dowse install DIR --agent claude-desktop" in ran.err
    assert run("install", "--agent", "claude-desktop").code == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--agent", "nobody"], "dowse does not know an assistant nobody. It knows amp, antigravity"),
        (["--agent", "goose", "--project"], "Goose has no configuration of a project"),
        (["/nowhere"], "/nowhere is not a folder."),
    ],
)
def test_a_wrong_argument_is_explained(run: Run, places: Places, arguments: list[str], problem: str) -> None:
    ran = run("install", *arguments)
    assert (ran.code, problem in ran.err, ran.out) == (2, True, "")
    assert list(places.home.iterdir()) == []


def test_without_assistants_nothing_happens(run: Run, places: Places) -> None:
    ran = run("install")
    assert (ran.code, "no assistant was found" in ran.err) == (1, True)
    assert list(places.home.iterdir()) == []
