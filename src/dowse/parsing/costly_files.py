"""The files that took too much time or memory to parse, remembered by their content for all projects of this machine.

A file is remembered for one kind of job and one version of dowse, for some days. So another name, another project or an
index that is built again does not pay for it twice, and a machine that was slow for a day does not stay so.
"""

import contextlib
import hashlib
import json
import time
from pathlib import Path

from dowse import __version__
from dowse.errors import DowseError
from dowse.parsing.parser_limits import CPU_SECONDS, MEMORY_BYTES
from dowse.parsing.parser_process import ParserReply, ParserRequest
from dowse.system.platform import make_private_folder, storage_root, write_atomically
from dowse.system.small_files import read_small_file

MAX_FILES = 10_000
KEPT_SECONDS = 30 * 86_400
_MAX_PROBLEM_BYTES = 1000
_JOB_FIELDS = ("module", "job", "language", "kind", "is_converted", "is_cut")
"""The fields of a request that decide how a file is parsed."""


def costly_folder() -> Path:
    """Return the folder with a note for each file."""
    return storage_root() / "costly-files"


def known_problem(folder: Path, request: ParserRequest) -> str:
    """Return what a job did before; empty if nothing is known. Almost always there are no notes, and nothing is hashed."""
    if not folder.is_dir():
        return ""
    try:
        note = folder / _key(request)
        return read_small_file(note, _MAX_PROBLEM_BYTES).decode("utf-8", "replace") if _is_kept(note) else ""
    except OSError:
        return ""


def note_problem(folder: Path, request: ParserRequest, reply: ParserReply) -> None:
    """Remember a job that took too much. Where nothing can be written, it is paid again."""
    if not reply.is_costly:
        return
    with contextlib.suppress(OSError, DowseError):
        make_private_folder(folder)
        notes = list(folder.iterdir())
        for old in [note for note in notes if not _is_kept(note)]:
            old.unlink()
            notes.remove(old)
        if len(notes) < MAX_FILES:
            write_atomically(folder / _key(request), reply.problem.encode(), is_durable=False)


def _is_kept(note: Path) -> bool:
    return 0 <= time.time() - note.stat().st_mtime <= KEPT_SECONDS


def _key(request: ParserRequest) -> str:
    job = [request.fields.get(name) for name in _JOB_FIELDS]
    settings = json.dumps([__version__, CPU_SECONDS, MEMORY_BYTES, *job])
    return hashlib.blake2b(request.data, digest_size=20, key=hashlib.sha256(settings.encode()).digest()).hexdigest()
