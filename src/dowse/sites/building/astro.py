"""Astro: pages by their path, content collections by their ids, Starlight's documents at the top."""

from dowse.errors import NotAPage
from dowse.sites.building import slugs
from dowse.sites.building.generator import Generator, PageSource, SiteFacts

_CONTENT_FOLDER = "src/content"
_PAGES_FOLDER = "src/pages"


class Astro(Generator):
    """A site whose settings are in `astro.config.mjs` or the like."""

    name = "astro"
    settings = tuple(f"astro.config.{ending}" for ending in ("mjs", "js", "ts", "mts", "cjs"))

    def about(self) -> SiteFacts:
        """What can be told of settings that are a program."""
        config = self.config
        return SiteFacts(
            str(config.get("title", "")),
            str(config.get("description", "")),
            str(config.get("site", "")),
            str(config.get("base", "")),
        )

    def folders(self) -> list[str]:
        """Pages and collections."""
        return [folder for folder in (_PAGES_FOLDER, _CONTENT_FOLDER) if self.tree.has_folder(folder)] or [""]

    def address(self, source: PageSource) -> str:
        """By path for pages, by `slug` or path for collections."""
        parts = source.place.rpartition(".")[0].split("/")
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
        if stated := source.matter.text("slug"):
            return _join_parts([*top, *stated.strip("/").split("/")])
        return _join_parts([*top, *map(slugs.github, rest)])


def _join_parts(parts: list[str]) -> str:
    kept = parts[:-1] if parts and parts[-1].lower() == "index" else parts
    return "/" + "/".join(part for part in kept if part)
