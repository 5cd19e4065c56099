"""A file that is cut while it is mapped reads as zeros, and nobody ends."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.system.platform import IS_LINUX

pytestmark = pytest.mark.skipif(not IS_LINUX, reason="files are mapped in another way")

BEGIN = """
import ctypes, mmap, os, sqlite3, sys, threading
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
NUMPY_IN_THREADS = """
import numpy as np
(place / "file").write_bytes(b"x" * 8_000_000)
rows = np.memmap(place / "file", np.uint8, "r")
sums = []
threads = [threading.Thread(target=lambda: sums.append([int(rows.sum()) for _ in range(50)])) for _ in range(4)]
for thread in threads: thread.start()
os.truncate(place / "file", 100_000)
for thread in threads: thread.join()
assert len(sums) == 4 and int(rows.sum()) < 8_000_000 * ord("x")
"""
SHARED_MEMORY = """
one = mapped("x-shm", mmap.ACCESS_WRITE)
os.truncate(place / "x-shm", 0)
one[3 * page] = 7
assert (place / "x-shm").read_bytes()[3 * page] == 7
"""
DATABASE = """
def connect():
    return sqlite3.connect(place / "db", isolation_level=None, check_same_thread=False)
first, second = connect(), connect()
first.execute("PRAGMA journal_mode = WAL")
first.execute("CREATE TABLE t (n)")
for number in range(200):
    first.execute("INSERT INTO t VALUES (?)", (number,))
    os.truncate(place / "db-shm", 0)
    assert second.execute("SELECT count(*), max(n) FROM t").fetchone() == (number + 1, number)
assert connect().execute("PRAGMA integrity_check").fetchone() == ("ok",)
"""
SEGMENTS = """
import tantivy
builder = tantivy.SchemaBuilder()
builder.add_text_field("text")
schema = builder.build()
(place / "index").mkdir()
index = tantivy.Index(schema, path=str(place / "index"))
writer = index.writer(15_000_000, 1)
for number in range(20_000):
    writer.add_document(tantivy.Document(text=f"word{number} common other{number % 7}"))
writer.commit()
index.reload()
searcher = index.searcher()
for file in (place / "index").glob("*.*"):
    os.truncate(file, 0)
query = index.parse_query("common other3 word17", ["text"])
for _ in range(3):
    try:
        searcher.search(query, 10)
    except BaseException as error:
        assert type(error).__name__ in ("PanicException", "ValueError"), error
"""
CASES = {
    "a read": READ,
    "a thread of a library": THREAD_OF_A_LIBRARY,
    "numpy": NUMPY_IN_THREADS,
    "shared memory": SHARED_MEMORY,
    "SQLite": DATABASE,
    "Tantivy": SEGMENTS,
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
