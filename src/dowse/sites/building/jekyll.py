"""Jekyll: dated posts, collections, and pages with front matter."""

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
    """A site with the settings file `_config.yml`."""

    name = "jekyll"
    endings = MARKDOWN_ENDINGS
    settings = ("_config.yml", "_config.yaml", "_config.toml")

    def facts(self) -> SiteFacts:
        """Return title, description, URL and base path."""
        config = self._config
        return SiteFacts(
            config.text("title", "name"), config.text("description"), config.text("url"), config.text("baseurl")
        )

    def folders(self) -> list[str]:
        """Return the source folder."""
        source = self._config.text("source").strip("./")
        return [source if source and self.tree.has_folder(source) else ""]

    def page_url(self, source: PageSource) -> str:
        """Return the `permalink` of a page, or its path by the permalink style of posts, collections or pages."""
        if not source.page.has_front_matter:
            raise NotAPage("it has no front matter")
        if self._is_excluded(source.relative_path):
            raise NotAPage("it is left out by the settings")
        post = _POST.search(source.relative_path)
        if post:
            return self._post_url(source, post[1])
        name = source.relative_path.partition("/")[0]
        if name.startswith("_"):
            return self._collection_url(source, name[1:])
        if any(part.startswith(("_", "#")) for part in source.relative_path.split("/")):
            raise NotAPage("its name begins with an underscore")
        return self._file_url(source)

    def day(self, source: PageSource) -> str:
        """Return the date from the front matter or the file name."""
        return source.front_matter.day or parse_day(slugs.split_date(source.stem)[0])

    def topics(self, source: PageSource) -> tuple[str, ...]:
        """Return tags and categories; each may be one text, separated by spaces."""
        return tuple(dict.fromkeys((*self._space_separated(source, "tags", "tag"), *self._categories(source))))

    def _post_url(self, source: PageSource, file: str) -> str:
        dated, name = slugs.split_date(file.rpartition(".")[0])
        if not dated:
            raise NotAPage("a post's name begins with its date: 2025-01-31-title.md")
        style = source.front_matter.text("permalink") or self._config.text("permalink") or "date"
        return self._expand_permalink(
            _PERMALINK_STYLES.get(style, style), source, source.front_matter.text("slug") or name
        )

    def _file_url(self, source: PageSource) -> str:
        if permalink := source.front_matter.text("permalink"):
            return self._expand_permalink(permalink, source, source.stem)
        is_index = source.stem == "index"
        folder = f"/{source.folder}" if source.folder else ""
        is_pretty = self._config.text("permalink") == "pretty" or self._config.text("permalink").endswith("/")
        return folder or "/" if is_index else f"{folder}/{source.stem}{'' if is_pretty else '.html'}"

    def _collection_url(self, source: PageSource, name: str) -> str:
        collection = self._collections.get(name)
        if not isinstance(collection, dict) or not PageFrontMatter(collection).is_true("output"):
            raise NotAPage("its folder is no collection that is put out")
        pattern = (
            source.front_matter.text("permalink")
            or PageFrontMatter(collection).text("permalink")
            or "/:collection/:path:output_ext"
        )
        return self._expand_permalink(pattern, source, source.front_matter.text("slug") or source.stem, name)

    def _expand_permalink(self, pattern: str, source: PageSource, name: str, collection: str = "") -> str:
        year, month, day = (self.day(source) or "0001-01-01").split("-")
        path = source.relative_path.partition("/")[2].rpartition(".")[0] if collection else name
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
        above = source.relative_path.partition("_posts/")[0].strip("/") if "_posts/" in source.relative_path else ""
        return (*filter(None, above.split("/")), *self._space_separated(source, "categories", "category"))

    def _space_separated(self, source: PageSource, plural: str, single: str) -> tuple[str, ...]:
        value = source.front_matter.values.get(plural)
        if isinstance(value, str) and "," not in value:
            return tuple(value.split())
        return source.front_matter.texts(plural, single)

    def _is_excluded(self, path: str) -> bool:
        patterns = [str(pattern).strip("/") for pattern in _as_list(self._config.values.get("exclude"))] or list(
            _DEFAULT_EXCLUDES
        )
        return any(
            path == pattern or path.startswith(f"{pattern}/") or fnmatchcase(path, pattern) for pattern in patterns
        )

    @property
    def _collections(self) -> dict[str, Any]:
        collections = self._config.values.get("collections")
        if isinstance(collections, list):
            return {str(name): {} for name in collections}
        return collections if isinstance(collections, dict) else {}

    @property
    def _config(self) -> PageFrontMatter:
        return PageFrontMatter(self.config)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
