"""The builder of an index from a folder of HTML or Markdown: every page, in the order of URLs."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from dowse.errors import Failed, NotFound, UsageError
from dowse.globs import compile_glob
from dowse.parsing.parser_pool import read_ahead, shared_pool
from dowse.parsing.parser_process import ParserRequest
from dowse.sites.building.source_pages import HTML_ENDINGS, MARKDOWN_ENDINGS, SourcePage, page_from_reply
from dowse.sites.index_check import FORMAT_VERSION, Page, Site, inspect_bytes
from dowse.sites.page_urls import is_same_host
from dowse.sources.denylist import DenyList, find_private_key
from dowse.system.platform import open_beneath
from dowse.types import Progress

MAX_FILE_BYTES = 16 << 20
"""Maximum size of a page; a larger file is data, whatever its ending."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "bower_components", "vendor", "__pycache__"})
"""Folders of third-party files."""


def _list_files(root: Path) -> list[str]:
    """Return the paths of the files below a folder that may be pages, in order; neither hidden or denied ones nor links."""
    found, denied = list[str](), DenyList(())
    endings = (*HTML_ENDINGS, *MARKDOWN_ENDINGS)
    for folder, folders, names in os.walk(root):
        folders[:] = (name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        files = (Path(folder, name) for name in names if name.lower().endswith(endings) and not name.startswith("."))
        found += (file.relative_to(root).as_posix() for file in files if not file.is_symlink())
    return sorted((path for path in found if not denied.rule_against(path)), key=lambda path: path.split("/"))


def _read_file(root: Path, path: str) -> bytes | None:
    """Return the content of a file; None if it cannot be read, is a private key or is too large for a page."""
    try:
        with open_beneath(root, path) as descriptor, open(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= MAX_FILE_BYTES and not find_private_key(data) else None


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """The settings that were stated; empty for those that were not."""

    name: str = ""
    domain: str = ""
    """The domain; a full URL stands for its domain."""
    description: str = ""
    prefix: str = ""
    base: str = ""
    """The path that all URLs begin with."""
    exclude: tuple[str, ...] = ()
    drafts: bool = False
    future: bool = False


def _describe_site(settings: BuildSettings, stated_host: str) -> Site:
    """Return the site; its domain is the host that its pages state if the settings state none."""
    domain = settings.domain
    domain = (urlsplit(domain).netloc if "://" in domain else domain.partition("/")[0]).strip() or stated_host
    missing = [option for option, value in (("--name", settings.name), ("--domain", domain)) if not value]
    if missing:
        raise UsageError(f"The site needs {' and '.join(missing)}.")
    return Site(settings.name, domain, " ".join(settings.description.split()), settings.prefix)


Format = Literal["html", "markdown"]


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A built index, and the files that were left out of it."""

    data: bytes
    format: Format
    site: Site
    pages: int
    skipped: dict[str, list[str]] = field(default_factory=dict)
    """The files that were left out, by reason."""
    warnings: tuple[str, ...] = ()


def build(source: Path, settings: BuildSettings, progress: Progress = lambda *_: None) -> BuiltSite:
    """Build the index of the site in a folder."""
    page_format, paths = _list_pages(source)
    now = _build_time()
    collector = _PageCollector(settings, now.date().isoformat())
    shared_pool().expect(len(paths))
    for count, (path, page) in enumerate(read_ahead(_start_page(source, path) for path in paths), 1):
        collector.add(path, page)
        progress(count, len(paths))
    site = _describe_site(settings, collector.host)
    if not collector.pages:
        reasons = ", ".join(f"{len(paths)} because {reason}" for reason, paths in collector.skipped.items())
        hint = f" ({reasons})" if reasons else ". Name the folder with its Markdown or HTML files"
        raise NotFound(f"{source} has no page that can be built{hint}.")
    data = _serialize(site, collector.pages, now)
    problems = inspect_bytes(data).problems
    if errors := [problem for problem in problems if problem.grade == "error"]:
        raise Failed(f"The index would have an error: {errors[0]}")
    return BuiltSite(
        data, page_format, site, len(collector.pages), collector.skipped, (*collector.warnings, *map(str, problems))
    )


def _list_pages(source: Path) -> tuple[Format, list[str]]:
    """Return the HTML files of a folder or, if there are more of them, its Markdown files."""
    files = _list_files(source)
    html, markdown = (
        [path for path in files if path.lower().endswith(endings)] for endings in (HTML_ENDINGS, MARKDOWN_ENDINGS)
    )
    return ("markdown", markdown) if len(markdown) > len(html) else ("html", html)


def _start_page(source: Path, path: str) -> tuple[Callable[[], tuple[str, SourcePage | str]], int]:
    """Have one file parsed; return a function that waits for its page, or the reason why it is none, and its bytes."""
    data = _read_file(source, path)
    if data is None:
        return lambda: (path, "it cannot be read, is a private key, or is too long for a page"), 0
    future = shared_pool().submit(ParserRequest({"module": "dowse.sites.building.source_pages", "path": path}, data))

    def wait() -> tuple[str, SourcePage | str]:
        reply = future.result()
        if reply.problem:  # its text alone cannot be shown: it may be a draft
            return path, f"it {reply.problem}"
        return path, page_from_reply(reply.fields, reply.data)

    return wait, len(data)


class _PageCollector:
    """Collects the pages, one per URL, and the reasons why other files are left out."""

    def __init__(self, settings: BuildSettings, today: str) -> None:
        self._settings = settings
        self._today = today
        self._excluded = [compile_glob(pattern) for pattern in settings.exclude]
        self.pages: dict[str, Page] = {}
        self.skipped: dict[str, list[str]] = {}
        self.warnings: list[str] = []
        self.host = ""
        """The host of the first canonical URL."""

    def add(self, path: str, page: SourcePage | str) -> None:
        """Add a page, or the reason why a file is none."""
        if isinstance(page, str) or (reason := self._reason_to_skip(path, page)):
            self.skipped.setdefault(page if isinstance(page, str) else reason, []).append(path)
            return
        self.warnings += [f"{path}: {warning}" for warning in page.warnings]
        url = self._full_path(page.page.url)
        self.pages[url] = replace(page.page, url=url)

    def _reason_to_skip(self, path: str, found: SourcePage) -> str:
        """Return why a page is left out; empty if it is not."""
        self.host, page = self.host or found.host, found.page
        if found.host and not is_same_host(found.host.lower(), self._settings.domain or self.host):
            return "it says that it belongs to another site"
        if any(pattern.fullmatch(path) for pattern in self._excluded):
            return "it is excluded by the settings"
        if found.is_draft and not self._settings.drafts:
            return "it is a draft"
        if page.date > self._today and not self._settings.future:
            return "its date is in the future"
        if not page.body:
            return "it has no text"
        if "://" in page.url or page.url.startswith("//"):
            return "its address is on another site"
        if (url := self._full_path(page.url)) in self.pages:
            self.warnings.append(f"{path} is left out: another page has the URL {url}, too.")
            return "another file has its address"
        return ""

    def _full_path(self, url: str) -> str:
        """Return a URL as the format requires it: a path from the root, without a slash at the end, with the base."""
        path = re.sub(r"/{2,}", "/", "/" + url.partition("#")[0].partition("?")[0].strip())
        path = re.sub(r"(?<=/)index\.html?$", "", path)
        path = "/" + re.sub(r"\s", "%20", path.strip("/"))
        base = "/" + self._settings.base.strip("/")
        if base in ("/", path) or path.startswith(f"{base}/"):
            return path
        return base if path == "/" else base + path


def _build_time() -> datetime:
    """Return the current time, or that of SOURCE_DATE_EPOCH, which reproducible builds set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"SOURCE_DATE_EPOCH is {str(epoch)[:40]!r}; it has to be a number of seconds.") from error


def _serialize(site: Site, pages: Mapping[str, Page], now: datetime) -> bytes:
    """Serialize the index as JSON with one page per line, by URL, so that a changed page changes one line."""
    facts = {"name": site.name, "domain": site.domain, "description": site.description, "toolPrefix": site.prefix}
    head = {
        "version": FORMAT_VERSION,
        "generated": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "site": {name: value for name, value in facts.items() if value},
        "pageCount": len(pages),
    }
    lines = ",\n".join(_dump_json(_page_values(page)) for _, page in sorted(pages.items()))
    text = _dump_json(head)[:-1] + f',"pages":[\n{lines}\n]}}\n'
    return text.encode("utf-8", "replace")


def _page_values(page: Page) -> dict[str, Any]:
    values = asdict(page) | {"topics": list(dict.fromkeys(filter(None, page.topics)))}
    return {name: value for name, value in values.items() if value}


def _dump_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
