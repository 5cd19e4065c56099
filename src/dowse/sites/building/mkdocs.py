"""MkDocs: URLs by path, titles from the navigation or the page."""

from collections.abc import Iterator
from typing import Any

from dowse.errors import NotAPage
from dowse.sites.building.generator import MARKDOWN_ENDINGS, Generator, PageSource, SiteFacts
from dowse.sites.building.page_front_matter import PageFrontMatter


class MkDocs(Generator):
    """A site with the settings file `mkdocs.yml`."""

    name = "mkdocs"
    endings = MARKDOWN_ENDINGS
    settings = ("mkdocs.yml", "mkdocs.yaml")

    def facts(self) -> SiteFacts:
        """Return name, description and URL."""
        config = self._config
        return SiteFacts(config.text("site_name"), config.text("site_description"), config.text("site_url"))

    def folders(self) -> list[str]:
        """Return the folder of documents."""
        folder = (self._config.text("docs_dir") or "docs").removeprefix("./").strip("/")
        return [folder] if self.tree.has_folder(folder) else [""]

    def page_url(self, source: PageSource) -> str:
        """Return the path of a page, with `.html` if `use_directory_urls` is false."""
        top = source.path[: len(source.path) - len(source.relative_path)]
        folder = f"/{source.folder}" if source.folder else ""
        if source.stem == "README" and self.tree.has_file(f"{top}{source.folder}/index.md".replace("//", "/")):
            raise NotAPage("index.md stands in its place")
        if source.stem in ("index", "README"):
            return folder or "/"
        return f"{folder}/{source.stem}" + (".html" if self._config.is_false("use_directory_urls") else "")

    def title(self, source: PageSource) -> str:
        """Return the title from the navigation, or else from the page."""
        return dict(_nav_titles(self._config.values.get("nav"))).get(
            source.relative_path, ""
        ) or source.front_matter.text("title")

    @property
    def _config(self) -> PageFrontMatter:
        return PageFrontMatter(self.config)


def _nav_titles(nav: Any) -> Iterator[tuple[str, str]]:
    """Yield files with their titles in the navigation."""
    for entry in nav if isinstance(nav, list) else ():
        for title, below in entry.items() if isinstance(entry, dict) else ():
            if isinstance(below, str):
                yield below, str(title)
            else:
                yield from _nav_titles(below)
