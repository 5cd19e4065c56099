"""The builder of an index from a folder: every page by the rules of its generator, in the order of URLs."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dowse.errors import Failed, NoPagesFound, NotAPage, UsageError
from dowse.globs import compile_glob
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.read_ahead import read_ahead
from dowse.sites.building.generator import CANNOT_BE_READ, Generator, PageSource, SiteFacts
from dowse.sites.building.generator_detection import HTML, detect_generator, make_generator
from dowse.sites.building.generator_settings import GeneratorSettings, SiteIdentity, resolve_identity
from dowse.sites.building.html_pages import HTML_ENDINGS, HtmlPage
from dowse.sites.building.page_parsing import start_html_page
from dowse.sites.building.plain_text import clean_text, first_paragraph
from dowse.sites.building.source_tree import SourceTree
from dowse.sites.index_model import FORMAT_VERSION, Page
from dowse.sites.inspection import inspect_bytes
from dowse.sites.page_urls import is_same_host
from dowse.types import Progress

ABSTRACT_CHARACTERS = 200
"""Maximum length of an abstract that is taken from the beginning of the page."""


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A built index, and the files that were left out of it."""

    data: bytes
    generator: str
    identity: SiteIdentity
    pages: int
    skipped: dict[str, list[str]] = field(default_factory=dict)
    """The files that were left out, by reason."""
    warnings: tuple[str, ...] = ()


def build(
    source: Path,
    settings: GeneratorSettings,
    progress: Progress = lambda *_: None,
    environment: Mapping[str, str] = os.environ,
) -> BuiltSite:
    """Build the index of the site in a folder."""
    tree = SourceTree(source)
    name = settings.generator or detect_generator(tree)
    now = _build_time(environment)
    collector = _PageCollector(settings, now.date().isoformat(), progress)
    if name == HTML:
        collector.total = sum(1 for _ in tree.files("", HTML_ENDINGS))
        shared_pool().expect(collector.total)
        collector.add_all(_html_pages(tree, collector, settings))
        site = resolve_identity(settings, collector.facts)
    else:
        generator = make_generator(tree, name)
        site = resolve_identity(settings, generator.facts())
        collector.total = sum(1 for folder in generator.folders() for _ in tree.files(folder, generator.endings))
        shared_pool().expect(collector.total)
        collector.add_all(_markdown_pages(generator, collector))
    if not collector.pages:
        raise NoPagesFound(f"{source} has no page that can be built{_summarize_skipped(collector.skipped)}.")
    data = _serialize(site, collector.sorted_pages(site.base), now)
    problems = inspect_bytes(data).problems
    if errors := [problem for problem in problems if problem.grade == "error"]:
        raise Failed(f"The index would have an error: {errors[0]}")
    return BuiltSite(
        data, name, site, len(collector.pages), collector.skipped, (*collector.warnings, *map(str, problems))
    )


def _summarize_skipped(skipped: Mapping[str, list[str]]) -> str:
    reasons = [f"{len(paths)} because {reason}" for reason, paths in skipped.items()]
    return f" ({', '.join(reasons)})" if reasons else ". Name the folder with its Markdown or HTML files"


class _PageCollector:
    """Collects the pages, one per URL, and the reasons why other files are left out."""

    def __init__(self, settings: GeneratorSettings, today: str, progress: Progress) -> None:
        self._progress = progress
        self.total = 0
        """The number of files to read, for the progress."""
        self._settings = settings
        self._today = today
        self._excluded = [compile_glob(pattern) for pattern in settings.exclude or ()]
        self.pages: dict[str, Page] = {}
        self.skipped: dict[str, list[str]] = {}
        self.warnings: list[str] = []
        self.facts = SiteFacts()

    def add_all(self, pages: Iterator[tuple[str, Page | str]]) -> None:
        for count, (path, page) in enumerate(pages, 1):
            self._progress(min(count, self.total), self.total)
            if isinstance(page, str):
                self.skip(path, page)
            elif page.url in self.pages:
                self.skip(path, "another file has its address")
                self.warnings.append(f"{path} is left out: another page has the URL {page.url}, too.")
            else:
                self.pages[page.url] = page

    def skip(self, path: str, reason: str) -> None:
        self.skipped.setdefault(reason, []).append(path)

    def sorted_pages(self, base: str) -> list[Page]:
        """Return all pages in the order of their URLs, which begin with the base."""
        pages = [
            Page(_with_base(base, page.url), page.title, page.abstract, page.date, page.topics, page.body)
            for page in self.pages.values()
        ]
        return sorted(pages, key=lambda page: page.url)

    def reason_to_skip(self, path: str, day: str, *, is_draft: bool) -> str:
        """Return why a page is left out; empty if it is not."""
        if any(pattern.fullmatch(path) for pattern in self._excluded):
            return "it is excluded by the settings"
        if is_draft and not self._settings.drafts:
            return "it is a draft"
        if day > self._today and not self._settings.future:
            return "its date is in the future"
        return ""


def _markdown_pages(generator: Generator, collector: _PageCollector) -> Iterator[tuple[str, Page | str]]:
    for source in generator.sources():
        if not isinstance(source, PageSource):
            yield source
            continue
        try:
            yield source.path, _markdown_page(generator, source, collector)
        except NotAPage as error:
            yield source.path, str(error)


def _markdown_page(generator: Generator, source: PageSource, collector: _PageCollector) -> Page | str:
    url = _normalize_url(generator.page_url(source))
    day = generator.day(source)
    if reason := collector.reason_to_skip(source.path, day, is_draft=generator.is_draft(source)):
        return reason
    if source.front_matter.unreadable_day and not day:
        collector.warnings.append(
            f"{source.path}: {source.front_matter.unreadable_day[:60]!r} is not a date that can be read; it is ignored."
        )
    if source.page.has_broken_front_matter:
        collector.warnings.append(f"{source.path}: the front matter is neither valid YAML nor valid TOML.")
    page = source.page
    opening = page.text if page.opening is None else page.opening
    summary = source.front_matter.text("description", "summary", "excerpt", "abstract", "subtitle")
    abstract = clean_text(summary) or first_paragraph(_without_heading(opening, page.heading), ABSTRACT_CHARACTERS)
    title = clean_text(generator.title(source)) or page.heading or _title_from_file_name(source.stem)
    body = page.text or abstract
    if not body:
        return "it has no text"
    return Page(url, title, abstract, day, tuple(map(clean_text, generator.topics(source))), body)


def _html_pages(
    tree: SourceTree, collector: _PageCollector, settings: GeneratorSettings
) -> Iterator[tuple[str, Page | str]]:
    for path, page in read_ahead(_start_html_page(tree, path) for path in tree.files("", HTML_ENDINGS)):
        try:
            yield path, page if isinstance(page, str) else _html_page(page, collector, settings)
        except NotAPage as error:
            yield path, str(error)


def _start_html_page(tree: SourceTree, path: str) -> tuple[Callable[[], tuple[str, HtmlPage | str]], int]:
    """Have one file parsed; return a function that waits for the result, and the number of bytes."""
    data = tree.read(path)
    if data is None:
        return lambda: (path, CANNOT_BE_READ), 0
    wait = start_html_page(path, data)
    return lambda: (path, wait()), len(data)


def _html_page(page: HtmlPage, collector: _PageCollector, settings: GeneratorSettings) -> Page | str:
    host = urlsplit(page.canonical).netloc
    if host and not collector.facts.url:
        collector.facts = SiteFacts(url=f"https://{host}")
    domain = settings.domain or urlsplit(collector.facts.url).netloc
    if host and domain and not is_same_host(host.lower(), domain):
        return "it says that it belongs to another site"
    if reason := collector.reason_to_skip(page.path, page.day, is_draft=False):
        return reason
    body = page.text
    if not body:
        return "it has no text"
    abstract = clean_text(page.abstract) or first_paragraph(_without_heading(body, page.title), ABSTRACT_CHARACTERS)
    title = clean_text(page.title) or _title_from_file_name(page.path.rpartition("/")[2].rpartition(".")[0])
    return Page(_normalize_url(page.url), title, abstract, page.day, tuple(map(clean_text, page.topics)), body)


def _normalize_url(url: str) -> str:
    """Return a URL as the format requires it: a path from the root, without a slash at the end."""
    if "://" in url or url.startswith("//"):
        raise NotAPage("its address is on another site")
    path = re.sub(r"/{2,}", "/", "/" + url.partition("#")[0].partition("?")[0].strip())
    path = re.sub(r"(?<=/)index\.html?$", "", path)
    return "/" + re.sub(r"\s", "%20", path.strip("/"))


def _with_base(base: str, url: str) -> str:
    if not base or url == base or url.startswith(f"{base}/"):
        return url
    return base if url == "/" else base + url


def _without_heading(text: str, heading: str) -> str:
    """Remove the heading at the beginning of a text; the title has it already."""
    first, _, rest = text.partition("\n\n")
    return rest if rest and " ".join(first.split()) == heading else text


def _title_from_file_name(stem: str) -> str:
    """Make a title from the file name of a page that has none."""
    words = re.sub(r"[-_]+", " ", stem).strip()
    return words[:1].upper() + words[1:] or "Untitled"


def _build_time(environment: Mapping[str, str]) -> datetime:
    """Return the current time, or that of SOURCE_DATE_EPOCH, which reproducible builds set."""
    epoch = environment.get("SOURCE_DATE_EPOCH")
    if not epoch:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"SOURCE_DATE_EPOCH is {epoch[:40]!r}; it has to be a number of seconds.") from error


def _serialize(site: SiteIdentity, pages: list[Page], now: datetime) -> bytes:
    """Serialize the index as JSON with one page per line, so that a changed page changes one line."""
    facts = {"name": site.name, "domain": site.domain, "description": site.description, "toolPrefix": site.prefix}
    head = {
        "version": FORMAT_VERSION,
        "generated": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "site": {name: value for name, value in facts.items() if value},
        "pageCount": len(pages),
    }
    lines = ",\n".join(_dump_json(_page_values(page)) for page in pages)
    text = _dump_json(head)[:-1] + f',"pages":[\n{lines}\n]}}\n'
    return text.encode("utf-8", "replace")


def _page_values(page: Page) -> dict[str, Any]:
    values: dict[str, Any] = {
        "url": page.url, "title": page.title, "abstract": page.abstract, "date": page.date,
        "topics": list(dict.fromkeys(filter(None, page.topics))), "body": page.body,
    }  # fmt: skip
    return {name: value for name, value in values.items() if value}


def _dump_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
