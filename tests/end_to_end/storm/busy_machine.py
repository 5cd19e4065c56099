"""A machine on which other programs use all processors and the disk."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_COMPUTE = "while True: pass"
_WRITE = """
import os, sys
while True:
    with open(sys.argv[1], "wb") as file:
        for _ in range(64):
            file.write(os.urandom(65536))
        file.flush()
        os.fsync(file.fileno())
"""


@contextlib.contextmanager
def busy_machine(folder: Path, per_processor: int = 2) -> Iterator[None]:
    """Keep every processor busy with some programs, and the disk of a folder with one, until the block ends."""
    computing = [[sys.executable, "-c", _COMPUTE]] * (per_processor * (os.cpu_count() or 1))
    writing = [sys.executable, "-c", _WRITE, str(folder / "busy.bin")]
    programs = [subprocess.Popen(command) for command in (*computing, writing)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()
