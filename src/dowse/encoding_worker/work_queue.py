"""What a server has asked of its encoding process: written by the thread that listens, read by the one that works."""

import threading
import time
from typing import Any

from dowse.encoding_worker.messages import IndexKey, place_in

URGENT_PATHS = 200
"""Files of an index that questions reached last; the others have to wait for their turn."""
QUIET_SECONDS = 0.5
"""After a question nothing is encoded for so long: the next one often comes soon, and should be quick."""
HELD_SECONDS = 2.0
"""Longer than this nobody is given way to, or a busy server would never be done."""


class WorkQueue:
    """Indexes to look at, files to begin with, encoders to load."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        """Nobody wants anything any more."""
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._places = dict[IndexKey, bool]()
        """Whether each is still to be looked at."""
        self._urgent = dict[IndexKey, dict[str, None]]()
        self._versions = dict[str, None]()
        self._leaving = list[IndexKey]()
        self._asked_at = -HELD_SECONDS

    # For the thread that listens

    def take(self, message: dict[str, Any]) -> None:
        """Take in what the server says."""
        with self._lock:
            for said in message.get("work", ()):
                self._places[place_in(said)] = True
            if "front" in message:
                self._put_in_front(place_in(message["front"]), message["paths"])
            if "load" in message:
                self._versions[message["load"]] = None
            if "leave" in message:
                place = place_in(message["leave"])
                self._places.pop(place, None)
                self._urgent.pop(place, None)
                self._leaving.append(place)
        self._news.set()

    def note_question(self) -> None:
        """Somebody searches now."""
        self._asked_at = time.monotonic()

    def end(self) -> None:
        """Come to an end."""
        self.is_over.set()
        self._news.set()

    def _put_in_front(self, place: IndexKey, paths: list[str]) -> None:
        urgent = self._urgent.setdefault(place, {})
        for path in reversed(paths):
            urgent.pop(path, None)
            urgent[path] = None
        for path in list(urgent)[:-URGENT_PATHS]:
            del urgent[path]

    # For the thread that works

    @property
    def asked_at(self) -> float:
        """When the last question came."""
        return self._asked_at

    def places(self) -> list[IndexKey]:
        """The indexes that are served."""
        with self._lock:
            return list(self._places)

    def is_asked_for(self, place: IndexKey) -> bool:
        """Whether an index is served, and was not let go of."""
        return place in self._places

    def has_news_of(self, place: IndexKey) -> bool:
        """Whether the server has asked to look at an index since it was begun with."""
        return self._places.get(place, False)

    def begin(self, place: IndexKey) -> None:
        """An index is looked at now."""
        with self._lock:
            if place in self._places:
                self._places[place] = False

    def urgent(self, place: IndexKey) -> tuple[str, ...]:
        """Files of an index that questions reached, the last one first."""
        with self._lock:
            return tuple(reversed(self._urgent.get(place, {})))

    def take_versions(self) -> list[str]:
        """Encoders that are to be loaded."""
        with self._lock:
            versions, self._versions = list(self._versions), {}
            return versions

    def take_leaving(self) -> list[IndexKey]:
        """Indexes that nothing may be held of any more."""
        with self._lock:
            leaving, self._leaving = self._leaving, []
            return leaving

    def give_way(self) -> None:
        """Wait while questions come, but not for ever."""
        deadline = time.monotonic() + HELD_SECONDS
        while not self.is_over.is_set():
            now = time.monotonic()
            quiet_at = min(self._asked_at + QUIET_SECONDS, deadline)
            if now >= quiet_at:
                return
            self.is_over.wait(quiet_at - now)

    def wait(self, seconds: float) -> None:
        """Wait for news."""
        self._news.wait(seconds)
        self._news.clear()
