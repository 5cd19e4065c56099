"""The list of assistants is complete and each entry can be used."""

import base64
import json
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from dowse.cli.assistants.known_assistants import Places, known_assistants
from tests.repository import REPOSITORY

ASKED_FOR = (
    "claude-code claude-desktop cursor vscode copilot windsurf codex gemini opencode zed cline roo kiro goose amp "
    "continue junie zcode reasonix pi commandcode antigravity grok qwen kilo"
)


def test_every_assistant_that_people_ask_for_is_known() -> None:
    assert set(ASKED_FOR.split()) <= set(known_assistants())


def test_an_entry_starts_the_command_that_it_was_made_of() -> None:
    for assistant in known_assistants().values():
        assert assistant.command_of(assistant.server_entry("x", ["a", "b"])) == ["x", "a", "b"]


def test_only_cursor_and_vs_code_have_a_link_that_adds_a_server() -> None:
    """The forms are those that Cursor and VS Code document; neither program was at hand."""
    for assistant in known_assistants().values():
        arguments = ["serve", "/a folder/ü+&="]
        link = urlsplit(assistant.install_link(assistant.server_entry("/x y/dowse", arguments)))
        match assistant.name:
            case "cursor":
                assert (link.scheme, link.netloc, link.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
                query = parse_qs(link.query, strict_parsing=True)
                assert query["name"] == ["dowse"]
                decoded = json.loads(base64.b64decode(query["config"][0], validate=True))
                assert decoded == {"command": "/x y/dowse", "args": arguments}
            case "vscode" | "vscode-insiders" as scheme:
                assert (link.scheme, link.netloc, link.path) == (scheme, "", "mcp/install")
                entry = {"name": "dowse", "type": "stdio", "command": "/x y/dowse", "args": arguments}
                assert json.loads(unquote(link.query)) == entry
            case _:
                assert link.geturl() == ""


def test_an_assistant_is_found_by_its_program(places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "programs" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert known_assistants()["codex"].is_on_this_machine(places)


def test_of_two_possible_files_the_one_that_exists_is_used(places: Places) -> None:
    opencode = known_assistants()["opencode"]
    assert opencode.user_file(places).name == "opencode.json"
    (places.config / "opencode").mkdir(parents=True)
    (places.config / "opencode" / "opencode.jsonc").touch()
    assert opencode.user_file(places).name == "opencode.jsonc"


def test_the_documentation_lists_every_assistant() -> None:
    text = (REPOSITORY / "docs" / "clients.md").read_text(encoding="utf-8")
    assert [name for name in known_assistants() if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize(
    ("name", "folder"),
    [("IS_MAC", "Library/Application Support"), ("IS_WINDOWS", "AppData/Roaming"), ("", ".config")],
)
def test_each_system_has_its_folder_for_settings(monkeypatch: pytest.MonkeyPatch, name: str, folder: str) -> None:
    """Assistants on macOS and Windows were not seen; these are the folders that their makers document."""
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("APPDATA", raising=False)
    for each in ("IS_MAC", "IS_WINDOWS"):
        monkeypatch.setattr(f"dowse.cli.assistants.known_assistants.{each}", each == name)
    assert Places.of_this_user().support == Path.home() / folder
