"""The pool of parser processes: what happens when processes are killed, stopped, idle or cannot be started."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from dowse.errors import Failed
from dowse.parsing import parser_pool, parser_process
from dowse.parsing.parser_pool import (
    FIRST_READ_AHEAD_FILES,
    READ_AHEAD_BYTES,
    READ_AHEAD_FILES,
    ParserPool,
    read_ahead,
    shared_pool,
)
from dowse.parsing.parser_process import ParserRequest
from tests.parsing.child_processes import parsers_of

PATIENCE_SECONDS = 30.0
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells child processes")


@pytest.fixture
def pool() -> Iterator[ParserPool]:
    pool = ParserPool(2)
    yield pool
    pool.close()


def outline(number: int = 1) -> ParserRequest:
    return ParserRequest({"job": "outline", "anchors": []}, f"# Heading {number}\n".encode())


def heading(pool: ParserPool, number: int = 1) -> str:
    text: str = pool.run(outline(number)).fields["headings"][0][1]
    return text


def eventually(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def own_children(before: set[int]) -> list[int]:
    return [child for child in parsers_of(os.getpid()) if child not in before]


@needs_proc
def test_a_process_that_was_killed_is_replaced(pool: ParserPool) -> None:
    before = set(parsers_of(os.getpid()))
    assert heading(pool) == "Heading 1"
    (first,) = own_children(before)
    os.kill(first, signal.SIGKILL)
    assert heading(pool) == "Heading 1"
    assert first not in own_children(before)


def test_a_file_with_too_much_structure_is_not_parsed(pool: ParserPool) -> None:
    request = ParserRequest({"job": "outline", "anchors": [], "language": "markdown"}, b"[" * 300_000)
    assert pool.run(request).problem == "has more than 200,000 [ in it"


@needs_proc
def test_a_process_that_does_not_answer_is_killed_and_the_file_tried_again(
    pool: ParserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser_process, "WALL_SECONDS", 0.0)
    before = set(parsers_of(os.getpid()))
    heading(pool)
    (first,) = own_children(before)
    os.kill(first, signal.SIGSTOP)
    assert heading(pool) == "Heading 1"
    assert first not in own_children(before)


@needs_proc
def test_without_a_timer_of_the_system_real_time_is_the_limit(
    pool: ParserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows has none. A file that takes too long must not end the indexing of the others."""
    monkeypatch.setattr(parser_process, "HAS_TIMER", False)
    monkeypatch.setattr(parser_process, "WALL_SECONDS", 0.0)
    monkeypatch.setattr(parser_process, "cpu_seconds", lambda _size: 0.2)
    monkeypatch.setattr(parser_pool, "WATCH_SECONDS", 0.1)
    bomb = pool.run(ParserRequest(outline().fields, b">" * 900_000))
    assert bomb.problem == "takes more than 0.2 s to parse"
    monkeypatch.undo()
    assert heading(pool) == "Heading 1"


@needs_proc
def test_a_process_that_a_busy_machine_seldom_lets_run_is_not_killed(
    pool: ParserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import dowse.parsing.parser_limits as limits, dowse.parsing.parser_worker as worker; "
        "limits.CPU_SECONDS = 0.4; worker.main()"  # too little on a fast machine, too
    )
    monkeypatch.setattr(parser_process, "PARSER_COMMAND", (sys.executable, "-P", "-c", program))
    monkeypatch.setattr(parser_process, "WALL_SECONDS", 0.3)
    monkeypatch.setattr(parser_process, "cpu_seconds", lambda _size: 0.0)
    monkeypatch.setattr(parser_pool, "WATCH_SECONDS", 0.1)
    before = set(parsers_of(os.getpid()))
    heading(pool)
    (parser,) = own_children(before)
    bomb = pool.submit(ParserRequest(outline().fields, b">" * 900_000))
    while not bomb.done():  # it runs half of the time
        for number, seconds in ((signal.SIGSTOP, 0.05), (signal.SIGCONT, 0.05)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(parser, number)
            time.sleep(seconds)
    assert bomb.result().problem == "takes more than 0.0 s to parse"


@needs_proc
def test_an_idle_process_ends_and_another_starts_when_it_is_needed() -> None:
    before, pool = set(parsers_of(os.getpid())), ParserPool(2, idle_seconds=0.2)
    assert heading(pool) == "Heading 1"
    assert eventually(lambda: not own_children(before))
    assert heading(pool) == "Heading 1"
    pool.close()


@needs_proc
def test_a_closed_pool_has_no_process_left_and_takes_no_job() -> None:
    before, pool = set(parsers_of(os.getpid())), ParserPool(2)
    pool.expect(1000)
    assert heading(pool) == "Heading 1"
    assert eventually(lambda: len(own_children(before)) == 2)
    pool.close()
    assert eventually(lambda: not own_children(before))
    with pytest.raises(Failed, match="stopped"):
        pool.submit(outline())


@needs_proc
def test_a_pool_is_closed_at_once_while_a_file_is_parsed() -> None:
    before, pool = set(parsers_of(os.getpid())), ParserPool(1)
    waiting = [pool.submit(ParserRequest(outline().fields, b">" * 900_000)) for _ in range(3)]
    assert eventually(waiting[0].running)
    pool.close()
    assert not own_children(before)
    with pytest.raises(Failed, match="stopped"):
        waiting[0].result(PATIENCE_SECONDS)
    assert waiting[1].cancelled()


def test_many_threads_share_the_processes(pool: ParserPool) -> None:
    pool.expect(1000)
    found: dict[int, str] = {}

    def ask(number: int) -> None:
        found[number] = heading(pool, number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"Heading {number}" for number in range(40)}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("/nowhere/python",), "The parser process could not be started: No such file or directory."),
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with code 3 before it read anything"),
        ((sys.executable, "-c", "print('x' * 100)"), "ended with code"),
    ],
    ids=["missing", "fails", "chatters"],
)
def test_a_process_that_cannot_work_is_an_error_and_not_a_plain_text(
    pool: ParserPool, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr(parser_process, "PARSER_COMMAND", command)
    with pytest.raises(Failed, match=message):
        pool.run(outline())
    monkeypatch.undo()
    assert heading(pool) == "Heading 1"


def test_the_shared_pool_is_one_in_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shared_pool() is shared_pool()
    mine = shared_pool()
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert shared_pool() is not mine


JOBS = 3000


@pytest.mark.parametrize(("size", "most"), [(1, READ_AHEAD_FILES + 1), (READ_AHEAD_BYTES // 4, 5), (10**9, 1)])
def test_results_come_in_order_and_few_jobs_are_started_ahead(size: int, most: int) -> None:
    started = list[int]()

    def jobs() -> Iterator[tuple[Callable[[], int], int]]:
        for number in range(JOBS):
            started.append(number)
            yield partial(int, number), size

    ahead = []
    for done, result in enumerate(read_ahead(jobs())):
        assert result == done
        ahead.append(len(started) - done)
    assert len(ahead) == JOBS
    assert max(ahead) == most
    assert ahead[0] <= FIRST_READ_AHEAD_FILES + 1, "the first result is used soon"
