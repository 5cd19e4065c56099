"""A server of every surface: its files, its command line and its environment."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mcp.http.http_server import HttpServer
from tests.sample_data import write_tree
from tests.sites.sample_sites import write_index

ORCHARD_FILES = 400
"""Enough that a client can cancel while they are indexed."""
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
class SampleServer:
    """The files and options of a server."""

    folder: Path
    roots: tuple[Path, ...]
    options: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """The command that serves on stdin and stdout."""
        return [sys.executable, "-m", "dowse", "serve", *map(str, self.roots), *self.options]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of the server."""
        return {
            "HOME": str(self.folder),
            "DOWSE_HOME": str(self.folder / "dowse"),
            "RESEARCH_ARCHIVE_PATH": str(self.folder / "research-archive"),
            "URL_CONTENT_ARCHIVE_PATH": str(self.folder / "url-content-archive"),
            "SEARCH_DB_PATH": str(self.folder / "search.db"),
        }


def write_sample_server(folder: Path, *, has_orchard: bool = False) -> SampleServer:
    """Write projects, documents, the index of a site and archives; nothing is indexed yet."""
    write_tree(folder, FILES)
    site = write_index(folder / "site.json")
    roots: tuple[Path, ...] = (folder / "fruit",)
    if has_orchard:
        trees = {f"tree{n}.py": f"def tree_{n}():\n    return {n}\n" * 15 for n in range(ORCHARD_FILES)}
        roots = (*roots, write_tree(folder / "orchard", trees))
    return SampleServer(folder, roots, ("--site", str(site), "--tools", "full"))


@contextmanager
def serve_over_http(sample_server: SampleServer) -> Iterator[HttpServer]:
    """Serve the same over HTTP; assert at the end that the server logged no exception."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in sample_server.environment.items():
            patch.setenv(name, value)
        server = HttpServer(*sample_server.roots, options=sample_server.options)
    with server:
        yield server
        assert "Traceback" not in server.stderr
