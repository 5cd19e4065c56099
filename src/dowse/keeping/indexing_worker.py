"""The indexing process: it makes one index equal to its files and reports its progress.

The server stays quick and small meanwhile. When stdin ends, the parent is gone or wants this process to stop: it saves
its work and exits.
"""

import _thread
import importlib
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from dowse.errors import DowseError, Failed
from dowse.indexes.early_parsing import warm_up_parser
from dowse.memory_plan import is_memory_small
from dowse.system.child_messages import EXIT_SECONDS, open_messages, write_message
from dowse.system.platform import lower_priority, release_memory, writing_error
from dowse.system.signals import exit_after, interrupt_on_terminate
from dowse.types import View

if TYPE_CHECKING:
    from dowse.indexes.index import IndexReport, ProjectIndex

PROGRESS_SECONDS = 0.1
"""Time between two progress messages."""


def main(arguments: list[str]) -> int:
    """Index the root in the arguments; return the exit code. The parent reads the messages instead."""
    work, root = json.loads(arguments[0]), Path(arguments[1])
    interrupt_on_terminate()
    lower_priority()
    if is_memory_small():
        release_memory(arenas=1)  # before a thread has one of its own
    received, sent = open_messages()
    send = partial(write_message, sent)
    threading.Thread(target=_stop_with_parent, args=(received,), daemon=True).start()
    try:
        warm_up_parser(root)
        _index(root, work, send)
    except DowseError as error:
        send({"code": error.code, "error": str(error)})
        return error.exit_code
    except KeyboardInterrupt:
        send({"is_complete": False})
    except BrokenPipeError:
        return Failed.exit_code
    except OSError as error:
        failure = writing_error(error) or Failed(f"{error.strerror} ({error.filename}).")
        send({"code": failure.code, "error": str(failure)})
        return Failed.exit_code
    return 0


def _index(root: Path, work: dict[str, Any], send: Callable[..., None]) -> None:
    # It is imported while the parser process starts.
    module, name = work["type"]
    project: ProjectIndex = getattr(importlib.import_module(module), name)(root, View(work["views"]))
    sent_at = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal sent_at
        if time.monotonic() - sent_at >= PROGRESS_SECONDS or done == total:
            sent_at = time.monotonic()
            send({"done": done, "total": total})

    report: IndexReport = getattr(project, work["how"])(progress)
    project.close()
    send({"is_complete": report.is_complete, "seconds": round(report.seconds, 2), "warnings": project.warnings})


def _stop_with_parent(received: IO[bytes]) -> None:
    received.read()
    # SIGTERM, not SIGINT: a process ignores SIGINT when its parent does.
    _thread.interrupt_main(signal.SIGTERM)
    exit_after(EXIT_SECONDS, Failed.exit_code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
