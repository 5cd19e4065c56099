"""Watching: changes are indexed, by one process at a time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dowse.archives.archive_database import open_database
from dowse.archives.archive_locations import ArchiveLocations
from dowse.archives.archive_types import ArchiveReport
from dowse.archives.archive_watcher import keep_indexed
from dowse.errors import DowseError
from tests.archives.sample_archives import captured_page, locations_in, make_archives


@contextmanager
def keeping(locations: ArchiveLocations) -> Iterator[list[ArchiveReport | DowseError]]:
    told, stop = list[ArchiveReport | DowseError](), threading.Event()
    thread = threading.Thread(target=keep_indexed, args=(locations, stop, told.append))
    thread.start()
    try:
        yield told
    finally:
        stop.set()
        thread.join(30)
        assert not thread.is_alive()


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def titles(locations: ArchiveLocations) -> set[str]:
    if not locations.database.is_file() or not locations.database.stat().st_size:
        return set()
    database = open_database(locations.database)
    try:
        return {document.title for document in database.documents().values()}
    finally:
        database.close()


def test_what_comes_changes_and_goes_is_followed(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, {"a.md": "# A\n"})
    with keeping(locations):
        wait_until(lambda: titles(locations) == {"A"})
        make_archives(tmp_path, {"new/folder/b.md": "# B\n"})
        wait_until(lambda: titles(locations) == {"A", "B"})
        make_archives(tmp_path, {"new/folder/b.md": "# Other\n"})
        wait_until(lambda: titles(locations) == {"A", "Other"})
        (locations.research / "a.md").unlink()
        wait_until(lambda: titles(locations) == {"Other"})


def test_an_archive_that_appears_later_is_found(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, {"a.md": "# A\n"})
    with keeping(locations) as told:
        wait_until(lambda: titles(locations) == {"A"})
        make_archives(tmp_path, {"b.md": "# B\n"})
        wait_until(lambda: titles(locations) == {"A", "B"})
        make_archives(tmp_path, {}, {"p": captured_page("https://e.org/p", "P", "p")})
        wait_until(lambda: titles(locations) == {"A", "B", "P"})
        assert not any(isinstance(one, DowseError) for one in told)


def test_without_any_archive_it_waits_for_one(tmp_path: Path) -> None:
    locations = locations_in(tmp_path)
    with keeping(locations) as told:
        wait_until(lambda: bool(told))
        assert isinstance(told[0], DowseError)
