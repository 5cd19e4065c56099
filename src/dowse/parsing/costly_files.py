"""The files that took too much time or memory to parse, remembered by their content for all projects of this machine.

A file is remembered for one kind of job and one version of dowse, for some days. So another name, another project or an
index that is built again does not pay for it twice, and a machine that was slow for a day does not stay so.
"""

import contextlib
import hashlib
import json
import os
import time
from functools import cache
from pathlib import Path

from dowse import __version__
from dowse.errors import DowseError
from dowse.parsing.parser_limits import CPU_SECONDS, MEMORY_BYTES
from dowse.parsing.parser_process import ParserReply, ParserRequest
from dowse.system.platform import make_private_folder, storage_root
from dowse.system.small_files import read_small_file

FILE_NAME = "costly-files"
MAX_BYTES = 1024 * 1024
"""The size of the list, which is 10,000 files; a longer one is begun anew."""
KEPT_DAYS = 30
_DAY_SECONDS = 86_400
_JOB_FIELDS = ("module", "job", "language", "kind", "is_converted", "is_cut")
"""The fields of a request that decide how a file is parsed."""


class CostlyFiles:
    """The list of files in the storage root, which all processes append to. Used by several threads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._problems: dict[str, str] = {}
        self._stamp: tuple[int, int] | None = None

    def known_problem(self, request: ParserRequest) -> str:
        """Return what a job did before; empty if nothing is known. Almost always the list is empty, and nothing is hashed."""
        self._reload()
        return self._problems.get(_key(request), "") if self._problems else ""

    def note(self, request: ParserRequest, reply: ParserReply) -> None:
        """Remember a job that took too much. Where nothing can be written, it is paid again."""
        if not reply.is_costly:
            return
        line = f"{_key(request)} {_today()} {reply.problem}\n".encode()
        with contextlib.suppress(OSError, DowseError):
            make_private_folder(self._file.parent)
            is_full = self._file.exists() and self._file.stat().st_size + len(line) > MAX_BYTES
            flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if is_full else os.O_APPEND)
            descriptor = os.open(self._file, flags, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)

    def _reload(self) -> None:
        try:
            seen = os.stat(self._file)  # noqa: PTH116 - before each job
        except OSError:
            self._problems, self._stamp = {}, None
            return
        if (stamp := (seen.st_mtime_ns, seen.st_size)) == self._stamp:
            return
        try:
            lines = read_small_file(self._file, MAX_BYTES).decode("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        self._problems = dict(filter(None, map(_read_line, lines)))
        self._stamp = stamp


def _today() -> int:
    return int(time.time() // _DAY_SECONDS)


def _read_line(line: str) -> tuple[str, str] | None:
    """Return the key and the problem of a line; None for an old or damaged one."""
    key, _, rest = line.partition(" ")
    day, _, problem = rest.partition(" ")
    is_kept = day.isdecimal() and len(day) < 10 and 0 <= _today() - int(day) <= KEPT_DAYS
    return (key, problem) if is_kept and problem else None


def _key(request: ParserRequest) -> str:
    job = [request.fields.get(name) for name in _JOB_FIELDS]
    settings = json.dumps([__version__, CPU_SECONDS, MEMORY_BYTES, *job])
    return hashlib.blake2b(request.data, digest_size=20, key=hashlib.sha256(settings.encode()).digest()).hexdigest()


def costly_files() -> CostlyFiles:
    """Return the list of this machine."""
    return _list_in(storage_root() / FILE_NAME)


@cache
def _list_in(file: Path) -> CostlyFiles:
    return CostlyFiles(file)
