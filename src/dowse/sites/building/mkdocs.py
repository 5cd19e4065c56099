"""MkDocs: addresses by path, titles by the navigation where it states them."""

from collections.abc import Iterator
from typing import Any

from dowse.errors import NotAPage
from dowse.sites.building.generator import MARKDOWN_ENDINGS, Generator, PageSource, SiteFacts
from dowse.sites.building.page_front_matter import PageFrontMatter


class MkDocs(Generator):
    """A site whose settings are in `mkdocs.yml`."""

    name = "mkdocs"
    endings = MARKDOWN_ENDINGS
    settings = ("mkdocs.yml", "mkdocs.yaml")

    def about(self) -> SiteFacts:
        """Name, description and address."""
        config = self._config
        return SiteFacts(config.text("site_name"), config.text("site_description"), config.text("site_url"))

    def folders(self) -> list[str]:
        """The folder of documents."""
        folder = (self._config.text("docs_dir") or "docs").removeprefix("./").strip("/")
        return [folder] if self.tree.has_folder(folder) else [""]

    def address(self, source: PageSource) -> str:
        """The path, as a folder or as a page of HTML."""
        top = source.path[: len(source.path) - len(source.place)]
        folder = f"/{source.folder}" if source.folder else ""
        if source.stem == "README" and self.tree.has_file(f"{top}{source.folder}/index.md".replace("//", "/")):
            raise NotAPage("index.md stands in its place")
        if source.stem in ("index", "README"):
            return folder or "/"
        return f"{folder}/{source.stem}" + (".html" if self._config.denies("use_directory_urls") else "")

    def title(self, source: PageSource) -> str:
        """That of the navigation, then its own."""
        return dict(_nav_titles(self._config.stated.get("nav"))).get(source.place, "") or source.matter.text("title")

    @property
    def _config(self) -> PageFrontMatter:
        return PageFrontMatter(self.config)


def _nav_titles(nav: Any) -> Iterator[tuple[str, str]]:
    """Files with the titles that the navigation gives them."""
    for entry in nav if isinstance(nav, list) else ():
        for title, below in entry.items() if isinstance(entry, dict) else ():
            if isinstance(below, str):
                yield below, str(title)
            else:
                yield from _nav_titles(below)
