"""Is an index the very one that would be built from scratch?"""

import os
import shutil
from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.protocols import Store

Contents = dict[str, object]


def contents(store: Store) -> Contents:
    """What is indexed of each path, without ids."""
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


def assert_as_from_scratch(root: Path, scratch: Path) -> None:
    """The index of a root says the same as one built from scratch of the same files."""
    assert difference(indexed(root), from_scratch(root, scratch)) == {}


def from_scratch(root: Path, scratch: Path) -> Contents:
    """What an index of the files as they are now has, built elsewhere and thrown away."""
    home = os.environ["DOWSE_HOME"]
    os.environ["DOWSE_HOME"] = str(scratch)
    try:
        fresh = ProjectIndex(root)
        fresh.update()
        built = contents(fresh.store)
        fresh.close()
        return built
    finally:
        os.environ["DOWSE_HOME"] = home
        shutil.rmtree(scratch, ignore_errors=True)


def indexed(root: Path) -> Contents:
    """What the index of a root has now."""
    project = ProjectIndex(root)
    try:
        return contents(project.store)
    finally:
        project.close()


def difference(held: Contents, wanted: Contents) -> dict[str, str]:
    """The paths about which an index says something else than it should."""
    return {
        path: "missing" if path not in held else "too much" if path not in wanted else "another content"
        for path in sorted(held.keys() | wanted.keys())
        if held.get(path) != wanted.get(path)
    }
