"""Arguments of a call: refusals that name the argument, and the agreement of the check with the schema."""

from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError

from dowse.errors import UsageError
from dowse.keeping.served_index import Service
from dowse.mcp.protocol import check_arguments
from dowse.mcp.tools import Schema, Tool
from dowse.surfaces.project.project_surface import ProjectSurface
from tests.sample_data import write_tree
from tests.sources.test_path_decision_names import NAMES, strings
from tests.surfaces.project.project_client import connect, content_of

pytestmark = pytest.mark.anyio

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("search_code", {"query": "x", "limit": None}, "limit"),
    ("search_code", {"query": " \n"}, "query"),
    ("search_code", {"query": "x" * 200_001}, "query"),
    ("search_code", {"query": "x", "top_k": True}, "top_k"),
    ("search_code", {"query": "x", "top_k": 10**5000}, "top_k"),
    ("search_code", {"query": "x", "mode": ["lexical"]}, "mode"),
    ("search_code", {"query": "x", "project": "fruit"}, "project"),
]
"""Values that the recording of wrong arguments, which follows the schemas, does not have."""


async def test_a_wrong_argument_is_refused_by_its_name(indexed: Path, mode: str) -> None:
    async with connect(mode, indexed) as assistant:
        for tool, arguments, name in REFUSED:
            error = await assistant.expect_error(tool, **arguments)
            assert error["code"] == "INVALID_ARGUMENT", (tool, error)
            assert name in error["userMessage"], (tool, error)
            assert len(error["userMessage"]) < 300


# The check agrees with the schema


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> list[Tool]:
    """Every tool of a server of two projects, where tools have all their arguments."""
    folder = tmp_path_factory.mktemp("roots")
    roots = [write_tree(folder / name, {"a.py": ""}) for name in ("one", "two")]
    return list(anyio.run(ProjectSurface(Service(roots), folder).tools, cast("Any", None)))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Generate values of an argument, mostly at its bounds, and arbitrary values."""
    near: st.SearchStrategy[Any] = st.nothing()
    if "enum" in schema:
        near = st.sampled_from([*schema["enum"], schema["enum"][0].upper()])
    elif schema["type"] == "number":
        minimum, maximum = schema.get("minimum", 0), schema.get("maximum", 100)
        edges = [minimum, maximum, minimum - 1, maximum + 1, minimum + 0.5, float(maximum), maximum + 0.5]
        near = st.sampled_from(edges) | st.integers(minimum, maximum) | st.floats(minimum, maximum)
    elif schema["type"] == "string":
        lengths = [1, schema.get("maxLength", 10), schema.get("maxLength", 10) + 1]
        near = st.text(min_size=1, max_size=20) | st.sampled_from(lengths).map(lambda length: "x" * length)
    elif schema["type"] == "boolean":
        near = st.booleans()
    return near | near | ANYTHING


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_check_accepts_what_the_published_schema_accepts(tools: list[Tool], data: st.DataObject) -> None:
    """Two exceptions: null counts as absent, and text of white space alone counts as empty."""
    tool = data.draw(st.sampled_from(tools), label="tool")
    names = st.sampled_from([*tool.arguments, "unknown"]) if tool.arguments else st.just("unknown")
    chosen = data.draw(st.sets(names), label="names") | (set(tool.required) if data.draw(st.booleans()) else set())
    given = {
        name: data.draw(values(tool.arguments[name]) if name in tool.arguments else ANYTHING, label=name)
        for name in sorted(chosen)
    }
    present = {name: value for name, value in given.items() if value is not None or name not in tool.arguments}
    expected = Draft202012Validator(tool.input_schema).is_valid(present) and not any(
        isinstance(value, str) and not value.strip() and tool.arguments[name].get("minLength")
        for name, value in present.items()
        if name in tool.arguments
    )
    try:
        filled = check_arguments(tool, given)
    except UsageError:
        assert not expected, f"{tool.name} refused {given}"
    else:
        assert expected, f"{tool.name} took {given}"
        assert filled.keys() == tool.arguments.keys()


ODD_STRINGS = [
    "\ud800", "x" * 9000, "a" * 999, '"' * 500, "(" * 500, "\x00" * 10, '+ - "" +"', "path:x AND (y", "*" * 900,
]  # fmt: skip
STRINGS = [*strings(), *ODD_STRINGS]


def calls_with(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return calls that pass a string wherever a tool takes any."""
    return [
        ("search_code", {"query": text}),
        ("search_docs", {"query": text, "language": text}),
        ("search_code", {"query": "apple", "path": text}),
        ("search_by_path", {"pattern": text}),
        ("reindex_file", {"path": text}),
    ]


@pytest.mark.parametrize(
    "is_every_call", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["one call", "every"]
)
async def test_no_string_makes_a_tool_fail_in_an_unexpected_way(indexed: Path, is_every_call: bool) -> None:
    """Our own strings are passed in every call, and those of the big list in one call each."""
    ours = {*NAMES, *ODD_STRINGS}
    async with connect("auto", indexed) as assistant:
        for number, text in enumerate(STRINGS):
            calls = calls_with(text)
            for tool, arguments in calls if is_every_call or text in ours else [calls[number % len(calls)]]:
                reply = content_of(await assistant.client.call_tool(tool, arguments))
                expected = (None, "INVALID_ARGUMENT", "INVALID_PATTERN", "FILE_NOT_FOUND")
                assert reply.get("code") in expected, (tool, text, reply)


async def test_the_list_of_tools_has_one_page(indexed: Path, mode: str) -> None:
    async with connect(mode, indexed) as assistant:
        with pytest.raises(MCPError, match="has one page"):
            await assistant.client.list_tools(cursor="another page")
