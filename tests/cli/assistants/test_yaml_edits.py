"""Editing YAML adds or removes one entry and keeps every other character."""

from pathlib import Path

import pytest
import yaml

from dowse.cli.assistants import config_edits
from dowse.cli.assistants.yaml_edits import put_entry

PATH = ("extensions", "dowse")
ENTRY = {"cmd": "C:\\dowse", "args": ["serve", "a: b"], "enabled": True, "timeout": 300}


def test_an_empty_value_gives_way_to_the_entry() -> None:
    for empty in ("{}", "null", "~"):
        after = put_entry(f"a: 1\nextensions: {empty}\nb: 2\n", PATH, ENTRY)
        assert yaml.safe_load(after) == {"a": 1, "extensions": {"dowse": ENTRY}, "b": 2}


def test_an_entry_is_replaced_with_its_comments_around_kept() -> None:
    text = "extensions:\n  a:\n    enabled: true\n  dowse:\n    cmd: old\n\n  # next\n  b:\n    enabled: false\n"
    after = put_entry(text, PATH, ENTRY)
    assert yaml.safe_load(after)["extensions"] == {"a": {"enabled": True}, "dowse": ENTRY, "b": {"enabled": False}}
    assert "# next\n  b:" in after


def test_what_has_no_block_of_entries_is_refused() -> None:
    for text in ("extensions: [a]\n", "extensions: {a: {b: 1}}\n", "- a\n", "extensions: text\n"):
        with pytest.raises(ValueError, match=r".+"):
            config_edits.put_entry(Path("config.yaml"), text, PATH, ENTRY)
