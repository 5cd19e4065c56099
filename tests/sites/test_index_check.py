"""The checker finds every problem, says where it is and how to fix it, and agrees with the published schema."""

import copy
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dowse.errors import NotASiteIndex
from dowse.sites.index_check import inspect_bytes, parse_index
from tests.repository import REPOSITORY
from tests.sites.sample_sites import PAGES, SITE, encoded, index

SCHEMA = json.loads((REPOSITORY / "docs" / "site-index.schema.json").read_text(encoding="utf-8"))
GONE = object()

PAGE = {"url": "/a", "title": "A", "body": "words"}


def page(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in {**PAGE, **fields}.items() if value is not GONE}


def with_page(**fields: Any) -> dict[str, Any]:
    return index(page(**fields))


def with_site(**fields: Any) -> dict[str, Any]:
    return index(site={name: value for name, value in {**SITE, **fields}.items() if value is not GONE})


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in index().items() if key != name}


Case = tuple[dict[str, Any], str, str, str]
CASES: list[Case] = [
    (without("version"), "version", "error", "missing"),
    (index(version=3.0), "version", "error", "not a string"),
    (index(version="4.0"), "version", "error", "not supported"),
    (index(version="three"), "version", "error", "not a version"),
    (without("generated"), "generated", "error", "missing"),
    (index(generated=1), "generated", "error", "not a string"),
    (index(generated="yesterday"), "generated", "warning", "not a point in time"),
    (without("pageCount"), "pageCount", "error", "missing"),
    (index(pageCount="4"), "pageCount", "error", "whole number"),
    (index(pageCount=True), "pageCount", "error", "whole number"),
    (index(pageCount=4.5), "pageCount", "error", "whole number"),
    (index(pageCount=5), "pageCount", "error", "there are 4 pages"),
    (without("pages"), "pages", "error", "missing"),
    (index(pages={}), "pages", "error", "not a list"),
    (without("site"), "site", "error", "missing"),
    ({**without("site"), "version": "2.1"}, "site", "warning", "missing"),
    (index(site=[]), "site", "error", "not an object"),  # type: ignore[arg-type]
    (with_site(name=GONE), "site.name", "error", "missing"),
    (with_site(name=1), "site.name", "error", "not a string"),
    (with_site(name=" "), "site.name", "error", "empty"),
    (with_site(domain=GONE), "site.domain", "error", "missing"),
    (with_site(domain="https://a.example"), "site.domain", "error", "not a plain domain"),
    (with_site(domain="a.example/b"), "site.domain", "error", "not a plain domain"),
    (with_site(description=1), "site.description", "error", "not a string"),
    (with_site(toolPrefix="My-Blog"), "site.toolPrefix", "error", "does not match"),
    (with_site(toolPrefix="1a"), "site.toolPrefix", "error", "does not match"),
    (with_site(toolPrefix=""), "site.toolPrefix", "error", "does not match"),
    (with_site(toolPrefix=1), "site.toolPrefix", "error", "not a string"),
    (with_site(toolPrefix="docs"), "site.toolPrefix", "warning", "another tool"),
    (with_site(toolPrefix="by_path"), "site.toolPrefix", "warning", "another tool"),
    (with_site(toolPrefix="a" * 80), "site.toolPrefix", "warning", "80 characters"),
    (index("page"), "pages.0", "error", "not an object"),  # type: ignore[arg-type]
    (with_page(url=GONE), "pages.0.url", "error", "missing"),
    (with_page(url=1), "pages.0.url", "error", "not a string"),
    (with_page(url=None), "pages.0.url", "error", "null, not a string"),
    (with_page(url=""), "pages.0.url", "error", "empty"),
    (with_page(url="about"), "pages.0.url", "error", "begin with a slash"),
    (with_page(url="/about/"), "pages.0.url", "error", "ends with a slash"),
    (with_page(url="https://a.example/about"), "pages.0.url", "error", "has a domain"),
    (with_page(url="//a.example/about"), "pages.0.url", "error", "has a domain"),
    (with_page(url="/a b"), "pages.0.url", "warning", "spaces"),
    (with_page(title=GONE), "pages.0.title", "error", "missing"),
    (with_page(title=["a"]), "pages.0.title", "error", "a list, not a string"),
    (with_page(title=""), "pages.0.title", "error", "empty"),
    (with_page(abstract=3), "pages.0.abstract", "error", "not a string"),
    (with_page(abstract=None), "pages.0.abstract", "error", "null"),
    (with_page(date=20250131), "pages.0.date", "error", "not a string"),
    (with_page(date="31.1.2025"), "pages.0.date", "warning", "not a date"),
    (with_page(date="2025-02-30"), "pages.0.date", "warning", "not a date"),
    (with_page(date="2025-01-31T10:00:00Z"), "pages.0.date", "warning", "not a date"),
    (with_page(topics="a, b"), "pages.0.topics", "error", "not a list"),
    (with_page(topics=None), "pages.0.topics", "error", "null"),
    (with_page(topics=["a", 1]), "pages.0.topics.1", "error", "not a string"),
    (with_page(body=GONE), "pages.0.body", "warning", "no text"),
    (with_page(body=" \n"), "pages.0.body", "warning", "no text"),
    (with_page(body={}), "pages.0.body", "error", "not a string"),
    (index(page(), page()), "pages.1.url", "error", "pages.0"),
    (index(*({**PAGES[0], "url": f"/{n}"} for n in range(3)), page(url="x/")), "pages.3.url", "error", "slash"),
]
NOT_IN_A_SCHEMA = ("there are 4 pages", "pages.0")
"""A schema cannot check the number of pages or that URLs are unique."""


def test_a_problem_is_found_where_it_is() -> None:
    for value, path, grade, what in CASES:
        (problem,) = inspect_bytes(encoded(value)).problems
        assert (problem.path, problem.grade) == (path, grade)
        assert what in problem.what
        assert problem.remedy


def test_the_published_schema_says_the_same() -> None:
    assert inspect_bytes(encoded(index())).problems == ()
    assert Draft202012Validator(SCHEMA).is_valid(index())
    for value, _path, grade, what in CASES:
        is_valid = Draft202012Validator(SCHEMA).is_valid(value)
        assert is_valid == (grade == "warning" or what in NOT_IN_A_SCHEMA)


def test_a_prefix_with_a_line_s_end_is_none() -> None:
    (problem,) = inspect_bytes(encoded(with_site(toolPrefix="a\n"))).problems
    assert (problem.path, problem.grade) == ("site.toolPrefix", "error")


def test_all_problems_are_found_in_one_run() -> None:
    value = copy.deepcopy(index())
    del value["generated"]
    value["pageCount"] = 7
    value["site"]["toolPrefix"] = "A"
    value["pages"][1] |= {"url": "about/", "topics": [1], "date": "soon"}
    value["pages"][2] = 5
    value["pages"][3]["url"] = "/"
    found = [problem.path for problem in inspect_bytes(encoded(value)).problems]
    assert found == [
        "generated", "site.toolPrefix", "pageCount", "pages.1.topics.0", "pages.1.url", "pages.1.date", "pages.2",
        "pages.3.url",
    ]  # fmt: skip


def test_a_mark_at_the_beginning_is_no_part_of_it() -> None:
    assert parse_index(b"\xef\xbb\xbf" + encoded(index()))["version"] == "3.0"


def test_what_is_no_index_is_said_to_be_none() -> None:
    for data, message in (
        (b"", "not JSON"),
        (b"[]", "not an object"),
        (b'{"pages": [1, 2}', "line 1 column 16"),
        (b'{"pages": [{"url": "/a"}]} x', "not JSON"),
        (b'{"pages": [{"url": "/a\nb"}]}', "not JSON"),
        (b'{\n"a": 1,\n"b": }', "line 3 column 6"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"pages": [' + b"[" * 200_000, "nested too deeply"),
        (b'{"pageCount": ' + b"9" * 10_000 + b"}", "thousands of digits"),
        ('{"version": "3.0"}'.encode("utf-16"), "not UTF-8"),
    ):
        with pytest.raises(NotASiteIndex, match=message):
            parse_index(data)
