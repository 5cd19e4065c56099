"""The parser processes of one process: started when they are needed, kept busy, replaced when a file ends them."""

import atexit
import collections
import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import cache
from typing import TypeVar

from dowse.errors import DowseError, Failed, ParserEnded
from dowse.memory_plan import is_memory_small, scaled
from dowse.parsing.costly_files import costly_folder, known_problem, note_problem
from dowse.parsing.grammars import unpack_grammars
from dowse.parsing.parser_limits import MAX_PROCESSES
from dowse.parsing.parser_process import ParserProcess, ParserReply, ParserRequest
from dowse.parsing.structure_bounds import structure_problem

IDLE_SECONDS = 60.0
"""A process without a job for this long ends; it takes 17 MB, 27 MB with a grammar, and 0.1 s to start again."""
WATCH_SECONDS = 1.0
"""Time between two checks whether a process hangs."""
JOBS_PER_PROCESS = 100
"""A second process is started for more jobs than this: starting takes 0.1 s, as long as parsing 20 files."""
CLOSE_SECONDS = 2.0
"""How long the end of all processes is waited for."""
_ATTEMPTS = 3
"""How often a job is tried when its process ends for another reason than the file."""

_Job = tuple[ParserRequest, "Future[ParserReply]"]


class ParserPool:
    """Parser processes that share one queue of jobs, each served by a thread. Any thread may submit jobs."""

    def __init__(self, max_processes: int = MAX_PROCESSES, idle_seconds: float = IDLE_SECONDS) -> None:
        self._max_processes, self._idle_seconds = max_processes, idle_seconds
        self._jobs = collections.deque[_Job]()
        self._changed = threading.Condition()
        """Guards everything here; notified when there is a job, and when the pool is closed."""
        self._threads = set[threading.Thread]()
        self._busy = set[ParserProcess]()
        self._unpacked = set[str]()
        self._costly = costly_folder()
        self._is_closed = self._is_released = False

    def submit(self, request: ParserRequest) -> "Future[ParserReply]":
        """Queue a job. The future raises Failed if no process can be started."""
        future: Future[ParserReply] = Future()
        with self._changed:
            if self._is_closed:
                raise Failed("The parser processes have been stopped.")
            self._jobs.append((request, future))
            if not self._threads:
                self._start_thread()
            self._changed.notify()
        return future

    def run(self, request: ParserRequest) -> ParserReply:
        """Do a job and wait for its result."""
        return self.submit(request).result()

    def expect(self, jobs: int) -> None:
        """Start as many processes as this number of jobs is worth, so that the first job need not wait for one."""
        wanted = min(self._max_processes, 1 + jobs // JOBS_PER_PROCESS)
        with self._changed:
            while len(self._threads) < wanted and not self._is_closed:
                self._start_thread()

    def warm_up(self) -> None:
        """Start a process and let it load what every source file needs, while other work is done here."""
        self.submit(ParserRequest({"job": "prepare", "languages": []}, b""))

    def release(self) -> None:
        """End the processes that have nothing to do; others are started when there is work again."""
        with self._changed:
            self._is_released = True
            self._changed.notify_all()
            threads = list(self._threads)
        for thread in threads:
            thread.join(CLOSE_SECONDS)
        with self._changed:
            self._is_released = False

    def close(self) -> None:
        """End all processes at once; jobs that wait are dropped, and those that run fail."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            for _, future in self._jobs:
                future.cancel()
            self._jobs.clear()
            threads = list(self._threads)
            for process in list(self._busy):  # the threads change it meanwhile
                process.kill()
        for thread in threads:
            thread.join(CLOSE_SECONDS)

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._serve, daemon=True, name="parsing")
        self._threads.add(thread)
        if len(self._threads) == 1:
            threading.Thread(target=self._kill_hanging, daemon=True, name="parsing watch").start()
        thread.start()

    def _serve(self) -> None:
        """Do jobs with one process after another, until there is none for a while."""
        process: ParserProcess | None = None
        with contextlib.suppress(Failed):  # the first job tries again and reports it
            process = ParserProcess()
        while (job := self._next_job()) is not None:
            request, future = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                process, reply = self._do_job(process, request)
            except Failed as error:
                process = None
                future.set_exception(error)
            else:
                future.set_result(reply)
            del request, future, job
        if process is not None:
            process.close()

    def _next_job(self) -> _Job | None:
        """Wait for a job. Without one for a while, or when the pool is closed, take this thread off the list."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._is_closed or self._is_released, self._idle_seconds)
            if self._jobs and not self._is_closed:
                return self._jobs.popleft()
            self._threads.discard(threading.current_thread())
            return None

    def _do_job(
        self, process: ParserProcess | None, request: ParserRequest
    ) -> tuple[ParserProcess | None, ParserReply]:
        if problem := structure_problem(request) or known_problem(self._costly, request):
            return process, ParserReply({}, problem=problem)
        for _ in range(_ATTEMPTS):
            if process is not None and not process.is_usable:
                process.close()
                process = None
            process = process or ParserProcess()
            if not self._note_busy(process):
                problem = "The parser processes have been stopped."
                break
            try:
                self._unpack(request)
                reply = process.run(request)
                note_problem(self._costly, request, reply)
                return process, reply
            except ParserEnded as error:
                problem = str(error)
            finally:
                self._busy.discard(process)
        if process is not None:
            process.close()
        raise Failed(problem)

    def _unpack(self, request: ParserRequest) -> None:
        """Unpack the grammars that a job may need: the process itself can write nothing."""
        named = {*request.fields.get("languages", ()), request.fields.get("language")} - self._unpacked - {None}
        if named:
            with contextlib.suppress(DowseError):  # the file is then read as plain text
                unpack_grammars(sorted(named))
            self._unpacked |= named

    def _note_busy(self, process: ParserProcess) -> bool:
        """Note that a process works, so that it is watched; return False if the pool has been closed."""
        with self._changed:
            if not self._is_closed:
                self._busy.add(process)
            return not self._is_closed

    def _kill_hanging(self) -> None:
        while self._threads:
            time.sleep(WATCH_SECONDS)
            for process in list(self._busy):
                process.kill_if_overdue(time.monotonic())


def shared_pool() -> ParserPool:
    """Return the parser processes of this process."""
    return _pool_of(os.getpid())  # a fork does not inherit the threads


@cache
def _pool_of(_process: int) -> ParserPool:
    pool = ParserPool(1 if is_memory_small() else MAX_PROCESSES)
    atexit.register(pool.close)
    return pool


READ_AHEAD_FILES = 1000
READ_AHEAD_BYTES = 8_000_000
"""Files, and their bytes, that are read and parsed ahead: as many as are parsed while a batch is stored."""
FIRST_READ_AHEAD_FILES = 16
"""Files that are read ahead before the first result is used, so that it is used soon."""

Result = TypeVar("Result")


def read_ahead(started: Iterable[tuple[Callable[[], Result], int]]) -> Iterator[Result]:
    """Yield the results of jobs, in order.

    Each item is a function that waits for the result of a job, and the number of bytes of the job. Taking an item
    starts its job; some are taken ahead.
    """
    waiting = deque[tuple[Callable[[], Result], int]]()
    total, most_files, most_bytes = 0, FIRST_READ_AHEAD_FILES, scaled(READ_AHEAD_BYTES)
    for job in started:
        waiting.append(job)
        total += job[1]
        while len(waiting) > most_files or total > most_bytes:
            first, first_size = waiting.popleft()
            total -= first_size
            yield first()
            most_files = min(scaled(READ_AHEAD_FILES), most_files + 1)
    while waiting:
        yield waiting.popleft()[0]()
