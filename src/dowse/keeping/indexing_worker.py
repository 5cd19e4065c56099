"""A process of its own that makes one index equal to its files, and tells its parent how far it is.

A server stays quick and small while a project is indexed elsewhere. What is said goes to stdout, a
JSON object a line; when stdin ends, the parent is gone or wants us to stop: what is done is kept.
"""

import _thread
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from dowse.errors import DowseError, Failed
from dowse.indexes.index import ProjectIndex
from dowse.keeping.indexing_run import DOCUMENTS, REBUILD, VERIFY
from dowse.platform import interrupt_on_terminate, lower_priority

TOLD_SECONDS = 0.1
"""How often progress is told."""
LEAVE_SECONDS = 5.0
"""How long what is done may take to be kept once the parent has gone."""


def main(arguments: list[str]) -> int:
    """Index the root in the arguments; the exit code is for people, the parent reads what is told."""
    *how, root = arguments
    interrupt_on_terminate()
    lower_priority()
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        _index(Path(root), how)
    except DowseError as error:
        _tell({"code": error.code, "error": str(error)})
        return error.exit_code
    except KeyboardInterrupt:
        _tell({"is_complete": False})
    except BrokenPipeError:
        return Failed.exit_code
    except OSError as error:
        _tell({"code": Failed.code, "error": f"{error.strerror or error} ({error.filename})."})
        return Failed.exit_code
    return 0


def _index(root: Path, how: list[str]) -> None:
    project = ProjectIndex(root, "documents" if DOCUMENTS in how else "project")
    told = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= TOLD_SECONDS or done == total:
            told = time.monotonic()
            _tell({"done": done, "total": total})

    work = project.rebuild if REBUILD in how else project.verify if VERIFY in how else project.update
    report = work(progress)
    project.close()
    _tell({"is_complete": report.is_complete, "seconds": round(report.seconds, 2), "warnings": project.warnings})


def _tell(facts: dict[str, Any]) -> None:
    sys.stdout.write(f"\n{json.dumps(facts)}\n")  # a line of its own, whatever a library has printed before it
    sys.stdout.flush()


def _stop_with_parent() -> None:
    while os.read(0, 4096):
        pass
    # As a polite kill does, and not as Ctrl-C does: that one is ignored where our parent ignores it.
    _thread.interrupt_main(signal.SIGTERM)
    time.sleep(LEAVE_SECONDS)
    os._exit(Failed.exit_code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
