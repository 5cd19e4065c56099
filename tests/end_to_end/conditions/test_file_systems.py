"""Homes and projects on file systems that fold case, have no locks, or report no changes."""

import os
from pathlib import Path

import pytest

from tests.end_to_end.conditions.commands import found_paths, run_command
from tests.end_to_end.storm.servers import Server, eventually


@pytest.fixture
def network(tmp_path: Path, root: Path, library: str) -> dict[str, str]:
    """A project on a network file system: the list of mounts says so, and no change is reported."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/export {root} nfs4 rw 0 0\ntmpfs / tmpfs rw 0 0\n", encoding="utf-8")
    return {"LD_PRELOAD": library, "MOUNTS": str(mounts), "BELOW": str(root), "SILENT_WATCHES": "1"}


def test_on_a_network_changes_are_found_without_events(indexed: Path, network: dict[str, str]) -> None:
    constants = {"dowse.indexes.freshness.pending_paths.NETWORK_POLL_SECONDS": 0.3}
    with Server(indexed, constants, **network) as server:
        eventually(server.is_settled, server.status)
        (indexed / "src" / "pear.py").write_text("def peel_pear(): ...\n", encoding="utf-8")
        eventually(lambda: server.find("peel_pear") == ["src/pear.py"], server.status)
        (indexed / "src" / "apple.py").unlink()
        eventually(lambda: server.find("peel_apple") == [], server.status)


@pytest.fixture
def folding(library: str, storage: Path) -> dict[str, str]:
    """A home on a file system on which `Name` and `name` are one file."""
    storage.mkdir(parents=True)
    return {"LD_PRELOAD": library, "BELOW": str(storage), "FOLD_CASE": "1"}


@pytest.mark.soak
def test_a_home_is_the_same_in_any_spelling(folding: dict[str, str], storage: Path) -> None:
    home = str(storage.with_name(storage.name.upper()))
    assert run_command("notes", "create", "Fruit", **folding, DOWSE_HOME=home).code == 0
    assert not Path(home).exists()
    assert run_command("notes", "create", "Fruit", **folding).code == 2


@pytest.mark.soak
def test_a_home_that_folds_case_keeps_projects_and_notes_apart(root: Path, folding: dict[str, str]) -> None:
    assert run_command("index", root, **folding).code == 0
    assert found_paths("peel_apple", root, **folding) == ["src/apple.py"]
    for name in ("fruit", "Fruit", "FRUIT"):
        assert run_command("notes", "create", name, **folding).code == 0
        assert run_command("notes", "add", name, "only", f"the note of {name}", **folding).code == 0
    for name in ("fruit", "Fruit", "FRUIT"):
        assert f"the note of {name}" in run_command("notes", "show", name, "only", **folding).out
    assert run_command("notes", "remove", "Fruit", "--yes", **folding).code == 0
    listed = run_command("notes", "list", "--json", **folding).out
    assert '"fruit"' in listed
    assert '"FRUIT"' in listed
    assert '"Fruit"' not in listed
    assert run_command("doctor", root, **folding).code == 0


def test_a_home_without_locks_is_refused_in_a_line(root: Path, library: str) -> None:
    """The lock of the index was once waited for without end."""
    environment = {"LD_PRELOAD": library, "BELOW": os.environ["DOWSE_HOME"], "NO_LOCKS": "1"}
    ran = run_command("index", root, **environment)
    assert ran.code == 3
    assert "Files cannot be locked in" in ran.err
