"""Docusaurus: documents below `/docs`, a blog whose posts are dated, and pages."""

import json
import re

from dowse.errors import NotAPage
from dowse.sites.building import slugs
from dowse.sites.building.generator import Generator, PageSource, SiteFacts
from dowse.sites.building.page_front_matter import parse_day

_DATED = re.compile(r"^(?P<folder>.*?)(?P<date>\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(?P<name>.*?)(?:/index)?$")


class Docusaurus(Generator):
    """A site whose settings are in `docusaurus.config.js` or the like."""

    name = "docusaurus"
    settings = tuple(f"docusaurus.config.{ending}" for ending in ("js", "ts", "mjs", "mts", "cjs"))

    def about(self) -> SiteFacts:
        """What can be told of settings that are a program."""
        config = self.config
        return SiteFacts(
            str(config.get("title", "")), str(config.get("tagline", "")), str(config.get("url", "")), str(config.get("baseUrl", ""))
        )  # fmt: skip

    def folders(self) -> list[str]:
        """Documents of the latest version, blog and pages."""
        wanted = (self._docs, self._blog, "src/pages")
        return [folder for folder in wanted if self.tree.has_folder(folder)] or [""]

    def is_mdx(self, path: str) -> bool:  # noqa: ARG002 - the same for all
        """All its Markdown may have components."""
        return True

    def address(self, source: PageSource) -> str:
        """By the rules of the part of the site that a file is in."""
        if any(part.startswith("_") for part in source.place.split("/")):
            raise NotAPage("its name begins with an underscore")
        if source.matter.flag("unlisted"):
            raise NotAPage("it is not listed")
        if source.path.startswith("src/pages/"):
            stated = source.matter.text("slug")
            return stated or _join_parts([*source.folder.split("/"), "" if source.stem == "index" else source.stem])
        if source.path.startswith(f"{self._blog}/"):
            return self._of_post(source)
        return self._of_document(source)

    def day(self, source: PageSource) -> str:
        """The date, that of the file's name, or the last update that is stated."""
        matter = source.matter
        named = _DATED.match(source.place.rpartition(".")[0]) if source.path.startswith(f"{self._blog}/") else None
        updated = matter.table("last_update").stated.get("date")
        return matter.day or parse_day(named["date"].replace("/", "-") if named else None) or parse_day(updated)

    def _of_document(self, source: PageSource) -> str:
        route = str(self.config.get("docsRoute", "docs"))
        folders = [slugs.strip_number(part) for part in source.folder.split("/") if part]
        if stated := source.matter.text("slug"):
            own = stated.strip("/").split("/") if stated.startswith("/") else [*folders, *_slug_parts(stated)]
            return _join_parts([*route.split("/"), *own])
        stem = slugs.strip_number(source.stem)
        name = source.matter.text("id") or stem
        is_folder = stem.lower() in ("index", "readme") or (bool(folders) and stem.lower() == folders[-1].lower())
        if is_folder and not source.matter.text("id"):
            return _join_parts([*route.split("/"), *folders])
        return _join_parts([*route.split("/"), *folders, name])

    def _of_post(self, source: PageSource) -> str:
        route = str(self.config.get("blogRoute", "blog")).split("/")
        if stated := source.matter.text("slug"):
            return _join_parts([*route, *stated.strip("/").split("/")])
        place = source.place.rpartition(".")[0]
        if named := _DATED.match(place):
            year, month, day = re.split(r"[-/]", named["date"])
            folder = [part for part in named["folder"].split("/") if part]
            return _join_parts([*route, *folder, year, month.zfill(2), day.zfill(2), *named["name"].split("/")])
        return _join_parts([*route, *re.sub(r"/index$", "", place).split("/")])

    @property
    def _blog(self) -> str:
        return "blog"

    @property
    def _docs(self) -> str:
        """The folder of the version that people see; `docs` itself is the next one where there are versions."""
        try:
            versions = json.loads(self.tree.text("versions.json") or "[]")
        except ValueError:
            versions = []
        latest = f"versioned_docs/version-{versions[0]}" if isinstance(versions, list) and versions else ""
        return latest if latest and self.tree.has_folder(latest) else "docs"


def _join_parts(parts: list[str]) -> str:
    return "/" + "/".join(part for part in parts if part)


def _slug_parts(slug: str) -> list[str]:
    return [part for part in slug.split("/") if part not in ("", ".")]
