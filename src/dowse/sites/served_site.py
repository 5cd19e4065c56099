"""A site that is served: loaded once, and again when its index is replaced; a broken one does not take its place."""

import hashlib
import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from dowse.errors import DowseError, Failed
from dowse.sites.index_source import REMOTE_CHECK_SECONDS, IndexSource
from dowse.sites.site import LoadedSite, load_site

_log = logging.getLogger(__name__)


class ServedSite:
    """A site and its keeper. Whoever has asked for `current` may go on with it while another takes its place."""

    def __init__(self, keeper: IndexSource, clock: Callable[[], float] = time.monotonic) -> None:
        self._keeper = keeper
        self._clock = clock
        self._lock = threading.Lock()
        self.problem: str | None = None
        """What is wrong with the latest index, while an older one is served."""
        try:
            fetched = keeper.fetch(None)
            assert fetched is not None  # noqa: S101 - there is no mark that it could be unchanged at
            self._digest = _digest(fetched.data)
            self.current: LoadedSite = load_site(fetched.data)
        except DowseError as error:
            raise _with_source_name(keeper.name, error) from error
        self._tried = fetched.mark
        self._looked = clock()
        self.loaded = _now()

    @property
    def source(self) -> str:
        """Where the index comes from."""
        return self._keeper.name

    @property
    def wants_look(self) -> bool:
        """Whether there may be another index; costs next to nothing to ask."""
        if self._keeper.is_remote:
            return self._clock() - self._looked >= REMOTE_CHECK_SECONDS
        return self._keeper.has_changed(self._tried)

    @property
    def is_remote(self) -> bool:
        """Whether a look may take long."""
        return self._keeper.is_remote

    def look(self) -> None:
        """Load the index if it was replaced. If it cannot be served the old one goes on, and `problem` says why."""
        if not self._lock.acquire(blocking=not self._keeper.is_remote):
            return  # somebody looks already
        try:
            if self.wants_look:
                self._look()
        finally:
            self._lock.release()

    def _look(self) -> None:
        self._looked = self._clock()
        try:
            fetched = self._keeper.fetch(self._tried)
            if fetched is None:
                return
            self._tried = fetched.mark
            digest = _digest(fetched.data)
            if digest != self._digest:
                self.current = load_site(fetched.data)
                self._digest, self.loaded = digest, _now()
                _log.warning("%s was replaced; its %d pages are served now", self._keeper.name, len(self.current))
            self.problem = None
        except DowseError as error:
            problem = f"The index was replaced by one that cannot be served, and the old one goes on: {error}"
            if isinstance(error, Failed) and self._keeper.is_remote:
                problem = f"The index could not be renewed, and the old one goes on: {error}"
            self._complain(problem)
        except Exception as error:  # whatever it is, there is a site to be served
            self._complain(f"The index could not be loaded, and the old one goes on: {type(error).__name__}: {error}")

    def _complain(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning("%s: %s", self._keeper.name, problem)
        self.problem = problem


def _with_source_name(name: str, error: DowseError) -> DowseError:
    message = str(error)
    return type(error)(message if name in message else f"{name} cannot be served. {message}")


def _digest(data: bytearray) -> bytes:
    return hashlib.blake2b(data).digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
