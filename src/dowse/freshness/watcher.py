"""File change events below a root. They are only hints: a scan of the files decides what has changed."""

import threading
from collections.abc import Iterable
from typing import Protocol

EVERYWHERE = ""
"""The path of the root: anything below it may have changed."""

STEP_SECONDS = 0.1
"""How long a thread that waits lets events collect; they are at most this old when it takes them."""


class Watcher(Protocol):
    """A watch on the folders of one root. Several threads may use it."""

    @property
    def is_exact(self) -> bool:
        """Whether `drain` names every change that ended before it was called."""
        ...

    def extend(self, folders: Iterable[str]) -> bool:
        """Watch more folders, and return whether one of them is new. Changes before that are not reported."""
        ...

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Wait for changes, and return whether there are any; not when the time is over or `stop` is set."""
        ...

    def drain(self) -> list[str]:
        """Return the paths that have changed since the last call, without waiting. Raise CannotWatch after `close`."""
        ...

    def close(self) -> None:
        """Stop watching."""
        ...
