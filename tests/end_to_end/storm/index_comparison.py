"""Comparison of an index with a new index of the same files."""

import os
import shutil
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


def contents_from_scratch(root: Path, scratch: Path) -> Contents:
    """Build an index of the current files in a temporary folder and return its contents."""
    home = os.environ["DOWSE_HOME"]
    os.environ["DOWSE_HOME"] = str(scratch)
    try:
        fresh = open_indexed(root)
        built = contents(fresh.store)
        fresh.close()
        return built
    finally:
        os.environ["DOWSE_HOME"] = home
        shutil.rmtree(scratch, ignore_errors=True)


def indexed_contents(root: Path) -> Contents:
    """Return the contents of the index of a root."""
    project = ProjectIndex(root)
    try:
        return contents(project.store)
    finally:
        project.close()


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
