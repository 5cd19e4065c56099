"""The lease of a writer: one process at a time publishes to a place.

The place itself decides, by writing an object only if there is none. The owner renews the lease while it works; the
lease of a process that was killed expires, and another one takes it over.
"""

import contextlib
import json
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dowse.errors import DowseError, Failed, StoreBusy
from dowse.sharing.object_place import ObjectPlace

LEASE_OBJECT = "writer.json"
LEASE_SECONDS = 60.0
RENEWAL_SECONDS = 15.0
POLL_SECONDS = 1.0


class Owner(NamedTuple):
    """The process that publishes, and the commit that it publishes."""

    name: str
    commit: str
    until: float


def require_conditions(place: ObjectPlace) -> None:
    """Raise Failed if the place does not honour conditions: two writers would overwrite each other there."""
    key = f"probe-{os.urandom(8).hex()}"
    try:
        is_written = place.write(key, b"1", replaces=None) is not None
        is_overwritten = place.write(key, b"2", replaces=None) is not None
    finally:
        with contextlib.suppress(DowseError):
            place.remove(key)
    if not is_written or is_overwritten:
        raise Failed(
            f"{place.name} cannot be published to: it ignores the condition If-None-Match of a write, "
            "so that two writers would overwrite each other. Use a store with conditional writes."
        )


@contextlib.contextmanager
def writer_lease(
    place: ObjectPlace, commit: str, wait_seconds: float, say: Callable[[str], None]
) -> Iterator[Callable[[], None]]:
    """Hold the lease for a block, which gets a function that raises StoreBusy once the lease is lost."""
    tag = _acquire(place, commit, wait_seconds, say)
    held = [tag]
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(RENEWAL_SECONDS):
            with contextlib.suppress(DowseError):  # the store may be away for a moment; the lease may be lost then
                held[0] = place.write(LEASE_OBJECT, _lease(commit), replaces=held[0] or "") or ""

    def require() -> None:
        if not held[0]:
            raise StoreBusy(f"Another process has begun to publish to {place.name}. Nothing was changed; try again.")

    renewing = threading.Thread(target=renew, daemon=True, name="lease")
    renewing.start()
    try:
        yield require
    finally:
        ended.set()
        renewing.join()
        if held[0]:
            with contextlib.suppress(DowseError):
                place.remove(LEASE_OBJECT)


def _acquire(place: ObjectPlace, commit: str, wait_seconds: float, say: Callable[[str], None]) -> str:
    deadline, is_said = time.monotonic() + wait_seconds, False
    while True:
        found = place.read(LEASE_OBJECT)
        owner = _owner(found.data) if found else None
        if owner is None or owner.until < time.time():
            if tag := place.write(LEASE_OBJECT, _lease(commit), replaces=found.tag if found else None):
                return tag
            continue  # another process was faster
        message = f"{owner.name} publishes commit {owner.commit[:12]} to {place.name}"
        if time.monotonic() >= deadline:
            raise StoreBusy(f"{message}. Wait until it has ended, then try again.")
        if not is_said:
            say(f"dowse: {message}; waiting for it.")
            is_said = True
        time.sleep(POLL_SECONDS)


def _lease(commit: str) -> bytes:
    owner = Owner(f"{platform.node()}, process {os.getpid()}", commit, time.time() + LEASE_SECONDS)
    return json.dumps({**owner._asdict(), "unique": os.urandom(8).hex()}).encode()


def _owner(data: bytes) -> Owner | None:
    try:
        content = json.loads(data)
        return Owner(str(content["name"]), str(content["commit"]), float(content["until"]))
    except (ValueError, KeyError, TypeError):
        return None
