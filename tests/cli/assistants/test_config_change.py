"""Configuration files are changed in their own format, and changed back byte by byte."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from dowse.cli.assistants import config_edits, json_edits
from dowse.cli.assistants.config_change import ConfigChange, apply_change, backup_of, plan_install, plan_removal
from dowse.cli.assistants.config_edits import entry_of
from dowse.cli.assistants.known_assistants import Assistant, Places, known_assistants

COMMAND, ARGUMENTS = "/opt/dowse", ["serve", "/a folder"]
BOM = "\ufeff"

JSON_IN_THE_WILD = {
    "empty": "",
    "braces": "{}",
    "other servers": '{\n  "theme": 1,\n  "KEY": {\n    "github": {"command": "gh"}\n  }\n}\n',
    "comments and commas": '// mine\n{\n\t"KEY": {\n\t\t"a": {}, // one\n\t},\n}\n',
    "CRLF": '{\r\n  "KEY": {}\r\n}\r\n',
    "BOM": BOM + '{"KEY": {"x": {"args": [1]}}}',
}
TOML_IN_THE_WILD = {
    "empty": "",
    "keys": 'model = "x"\n\n[KEY.github]\ncommand = "gh" # c\n',
    "CRLF": "[a]\r\nb = 1\r\n",
    "a comment at the end": "[a]\nb = 1\n# [KEY.dowse]\n",
    "BOM": BOM + "[a]\nb = 1",
    "dotted": "KEY.other.command = 'x'\n",
    "quoted": "[ \"KEY\" . other.env ]\nA = '1' # c",
}
ALIASES = "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
"""A few lines that say a billion values."""
YAML_IN_THE_WILD = {
    "BOM": BOM + "KEY:\n  a:\n    enabled: true\n",
    "CRLF": "KEY:\r\n  a:\r\n    enabled: true\r\n",
    "quoted": '---\n"KEY": # mine\n    a:\n        enabled: true',
    "text that looks like it": "x: |\n  KEY:\n    dowse:\n      cmd: no\n",
    "empty": "",
    "four spaces": "a: 1\nKEY:\n    developer:\n        enabled: true\n",
    "an empty section at the end": "MODE: auto\nKEY:",
    "keys": "# c\nKEY:\n  # d\n  developer:\n    enabled: true\nMODE: auto\n",
}


def texts_of(assistant: Assistant) -> dict[str, str]:
    by_suffix = {".toml": TOML_IN_THE_WILD, ".yaml": YAML_IN_THE_WILD}
    key = assistant.key[0]
    wild = by_suffix.get(Path(assistant.user).suffix, JSON_IN_THE_WILD)
    return {title: text.replace("KEY", key) for title, text in wild.items()}


every_assistant = pytest.mark.parametrize("assistant", known_assistants().values(), ids=list(known_assistants()))


def written_file(places: Places, name: str, text: str | bytes | None) -> tuple[Assistant, Path]:
    """Return an assistant and the file of its servers, which has a text; None for one that is not there."""
    assistant = known_assistants()[name]
    file = assistant.user_file(places)
    file.parent.mkdir(parents=True, exist_ok=True)
    if text is not None:
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return assistant, file


def install(assistant: Assistant, file: Path, arguments: list[str] | None = None) -> ConfigChange:
    change = plan_install(assistant, file, COMMAND, arguments or ARGUMENTS)
    assert not change.problem
    apply_change(change)
    return change


def remove(assistant: Assistant, file: Path) -> None:
    change = plan_removal(assistant, file)
    assert change.action == "removed"
    apply_change(change)


def written_entry(assistant: Assistant, file: Path) -> dict[str, Any] | None:
    return entry_of(file, file.read_bytes().decode(), assistant.path)


@every_assistant
def test_a_file_in_the_wild_is_changed_and_changed_back(places: Places, assistant: Assistant) -> None:
    for title, text in texts_of(assistant).items():
        _, file = written_file(places, assistant.name, text)
        change = install(assistant, file)
        kept = iter(file.read_bytes().decode())
        assert all(character in kept for character in text.rstrip()), "what was there is there in the same order"
        entry = written_entry(assistant, file)
        assert entry is not None, title
        assert assistant.command_of(entry) == [COMMAND, *ARGUMENTS], title
        backup = backup_of(change)
        assert backup is not None, title
        assert backup.read_bytes() == text.encode(), title
        assert plan_install(assistant, file, COMMAND, ARGUMENTS).action == "unchanged", title
        remove(assistant, file)
        assert file.read_bytes() == text.encode(), title
        assert sorted(path.name for path in file.parent.iterdir()) == [file.name], title


@every_assistant
def test_somebodys_later_changes_survive_the_removal(places: Places, assistant: Assistant) -> None:
    for title, text in texts_of(assistant).items():
        _, file = written_file(places, assistant.name, text)
        install(assistant, file)
        comment = "\n# later\n" if file.suffix in (".toml", ".yaml") else "\n// later\n"
        file.write_bytes(file.read_bytes() + comment.encode())
        remove(assistant, file)
        assert written_entry(assistant, file) is None, title
        assert file.read_bytes().decode().endswith(comment), title


@every_assistant
def test_a_file_that_did_not_exist_is_gone_afterwards_with_its_folders(places: Places, assistant: Assistant) -> None:
    file = assistant.user_file(places)
    install(assistant, file)
    assert (file.stat().st_mode & 0o077 == 0) or sys.platform == "win32"
    remove(assistant, file)
    folders = [folder for folder in places.home.rglob("*") if folder not in (places.config, places.support)]
    assert folders == ([] if assistant.name != "opencode" else [file.parent])
    assert places.home.exists()


def test_an_empty_project_is_still_there_afterwards(tmp_path: Path) -> None:
    """Both files of opencode have the same name, but only that of a person has a folder of its own."""
    for name, folder in (("claude-code", "empty"), ("opencode", "opencode")):
        assistant, root = known_assistants()[name], tmp_path / folder
        root.mkdir()
        install(assistant, root / assistant.project)
        remove(assistant, root / assistant.project)
        assert list(root.iterdir()) == []


def test_a_second_install_keeps_the_way_back(places: Places) -> None:
    assistant, file = written_file(places, "cursor", '{"mcpServers": {}}')
    install(assistant, file)
    install(assistant, file, ["serve", "/another"])
    remove(assistant, file)
    assert file.read_text(encoding="utf-8") == '{"mcpServers": {}}'


def test_the_copy_of_a_file_that_somebody_deleted_stays_and_is_not_called_the_file_as_it_was(places: Places) -> None:
    assistant, file = written_file(places, "cursor", '{"mcpServers": {"old": {}}}')
    install(assistant, file)
    file.unlink()
    for arguments in (ARGUMENTS, ["serve", "/another"]):
        assert backup_of(install(assistant, file, arguments)) is None
    remove(assistant, file)
    (backup,) = file.parent.glob("*.json*")
    assert backup.read_text(encoding="utf-8") == '{"mcpServers": {"old": {}}}'


def test_an_entry_that_somebody_wrote_by_hand_is_brought_up_to_date_and_keeps_its_own_keys(places: Places) -> None:
    assistant, file = written_file(
        places, "cursor", '{"mcpServers": {"dowse": {"command": "/old/dowse", "env": {"A": "1"}}}}'
    )
    change = install(assistant, file)
    assert written_entry(assistant, file) == {"command": COMMAND, "env": {"A": "1"}, "args": ARGUMENTS}
    remove(assistant, file)
    assert file.read_text(encoding="utf-8") == '{"mcpServers": {}}', "the entry of before is not restored"
    backup = backup_of(change)
    assert backup is not None
    assert "/old/dowse" in backup.read_text(encoding="utf-8")


@every_assistant
def test_somebodys_own_server_of_this_name_stays(places: Places, assistant: Assistant) -> None:
    file = assistant.user_file(places)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = config_edits.put_entry(
        file, "", assistant.path, assistant.server_entry("/usr/bin/water", ["find", "dowsing"])
    )
    file.write_text(text, encoding="utf-8")
    change = plan_install(assistant, file, COMMAND, ARGUMENTS)
    assert change.action == "skipped"
    assert "starts another program" in change.problem
    assert plan_removal(assistant, file).action == "unchanged"


def test_a_backup_that_somebody_changed_is_not_restored(places: Places) -> None:
    assistant, file = written_file(places, "cursor", '{"mcpServers": {"x": {}}}')
    backup = backup_of(install(assistant, file))
    assert backup is not None
    backup.write_text("{}", encoding="utf-8")
    remove(assistant, file)
    assert file.read_text(encoding="utf-8") == '{"mcpServers": {"x": {}}}'


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("cursor", '{"mcpServers": ', "line 1"),
        ("cursor", '{"mcpServers": []}', "not an object"),
        ("codex", "[a\n", "line 1"),
        ("codex", "mcp_servers = { a = { command = 'x' } }\n", "cannot edit"),
        ("goose", "extensions: [\n", "line 2"),
        ("goose", "extensions: {a: {enabled: true}}\n", "cannot edit"),
        ("codex", f"a{'.a' * 20_000} = 1\n", "nested too deeply"),
        ("codex", f"a = {'[' * 5000}{']' * 5000}\n", "nested too deeply"),
        ("codex", "a = '\0'\n", "invalid character"),
        ("codex", 'x = """\n[mcp_servers.dowse]\n"""\n', "cannot edit"),
        ("goose", ALIASES, "it has aliases"),
        ("goose", f"a: {'[' * 5000}{']' * 5000}\n", "nested too deeply"),
        ("goose", f"a: '{'x' * 3_000_000}'\n", "more than 300,000 characters"),
        ("goose", "a: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
        ("goose", "a: 1\n---\nb: 2\n", "another document"),
        ("cursor", "\udcff", "decode"),
        ("cursor", '{"mcpServers": {"dowse": {}, "dowse": {"command": "x"}}}', "stands in it twice"),
    ],
)
def test_a_malformed_file_is_reported_and_left_alone(places: Places, name: str, text: str, problem: str) -> None:
    assistant, file = written_file(places, name, text.encode(errors="surrogateescape"))
    change = plan_install(assistant, file, COMMAND, ARGUMENTS)
    assert (change.action, problem in change.problem) == ("skipped", True), change.problem
    assert str(file) in change.problem


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", ["cursor", "codex", "goose"])
def test_a_pipe_a_folder_and_a_link_to_a_device_are_left_alone(places: Places, name: str) -> None:
    assistant, file = written_file(places, name, None)
    for make, remove_it in ((os.mkfifo, Path.unlink), (Path.mkdir, Path.rmdir), (link_to_zero, Path.unlink)):
        make(file)
        change = plan_install(assistant, file, COMMAND, ARGUMENTS)
        assert (change.action, "not a regular file" in change.problem) == ("skipped", True), change.problem
        remove_it(file)


def link_to_zero(file: Path) -> None:
    file.symlink_to("/dev/zero")


def test_an_edit_that_would_lose_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty objects count as well."""
    monkeypatch.setattr(json_edits, "put_entry", lambda *_: '{"a": {"dowse": {}}}')
    monkeypatch.setattr(json_edits, "remove_entry", lambda *_: "{}")
    for text in ('{"a": {}, "b": {}}', '{"a": {}, "b": null}'):
        with pytest.raises(ValueError, match="cannot edit"):
            config_edits.put_entry(Path("x.json"), text, ("a", "dowse"), {})
    with pytest.raises(ValueError, match="cannot edit"):
        config_edits.remove_entry(Path("x.json"), '{"a": {"dowse": {}}, "b": {}}', ("a", "dowse"))


def test_a_symlink_stays_one_and_its_target_is_changed(places: Places, tmp_path: Path) -> None:
    assistant = known_assistants()["zed"]
    target = tmp_path / "dotfiles.json"
    target.write_text('{"a": 1}', encoding="utf-8")
    target.chmod(0o640)
    file = assistant.user_file(places)
    file.parent.mkdir(parents=True)
    file.symlink_to(target)
    install(assistant, file)
    assert file.is_symlink()
    assert written_entry(assistant, target) is not None
    assert target.stat().st_mode & 0o777 == 0o640
    remove(assistant, file)
    assert (file.is_symlink(), target.read_text(encoding="utf-8")) == (True, '{"a": 1}')
