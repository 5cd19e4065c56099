"""The base class of site generators, and plain Markdown sites."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from dowse.parsing.read_ahead import read_ahead
from dowse.sites.building.markdown_pages import MarkdownPage
from dowse.sites.building.page_front_matter import PageFrontMatter
from dowse.sites.building.page_parsing import start_markdown_page
from dowse.sites.building.source_tree import SourceTree

MARKDOWN_ENDINGS = (".md", ".markdown", ".mdown", ".mkd")
MDX_ENDINGS = (".mdx",)
CANNOT_BE_READ = "it cannot be read, is a private key, or is too long for a page"


@dataclass(frozen=True, slots=True)
class PageSource:
    """A source file of a page."""

    path: str
    """The path below the root of the site."""
    relative_path: str
    """The path below the folder that the generator reads."""
    page: MarkdownPage

    @property
    def front_matter(self) -> PageFrontMatter:
        """The front matter of the page."""
        return PageFrontMatter(self.page.values)

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
        """Yield all files that may be pages, in order; for a file that cannot be read, its path and the reason."""
        return read_ahead(
            self._start(folder, path) for folder in self.folders() for path in self.tree.files(folder, self.endings)
        )

    def _start(self, folder: str, path: str) -> tuple[Callable[[], PageSource | tuple[str, str]], int]:
        """Have one file parsed; return a function that waits for the result, and the number of bytes."""
        data = self.tree.read(path)
        if data is None:
            return lambda: (path, CANNOT_BE_READ), 0
        relative_path = path[len(folder) :].lstrip("/") if folder else path
        wait = start_markdown_page(path, data, is_mdx=self.is_mdx(path))

        def finish() -> PageSource | tuple[str, str]:
            page = wait()
            return (path, page) if isinstance(page, str) else PageSource(path, relative_path, page)

        return finish, len(data)

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
