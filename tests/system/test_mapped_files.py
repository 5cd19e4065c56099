"""A file that is cut while it is mapped reads as zeros. `end_to_end/damage` cuts those of SQLite, Tantivy and numpy."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.system.platform import IS_LINUX

pytestmark = pytest.mark.skipif(not IS_LINUX, reason="files are mapped in another way")

BEGIN = """
import ctypes, mmap, os, sys
from pathlib import Path
from dowse.system.mapped_files import survive_cut_files
place, page = Path(sys.argv[1]), os.sysconf("SC_PAGE_SIZE")
def mapped(name, access=mmap.ACCESS_READ):
    (place / name).write_bytes(b"x" * 8 * page)
    with (place / name).open("r+b") as stream:
        return mmap.mmap(stream.fileno(), 0, access=access)
if "survive" in sys.argv:
    survive_cut_files()
"""
READ = """
one = mapped("file")
os.truncate(place / "file", 2 * page)
assert one[:] == b"x" * 2 * page + bytes(6 * page)
"""
THREAD_OF_A_LIBRARY = """
one = mapped("file", mmap.ACCESS_WRITE)
address = ctypes.addressof(ctypes.c_char.from_buffer(one))
os.truncate(place / "file", 0)
library, thread, result = ctypes.CDLL(None), ctypes.c_size_t(), ctypes.c_size_t(9)
library.pthread_create(ctypes.byref(thread), None, library.strlen, ctypes.c_void_p(address + 5 * page))
library.pthread_join(thread, ctypes.byref(result))
assert result.value == 0
"""
SHARED_MEMORY = """
one = mapped("x-shm", mmap.ACCESS_WRITE)
os.truncate(place / "x-shm", 0)
one[3 * page] = 7
assert (place / "x-shm").read_bytes()[3 * page] == 7
"""
CASES = {
    "a read": READ,
    "a thread of a library": THREAD_OF_A_LIBRARY,
    "shared memory": SHARED_MEMORY,
}


def run(place: Path, program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    program = BEGIN + program + "\nprint('goes on')"
    command = [sys.executable, "-c", program, str(place), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("program", CASES.values(), ids=CASES)
def test_a_process_survives_that_a_file_is_cut(tmp_path: Path, program: str) -> None:
    done = run(tmp_path, program, "survive")
    assert (done.returncode, done.stdout) == (0, "goes on\n"), done.stderr


def test_without_it_the_system_ends_the_process(tmp_path: Path) -> None:
    assert run(tmp_path, READ).returncode == -signal.SIGBUS


def test_another_cause_of_the_signal_ends_the_process(tmp_path: Path) -> None:
    done = run(tmp_path, "os.kill(os.getpid(), 7); os.kill(os.getpid(), 7)", "survive")
    assert done.returncode == -signal.SIGBUS
