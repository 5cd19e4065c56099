"""The base class of site generators, and plain Markdown sites."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from dowse.reading.decoding import decode
from dowse.reading.front_matter import parse_front_matter
from dowse.reading.mdx import read_mdx
from dowse.sites.building.page_front_matter import PageFrontMatter
from dowse.sites.building.source_tree import SourceTree

MARKDOWN_ENDINGS = (".md", ".markdown", ".mdown", ".mkd")
MDX_ENDINGS = (".mdx",)
MAX_FRONT_MATTER_CHARACTERS = 64 * 1024

_BROKEN_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(?:[^\n]*\n){0,500}?\1[ \t]*\r?(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class PageSource:
    """A source file of a page."""

    path: str
    """The path below the root of the site."""
    relative_path: str
    """The path below the folder that the generator reads."""
    front_matter: PageFrontMatter
    text: str
    has_front_matter: bool
    has_broken_front_matter: bool = False
    """Whether the file begins with front matter that cannot be parsed."""

    @property
    def stem(self) -> str:
        """The file name without its ending."""
        return PurePosixPath(self.relative_path).stem

    @property
    def folder(self) -> str:
        """The folder of the file; empty at the top."""
        return "" if "/" not in self.relative_path else self.relative_path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """The facts about a site that the settings of its generator state."""

    name: str = ""
    description: str = ""
    url: str = ""
    """The full URL of the site, possibly with a path."""
    base: str = ""
    """The path that all URLs begin with, if the settings state it apart from the URL."""


@dataclass(frozen=True, slots=True)
class Generator:
    """Plain Markdown, and the base of all generators.

    The URL of a page is its path; `index.md` and `README.md` are the page of their folder.
    """

    tree: SourceTree
    config: dict[str, Any] = field(default_factory=dict)

    name: ClassVar[str] = "markdown"
    endings: ClassVar[tuple[str, ...]] = (*MARKDOWN_ENDINGS, *MDX_ENDINGS)
    settings: ClassVar[tuple[str, ...]] = ()
    """The possible settings files; the first that exists is used."""

    def facts(self) -> SiteFacts:
        """Return the facts about the site that the settings state."""
        return SiteFacts()

    def folders(self) -> list[str]:
        """Return the folders that contain pages."""
        return [""]

    def is_mdx(self, path: str) -> bool:
        """Return whether a file is Markdown with components."""
        return path.lower().endswith(MDX_ENDINGS)

    def sources(self) -> Iterator[PageSource | tuple[str, str]]:
        """Yield all files that may be pages; for a file that cannot be read, its path and the reason."""
        for folder in self.folders():
            for path in self.tree.files(folder, self.endings):
                data = self.tree.read(path)
                if data is None:
                    yield path, "it cannot be read, is a private key, or is too long for a page"
                    continue
                relative_path = path[len(folder) :].lstrip("/") if folder else path
                yield self._read_source(path, relative_path, data)

    def _read_source(self, path: str, relative_path: str, data: bytes) -> PageSource:
        text = read_mdx(data, path).text if self.is_mdx(path) else decode(data).text
        values, end = parse_front_matter(text)
        if not end and text.startswith("{"):
            values, end = _json_front_matter(text)
        broken = None if end else _BROKEN_FRONT_MATTER.match(text, 0, MAX_FRONT_MATTER_CHARACTERS)
        return PageSource(
            path,
            relative_path,
            PageFrontMatter(values),
            text[broken.end() if broken else end :],
            bool(end),
            broken is not None,
        )

    def page_url(self, source: PageSource) -> str:
        """Return the path of the page that a file becomes; raise NotAPage if it becomes none."""
        if permalink := source.front_matter.text("permalink", "url"):
            return permalink
        folder = f"/{source.folder}" if source.folder else ""
        if slug := source.front_matter.text("slug"):
            return slug if "/" in slug else f"{folder}/{slug}"
        return folder or "/" if source.stem.lower() in ("index", "readme", "_index") else f"{folder}/{source.stem}"

    def day(self, source: PageSource) -> str:
        """Return the day of a page as YYYY-MM-DD; empty if it has none."""
        return source.front_matter.day

    def topics(self, source: PageSource) -> tuple[str, ...]:
        """Return the topics of a page."""
        return source.front_matter.texts("tags", "categories", "topics", "keywords")

    def title(self, source: PageSource) -> str:
        """Return the title of a page; empty if it is the first heading."""
        return source.front_matter.text("title")

    def is_draft(self, source: PageSource) -> bool:
        """Return whether a page is a draft."""
        return source.front_matter.is_true("draft") or source.front_matter.is_false("published")


def _json_front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Parse front matter in JSON, which some generators accept; return it and its end."""
    try:
        values, end = json.JSONDecoder().raw_decode(text[:MAX_FRONT_MATTER_CHARACTERS])
    except (ValueError, RecursionError):
        return {}, 0
    return (values, end) if isinstance(values, dict) and text[end : end + 1] in ("\n", "\r", "") else ({}, 0)
