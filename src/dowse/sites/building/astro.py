"""Astro: pages by path, content collections by id, Starlight documents at the top."""

from dowse.errors import NotAPage
from dowse.sites.building import slugs
from dowse.sites.building.generator import Generator, PageSource, SiteFacts

_CONTENT_FOLDER = "src/content"
_PAGES_FOLDER = "src/pages"


class Astro(Generator):
    """A site with the settings file `astro.config.mjs`, or with another ending."""

    name = "astro"
    settings = tuple(f"astro.config.{ending}" for ending in ("mjs", "js", "ts", "mts", "cjs"))

    def facts(self) -> SiteFacts:
        """Return the facts that can be read from settings written in JavaScript."""
        config = self.config
        return SiteFacts(
            str(config.get("title", "")),
            str(config.get("description", "")),
            str(config.get("site", "")),
            str(config.get("base", "")),
        )

    def folders(self) -> list[str]:
        """Return the folders of pages and of content collections."""
        return [folder for folder in (_PAGES_FOLDER, _CONTENT_FOLDER) if self.tree.has_folder(folder)] or [""]

    def page_url(self, source: PageSource) -> str:
        """Return the path of a page, or the `slug` or path of an entry in a collection."""
        parts = source.relative_path.rpartition(".")[0].split("/")
        if any(part.startswith("_") for part in parts):
            raise NotAPage("its name begins with an underscore")
        if any(part.startswith("[") for part in parts):
            raise NotAPage("it is a template for other pages")
        if not source.path.startswith(f"{_CONTENT_FOLDER}/"):
            return _join_parts(parts)
        collection, *rest = parts
        if not rest:
            raise NotAPage("it is in no collection")
        top = [] if collection == "docs" and self.config.get("starlight") else [collection]
        if slug := source.front_matter.text("slug"):
            return _join_parts([*top, *slug.strip("/").split("/")])
        return _join_parts([*top, *map(slugs.github, rest)])


def _join_parts(parts: list[str]) -> str:
    kept = parts[:-1] if parts and parts[-1].lower() == "index" else parts
    return "/" + "/".join(part for part in kept if part)
