"""The public face of dowse: commands and options, the names that a program imports, exit codes, tools and schemas, settings, and stored files.

`python -m tests.docs.public_face` records it in `public_face.json`, whose difference says how the version changes.
"""

import inspect
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
import click

import dowse as dowse_package
from dowse import errors
from dowse.cli.command_list import dowse
from dowse.cli.composition import ComposedServer, Offer
from dowse.keeping.served_index import Service
from dowse.settings import _KEYS, Settings
from mcp import Client
from tests import forking

RECORDED = Path(__file__).with_name("public_face.json")
_TEXTS = ("description", "title")


def public_face() -> dict[str, Any]:
    """Return everything that a user or a program can depend on, without its texts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        return {
            "commands": dict(
                _commands(dowse, click.Context(dowse, info_name="dowse", help_option_names=["-h", "--help"]))
            ),
            "exit codes": sorted({error.exit_code for error in _error_classes()}),
            "error codes": sorted({error.code for error in _error_classes()}),
            "library": dict(_library()),
            "tools": anyio.run(_tools, folder),
            "settings": {key: _plain(getattr(Settings(), field)) for key, (field, _) in sorted(_KEYS.items())},
            "files": _files(folder),
        }


def _commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, Any]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _commands(inner, click.Context(inner, info_name=name, parent=context))
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield context.command_path, {" ".join(option.opts): _option(option) for option in command.params}


def _option(option: click.Parameter) -> str:
    choices = "|".join(map(str, option.type.choices)) if isinstance(option.type, click.Choice) else option.type.name
    return f"{choices}, required" if option.required else choices


def _error_classes() -> list[type[errors.DowseError]]:
    kinds = (value for value in vars(errors).values() if isinstance(value, type))
    return [kind for kind in kinds if issubclass(kind, errors.DowseError)]


def _library() -> Iterator[tuple[str, str]]:
    """Yield the public names of the package with their parameters; of a class, its methods and the fields of its values."""
    for name in dowse_package.__all__:
        value = getattr(dowse_package, name)
        if not isinstance(value, type):
            continue
        yield name, _parameters(value) if value.__name__ == name else value.__name__
        for method, function in inspect.getmembers(value, inspect.isfunction):
            if not method.startswith("_") and value.__name__ == name:
                yield f"{name}.{method}", _parameters(function)


def _parameters(function: Any) -> str:
    """Return the names and defaults of parameters; the types are written differently by each version of Python."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # an exception has none
        return ""
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(inspect.Signature(bare))


async def _tools(folder: Path) -> dict[str, Any]:
    roots = [folder / "one"]
    roots[0].mkdir()
    with patch.dict(os.environ, {"RESEARCH_ARCHIVE_PATH": str(roots[0]), "DOWSE_HOME": str(folder / "home")}):
        server: Any = ComposedServer(Service(roots), roots[0], Offer(level="full")).server()
        async with Client(server) as client:
            listed = (await client.list_tools()).tools
    return {
        tool.name: {"arguments": _without_texts(tool.input_schema), "reply": _without_texts(tool.output_schema)}
        for tool in sorted(listed, key=lambda tool: tool.name)
    }


def _without_texts(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_texts(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_texts(value)
        for key, value in sorted(schema.items())
        if key not in _TEXTS or not isinstance(value, str)
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else list(value)


def _files(folder: Path) -> list[str]:
    """Return the names that an index consists of; `*` stands for numbers that differ."""
    project, home = folder / "project", folder / "storage"
    project.mkdir()
    (project / "a.md").write_text("# Apple\n", encoding="utf-8")
    for command in (["index", project], ["related", project / "a.md"]):  # the second one reads references
        code, _, problem = forking.run(*command, env=os.environ | {"DOWSE_HOME": str(home)})
        assert code in (0, 1), problem
    names = set()
    for path in home.rglob("*"):
        names.add(re.sub(r"[0-9a-f]{8,}", "*", "/".join(path.relative_to(home).parts[:3])))
    return sorted(names)


def record() -> str:
    """Return the public face as it is recorded."""
    return json.dumps(public_face(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    RECORDED.write_text(record(), encoding="utf-8")
    forking.stop()
