"""Repositories to publish, and what a reader finds at a place."""

from collections.abc import Mapping
from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search_now
from dowse.keeping.shared_copy import prepare_version
from dowse.publishing.publish import PublishReport, publish
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.sharing.object_place import ObjectPlace
from dowse.sharing.place_lookup import open_place
from dowse.sharing.shared_version import require_version
from tests.history.repositories import Change, add_commits, git, make_repository

KEY = "AKIAIOSFODNN7ABCDEFG"
FILES = {
    "src/zoo.py": f'AWS_KEY = "{KEY}"\n\n\ndef feed_zebra(hay):\n    return hay\n',
    "src/farm.py": "def milk_cow(bucket):\n    return bucket\n",
    "README.md": "# Animals\n\nHow to feed them.\n",
}


def make_project(root: Path) -> Path:
    """Return a checkout with one commit."""
    make_repository(root, [Change("Add animals", FILES)])
    git(root, "reset", "--hard", "--quiet")
    return root


def commit(root: Path, files: Mapping[str, str | None]) -> None:
    """Add a commit, and check it out."""
    add_commits(root, [Change("Change animals", files)])
    git(root, "reset", "--hard", "--quiet")


def publish_words(root: Path, place: ObjectPlace | str) -> PublishReport:
    """Publish without the model."""
    where = open_place(place) if isinstance(place, str) else place
    return publish(root, where, lambda *_: None, lambda _: None, with_model=False, wait_seconds=0)


def found_at(place: ObjectPlace | str, text: str) -> list[str]:
    """Return the paths that a server without a checkout finds."""
    where = open_place(place) if isinstance(place, str) else place
    return found_in(prepare_version(where, require_version(where)), text)


def found_in(root: Path, text: str) -> list[str]:
    """Return the paths that a search of a folder finds."""
    index = ProjectIndex(root)
    try:
        return [hit.path for hit in search_now(index, parse_search_query(text), SearchOptions(mode="lexical")).hits]
    finally:
        index.close()
