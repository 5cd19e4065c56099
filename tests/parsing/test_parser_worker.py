"""The program of a parser process, driven by hand."""

import subprocess
import sys
from typing import IO, Any, cast

import pytest

from dowse.parsing.parser_limits import KEPT_BYTES
from dowse.parsing.parser_process import PARSER_COMMAND
from dowse.system.child_messages import read_message, write_message


def converse(*requests: tuple[dict[str, Any], bytes]) -> tuple[list[dict[str, Any]], int]:
    """Send requests to a new process; return the fields of its messages and its exit code."""
    process = subprocess.Popen(PARSER_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    found = []
    with stdout:
        with stdin:
            for fields, data in requests:
                write_message(stdin, fields, data)
        while (message := read_message(stdout)) is not None:
            found.append(message[0])
    return found, process.wait(30)


def test_it_ends_when_there_are_no_more_requests() -> None:
    assert converse() == ([{"ready": True}], 0)


def test_a_job_that_fails_does_not_end_it() -> None:
    good = {"job": "outline", "anchors": []}
    found, code = converse(({"job": "nonsense"}, b""), ({"job": "outline"}, b""), (good, b"# A"))
    assert [fields.get("problem") for fields in found] == [None, "ValueError", "KeyError", None]
    assert code == 0


def test_a_process_that_keeps_much_memory_ends_after_its_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    program = f"""
import sys
from dowse.parsing import parser_worker
parser_worker.kept_bytes = lambda: {KEPT_BYTES} + 1
sys.exit(parser_worker.main())
"""
    monkeypatch.setattr("tests.parsing.test_parser_worker.PARSER_COMMAND", (sys.executable, "-c", program))
    good = {"job": "outline", "anchors": []}
    found, code = converse((good, b"# A"))
    assert [message.get("is_last", False) for message in found] == [False, True]
    assert code == 0
