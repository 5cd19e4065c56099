"""A served site, which is loaded again when its index is replaced."""

import hashlib
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from dowse.errors import DowseError, Failed, UsageError
from dowse.sites.index_sources import REMOTE_CHECK_SECONDS, IndexSource, open_index_source
from dowse.sites.site import LoadedSite, load_site

_log = logging.getLogger(__name__)


class ServedSite:
    """A site and the source of its index.

    `current` is replaced as a whole, so a caller can keep using the object it got. An index that cannot be loaded
    does not replace it.
    """

    def __init__(self, source: IndexSource, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._lock = threading.Lock()
        self.problem: str | None = None
        """Why the newest index cannot be served, while an older one is; None if there is no problem."""
        try:
            fetched = source.fetch(None)
            assert fetched is not None  # noqa: S101 - without a revision nothing is unchanged
            self._digest = _digest(fetched.data)
            self.current: LoadedSite = load_site(fetched.data)
        except DowseError as error:
            raise _with_source_name(source.name, error) from error
        self._revision = fetched.revision
        self._checked_at = clock()
        self.loaded_at = _now()

    @property
    def source_name(self) -> str:
        """The name of the source that the index comes from."""
        return self._source.name

    @property
    def may_have_changed(self) -> bool:
        """Whether the index may have been replaced. The check is cheap."""
        if self._source.is_remote:
            return self._clock() - self._checked_at >= REMOTE_CHECK_SECONDS
        return self._source.has_changed(self._revision)

    @property
    def is_remote(self) -> bool:
        """Whether `refresh` goes over the network."""
        return self._source.is_remote

    def refresh(self) -> None:
        """Load the index if it was replaced.

        If the new one cannot be loaded, keep the old one and set `problem`.
        """
        if not self._lock.acquire(blocking=not self._source.is_remote):
            return  # another thread is refreshing
        try:
            if self.may_have_changed:
                self._load_if_changed()
        finally:
            self._lock.release()

    def _load_if_changed(self) -> None:
        self._checked_at = self._clock()
        try:
            fetched = self._source.fetch(self._revision)
            if fetched is None:
                return
            self._revision = fetched.revision
            digest = _digest(fetched.data)
            if digest != self._digest:
                self.current = load_site(fetched.data)
                self._digest, self.loaded_at = digest, _now()
                _log.warning("%s was replaced; now serving its %d pages", self._source.name, len(self.current))
            self.problem = None
        except DowseError as error:
            problem = f"The new index cannot be served; the old one stays in use: {error}"
            if isinstance(error, Failed) and self._source.is_remote:
                problem = f"The index could not be updated; the old one stays in use: {error}"
            self._set_problem(problem)
        except Exception as error:  # the old index must stay served, whatever happens
            self._set_problem(
                f"The new index could not be loaded; the old one stays in use: {type(error).__name__}: {error}"
            )

    def _set_problem(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning("%s: %s", self._source.name, problem)
        self.problem = problem


def _with_source_name(name: str, error: DowseError) -> DowseError:
    message = str(error)
    return type(error)(message if name in message else f"{name} cannot be served. {message}")


def _digest(data: bytearray) -> bytes:
    return hashlib.blake2b(data).digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


_NAMED = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.DOTALL)


def parse_site_argument(text: str) -> tuple[str | None, str]:
    """Split `[NAME=]FILE|URL` into name and location; only text that can name a tool is a name."""
    match = _NAMED.fullmatch(text)
    name, location = match.groups() if match else (None, text)
    if not location:
        raise UsageError(
            f"{text!r} does not name an index. Write [NAME=]FILE, or an address that begins with https:// or s3://."
        )
    return name, location


def load_sites(arguments: Iterable[str]) -> list[tuple[str | None, ServedSite]]:
    """Load the sites that these arguments name; return each with its given name, or None."""
    sites = [(name, ServedSite(open_index_source(location))) for name, location in map(parse_site_argument, arguments)]
    for _, site in sites:
        if count := len(site.current.problems):
            _log.warning(
                "%s: %d problem%s; `dowse site check` lists them", site.source_name, count, "" if count == 1 else "s"
            )
    return sites
