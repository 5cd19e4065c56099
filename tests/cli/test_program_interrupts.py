"""Ctrl-C at any moment: exit code 130, one line, one object with --json, and the work done so far is kept."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dowse.store import storage_layout
from dowse.system.platform import Lock
from tests.cli.conftest import Ran, Run
from tests.sample_data import write_tree

PROGRAM = """
import builtins, os, signal, sys
from dowse.cli import main

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

{trap}
sys.exit(main())
"""
AT_AN_IMPORT = """
plain = builtins.__import__
def trapped(name, *rest, **more):
    if name == {module!r}:
        interrupt()
    return plain(name, *rest, **more)
builtins.__import__ = trapped
"""
AT_THE_THIRD_FILE = """
from dowse.indexes.freshness import indexer
plain, seen = indexer.make_put, []
def trapped(document):
    seen.append(document)
    if len(seen) == 3:
        interrupt()
    return plain(document)
indexer.make_put = trapped
"""


def run_trapped(trap: str, *arguments: object) -> Ran:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(trap=trap), *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("module", "is_json"),
    [("dowse.cli.program", True), ("click", False), ("dowse.indexes.project_lookup", False), ("tantivy", True)],
)
def test_while_modules_are_loaded(root: Path, module: str, is_json: bool) -> None:
    ran = run_trapped(AT_AN_IMPORT.format(module=module), "index", root, *(["--json"] if is_json else []))
    assert ran.code == 130
    assert "Interrupted" in ran.err
    assert ran.err.count("\n") == 1
    assert ran.json["error"]["code"] == "INTERRUPTED" if is_json else ran.out == ""


def test_while_files_are_indexed(root: Path, run: Run) -> None:
    ran = run_trapped(AT_THE_THIRD_FILE, "index", root, "--json")
    assert (ran.code, ran.json["status"]) == (130, "incomplete")
    output = run("index", root, "--json")
    assert (output.code, output.json["status"]) == (0, "success")


def test_while_doctor_repairs(root: Path, run: Run) -> None:
    run("index", root)
    write_tree(root, {f"new{number}.py": f"x = {number}\n" for number in range(4)})
    ran = run_trapped(AT_THE_THIRD_FILE, "doctor", "--fix", root, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (130, "INTERRUPTED")


def test_an_ignored_ctrl_c_stays_ignored(root: Path) -> None:
    trap = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + AT_THE_THIRD_FILE
    assert run_trapped(trap, "index", root).code == 0


def test_a_polite_kill_is_an_interrupt(root: Path) -> None:
    trap = AT_THE_THIRD_FILE.replace("interrupt()", "os.kill(os.getpid(), signal.SIGTERM)")
    ran = run_trapped(trap, "index", root, "--json")
    assert (ran.code, ran.json["status"]) == (130, "incomplete")


@pytest.mark.parametrize("command", [["index"], ["search", "--wait", "apple"], ["search", "--exact", "apple"]])
def test_whoever_waits_for_another_run_says_so(run: Run, root: Path, command: list[str]) -> None:
    run("index", root)
    turn = Lock(storage_layout.index_folder(root) / "index.lock")
    assert turn.try_acquire()
    with subprocess.Popen(
        [sys.executable, "-m", "dowse", *command, str(root), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        rescue = threading.Timer(60, child.kill)
        rescue.start()
        assert child.stderr is not None
        output = child.stderr.readline()
        assert output == f"dowse: waiting for process {os.getpid()} to finish indexing {root}\n"
        turn.release()
        out, _ = child.communicate(timeout=60)
        rescue.cancel()
    assert child.returncode == 0
    assert isinstance(json.loads(out), dict)


def test_a_waiting_run_can_be_interrupted(run: Run, root: Path) -> None:
    run("index", root)
    turn = Lock(storage_layout.index_folder(root) / "index.lock")
    assert turn.try_acquire()
    with subprocess.Popen(
        [sys.executable, "-m", "dowse", "index", str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr is not None
        assert "waiting" in child.stderr.readline()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    turn.release()
    assert (child.returncode, out, err) == (130, "", "dowse: Interrupted; the work done so far is kept.\n")


@pytest.mark.parametrize("command", [["search", "--wait", "apple"], ["search", "--exact", "apple"]])
def test_while_a_search_indexes(root: Path, command: list[str]) -> None:
    ran = run_trapped(AT_THE_THIRD_FILE, *command, root, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (130, "INTERRUPTED")
