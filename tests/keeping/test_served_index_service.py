"""The projects of a server, and the one that it loads before its client has named any."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import anyio

from dowse.indexes.index import ProjectIndex
from dowse.keeping.served_index import Service
from dowse.types import View
from tests.sample_data import index, write_tree


def expecting(root: Path, work: Callable[[Service, list[Path]], None]) -> None:
    """Let a service load a project that nobody has named, and do some work with it."""
    index(root)
    seen = list[Path]()
    with contextlib.closing(Service([])) as service:
        service.expect(root)
        service.prepare((View.PROJECT,), lambda found: seen.append(found.root))
        anyio.run(service.wait_until_prepared, 60.0)
        assert service.projects == []
        work(service, seen)


def test_an_expected_project_is_loaded_and_served_once_it_is_named(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "fruit", {"a.py": "def apple(): ...\n"})

    def name_it(service: Service, seen: list[Path]) -> None:
        served = service.add(root)
        assert (seen, served.keeper, served.name) == ([root.resolve()], None, "fruit")
        assert served.prepare().done()
        assert service.projects == [served]

    expecting(root, name_it)


def test_an_expected_project_is_left_alone_if_another_one_is_named(tmp_path: Path) -> None:
    other = write_tree(tmp_path / "trees" / "fruit", {"b.py": "def birch(): ...\n"})

    def name_other(service: Service, seen: list[Path]) -> None:
        served = service.add(other)
        assert [one.root for one in service.projects] == [other.resolve()]
        assert (len(seen), served.name) == (1, "fruit")
        assert ProjectIndex(served.root).root != seen[0]

    expecting(write_tree(tmp_path / "fruit", {"a.py": "def apple(): ...\n"}), name_other)
