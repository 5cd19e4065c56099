"""The format of a site's index and its limits, and the check of an index: every problem, where it is and how to fix it."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from json.decoder import JSONDecodeError
from typing import Any, Literal

from dowse.errors import NotASiteIndex

FORMAT_VERSION = "3.0"
"""The version that dowse writes. It also reads 2.x, with the defaults below."""
MAJOR_VERSIONS = ("2", "3")
MAX_INDEX_BYTES = 256 << 20
"""Maximum size of an index file. The texts and the postings of an index are held in memory."""

DEFAULT_PREFIX = "website"
"""The prefix of a site that states none: its tool is `search_website`."""
PREFIX_PATTERN = "^[a-z][a-z0-9_]*$"
MAX_PREFIX_CHARACTERS = 57
"""64 characters with `search_` before it; clients refuse tools with longer names."""
RESERVED_PREFIXES = frozenset({"docs", "code", "index", "documents", "by_path", "add_document", "create_index"})
"""Prefixes that would give a site's tool the name of another tool of dowse."""


@dataclass(frozen=True, slots=True)
class Site:
    """The site that an index describes; the defaults are those of version 2."""

    name: str = "Website"
    domain: str = "example.com"
    description: str = "Search this website"
    prefix: str = DEFAULT_PREFIX


@dataclass(frozen=True, slots=True)
class Page:
    """One page. Values that the index does not state are empty."""

    url: str
    title: str
    abstract: str = ""
    date: str = ""
    topics: tuple[str, ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True)
class SiteHeader:
    """The values of an index beside its pages."""

    version: str
    generated: str
    site: Site


def parse_index(data: bytes | bytearray) -> dict[str, Any]:
    """Return the root object of an index. Raise NotASiteIndex if there is none."""
    try:
        root = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problem = f"It is not UTF-8: the byte at position {error.start:,} is invalid. Save it as UTF-8."
    except JSONDecodeError as error:
        problem = f"It is not JSON: {error.msg}, line {error.lineno:,} column {error.colno:,}. Generate the file again."
    except (RecursionError, ValueError):  # thousands of brackets, or a number with thousands of digits
        problem = "It is nested too deeply, or has a number with thousands of digits. Generate the file again."
    else:
        if isinstance(root, dict):
            return root
        problem = "It is JSON, but not an object. An index begins with {."
    raise NotASiteIndex(problem)


Grade = Literal["error", "warning"]

_TYPE_NAMES: dict[type, str] = {str: "a string", list: "a list", dict: "an object"}
_EXPECTED = {
    "version": f'the version as a string: "{FORMAT_VERSION}"',
    "generated": 'when the index was made: "2025-01-15T12:00:00Z"',
    "name": 'the name of the site: "My Blog"',
    "domain": 'the domain without protocol: "blog.example.com"',
    "description": "a sentence about the site",
    "toolPrefix": 'a string of lowercase letters, digits and underscores: "myblog"',
    "url": 'the path of the page: "/about"',
    "title": "the title of the page as a string",
    "abstract": "a summary as a string",
    "date": 'the date as a string: "2025-01-31"',
    "body": "the text of the page as one string",
}
_MAX_SHOWN_CHARACTERS = 60
_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*")
_DOMAIN = re.compile(r"[^\s/:?#@]+(:[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WITH_DOMAIN = re.compile(r"(?:[a-z][a-z0-9+.-]{0,30}:)?//|www\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of an index: where it is, what is wrong and what to do."""

    path: str
    what: str
    remedy: str
    grade: Grade = "error"
    is_fatal: bool = False
    """Whether the index cannot be served because of it."""

    def __str__(self) -> str:
        return f"{self.path or 'the file'}: {self.what}. {self.remedy}."


class _Fields:
    """The fields of one object of an index; their problems are added to a list."""

    def __init__(self, values: dict[str, Any], path: str, problems: list[Problem]) -> None:
        self.values, self._problems = values, problems
        self._prefix = f"{path}." if path else ""

    def report(self, key: str, what: str, remedy: str, grade: Grade = "error", *, is_fatal: bool = False) -> None:
        self._problems.append(Problem(self._prefix + key, what, remedy, grade, is_fatal))

    def warn(self, key: str, what: str, remedy: str) -> None:
        self.report(key, what, remedy, "warning")

    def report_missing(self, key: str, what: str, *, is_fatal: bool = False) -> None:
        self.report(key, "it is missing", f"Add {what}", is_fatal=is_fatal)

    def report_type(self, key: str, value: Any, kind: type) -> None:
        name = _TYPE_NAMES[kind]
        self.report(key, f"it is {_format_value(value)}, not {name}", f"Write {name}", is_fatal=True)

    def text(self, key: str, *, is_required: bool = False, is_vital: bool = True) -> str:
        """Return a text value; empty if it is missing or of another type.

        The index cannot be served without a value that is vital.
        """
        value = self.values.get(key, "")
        if key not in self.values:
            if is_required:
                self.report_missing(key, _EXPECTED[key], is_fatal=is_vital)
        elif value is None and not is_required:
            self.report(key, "it is null", "Leave it out if there is none")
        elif not isinstance(value, str):
            what = f"it is {_format_value(value)}, not {_TYPE_NAMES[str]}"
            self.report(key, what, f"Write {_EXPECTED[key]}", is_fatal=is_vital)
        elif is_required and not value.strip():
            self.report(key, "it is empty", f"Write {_EXPECTED[key]}")
        return value if isinstance(value, str) else ""

    def topics(self) -> tuple[str, ...]:
        """Return the topics of a page."""
        value = self.values.get("topics", [])
        if value is None:
            self.report("topics", "it is null", "Leave it out if there are none")
        elif not isinstance(value, list):
            self.report_type("topics", value, list)
        topics = value if isinstance(value, list) else []
        for number, topic in enumerate(topics):
            if not isinstance(topic, str):
                self.report_type(f"topics.{number}", topic, str)
        return tuple(topic for topic in topics if isinstance(topic, str))


def check_header(root: dict[str, Any]) -> tuple[SiteHeader, list[Problem]]:
    """Return the values of an index beside its pages, and their problems."""
    problems: list[Problem] = []
    fields = _Fields(root, "", problems)
    version = _read_version(fields)
    generated = fields.text("generated", is_required=True, is_vital=False)
    if generated and not _can_parse(datetime.fromisoformat, generated):
        what = f"{_format_value(generated)} is not a point in time"
        fields.warn("generated", what, "Write it as ISO 8601: 2025-01-15T12:00:00Z")
    if isinstance(root.get("site"), dict):
        site = _read_site(_Fields(root["site"], "site", problems))
    else:
        site = Site()
        _report_no_site(fields, version)
    _check_page_count(fields)
    if "pages" not in root:
        fields.report_missing("pages", "the list of pages", is_fatal=True)
    elif not isinstance(root["pages"], list):
        fields.report_type("pages", root["pages"], list)
    return SiteHeader(version, generated, site), problems


def check_pages(root: dict[str, Any], problems: list[Problem]) -> Iterator[Page]:
    """Yield each page that can be served, and add the problems of all."""
    numbers_by_url: dict[str, int] = {}
    pages = root.get("pages")
    for number, value in enumerate(pages if isinstance(pages, list) else ()):
        if not isinstance(value, dict):
            _Fields({}, "pages", problems).report_type(str(number), value, dict)
            continue
        found: list[Problem] = []
        page = _read_page(_Fields(value, f"pages.{number}", found), number, numbers_by_url)
        problems += found
        if not any(problem.is_fatal for problem in found):
            yield page


def _read_page(fields: _Fields, number: int, numbers_by_url: dict[str, int]) -> Page:
    url, title = (fields.text(key, is_required=True) for key in ("url", "title"))
    abstract, day, body = map(fields.text, ("abstract", "date", "body"))
    topics = fields.topics()
    if found := _url_problem(url):
        fields.report("url", *found)
    elif url.strip() and re.search(r"\s", url):
        fields.warn("url", f"{_format_value(url)} has spaces", "Write them as %20")
    first = numbers_by_url.setdefault(url, number) if url.strip() else number
    if first != number:
        what = f"{_format_value(url)} is also the URL of pages.{first}"
        fields.report("url", what, "Give every page a URL of its own, or leave one of them out")
    if day and not is_date(day):
        fields.warn("date", f"{_format_value(day)} is not a date", "Write YYYY-MM-DD: 2025-01-31")
    if not body.strip() and isinstance(fields.values.get("body", ""), str):
        remedy = "Add its body; without it, only title, abstract and topics are searched"
        fields.warn("body", "the page has no text", remedy)
    return Page(url, title, abstract, day, topics, body)


def _read_version(fields: _Fields) -> str:
    version = fields.text("version", is_required=True, is_vital=False)
    if version and not _VERSION.fullmatch(version):
        fields.report("version", f"{_format_value(version)} is not a version", f'Write "{FORMAT_VERSION}"')
    elif version and version.partition(".")[0] not in MAJOR_VERSIONS:
        what = f"{_format_value(version)} is not supported; 2.x and 3.x are"
        fields.report("version", what, f'Write the index in the format "{FORMAT_VERSION}"', is_fatal=True)
    return version


def _check_page_count(fields: _Fields) -> None:
    count, pages = (fields.values.get(key) for key in ("pageCount", "pages"))
    if "pageCount" not in fields.values:
        fields.report_missing("pageCount", "the number of pages")
    elif isinstance(count, bool) or not isinstance(count, int | float) or count != count // 1:
        what = f"it is {_format_value(count)}, not a whole number"
        fields.report("pageCount", what, "Write the number of pages")
    elif isinstance(pages, list) and count != len(pages):
        what = f"it is {_format_value(count)}, but there are {len(pages):,} pages"
        fields.report("pageCount", what, f"Write {len(pages)}, and check whether pages are missing")


def _report_no_site(fields: _Fields, version: str) -> None:
    if "site" in fields.values:
        fields.report_type("site", fields.values["site"], dict)
    elif version.startswith("2"):
        fields.warn("site", "it is missing, as in version 2.x; defaults are used", "Add the object `site`")
    else:
        fields.report_missing("site", "an object with name and domain")


def _read_site(fields: _Fields) -> Site:
    name = fields.text("name", is_required=True)
    domain = fields.text("domain", is_required=True)
    if domain and not _DOMAIN.fullmatch(domain):
        what = f"{_format_value(domain)} is not a plain domain"
        fields.report("domain", what, "Write it without protocol, path and spaces: blog.example.com")
    description = fields.text("description")
    prefix = fields.text("toolPrefix")
    if isinstance(fields.values.get("toolPrefix"), str):
        _check_prefix(fields, prefix)
    return Site(name or Site().name, domain or Site().domain, description, prefix or DEFAULT_PREFIX)


def _check_prefix(fields: _Fields, prefix: str) -> None:
    """Report the problem of a prefix. None is fatal: NAME= can give the tool another name."""
    if not re.fullmatch(PREFIX_PATTERN.strip("^$"), prefix):
        what = f"{_format_value(prefix)} does not match {PREFIX_PATTERN}"
        fields.report("toolPrefix", what, "Use lowercase letters, digits and underscores, a letter first")
    elif prefix in RESERVED_PREFIXES:
        what = f"search_{prefix} is the name of another tool of dowse"
        fields.warn("toolPrefix", what, "Choose another prefix; otherwise the two cannot be served together")
    elif len(prefix) > MAX_PREFIX_CHARACTERS:
        remedy = f"Use at most {MAX_PREFIX_CHARACTERS}; clients refuse longer tool names"
        fields.warn("toolPrefix", f"it has {len(prefix)} characters", remedy)


def _url_problem(url: str) -> tuple[str, str] | None:
    if not url.strip():
        return None  # reported already
    if _WITH_DOMAIN.match(url):
        path = "/" + re.sub(r"^(?:[a-z][a-z0-9+.-]{0,30}:)?(?://)?[^/]*", "", url, flags=re.IGNORECASE).strip("/")
        return f"{_format_value(url)} has a domain", f"Write the path alone: {_format_value(path)}"
    if not url.startswith("/"):
        return f"{_format_value(url)} does not begin with a slash", f"Write {_format_value('/' + url.strip('/'))}"
    if url != "/" and url.endswith("/"):
        return f"{_format_value(url)} ends with a slash", f"Write {_format_value('/' + url.strip('/'))}"
    return None


def is_date(text: str) -> bool:
    """Return whether a text is a day in the form YYYY-MM-DD."""
    return _DATE.fullmatch(text) is not None and _can_parse(date.fromisoformat, text)


def _can_parse(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _format_value(value: Any) -> str:
    """Format a value for a message, on one line: lists and objects by their type, long values cut."""
    if isinstance(value, list | dict):
        return _TYPE_NAMES[type(value)]
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) and value.bit_length() > 200:
        return "a very long number"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else text[: _MAX_SHOWN_CHARACTERS - 1] + "…"


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of a check."""

    version: str
    pages: int
    problems: tuple[Problem, ...]


def inspect_bytes(data: bytes | bytearray) -> Inspection:
    """Return the problems of an index."""
    if len(data) > MAX_INDEX_BYTES:
        problem = Problem("", f"it is larger than {MAX_INDEX_BYTES >> 20} MB", "Split the site, or shorten the bodies")
        return Inspection("", 0, (problem,))
    try:
        root = parse_index(data)
    except NotASiteIndex as error:
        what, _, remedy = str(error).partition(". ")
        return Inspection("", 0, (Problem("", what[0].lower() + what[1:], remedy.rstrip(".") or "Write an object"),))
    header, problems = check_header(root)
    for _ in check_pages(root, problems):
        pass
    pages = root.get("pages")
    return Inspection(header.version, len(pages) if isinstance(pages, list) else 0, tuple(problems))
