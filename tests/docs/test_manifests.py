"""The files by which others install dowse: the plugin, the bundle, the entry of the registry, and the package's addresses."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import dowse
from dowse.cli.assistants.server_check import check_server
from dowse.cli.assistants.start_command import SERVE
from tests.repository import REPOSITORY

NODE_MODULES = REPOSITORY / ".venv" / "node" / "node_modules"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ADDRESS = PROJECT["urls"]["Repository"]


def read(name: str) -> Any:
    return json.loads((REPOSITORY / name).read_text(encoding="utf-8"))


PLUGIN, MARKETPLACE = read(".claude-plugin/plugin.json"), read(".claude-plugin/marketplace.json")
SERVER, BUNDLE = read("server.json"), read("mcpb/manifest.json")


def object_of(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """Return the schema of an object that has these keys and no others."""
    properties = required | optional
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT}
PLAIN_NAME = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
VERSION = {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}
SCHEMAS = {
    "plugin": object_of(
        {
            "name": PLAIN_NAME,
            "version": VERSION,
            "description": TEXT,
            "author": object_of({"name": TEXT}),
            "license": TEXT,
        },
        keywords=TEXTS,
        mcpServers={"type": "object", "additionalProperties": object_of({"command": TEXT}, args=TEXTS)},
    ),
    "marketplace": object_of(
        {
            "name": PLAIN_NAME,
            "owner": object_of({"name": TEXT}),
            "plugins": {
                "type": "array",
                "minItems": 1,
                "items": object_of(
                    {"name": PLAIN_NAME, "source": {"type": "string", "pattern": r"^\./"}}, description=TEXT
                ),
            },
        },
        description=TEXT,
    ),
}
"""The keys of ours that Claude Code 2.1.326 knows: its `claude plugin validate --strict` was run on both files."""

ARGUMENT = {
    "anyOf": [
        object_of({"type": {"const": "named"}, "name": TEXT}, value=TEXT),
        object_of({"type": {"const": "positional"}, "value": TEXT}),
        object_of(
            {"type": {"const": "positional"}, "valueHint": TEXT},
            description=TEXT, format={"enum": ["string", "number", "boolean", "filepath"]},
            isRepeated={"type": "boolean"}, isRequired={"type": "boolean"},
        ),
    ]
}  # fmt: skip
SCHEMAS["server"] = object_of(
    {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "description": TEXT | {"maxLength": 100},
        "version": VERSION,
        "packages": {
            "type": "array",
            "items": object_of(
                {
                    "registryType": {"enum": ["npm", "pypi", "oci", "nuget", "mcpb"]},
                    "identifier": TEXT,
                    "version": VERSION,
                    "transport": object_of({"type": {"const": "stdio"}}),
                },
                runtimeHint=TEXT,
                packageArguments={"type": "array", "items": ARGUMENT},
            ),
        },
    },
    title=TEXT | {"maxLength": 100},
    repository=object_of({"url": {"type": "string", "pattern": "^https://"}, "source": {"enum": ["github", "gitlab"]}}),
)
"""What the registry's schema of 2025-12-11 says about the keys that we use. No package has that schema."""


def test_a_manifest_follows_its_schema() -> None:
    for name, manifest in (("plugin", PLUGIN), ("marketplace", MARKETPLACE), ("server", SERVER)):
        jsonschema.validate(manifest, SCHEMAS[name])


def test_the_manifest_of_the_bundle_follows_the_published_schema() -> None:
    folder = NODE_MODULES / "@anthropic-ai" / "mcpb" / "schemas"
    if not folder.is_dir():
        pytest.skip("NO SCHEMA OF BUNDLES: run `make test`, which installs it")
    schema = json.loads(
        (folder / f"mcpb-manifest-v{BUNDLE['manifest_version']}.schema.json").read_text(encoding="utf-8")
    )
    jsonschema.validate(BUNDLE, schema, format_checker=jsonschema.FormatChecker())


def test_claude_code_accepts_the_plugin(tmp_path: Path) -> None:
    claude = shutil.which("claude")
    if not claude:
        pytest.skip("NO CLAUDE CODE: the plugin was compared with our notes of its schema alone")
    shutil.copytree(REPOSITORY / ".claude-plugin", tmp_path / ".claude-plugin")
    for path in (tmp_path, tmp_path / ".claude-plugin" / "plugin.json"):
        done = subprocess.run(
            [claude, "plugin", "validate", "--strict", str(path)],
            capture_output=True, text=True, check=False, env=os.environ | {"HOME": str(tmp_path)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_manifest_has_the_name_the_version_and_the_description_of_the_package() -> None:
    (listed,), (package,) = MARKETPLACE["plugins"], SERVER["packages"]
    assert {one["version"] for one in (PLUGIN, SERVER, package, BUNDLE)} == {dowse.__version__} == {PROJECT["version"]}
    assert {one["description"] for one in (PLUGIN, listed, SERVER, BUNDLE)} == {PROJECT["description"]}
    assert {PLUGIN["name"], listed["name"], package["identifier"], BUNDLE["name"]} == {PROJECT["name"]}
    assert {PLUGIN["license"], BUNDLE["license"]} == {PROJECT["license"]}
    assert PLUGIN["keywords"] == BUNDLE["keywords"] == PROJECT["keywords"]


def test_the_address_of_the_project_is_the_same_everywhere() -> None:
    owner, name = re.fullmatch(r"https://github\.com/([\w-]+)/([\w-]+)", ADDRESS).groups()  # type: ignore[union-attr]
    assert all(url.startswith(ADDRESS) for url in PROJECT["urls"].values())
    assert SERVER["repository"] == {"url": ADDRESS, "source": "github"}
    assert SERVER["name"] == f"io.github.{owner}/{name}"
    assert f"@{owner}/maintainers" in (REPOSITORY / ".github" / "CODEOWNERS").read_text(encoding="utf-8")
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"<!-- mcp-name: {SERVER['name']} -->" in readme, "the registry looks for this line in the package"


def test_a_release_comes_from_the_address_that_it_names() -> None:
    """The address is a placeholder until the first release, and nobody may be sent to a stranger's repository."""
    if os.environ.get("GITHUB_REF_TYPE") == "tag":
        assert f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}" == ADDRESS


def started_by_plugin() -> list[str]:
    entry = PLUGIN["mcpServers"]["dowse"]
    assert [entry["command"], *entry["args"][:3]] == ["uvx", "--from", "${CLAUDE_PLUGIN_ROOT}", "dowse"]
    assert (REPOSITORY / MARKETPLACE["plugins"][0]["source"]).samefile(REPOSITORY)
    return list(entry["args"][3:])


def started_by_registry() -> list[str]:
    (package,) = SERVER["packages"]
    words = [
        [one["name"], one["value"]] if one["type"] == "named" else [one.get("value", "FOLDER")]
        for one in package["packageArguments"]
    ]
    return [word for some in words for word in some]


def started_by_bundle() -> list[str]:
    config = BUNDLE["server"]["mcp_config"]
    assert [config["command"], *config["args"][:4]] == ["uv", "run", "--directory", "${__dirname}", "server.py"]
    assert BUNDLE["user_config"]["folders"]["multiple"]
    return [word.replace("${user_config.folders}", "FOLDER") for word in config["args"][4:]]


@pytest.mark.parametrize("started_by", [started_by_plugin, started_by_registry, started_by_bundle])
def test_a_manifest_starts_the_server_for_assistants(tmp_path: Path, started_by: Any) -> None:
    words = started_by()
    assert tuple(words[: len(SERVE)]) == SERVE
    assert words[len(SERVE) :] in ([], ["FOLDER"])
    arguments = [str(tmp_path) if word == "FOLDER" else word for word in words]
    assert check_server([sys.executable, "-m", "dowse", *arguments], tmp_path) == ""
