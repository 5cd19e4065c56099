"""Jekyll: dated posts, collections, and pages that have front matter."""

import re
from fnmatch import fnmatchcase
from typing import Any

from dowse.errors import NotAPage
from dowse.sites.building import slugs
from dowse.sites.building.generator import MARKDOWN_ENDINGS, Generator, PageSource, SiteFacts
from dowse.sites.building.page_front_matter import PageFrontMatter, parse_day

_PERMALINK_STYLES = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}
_POST = re.compile(r"(?:^|/)_posts/(?:.*/)?([^/]+)$")
_DEFAULT_EXCLUDES = ("vendor", "node_modules", "Gemfile", "Gemfile.lock")


class Jekyll(Generator):
    """A site whose settings are in `_config.yml`."""

    name = "jekyll"
    endings = MARKDOWN_ENDINGS
    settings = ("_config.yml", "_config.yaml", "_config.toml")

    def about(self) -> SiteFacts:
        """Title, description, address and base path."""
        config = self._config
        return SiteFacts(
            config.text("title", "name"), config.text("description"), config.text("url"), config.text("baseurl")
        )

    def folders(self) -> list[str]:
        """The folder of sources."""
        source = self._config.text("source").strip("./")
        return [source if source and self.tree.has_folder(source) else ""]

    def address(self, source: PageSource) -> str:
        """By `permalink`, or by the style that is set for posts, collections and pages."""
        if not source.has_matter:
            raise NotAPage("it has no front matter")
        if self._is_left_out(source.place):
            raise NotAPage("it is left out by the settings")
        post = _POST.search(source.place)
        if post:
            return self._of_post(source, post[1])
        name = source.place.partition("/")[0]
        if name.startswith("_"):
            return self._of_collection(source, name[1:])
        if any(part.startswith(("_", "#")) for part in source.place.split("/")):
            raise NotAPage("its name begins with an underscore")
        return self._of_page(source)

    def day(self, source: PageSource) -> str:
        """The date, or that of the file's name."""
        return source.matter.day or parse_day(slugs.split_date(source.stem)[0])

    def topics(self, source: PageSource) -> tuple[str, ...]:
        """Tags and categories; these may be one text with spaces between."""
        return tuple(dict.fromkeys((*self._spaced(source, "tags", "tag"), *self._categories(source))))

    def _of_post(self, source: PageSource, file: str) -> str:
        dated, name = slugs.split_date(file.rpartition(".")[0])
        if not dated:
            raise NotAPage("a post's name begins with its date: 2025-01-31-title.md")
        style = source.matter.text("permalink") or self._config.text("permalink") or "date"
        return self._filled(_PERMALINK_STYLES.get(style, style), source, source.matter.text("slug") or name)

    def _of_page(self, source: PageSource) -> str:
        if stated := source.matter.text("permalink"):
            return self._filled(stated, source, source.stem)
        is_index = source.stem == "index"
        folder = f"/{source.folder}" if source.folder else ""
        is_pretty = self._config.text("permalink") == "pretty" or self._config.text("permalink").endswith("/")
        return folder or "/" if is_index else f"{folder}/{source.stem}{'' if is_pretty else '.html'}"

    def _of_collection(self, source: PageSource, name: str) -> str:
        collection = self._collections.get(name)
        if not isinstance(collection, dict) or not PageFrontMatter(collection).flag("output"):
            raise NotAPage("its folder is no collection that is put out")
        pattern = (
            source.matter.text("permalink")
            or PageFrontMatter(collection).text("permalink")
            or "/:collection/:path:output_ext"
        )
        return self._filled(pattern, source, source.matter.text("slug") or source.stem, name)

    def _filled(self, pattern: str, source: PageSource, name: str, collection: str = "") -> str:
        year, month, day = (self.day(source) or "0001-01-01").split("-")
        path = source.place.partition("/")[2].rpartition(".")[0] if collection else name
        values = {
            "categories": "/".join(filter(None, map(slugs.jekyll, self._categories(source)))),
            "year": year, "month": month, "day": day, "i_month": str(int(month)), "i_day": str(int(day)),
            "short_year": year[2:], "title": name, "slug": slugs.jekyll(name), "name": slugs.jekyll(name),
            "path": path, "collection": collection, "output_ext": ".html", "basename": name,
        }  # fmt: skip
        for key in sorted(values, key=len, reverse=True):
            pattern = pattern.replace(f":{key}", values[key])
        return re.sub(r"/{2,}", "/", pattern)

    def _categories(self, source: PageSource) -> tuple[str, ...]:
        above = source.place.partition("_posts/")[0].strip("/") if "_posts/" in source.place else ""
        return (*filter(None, above.split("/")), *self._spaced(source, "categories", "category"))

    def _spaced(self, source: PageSource, plural: str, single: str) -> tuple[str, ...]:
        value = source.matter.stated.get(plural)
        if isinstance(value, str) and "," not in value:
            return tuple(value.split())
        return source.matter.several(plural, single)

    def _is_left_out(self, place: str) -> bool:
        patterns = [str(one).strip("/") for one in _as_list(self._config.stated.get("exclude"))] or list(
            _DEFAULT_EXCLUDES
        )
        return any(
            place == pattern or place.startswith(f"{pattern}/") or fnmatchcase(place, pattern) for pattern in patterns
        )

    @property
    def _collections(self) -> dict[str, Any]:
        collections = self._config.stated.get("collections")
        if isinstance(collections, list):
            return {str(name): {} for name in collections}
        return collections if isinstance(collections, dict) else {}

    @property
    def _config(self) -> PageFrontMatter:
        return PageFrontMatter(self.config)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
