"""A small project in several languages, and a function that finds references in it."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.indexes.reference_lookup import read_missing_references
from dowse.searching.references.reference_search import ReferenceOptions, References, find_references
from tests.sample_data import open_indexed, write_tree

FILES = {
    "pyproject.toml": "",
    "src/fruit/__init__.py": "from fruit.apple import Apple, peel\nfrom .pear import peel as peel_pear\n",
    "src/fruit/apple.py": (
        "import os\n\n\ndef peel(skin):\n    return os.peel(skin)\n\n\nclass Apple:\n    def wash(self):\n"
        "        return self.rinse()\n\n    def rinse(self):\n        return peel(1)\n"
    ),
    "src/fruit/pear.py": "def peel():\n    return 'pear'\n\n\nclass Pear:\n    def rinse(self): ...\n",
    "src/fruit/kitchen.py": (
        "from fruit import Apple, peel\nfrom fruit import pear\nfrom requests import peel as other\n\n\n"
        "def cook(apple: Apple, thing):\n    peel(apple)\n    pear.peel()\n    other()\n    apple.rinse()\n    thing.rinse()\n"
    ),
    "tests/test_kitchen.py": "from fruit.kitchen import cook\n\n\ndef test_cook():\n    cook(None, None)\n",
    "web/index.ts": "export * from './juice'\n",
    "web/juice.ts": "export function press(x: number) { return x }\n",
    "web/app.ts": "import {press} from '.'\nexport const run = () => press(1)\n",
    "go.mod": "module example.org/bar\n",
    "bar.go": "package bar\n\nfunc Mix() int { return stir() }\n",
    "stir.go": "package bar\n\nfunc stir() int { return 1 }\n",
    "cmd/main.go": 'package main\n\nimport "example.org/bar"\n\nfunc main() { bar.Mix() }\n',
}

Find = Callable[..., References]


@pytest.fixture(scope="session")
def bowl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the project."""
    return write_tree(tmp_path_factory.mktemp("bowl"), FILES)


@contextmanager
def indexed(root: Path) -> Iterator[ProjectIndex]:
    """Give a block the index of a project with its references."""
    with closing(open_indexed(root)) as index:
        read_missing_references(index)
        yield index


def finder(index: ProjectIndex) -> Find:
    """Return a function that finds references in a project."""

    def find_in_project(name: str, **options: object) -> References:
        made = ReferenceOptions(**options)  # type: ignore[arg-type]
        return find_references(index.store, index.whole.references, index.source.read_bytes, name, made)

    return find_in_project


@pytest.fixture
def project(bowl: Path) -> Iterator[ProjectIndex]:
    """The project, indexed."""
    with indexed(bowl) as index:
        yield index


@pytest.fixture
def find(project: ProjectIndex) -> Find:
    """A function that finds references in the project."""
    return finder(project)


def places(found: References) -> list[str]:
    """Return the uses, each as path, line, kind and confidence."""
    return [f"{use.path}:{use.line} {use.kind} {use.confidence.word}" for use in found.uses]
