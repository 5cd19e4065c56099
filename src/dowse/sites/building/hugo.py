"""Hugo: sections and bundles below `content/`, with permalinks, languages and publication dates."""

from datetime import UTC, datetime

from dowse.errors import NotAPage
from dowse.sites.building import slugs
from dowse.sites.building.generator import Generator, PageSource, SiteFacts
from dowse.sites.building.page_front_matter import PageFrontMatter, parse_day

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip


class Hugo(Generator):
    """A site with the settings file `hugo.toml`, or one of its older names."""

    name = "hugo"
    settings = tuple(
        f"{folder}{stem}.{ending}" for folder in ("", "config/_default/") for stem in ("hugo", "config") for ending in ("toml", "yaml", "yml", "json")
    )  # fmt: skip

    def facts(self) -> SiteFacts:
        """Return title, description and URL, of the default language if it states them."""
        config, language = self._config, self._languages.table(self._default_language)
        description = config.table("params").text("description") or language.table("params").text("description")
        return SiteFacts(
            language.text("title") or config.text("title"),
            description or language.text("description"),
            language.text("baseURL", "baseurl") or config.text("baseURL", "baseurl", "baseUrl"),
        )

    def folders(self) -> list[str]:
        """Return `content/`, or the folder of each language."""
        own = [self._languages.table(name).text("contentDir", "contentdir") for name in self._languages.values]
        found = [*filter(None, own), self._config.text("contentDir", "contentdir") or "content"]
        kept = [folder.strip("/") for folder in dict.fromkeys(found) if self.tree.has_folder(folder)]
        # Skip a folder that contains another of them, unless it belongs to a language.
        return [
            folder for folder in kept if folder in own or not any(other.startswith(f"{folder}/") for other in kept)
        ] or [""]

    def page_url(self, source: PageSource) -> str:
        """Return the `url` of a page, or its path by the permalinks of the section or by its file."""
        self._raise_if_not_rendered(source)
        language, stem = self._language(source)
        folder = slugs.hugo(source.folder)
        if stem not in ("index", "_index") and self._is_in_bundle(source):
            raise NotAPage("it belongs to the page of its folder")
        if url := source.front_matter.text("url"):
            path = self._expand_permalink(url, source, stem) if ":" in url else url
            return path if url.startswith("/") else f"{language}/{path.strip('/')}"
        if stem == "_index":
            return f"{language}/{folder}"
        name = slugs.hugo(source.front_matter.text("slug") or ("" if stem == "index" else stem))
        if pattern := self._permalink(source):
            return language + self._expand_permalink(pattern, source, stem)
        if stem == "index":
            parent = folder.rpartition("/")[0] if name else folder
            path = f"{parent}/{name}" if name else folder
        else:
            path = f"{folder}/{name}"
        ugly = ".html" if self._config.is_true("uglyURLs") or self._config.is_true("uglyurls") else ""
        return f"{language}/{path.strip('/')}" + (ugly if path.strip("/") else "")

    def day(self, source: PageSource) -> str:
        """Return the date, or the day of the last modification."""
        return source.front_matter.day or parse_day(source.front_matter.values.get("lastmod"))

    def is_draft(self, source: PageSource) -> bool:
        """Return whether the front matter says `draft`; Hugo has no `published`."""
        return source.front_matter.is_true("draft")

    def _raise_if_not_rendered(self, source: PageSource) -> None:
        front_matter = source.front_matter
        expires = parse_day(front_matter.values.get("expiryDate") or front_matter.values.get("expirydate"))
        if expires and expires < datetime.now(UTC).date().isoformat():
            raise NotAPage("it has expired")
        for table in (front_matter.table("build"), front_matter.table("_build")):
            if table.text("render") in ("never", "link") or table.is_false("render"):
                raise NotAPage("it is not rendered")
        if front_matter.is_true("headless"):
            raise NotAPage("it is not rendered")

    def _is_in_bundle(self, source: PageSource) -> bool:
        """Return whether a file is part of a page bundle: in the folder of a page or below it."""
        top = source.path[: len(source.path) - len(source.relative_path)]
        folder = source.folder
        while folder:
            if any(self.tree.has_file(f"{top}{folder}/index{ending}") for ending in (".md", ".html")):
                return True
            folder = folder.rpartition("/")[0]
        return False

    def _permalink(self, source: PageSource) -> str:
        permalinks = self._config.table("permalinks")
        section = source.relative_path.partition("/")[0] if "/" in source.relative_path else ""
        return permalinks.table("page").text(section) or permalinks.text(section) if section else ""

    def _expand_permalink(self, pattern: str, source: PageSource, stem: str) -> str:
        base = source.folder.rpartition("/")[2] if stem == "index" else stem
        base = slugs.hugo(base)
        year, month, day = (self.day(source) or "0001-01-01").split("-")
        title = slugs.hugo(source.front_matter.text("title") or base)
        slug = slugs.hugo(source.front_matter.text("slug"))
        values = {
            "year": year, "month": month, "day": day, "monthname": _MONTHS[int(month) - 1],
            "section": slugs.hugo(source.relative_path.partition("/")[0]), "sections": slugs.hugo(source.folder),
            "title": title, "slug": slug or title, "filename": base, "slugorfilename": slug or base,
            "contentbasename": base, "slugorcontentbasename": slug or base,
        }  # fmt: skip
        parts = (part for part in pattern.split("/") if part)
        return "/" + "/".join(_expand_placeholders(part, values) for part in parts)

    def _language(self, source: PageSource) -> tuple[str, str]:
        """Return the path prefix of a file's language, and the file name without the language."""
        stem, _, code = source.stem.rpartition(".")
        if not stem or code not in self._languages.values:
            stem, code = source.stem, self._folder_language(source)
        is_shown = code != self._default_language or self._config.is_true("defaultContentLanguageInSubdir")
        return (f"/{code.lower()}" if code and is_shown else ""), stem

    def _folder_language(self, source: PageSource) -> str:
        top = source.path[: len(source.path) - len(source.relative_path)].strip("/")
        for code in self._languages.values:
            if top and self._languages.table(code).text("contentDir", "contentdir").strip("/") == top:
                return code
        return self._default_language if self._languages.values else ""

    @property
    def _default_language(self) -> str:
        return self._config.text("defaultContentLanguage", "defaultcontentlanguage") or "en"

    @property
    def _languages(self) -> PageFrontMatter:
        return self._config.table("languages")

    @property
    def _config(self) -> PageFrontMatter:
        return PageFrontMatter(self.config)


def _expand_placeholders(part: str, values: dict[str, str]) -> str:
    for name in sorted(values, key=len, reverse=True):
        part = part.replace(f":{name}", values[name])
    return part
