"""Homes and projects on file systems that have no locks, or report no changes."""

import os
from pathlib import Path

from dowse.indexes.freshness.pending_paths import file_system_of
from tests.end_to_end.conditions.commands import run_command
from tests.end_to_end.storm.servers import Server, eventually


def test_on_a_network_changes_are_found_without_events(indexed: Path, library: str) -> None:
    """The file system of the project counts as one of a network, and no change is reported."""
    watching = "dowse.indexes.freshness.pending_paths"
    constants = {f"{watching}.NETWORK_POLL_SECONDS": 0.3, f"{watching}._NETWORK": [file_system_of(indexed)]}
    with Server(indexed, constants, LD_PRELOAD=library, BELOW=str(indexed), SILENT_WATCHES="1") as server:
        eventually(server.is_settled, server.status)
        (indexed / "src" / "pear.py").write_text("def peel_pear(): ...\n", encoding="utf-8")
        eventually(lambda: server.find("peel_pear") == ["src/pear.py"], server.status)
        (indexed / "src" / "apple.py").unlink()
        eventually(lambda: server.find("peel_apple") == [], server.status)


def test_a_home_without_locks_is_refused_in_a_line(root: Path, library: str) -> None:
    """The lock of the index was once waited for without end."""
    environment = {"LD_PRELOAD": library, "BELOW": os.environ["DOWSE_HOME"], "NO_LOCKS": "1"}
    ran = run_command("index", root, **environment)
    assert ran.code == 3
    assert "Files cannot be locked in" in ran.err
