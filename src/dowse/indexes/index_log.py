"""Rotating log files, one set per index: repairs, refusals and failures."""

import contextlib
import logging
from pathlib import Path

from dowse.errors import NotWritable
from dowse.platform import make_private_folder

MAX_LOG_BYTES = 1_000_000
KEPT_LOG_FILES = 3


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


def close_log(folder: Path) -> None:
    """Close the log file of an index."""
    log = _logger(folder)
    for handler in list(log.handlers):
        handler.close()
        log.removeHandler(handler)


def _logger(folder: Path) -> logging.Logger:
    return logging.getLogger(f"dowse.index.{folder.parent.name}.{folder.name}")  # many folders are called `documents`
