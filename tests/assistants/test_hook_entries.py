"""The hook in the settings of an assistant: one item of a list, and everything else as it was."""

import pytest

from dowse.assistants.hook_entries import hook_entry, put_hook, remove_hook
from dowse.assistants.json_edits import parse_json

ENTRY = hook_entry("Grep")
OTHER = {"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        '{"model": "x"}\n',
        '{\n  "hooks": {}\n}\n',
        '{\n  "hooks": {\n    "PostToolUse": []\n  }\n}\n',
        '{"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": []}]}}',
        '{\r\n\t"hooks": {\r\n\t\t"PostToolUse": [\r\n\t\t\t{"matcher": "Edit"}, // mine\r\n\t\t]\r\n\t}\r\n}\r\n',
        '\ufeff{"hooks": {"Stop": [1, 2]}} // end\n',
    ],
)
def test_it_is_added_and_removed_and_nothing_else_changes(text: str) -> None:
    before = parse_json(text)
    written = put_hook(text, ENTRY)
    assert parse_json(written)["hooks"]["PostToolUse"][-1] == ENTRY
    assert put_hook(written, ENTRY) == written
    assert parse_json(put_hook(written, hook_entry("Bash")))["hooks"]["PostToolUse"][-1]["matcher"] == "Bash"
    after = remove_hook(written)
    assert after is not None
    left = parse_json(after)
    left["hooks"] = {key: value for key, value in left["hooks"].items() if value or key in before.get("hooks", {})}
    assert {key: value for key, value in left.items() if value or key in before} == before
    assert text.count("//") == after.count("//")
    assert remove_hook(after) is None


def test_an_empty_file_gets_it_and_a_strange_one_is_left_alone() -> None:
    assert parse_json(put_hook("", ENTRY)) == {"hooks": {"PostToolUse": [ENTRY]}}
    for text in ("[]", '{"hooks": 5}', '{"hooks": {"PostToolUse": {}}}', "{"):
        with pytest.raises(ValueError, match=r"is not|line 1"):
            put_hook(text, ENTRY)
