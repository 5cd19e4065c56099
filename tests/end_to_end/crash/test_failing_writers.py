"""A write, fsync or rename that fails ends any command in one line, and leaves the state before it or after it."""

import errno
import os
from pathlib import Path

import pytest

from tests.end_to_end.conditions.commands import run_command
from tests.end_to_end.crash.test_faults import failing_calls
from tests.end_to_end.crash.writers import WRITERS, Writer
from tests.end_to_end.preloaded import failing

__all__ = ["failing_calls"]

NAMES = [name for name in WRITERS if name != "vectors"]


def fail_once(writer: Writer, library: Path, call: str, place: int, error: int, age: int) -> None:
    """Run a command while the disk below its folders fails; then run it again on a whole disk."""
    before = writer.state()
    arguments = writer.change(age)
    home = Path(os.environ["DOWSE_HOME"])
    environment = failing(library, call, place, error, os.path.commonpath([writer.folder, home]))
    failed = run_command(*arguments, **environment)
    assert failed.code == 0 or failed.err.startswith("dowse: "), failed.err
    found = writer.state()
    if failed.code == 0:
        return
    again = run_command(*arguments)
    after = writer.state()
    if again.code == 0:
        assert found in (before, after) or writer.is_between(before, found, after), (arguments, failed.err)
    else:  # a second `create` or `remove` of one name: the first had done its work
        assert found == after != before, (arguments, failed.err, again.err)


@pytest.mark.parametrize("name", ["import"])
def test_a_failing_disk_leaves_the_state_before_or_after(
    tmp_path: Path,
    failing_calls: Path,
    name: str,
) -> None:
    writer = WRITERS[name](tmp_path)
    run_command(*writer.change(1))
    fail_once(writer, failing_calls, "write", 2, errno.ENOSPC, age=2)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
@pytest.mark.parametrize("name", NAMES)
def test_any_call_may_fail(
    tmp_path: Path,
    failing_calls: Path,
    name: str,
    call: str,
) -> None:
    writer = WRITERS[name](tmp_path)
    run_command(*writer.change(1))
    for age, place in enumerate((*range(1, 16), 20, 30, 50), 2):
        fail_once(writer, failing_calls, call, place, errno.EIO if place % 2 else errno.ENOSPC, age)
