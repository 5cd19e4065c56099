"""Repositories to publish, and what a reader finds at a place."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dowse.api.publishing.publish import PublishReport, publish
from dowse.places.place_store import PlaceStore
from dowse.places.place_table import SharedPlace
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.surfaces.organisation.place_search import search_place
from tests.searching.history.repositories import Change, add_commits, git, make_repository

KEY = "AKIAIOSFODNN7ABCDEFG"
FILES = {
    "src/zoo.py": f'AWS_KEY = "{KEY}"\n\n\ndef feed_zebra(hay):\n    return hay\n',
    "src/farm.py": "def milk_cow(bucket):\n    return bucket\n",
    "README.md": "# Animals\n\nHow to feed them.\n",
}
PLANTS = {"garden.py": "def water_rose(can):\n    return can\n", "field.py": "def mow_grass(): pass\n"}


def make_project(root: Path, files: Mapping[str, str] = FILES) -> Path:
    """Return a checkout with one commit."""
    make_repository(root, [Change("Begin", files)])
    git(root, "reset", "--hard", "--quiet")
    return root


def commit(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Add a commit, and check it out."""
    add_commits(root, [Change("Change animals", files)])
    git(root, "reset", "--hard", "--quiet")


def publish_words(root: Path, place: str, name: str = "") -> PublishReport:
    """Publish without the model."""
    return publish(root, SharedPlace(place), lambda *_: None, lambda _: None, with_model=False, name=name)


@contextlib.contextmanager
def opened(place: str, projects: Sequence[str] = ()) -> Iterator[PlaceStore]:
    """Give a block the open place."""
    with contextlib.closing(PlaceStore(SharedPlace(place), projects)) as store:
        yield store


def found_at(place: str, text: str, projects: Sequence[str] = (), **options: Any) -> list[str]:
    """Return the paths that a search of a place finds."""
    with opened(place, projects) as store:
        return [hit.path for hit in search_place(store, parse_search_query(text), SearchOptions(**options)).hits]


def rows_at(place: str) -> list[dict[str, Any]]:
    """Return all rows of a place."""
    table = SharedPlace(place).open_table()
    found: list[dict[str, Any]] = table.search().limit(table.count_rows()).to_list()
    return found
