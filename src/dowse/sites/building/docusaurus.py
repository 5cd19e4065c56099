"""Docusaurus: documents below `/docs`, dated blog posts, and pages."""

import json
import re

from dowse.errors import NotAPage
from dowse.sites.building import slugs
from dowse.sites.building.generator import Generator, PageSource, SiteFacts
from dowse.sites.building.page_front_matter import parse_day

_DATED = re.compile(r"^(?P<folder>.*?)(?P<date>\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(?P<name>.*?)(?:/index)?$")


class Docusaurus(Generator):
    """A site with the settings file `docusaurus.config.js`, or with another ending."""

    name = "docusaurus"
    settings = tuple(f"docusaurus.config.{ending}" for ending in ("js", "ts", "mjs", "mts", "cjs"))

    def facts(self) -> SiteFacts:
        """Return the facts that can be read from settings written in JavaScript."""
        config = self.config
        return SiteFacts(
            str(config.get("title", "")), str(config.get("tagline", "")), str(config.get("url", "")), str(config.get("baseUrl", ""))
        )  # fmt: skip

    def folders(self) -> list[str]:
        """Return the folders of documents (latest version), blog and pages."""
        wanted = (self._docs, self._blog, "src/pages")
        return [folder for folder in wanted if self.tree.has_folder(folder)] or [""]

    def is_mdx(self, path: str) -> bool:  # noqa: ARG002 - the same for all files
        """Return True: all Markdown files may have components."""
        return True

    def page_url(self, source: PageSource) -> str:
        """Return the path of a page, by the rules for documents, blog posts or pages."""
        if any(part.startswith("_") for part in source.relative_path.split("/")):
            raise NotAPage("its name begins with an underscore")
        if source.front_matter.is_true("unlisted"):
            raise NotAPage("it is not listed")
        if source.path.startswith("src/pages/"):
            slug = source.front_matter.text("slug")
            return slug or _join_parts([*source.folder.split("/"), "" if source.stem == "index" else source.stem])
        if source.path.startswith(f"{self._blog}/"):
            return self._post_url(source)
        return self._document_url(source)

    def day(self, source: PageSource) -> str:
        """Return the day from the front matter, the name of a blog post or the stated last update."""
        front_matter = source.front_matter
        named = (
            _DATED.match(source.relative_path.rpartition(".")[0]) if source.path.startswith(f"{self._blog}/") else None
        )
        updated = front_matter.table("last_update").values.get("date")
        return front_matter.day or parse_day(named["date"].replace("/", "-") if named else None) or parse_day(updated)

    def _document_url(self, source: PageSource) -> str:
        route = str(self.config.get("docsRoute", "docs"))
        folders = [slugs.strip_number(part) for part in source.folder.split("/") if part]
        if slug := source.front_matter.text("slug"):
            own = slug.strip("/").split("/") if slug.startswith("/") else [*folders, *_slug_parts(slug)]
            return _join_parts([*route.split("/"), *own])
        stem = slugs.strip_number(source.stem)
        name = source.front_matter.text("id") or stem
        is_folder = stem.lower() in ("index", "readme") or (bool(folders) and stem.lower() == folders[-1].lower())
        if is_folder and not source.front_matter.text("id"):
            return _join_parts([*route.split("/"), *folders])
        return _join_parts([*route.split("/"), *folders, name])

    def _post_url(self, source: PageSource) -> str:
        route = str(self.config.get("blogRoute", "blog")).split("/")
        if slug := source.front_matter.text("slug"):
            return _join_parts([*route, *slug.strip("/").split("/")])
        path = source.relative_path.rpartition(".")[0]
        if named := _DATED.match(path):
            year, month, day = re.split(r"[-/]", named["date"])
            folder = [part for part in named["folder"].split("/") if part]
            return _join_parts([*route, *folder, year, month.zfill(2), day.zfill(2), *named["name"].split("/")])
        return _join_parts([*route, *re.sub(r"/index$", "", path).split("/")])

    @property
    def _blog(self) -> str:
        return "blog"

    @property
    def _docs(self) -> str:
        """The folder of the latest version; if there are versions, `docs` is the next, unreleased one."""
        try:
            versions = json.loads(self.tree.text("versions.json") or "[]")
        except (ValueError, RecursionError):
            versions = []
        latest = f"versioned_docs/version-{versions[0]}" if isinstance(versions, list) and versions else ""
        return latest if latest and self.tree.has_folder(latest) else "docs"


def _join_parts(parts: list[str]) -> str:
    return "/" + "/".join(part for part in parts if part)


def _slug_parts(slug: str) -> list[str]:
    return [part for part in slug.split("/") if part not in ("", ".")]
