"""Rotating log files, one set per index: repairs, refusals and failures."""

import contextlib
import logging
import os
from itertools import islice
from pathlib import Path

from dowse.errors import NotWritable
from dowse.system.platform import make_private_folder

MAX_LOG_BYTES = 1_000_000
KEPT_LOG_FILES = 3
_READ_BYTES = 50_000


def open_log(folder: Path) -> logging.Logger:
    """Return the log of an index; repeated calls return the same one."""
    log = _logger(folder)
    if not any(Path(getattr(handler, "baseFilename", "")).parent == folder / "logs" for handler in log.handlers):
        # The import takes 25 ms, which a search of an unchanged project saves.
        from logging.handlers import RotatingFileHandler

        with contextlib.suppress(NotWritable):
            make_private_folder(folder / "logs")
        handler = RotatingFileHandler(
            folder / "logs" / "dowse.log",
            maxBytes=MAX_LOG_BYTES,
            backupCount=KEPT_LOG_FILES,
            encoding="utf-8",
            delay=True,
        )
        # Errors of the log itself are ignored: the work reports a full disk, not its log.
        handler.handleError = lambda record: None  # type: ignore[method-assign]  # noqa: ARG005 - logging's signature
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False
    return log


def last_errors(folder: Path, count: int) -> list[str]:
    """Return the last errors that the log of an index has, the newest first."""
    try:
        with (folder / "logs" / "dowse.log").open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _READ_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    written = (line.split(" ", 3) for line in reversed(lines))
    errors = (f"{fields[0]} {fields[1][:8]}: {fields[3]}" for fields in written if fields[2:3] == ["ERROR"])
    return list(islice(errors, count))


def close_log(folder: Path) -> None:
    """Close the log file of an index."""
    log = _logger(folder)
    for handler in list(log.handlers):
        handler.close()
        log.removeHandler(handler)


def _logger(folder: Path) -> logging.Logger:
    return logging.getLogger(f"dowse.index.{folder.parent.name}.{folder.name}")  # many folders are called `documents`
