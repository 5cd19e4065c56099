"""The child processes of a process, and their memory, as Linux tells them."""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.forker import is_helper


def children_of(process: int) -> list[int]:
    """Return the ids of the direct children of a process."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, file.read_text(encoding="ascii").split())
    return [child for child in found if not is_helper(child)]


def memory_of(process: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def parsers_of(process: int) -> list[int]:
    """Return the ids of the parser processes of a process."""
    found = []
    for child in children_of(process):
        with contextlib.suppress(OSError):
            if b"dowse.parsing.parser_worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


class ChildMemory:
    """The most memory that the parser processes of a process held together."""

    def __init__(self) -> None:
        self.most_bytes = 0


@contextlib.contextmanager
def parser_memory_watched(process: int) -> Iterator[ChildMemory]:
    """Watch the memory of all parser processes of a process."""
    watched, ended = ChildMemory(), threading.Event()

    def watch() -> None:
        while not ended.is_set():
            watched.most_bytes = max(watched.most_bytes, sum(map(memory_of, parsers_of(process))))
            time.sleep(0.005)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield watched
    finally:
        ended.set()
        thread.join()
