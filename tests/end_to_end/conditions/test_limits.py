"""Limits of the system at their minimum: few open files."""

import json
import resource
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from tests.end_to_end.conditions.commands import few_descriptors, found_paths, run_command, run_limited
from tests.end_to_end.storm.servers import Server, eventually


@pytest.mark.parametrize("count", [20, pytest.param(64, marks=pytest.mark.soak)])
def test_commands_with_few_open_files_answer_or_say_why(indexed: Path, count: int) -> None:
    (indexed / "src" / "pear.py").write_text("def peel_pear(): ...\n", encoding="utf-8")
    for command in (("index",), ("search", "apple"), ("status",)):
        ran = run_limited(few_descriptors(count), *command, indexed)
        assert ran.code == 0 or ran.err.startswith("dowse: "), ran.err
    assert run_command("index", indexed).code == 0
    assert found_paths("peel_pear", indexed) == ["src/pear.py"]


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("count", range(3, 64))
def test_commands_with_any_number_of_open_files_leave_a_whole_index(indexed: Path, count: int) -> None:
    """With fewer than about 12 not even the interpreter can start."""
    (indexed / "src" / "pear.py").write_text("def peel_pear(): ...\n", encoding="utf-8")
    for command in (("index",), ("search", "apple"), ("doctor", "--fix")):
        try:
            run_limited(few_descriptors(count), *command, indexed)
        except AssertionError:
            if count > 12:
                raise
    assert run_command("index", indexed).code == 0
    assert found_paths("peel_pear", indexed) == ["src/pear.py"]
    project = ProjectIndex(indexed)
    assert project.check() == []
    project.close()


@pytest.mark.soak
def test_a_server_with_64_open_files_answers(indexed: Path) -> None:
    with Server(indexed) as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (64, 64))
        for number in range(30):
            (indexed / "src" / f"file{number}.py").write_text(f"def few{number}(): ...\n", encoding="utf-8")
        eventually(lambda: server.find("few29") == ["src/file29.py"], server.status)
        assert server.find("peel_apple") == ["src/apple.py"]


def test_a_server_that_runs_out_of_open_files_goes_on_when_there_are_more(indexed: Path) -> None:
    with Server(indexed) as server:
        eventually(server.is_settled, server.status)
        before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        (indexed / "src" / "late.py").write_text("def written_late(): ...\n", encoding="utf-8")
        for _ in range(5):
            json.dumps(server.call_tool("search_code", query="peel_apple"))
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)
        eventually(lambda: server.find("written_late") == ["src/late.py"], server.status)
        assert server.find("peel_apple") == ["src/apple.py"]
