"""The indexing process: it makes one index equal to its files and reports its progress.

The server stays quick and small meanwhile. When stdin ends, the parent is gone or wants this process to stop: it saves
its work and exits.
"""

import _thread
import importlib
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dowse.errors import DowseError, Failed
from dowse.indexes.early_parsing import warm_up_parser
from dowse.memory_plan import is_memory_small
from dowse.system.child_messages import EXIT_SECONDS, open_messages, write_message
from dowse.system.platform import lower_priority, release_memory, writing_error
from dowse.system.signals import exit_after, interrupt_on_terminate
from dowse.types import View

if TYPE_CHECKING:
    from dowse.indexes.index import ProjectIndex

PROGRESS_SECONDS = 0.1
"""Time between two progress messages."""


def main(arguments: list[str]) -> int:
    """Index the root in the arguments; return the exit code. The parent reads the messages instead."""
    *how, root = arguments
    interrupt_on_terminate()
    lower_priority()
    if is_memory_small():
        release_memory(arenas=1)  # before a thread has one of its own
    received, sent = open_messages()
    send = partial(write_message, sent)
    threading.Thread(target=_stop_with_parent, args=(received,), daemon=True).start()
    try:
        warm_up_parser(Path(root))
        _index(Path(root), how, send)
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


def _index(root: Path, how: list[str], send: Callable[..., None]) -> None:
    # These are imported while the parser process starts.
    from dowse.keeping.indexing_run import INDEX_TYPE, REBUILD, VERIFY, VIEWS

    views = [view for view, option in VIEWS.items() if option in how]
    module, _, name = (
        next(option for option in how if option.startswith(INDEX_TYPE)).removeprefix(INDEX_TYPE).partition(":")
    )
    project: ProjectIndex = getattr(importlib.import_module(module), name)(root, reduce(or_, views, View(0)))
    sent_at = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal sent_at
        if time.monotonic() - sent_at >= PROGRESS_SECONDS or done == total:
            sent_at = time.monotonic()
            send({"done": done, "total": total})

    work = project.rebuild if REBUILD in how else project.verify if VERIFY in how else project.update
    report = work(progress)
    project.close()
    send({"is_complete": report.is_complete, "seconds": round(report.seconds, 2), "warnings": project.warnings})


def _stop_with_parent(received: IO[bytes]) -> None:
    received.read()
    # SIGTERM, not SIGINT: a process ignores SIGINT when its parent does.
    _thread.interrupt_main(signal.SIGTERM)
    exit_after(EXIT_SECONDS, Failed.exit_code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
