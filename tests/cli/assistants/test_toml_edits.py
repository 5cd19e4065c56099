"""Editing TOML adds or removes one table and keeps every other character."""

import tomllib

from dowse.cli.assistants.toml_edits import put_entry, remove_entry

PATH = ("mcp_servers", "dowse")
ENTRY = {"command": 'C:\\bin\\"dowse"', "args": ["serve", "ä"], "env": {"A B": "1"}}


def test_a_table_is_replaced_where_it_stands_and_its_neighbours_stay() -> None:
    text = (
        '# mine\n[ mcp_servers . "dowse" ] # ours\ncommand = "old"\nargs = [\n  "x",\n]\n\n# the next\n[other]\na = 1\n'
    )
    after = put_entry(text, PATH, ENTRY)
    assert tomllib.loads(after) == {"mcp_servers": {"dowse": ENTRY}, "other": {"a": 1}}
    assert after.startswith("# mine\n")
    assert after.endswith("\n\n# the next\n[other]\na = 1\n")


def test_a_table_is_removed_with_its_subtables_and_nothing_else() -> None:
    text = '[a]\nb = 1\n\n[mcp_servers.dowse]\ncommand = "x"\n\n[mcp_servers.dowse.env]\nA = "1"\n\n[mcp_servers.dowser]\nc = 1\n'
    assert remove_entry(text, PATH) == "[a]\nb = 1\n\n[mcp_servers.dowser]\nc = 1\n"
