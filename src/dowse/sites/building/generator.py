"""What every generator of sites has in common: pages in folders, each with an address by its rules."""

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
    """A file that a page is made of."""

    path: str
    """Below the root of the site."""
    place: str
    """Below the folder that the generator looks in."""
    matter: PageFrontMatter
    text: str
    has_matter: bool
    has_broken_matter: bool = False
    """It begins as front matter does, but nobody can read it."""

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return PurePosixPath(self.place).stem

    @property
    def folder(self) -> str:
        """The folder that it is in, empty at the top."""
        return "" if "/" not in self.place else self.place.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What a generator's settings say of the site."""

    name: str = ""
    description: str = ""
    url: str = ""
    """The full address of the site, perhaps with a path."""
    base: str = ""
    """The path that all addresses begin with, where the settings state it apart from the address."""


@dataclass(frozen=True, slots=True)
class Generator:
    """Plain Markdown: addresses are paths; `index.md` and `README.md` are their folder's page."""

    tree: SourceTree
    config: dict[str, Any] = field(default_factory=dict)

    name: ClassVar[str] = "markdown"
    endings: ClassVar[tuple[str, ...]] = (*MARKDOWN_ENDINGS, *MDX_ENDINGS)
    settings: ClassVar[tuple[str, ...]] = ()
    """The files that its settings may be in; the first that there is counts."""

    def about(self) -> SiteFacts:
        """The site by its settings."""
        return SiteFacts()

    def folders(self) -> list[str]:
        """Where its pages are."""
        return [""]

    def is_mdx(self, path: str) -> bool:
        """Whether a file is Markdown with components."""
        return path.lower().endswith(MDX_ENDINGS)

    def sources(self) -> Iterator[PageSource | tuple[str, str]]:
        """All files that may be pages; for those that cannot be read their path and why."""
        for folder in self.folders():
            for path in self.tree.files(folder, self.endings):
                data = self.tree.read(path)
                if data is None:
                    yield path, "it cannot be read, or is too long for a page"
                    continue
                place = path[len(folder) :].lstrip("/") if folder else path
                yield self._source(path, place, data)

    def _source(self, path: str, place: str, data: bytes) -> PageSource:
        text = read_mdx(data, path).text if self.is_mdx(path) else decode(data).text
        stated, end = parse_front_matter(text)
        if not end and text.startswith("{"):
            stated, end = _json_front_matter(text)
        broken = None if end else _BROKEN_FRONT_MATTER.match(text, 0, MAX_FRONT_MATTER_CHARACTERS)
        return PageSource(
            path, place, PageFrontMatter(stated), text[broken.end() if broken else end :], bool(end), broken is not None
        )

    def address(self, source: PageSource) -> str:
        """The path of the page that a file becomes; NoPage for one that becomes none."""
        if stated := source.matter.text("permalink", "url"):
            return stated
        folder = f"/{source.folder}" if source.folder else ""
        if slug := source.matter.text("slug"):
            return slug if "/" in slug else f"{folder}/{slug}"
        return folder or "/" if source.stem.lower() in ("index", "readme", "_index") else f"{folder}/{source.stem}"

    def day(self, source: PageSource) -> str:
        """The day that a page is dated."""
        return source.matter.day

    def topics(self, source: PageSource) -> tuple[str, ...]:
        """What a page is about."""
        return source.matter.several("tags", "categories", "topics", "keywords")

    def title(self, source: PageSource) -> str:
        """What the generator calls a page; empty where that is its first heading."""
        return source.matter.text("title")

    def is_draft(self, source: PageSource) -> bool:
        """Whether a page is not meant to be seen yet."""
        return source.matter.flag("draft") or source.matter.denies("published")


def _json_front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Front matter in JSON, which some generators take."""
    try:
        stated, end = json.JSONDecoder().raw_decode(text[: 64 * 1024])
    except (ValueError, RecursionError):
        return {}, 0
    return (stated, end) if isinstance(stated, dict) and text[end : end + 1] in ("\n", "\r", "") else ({}, 0)
