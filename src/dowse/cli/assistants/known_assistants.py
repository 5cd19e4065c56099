"""The assistants that dowse knows: where each keeps its MCP servers, and how it writes one."""

import base64
import json
import os
import shutil
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dowse.system.platform import IS_MAC, IS_WINDOWS

SERVER_NAME = "dowse"
GOOSE_TIMEOUT_SECONDS = 300
"""Goose's own default for a server."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders in which programs of this user keep their settings."""

    home: Path
    config: Path
    support: Path

    @classmethod
    def of_this_user(cls) -> "Places":
        """Return the folders of the user who runs dowse."""
        home = Path.home()
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        if IS_MAC:
            return cls(home, config, home / "Library" / "Application Support")
        if IS_WINDOWS:
            return cls(home, config, Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming"))
        return cls(home, config, config)

    def resolve(self, template: str) -> Path:
        """Return the path that a template of the list stands for."""
        return Path(template.format(home=self.home, config=self.config, support=self.support))


@dataclass(frozen=True, slots=True)
class Assistant:
    """An assistant: the files with its servers, as templates, and the form of a server in them."""

    name: str
    title: str
    user: str
    key: tuple[str, ...] = ("mcpServers",)
    entry: str = "plain"
    program: str = ""
    project: str = ""
    workspace: str = ""
    needs_folder: bool = False
    link: str = ""
    signs: tuple[str, ...] = field(default=())
    alternatives: tuple[str, ...] = field(default=())

    @property
    def path(self) -> tuple[str, ...]:
        """The names that lead to the entry of dowse in the file."""
        return (*self.key, SERVER_NAME)

    def is_on_this_machine(self, places: Places) -> bool:
        """Return whether its program or one of its folders is here."""
        if self.program and shutil.which(self.program):
            return True
        return any(os.path.lexists(places.resolve(sign)) for sign in self.signs)

    def user_file(self, places: Places) -> Path:
        """Return the file for one person; of several names that are possible, the one that exists."""
        candidates = [places.resolve(template) for template in (self.user, *self.alternatives)]
        return next((file for file in candidates if os.path.lexists(file)), candidates[0])

    def own_folders(self, file: Path) -> list[Path]:
        """Return the folders that are there for a file of this assistant, the innermost first."""
        templates = (self.user.partition("/")[2], self.project)
        depth = min((one.count("/") for one in templates if one and file.match(one)), default=0)
        return list(file.parents)[:depth]

    def server_entry(self, command: str, arguments: list[str]) -> dict[str, Any]:
        """Return the entry that makes this assistant start a command."""
        plain = {"command": command, "args": arguments}
        match self.entry:
            case "typed":
                return {"type": "stdio", **plain}
            case "list":
                return {"type": "local", "command": [command, *arguments], "enabled": True}
            case "nested":
                return {"transport": {"type": "stdio", **plain}}
            case "local":
                return {"type": "local", **plain, "tools": ["*"]}
            case "goose":
                facts = {"name": SERVER_NAME, "type": "stdio", "enabled": True, "timeout": GOOSE_TIMEOUT_SECONDS}
                return {**facts, "cmd": command, "args": arguments}
        return plain

    def command_of(self, entry: dict[str, Any]) -> list[str]:
        """Return the command line that an entry makes this assistant start."""
        if self.entry == "list":
            return [str(word) for word in entry["command"]]
        inner = entry["transport"] if self.entry == "nested" else entry
        return [str(inner["cmd" if self.entry == "goose" else "command"]), *map(str, inner.get("args", ()))]

    def install_link(self, entry: dict[str, Any]) -> str:
        """Return the link that makes this assistant offer to add the server of an entry; an empty text if it has none."""
        command, *arguments = self.command_of(entry)
        plain = self.server_entry(command, arguments)
        encoded = base64.b64encode(json.dumps(plain, separators=(",", ":")).encode()).decode()
        named = json.dumps({"name": SERVER_NAME, **plain}, separators=(",", ":"))
        return self.link.format(name=SERVER_NAME, base64=quote(encoded, safe=""), json=quote(named, safe=""))


@cache
def known_assistants() -> dict[str, Assistant]:
    """Return every assistant that dowse knows, by name."""
    text = files("dowse.cli.assistants").joinpath("known_assistants.toml").read_text(encoding="utf-8")
    return {name: _assistant(name, facts) for name, facts in tomllib.loads(text).items()}


def _assistant(name: str, facts: dict[str, Any]) -> Assistant:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}
    return Assistant(name, **values)
