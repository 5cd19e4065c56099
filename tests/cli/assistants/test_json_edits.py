"""Editing JSON with comments changes one member and keeps every other character."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.cli.assistants.json_edits import parse, put_entry, remove_entry

PATH = ("mcpServers", "dowse")
ENTRY = {"command": "dowse", "args": ["serve"]}

WILD = {
    "empty": "",
    "blank": "\n  \n",
    "only a comment": "// my servers\n",
    "an empty object": "{}",
    "an empty object in two lines": "{\n}\n",
    "no servers": '{"mcpServers": {}}\n',
    "other servers": '{\n  "mcpServers": {\n    "github": {"command": "gh"}\n  }\n}\n',
    "other keys": '{\n\t"theme": "dark",\n\t"n": [1, 2.5, true, null]\n}\n',
    "comments": '{\n  // first\n  "a": 1, // one\n  /* block */ "mcpServers": {\n    // none yet\n  } // end\n}\n// after\n',
    "a comment behind the last server": '{"mcpServers": {\n  "x": {} // keep, "this": {}\n}}\n',
    "trailing commas": '{\n  "mcpServers": {\n    "github": {"command": "gh",},\n  },\n}\n',
    "CRLF": '{\r\n  "mcpServers": {\r\n    "x": {}\r\n  }\r\n}\r\n',
    "no newline at the end": '{\n    "a": {"b": [{"c": "}"}]}\n}',
    "braces in strings": '{"a": "\\"{//", "mcpServers": {"x": {"args": ["/*", "*/"]}}}',
    "minified": '{"a":1,"mcpServers":{"x":{"command":"y"}}}',
}


def test_a_member_is_put_and_nothing_else_changes() -> None:
    for text in WILD.values():
        after = put_entry(text, PATH, ENTRY)
        before = parse(text) if text.strip() and not text.startswith("//") else {}
        expected = {**before, "mcpServers": {**before.get("mcpServers", {}), "dowse": ENTRY}}
        assert parse(after) == expected
        kept = iter(after)
        assert all(character in kept for character in text.rstrip()), "what was there is there in the same order"
        assert after.count("\r\n") == (after.count("\n") if "\r\n" in text else 0)


def test_a_member_that_is_removed_leaves_the_text_as_it_was() -> None:
    for text in [text for text in WILD.values() if '"x"' in text or "github" in text]:
        assert remove_entry(put_entry(text, PATH, ENTRY), PATH) == text


def test_a_member_in_the_middle_is_removed_with_its_comma() -> None:
    text = '{\n  "mcpServers": {\n    "a": {},\n    "dowse": {"args": []}, // ours\n    "b": {}\n  }\n}\n'
    after = remove_entry(text, PATH)
    assert parse(after) == {"mcpServers": {"a": {}, "b": {}}}
    assert "// ours" in after


def test_a_member_is_replaced_where_it_stands() -> None:
    text = '{\n  "mcpServers": {\n    "dowse": {"command": "old"}, // ours\n    "b": {}\n  }\n}\n'
    after = put_entry(text, PATH, ENTRY)
    assert parse(after) == {"mcpServers": {"dowse": ENTRY, "b": {}}}
    assert after.index("dowse") < after.index("// ours") < after.index('"b"')


def test_what_is_not_json_is_refused_with_its_line() -> None:
    for text, problem in (
        ("{", "line 1: Expecting property name"),
        ('{"mcpServers": {"x": {}}, "mcpServers": {"y": {}}}', "the key 'mcpServers' stands in it twice"),
        ('{\n"a": }', "line 2: Expecting value"),
        ("{'a': 1}", "line 1: Expecting property name"),
        ('{"a": 1} x', "line 1: Extra data"),
        ('{// a\n/* b\nc */ "a": /* ', "line 3: Expecting value"),
        ('{"mcpServers": []}', "mcpServers is not an object"),
        ("[]", "the file is not an object"),
    ):
        with pytest.raises(ValueError, match=problem):
            put_entry(text, PATH, ENTRY)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.property
@given(st.dictionaries(st.text(max_size=5), values, max_size=4), st.sampled_from([None, 1, 2, 4, "\t"]))
def test_any_json_is_edited_as_a_library_would(value: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    assert parse(text) == value
    put = put_entry(text, ("dowse",), ENTRY)
    assert json.loads(put) == {**value, "dowse": ENTRY}
    assert json.loads(remove_entry(put, ("dowse",))) == {name: item for name, item in value.items() if name != "dowse"}
