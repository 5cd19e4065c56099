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


def check_index(root: dict[str, Any], on_page: Callable[[Page], object]) -> tuple[SiteHeader, list[Problem]]:
    """Check an index, call `on_page` for each page that can be served; return the header and all problems."""
    header, problems = _check_header(root)
    numbers_by_url: dict[str, int] = {}
    pages = root.get("pages")
    for number, value in enumerate(pages if isinstance(pages, list) else ()):
        page, found = _check_page(number, value, numbers_by_url)
        problems += found
        if page and not any(problem.is_fatal for problem in found):
            on_page(page)
    return header, problems


def _check_page(number: int, value: Any, numbers_by_url: dict[str, int]) -> tuple[Page | None, list[Problem]]:
    """Return a page and its problems."""
    path, problems = f"pages.{number}", list[Problem]()
    if not isinstance(value, dict):
        return None, [_wrong_type(path, value, dict)]
    texts = {
        key: _read_text(problems, path, value, key, is_required=key in ("url", "title"))
        for key in ("url", "title", "abstract", "date", "body")
    }
    page = Page(**texts, topics=_read_topics(problems, path, value.get("topics", [])))
    reported = {problem.path for problem in problems}
    problems += [one for one in _check_values(path, number, page, numbers_by_url) if one.path not in reported]
    return page, problems


def _check_values(path: str, number: int, page: Page, numbers_by_url: dict[str, int]) -> Iterator[Problem]:
    """Yield the problems with the values of a page."""
    if found := _url_problem(page.url):
        yield Problem(f"{path}.url", *found)
    elif re.search(r"\s", page.url):
        yield _warning(f"{path}.url", f"{_format_value(page.url)} has spaces", "Write them as %20")
    first = numbers_by_url.setdefault(page.url, number)
    if first != number:
        what = f"{_format_value(page.url)} is also the URL of pages.{first}"
        yield Problem(f"{path}.url", what, "Give every page a URL of its own, or leave one of them out")
    if page.date and not is_date(page.date):
        yield _warning(f"{path}.date", f"{_format_value(page.date)} is not a date", "Write YYYY-MM-DD: 2025-01-31")
    if not page.body.strip():
        remedy = "Add its body; without it, only title, abstract and topics are searched"
        yield _warning(f"{path}.body", "the page has no text", remedy)


def _check_header(root: dict[str, Any]) -> tuple[SiteHeader, list[Problem]]:
    """Check the values beside the pages."""
    problems: list[Problem] = []
    version = _read_version(problems, root)
    generated = _read_text(problems, "", root, "generated", is_required=True, is_vital=False)
    if generated and not _can_parse(datetime.fromisoformat, generated):
        what = f"{_format_value(generated)} is not a point in time"
        problems.append(_warning("generated", what, "Write it as ISO 8601: 2025-01-15T12:00:00Z"))
    site = _read_site(problems, root, version)
    pages = root.get("pages")
    problems += _check_page_count(root, pages)
    if "pages" not in root:
        problems.append(_missing("pages", "the list of pages", is_fatal=True))
    elif not isinstance(pages, list):
        problems.append(_wrong_type("pages", pages, list))
    return SiteHeader(version, generated, site), problems


def _read_version(problems: list[Problem], root: dict[str, Any]) -> str:
    version = _read_text(problems, "", root, "version", is_required=True, is_vital=False)
    if version and not _VERSION.fullmatch(version):
        problems.append(Problem("version", f"{_format_value(version)} is not a version", f'Write "{FORMAT_VERSION}"'))
    elif version and version.partition(".")[0] not in MAJOR_VERSIONS:
        what = f"{_format_value(version)} is not supported; 2.x and 3.x are"
        problems.append(Problem("version", what, f'Write the index in the format "{FORMAT_VERSION}"', is_fatal=True))
    return version


def _check_page_count(root: dict[str, Any], pages: Any) -> Iterator[Problem]:
    count = root.get("pageCount")
    if "pageCount" not in root:
        yield _missing("pageCount", "the number of pages")
    elif isinstance(count, bool) or not isinstance(count, int | float) or count != count // 1:
        what = f"it is {_format_value(count)}, not a whole number"
        yield Problem("pageCount", what, "Write the number of pages")
    elif isinstance(pages, list) and count != len(pages):
        what = f"it is {_format_value(count)}, but there are {len(pages):,} pages"
        yield Problem("pageCount", what, f"Write {len(pages)}, and check whether pages are missing")


def _read_site(problems: list[Problem], root: dict[str, Any], version: str) -> Site:
    site = root.get("site")
    if not isinstance(site, dict):
        if "site" in root:
            problems.append(_wrong_type("site", site, dict))
        elif version.startswith("2"):
            what = "it is missing, as in version 2.x; defaults are used"
            problems.append(_warning("site", what, "Add the object `site`"))
        else:
            problems.append(_missing("site", "an object with name and domain"))
        return Site()
    name = _read_text(problems, "site", site, "name", is_required=True)
    domain = _read_text(problems, "site", site, "domain", is_required=True)
    if domain and not _DOMAIN.fullmatch(domain):
        what = f"{_format_value(domain)} is not a plain domain"
        problems.append(Problem("site.domain", what, "Write it without protocol, path and spaces: blog.example.com"))
    description = _read_text(problems, "site", site, "description")
    prefix = _read_text(problems, "site", site, "toolPrefix")
    if isinstance(site.get("toolPrefix"), str):
        problems += _check_prefix(prefix)
    return Site(name or Site().name, domain or Site().domain, description, prefix or DEFAULT_PREFIX)


def _check_prefix(prefix: str) -> Iterator[Problem]:
    """Yield the problem of a prefix. None is fatal: NAME= can give the tool another name."""
    if not re.fullmatch(PREFIX_PATTERN.strip("^$"), prefix):
        what = f"{_format_value(prefix)} does not match {PREFIX_PATTERN}"
        yield Problem("site.toolPrefix", what, "Use lowercase letters, digits and underscores, a letter first")
    elif prefix in RESERVED_PREFIXES:
        what = f"search_{prefix} is the name of another tool of dowse"
        yield _warning("site.toolPrefix", what, "Choose another prefix; otherwise the two cannot be served together")
    elif len(prefix) > MAX_PREFIX_CHARACTERS:
        remedy = f"Use at most {MAX_PREFIX_CHARACTERS}; clients refuse longer tool names"
        yield _warning("site.toolPrefix", f"it has {len(prefix)} characters", remedy)


def _read_text(
    problems: list[Problem],
    path: str,
    values: dict[str, Any],
    key: str,
    *,
    is_required: bool = False,
    is_vital: bool = True,
) -> str:
    """Return a text value; empty if it is missing or of another type.

    The index cannot be served without a value that is vital.
    """
    value_path = f"{path}.{key}" if path else key
    if key not in values:
        if is_required:
            problems.append(_missing(value_path, _EXPECTED[key], is_fatal=is_vital))
        return ""
    value = values[key]
    if value is None and not is_required:
        problems.append(Problem(value_path, "it is null", "Leave it out if there is none"))
        return ""
    if not isinstance(value, str):
        what = f"it is {_format_value(value)}, not {_TYPE_NAMES[str]}"
        problems.append(Problem(value_path, what, f"Write {_EXPECTED[key]}", is_fatal=is_vital))
        return ""
    if is_required and not value.strip():
        problems.append(Problem(value_path, "it is empty", f"Write {_EXPECTED[key]}"))
    return value


def _read_topics(problems: list[Problem], path: str, value: Any) -> tuple[str, ...]:
    value_path = f"{path}.topics"
    if value is None:
        problems.append(Problem(value_path, "it is null", "Leave it out if there are none"))
        return ()
    if not isinstance(value, list):
        problems.append(_wrong_type(value_path, value, list))
        return ()
    wrong = [(number, topic) for number, topic in enumerate(value) if not isinstance(topic, str)]
    problems += [_wrong_type(f"{value_path}.{number}", topic, str) for number, topic in wrong]
    return tuple(topic for topic in value if isinstance(topic, str))


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


def _missing(path: str, what: str, *, is_fatal: bool = False) -> Problem:
    return Problem(path, "it is missing", f"Add {what}", is_fatal=is_fatal)


def _wrong_type(path: str, value: Any, kind: type) -> Problem:
    name = _TYPE_NAMES[kind]
    return Problem(path, f"it is {_format_value(value)}, not {name}", f"Write {name}", is_fatal=True)


def _warning(path: str, what: str, remedy: str) -> Problem:
    return Problem(path, what, remedy, "warning")


def _format_value(value: Any) -> str:
    """Format a value for a message, on one line: lists and objects by their type, long values cut."""
    if isinstance(value, list | dict):
        return _TYPE_NAMES[type(value)]
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
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
    header, problems = check_index(root, lambda _page: None)
    pages = root.get("pages")
    return Inspection(header.version, len(pages) if isinstance(pages, list) else 0, tuple(problems))
