"""Assistants get a command that is still there after an upgrade of dowse."""

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from bench.installing import SCRIPTS, clean_environment

from dowse.cli.assistants import start_command
from dowse.cli.assistants.start_command import own_command
from dowse.errors import Failed

PIPX, UV = ".local/share/pipx/venvs/dowse", ".local/share/uv/tools/dowse"
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="pipx and uv copy programs there")


def make_installation(folder: Path, origin: object = None) -> Path:
    """Make an environment that runs this dowse, as pipx and uv make one; return its program.

    The origin is what installers write about a package that does not come from an index.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    source = Path(start_command.__file__).parents[3]
    (packages / "lent.pth").write_text(f"{source}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    about = packages / "dowse-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: dowse\nVersion: 0.1.0\n", encoding="utf-8")
    if origin:
        (about / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    program = folder / SCRIPTS / "dowse"
    program.write_text(f"#!{folder / SCRIPTS / 'python'}\nfrom dowse.cli import main\nmain()\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def link(home: Path, program: Path) -> Path:
    shim = home / ".local" / "bin" / "dowse"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.symlink_to(program)
    return shim


def written_command(home: Path, started: Path | str, *more: str, path: Path | str = "") -> list[str]:
    """Run `dowse install` in a home folder; return the command line that it plans for Cursor."""
    (home / ".cursor").mkdir(exist_ok=True)
    environment = clean_environment() | {"HOME": str(home), "DOWSE_HOME": str(home / "storage"), "PATH": str(path)}
    done = subprocess.run(
        [str(started), "install", *more, "--agent", "cursor", "--dry-run", "--json"],
        cwd=home, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)["assistants"][0]["diff"].splitlines()
    entry = json.loads("".join(line[1:] for line in lines[3:]))["mcpServers"]["dowse"]
    return [entry["command"], *entry["args"]]


@needs_links
@pytest.mark.parametrize("private", [PIPX, UV])
def test_the_link_is_written_and_not_the_private_folder_whether_it_is_on_path_or_not(
    tmp_path: Path, private: str
) -> None:
    """After the first `pipx install` on a machine, ~/.local/bin is not on PATH before the next login."""
    shim = link(tmp_path, make_installation(tmp_path / private))
    assert written_command(tmp_path, shim, path=shim.parent)[0] == str(shim)
    assert written_command(tmp_path, shim, "--project", path=shim.parent)[0] == "dowse"
    assert written_command(tmp_path, shim, path="/usr/bin")[0] == str(shim)


@needs_links
def test_another_dowse_on_path_is_not_written(tmp_path: Path) -> None:
    program = make_installation(tmp_path / "project" / ".venv")
    other = link(tmp_path, make_installation(tmp_path / PIPX))
    assert written_command(tmp_path, program, path=f"{other.parent}:{program.parent}")[0] == str(program)


WHEEL = {"url": "file:///home/me/dowse.whl", "archive_info": {}}
BRANCH = {
    "url": "https://example.org/dowse.git",
    "vcs_info": {"vcs": "git", "commit_id": "4" * 40, "requested_revision": "main"},
}
REPOSITORY = {"url": "https://example.org/dowse.git", "vcs_info": {"vcs": "git", "commit_id": "4" * 40}}


@needs_links
@pytest.mark.parametrize(
    ("origin", "address"),
    [
        (None, ""),
        (WHEEL, "dowse @ file:///home/me/dowse.whl"),
        (BRANCH, "dowse @ git+https://example.org/dowse.git@main"),
        (REPOSITORY, "dowse @ git+https://example.org/dowse.git"),
    ],
    ids=["index", "wheel", "branch", "repository"],
)
@pytest.mark.parametrize(
    ("folder", "file", "first", "option"),
    [
        (".cache/pipx/4012da6501da99d", "pipx_metadata.json", ["pipx", "run"], "--spec"),
        (".cache/uv/archive-v0/mISBrHJTIxxZEKlK", "", ["uvx"], "--from"),
    ],
    ids=["pipx", "uv"],
)
def test_a_folder_that_will_be_deleted_is_not_written(
    tmp_path: Path, folder: str, file: str, first: list[str], option: str, origin: object, address: str
) -> None:
    """The command that runs dowse without installing it is written, with the origin that it was given."""
    program = make_installation(tmp_path / folder, origin)
    if file:
        (tmp_path / folder / file).write_text("{}", encoding="utf-8")
    runner = tmp_path / "bin" / first[0]
    runner.parent.mkdir()
    runner.write_text("#!/bin/sh\n", encoding="utf-8")
    runner.chmod(0o755)
    arguments = [*first[1:], *([option, address] if address else []), "dowse", "serve", "--tools", "assistant"]
    assert written_command(tmp_path, program, path=runner.parent) == [str(runner), *arguments]
    shared = [first[0], *arguments, "${workspaceFolder}"]
    assert written_command(tmp_path, program, "--project", path=runner.parent) == shared


def test_a_copy_of_the_program_counts_as_its_link_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows was not at hand: pipx and uv document that they copy programs there."""
    for name in ("venvs", "bin", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "venvs" / "dowse.exe").write_bytes(b"program with the path of its Python")
    (tmp_path / "other" / "dowse.exe").write_bytes(b"program with the path of another one")
    shutil.copy(tmp_path / "venvs" / "dowse.exe", tmp_path / "bin" / "dowse.exe")
    monkeypatch.setattr(start_command, "IS_WINDOWS", True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venvs" / "python.exe"))
    monkeypatch.setattr("os.get_exec_path", lambda: [str(tmp_path / name) for name in ("other", "bin", "venvs")])
    assert own_command(is_shared=False) == [str(tmp_path / "bin" / "dowse.exe")]


def test_a_python_without_the_command_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failed, match="not installed beside this Python"):
        own_command(is_shared=False)
