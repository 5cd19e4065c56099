"""Comparison of an index with a new index of the same files."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.store.local import LocalStore
from tests.sample_data import open_indexed

Contents = dict[str, object]


def contents(store: LocalStore) -> Contents:
    """Return the indexed contents of each path, without ids."""
    return {
        document.path: (
            document.kind,
            document.language,
            document.content_hash,
            [
                (chunk.start_line, chunk.end_line, chunk.start_byte, chunk.text_hash)
                for chunk in store.chunks(document.id)
            ],
        )
        for document in store.documents()
    }


def assert_equal_to_a_new_index(root: Path, scratch: Path) -> None:
    """Assert that the index of a root equals an index built from scratch."""
    assert difference(indexed_contents(root), contents_from_scratch(root, scratch)) == {}


@contextlib.contextmanager
def new_index(root: Path, scratch: Path) -> Iterator[ProjectIndex]:
    """Build an index of the current files in a temporary folder, for the length of a block."""
    home = os.environ["DOWSE_HOME"]
    os.environ["DOWSE_HOME"] = str(scratch)
    try:
        with contextlib.closing(open_indexed(root)) as fresh:
            yield fresh
    finally:
        os.environ["DOWSE_HOME"] = home
        shutil.rmtree(scratch, ignore_errors=True)


def contents_from_scratch(root: Path, scratch: Path) -> Contents:
    """Return the contents of a new index of the current files."""
    with new_index(root, scratch) as fresh:
        return contents(fresh.store)


def indexed_contents(root: Path) -> Contents:
    """Return the contents of the index of a root."""
    with contextlib.closing(ProjectIndex(root)) as project:
        return contents(project.store)


def difference(found: Contents, expected: Contents) -> dict[str, str]:
    """Return the paths whose indexed contents differ from the expected ones, with the kind of difference."""
    return {
        path: "missing"
        if path not in found
        else "too much"
        if path not in expected
        else f"{found[path]} instead of {expected[path]}"
        for path in sorted(found.keys() | expected.keys())
        if found.get(path) != expected.get(path)
    }
