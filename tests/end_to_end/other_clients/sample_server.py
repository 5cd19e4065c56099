"""One folder with something for every surface, and the words that serve all of it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.http.http_server import HttpServer
from tests.sample_data import write_tree
from tests.sites.sample_sites import write_index

ORCHARD_FILES = 400
"""Enough that indexing them takes longer than a client takes to change its mind."""
FILES = {
    "fruit/pyproject.toml": "[project]\nname = 'fruit'\n",
    "fruit/src/apple.py": "def peel_apple():\n    return 'red'\n",
    "fruit/docs/guide.md": "# Guide\n\nHow to peel an apple.\n",
    "fruit/docs/page.html": "<title>Pears</title><p>A pear is <b>green</b>.</p>",
    "fruit/docs/note.txt": "Quinces\nThey are yellow.\n",
    "research-archive/2025-05-20/plums.md": "# Plums\n\nPlums are blue, see [more](https://example.org/plums).\n",
    "url-content-archive/example.org/plums.md": "# More about plums\n\nThey are sour.\n",
}


@dataclass(frozen=True, slots=True)
class Everything:
    """What is served, and where the server works."""

    folder: Path
    roots: tuple[Path, ...]
    options: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """The server on stdin and stdout."""
        return [sys.executable, "-m", "dowse", "serve", *map(str, self.roots), *self.options]

    @property
    def environment(self) -> dict[str, str]:
        """What the server is told beside its command line."""
        return {
            "HOME": str(self.folder),
            "DOWSE_HOME": str(self.folder / "dowse"),
            "RESEARCH_ARCHIVE_PATH": str(self.folder / "research-archive"),
            "URL_CONTENT_ARCHIVE_PATH": str(self.folder / "url-content-archive"),
            "SEARCH_DB_PATH": str(self.folder / "search.db"),
        }


def write_everything(folder: Path, *, has_orchard: bool = False) -> Everything:
    """Projects, documents, a site's index and archives; nothing of it is indexed."""
    write_tree(folder, FILES)
    site = write_index(folder / "site.json")
    roots: tuple[Path, ...] = (folder / "fruit",)
    if has_orchard:
        trees = {f"tree{n}.py": f"def tree_{n}():\n    return {n}\n" * 40 for n in range(ORCHARD_FILES)}
        roots = (*roots, write_tree(folder / "orchard", trees))
    return Everything(folder, roots, ("--site", str(site), "--tools", "full"))


@contextmanager
def serve_over_http(everything: Everything) -> Iterator[HttpServer]:
    """The same over HTTP; a server that says nothing of itself at the end is one that did not fail."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in everything.environment.items():
            patch.setenv(name, value)
        server = HttpServer(*everything.roots, options=everything.options)
    with server:
        yield server
        assert "Traceback" not in server.stderr
