"""The bundle for desktop programs, unpacked and started as they do."""

import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from bench.installing import REPOSITORY, Environment, clean_environment
from mcp.client.stdio import StdioServerParameters

from mcp import Client
from tests.sample_data import write_tree


@pytest.fixture(scope="module")
def bundle(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, unpacked."""
    folder = tmp_path_factory.mktemp("bundle")
    command = [sys.executable, str(REPOSITORY / "scripts" / "bundle"), str(wheel), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two folders that a user has chosen."""
    apple = write_tree(
        tmp_path / "my fruit", {"pyproject.toml": "", "apple.py": "def peel_apple():\n    return 'red'\n"}
    )
    nut = write_tree(tmp_path / "nuts", {"pyproject.toml": "", "nut.py": "def crack_nut():\n    return 'brown'\n"})
    return [apple, nut]


def manifest(bundle: Path) -> Any:
    return json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))


def command_line(bundle: Path, folders: list[Path]) -> list[str]:
    """Return the command that a desktop program starts: a value with several folders becomes several arguments."""
    config = manifest(bundle)["server"]["mcp_config"]
    words = [config["command"]]
    for word in config["args"]:
        chosen = (
            list(map(str, folders)) if word == "${user_config.folders}" else [word.replace("${__dirname}", str(bundle))]
        )
        words += chosen
    return words


def ask(command: list[str], at: Path) -> tuple[set[str], str]:
    """Start a server; return the names of its tools, and the reply to a question."""
    server = StdioServerParameters(command=command[0], args=command[1:], env=clean_environment(), cwd=at)

    async def converse() -> tuple[set[str], str]:
        async with Client(server) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            reply = await client.call_tool("search", {"query": "crack a nut"})
            return tools, str(reply.content)

    return anyio.run(converse)


def test_it_has_everything_that_its_manifest_names(bundle: Path, wheel: Path) -> None:
    assert (bundle / manifest(bundle)["server"]["entry_point"]).is_file()
    project = tomllib.loads((bundle / "pyproject.toml").read_text(encoding="utf-8"))
    source = bundle / project["tool"]["uv"]["sources"]["dowse"]["path"]
    assert source.read_bytes() == wheel.read_bytes()
    assert project["project"]["version"] == manifest(bundle)["version"]


def test_its_server_has_the_tools_of_the_manifest_and_answers(
    bundle: Path, folders: list[Path], installed: Environment, tmp_path: Path
) -> None:
    words = command_line(bundle, folders)
    runs_in_project = words[: words.index("server.py")]
    assert runs_in_project == ["uv", "run", "--directory", str(bundle)]
    tools, reply = ask([str(installed.python), str(bundle / "server.py"), *words[len(runs_in_project) + 1 :]], tmp_path)
    assert tools == {tool["name"] for tool in manifest(bundle)["tools"]}
    assert "crack_nut" in reply


@pytest.mark.soak  # downloads the dependencies
@pytest.mark.timeout(400)
def test_uv_installs_and_starts_it(bundle: Path, folders: list[Path], tmp_path: Path) -> None:
    if not shutil.which("uv"):
        pytest.skip("NO UV: the bundle was started with the dependencies at hand")
    tools, reply = ask(command_line(bundle, folders), tmp_path)
    assert len(tools) == len(manifest(bundle)["tools"])
    assert "crack_nut" in reply
