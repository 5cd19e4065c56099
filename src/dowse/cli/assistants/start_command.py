"""The command that starts this dowse, as assistants have it in their configuration."""

import filecmp
import json
import os
import shutil
import sys
from pathlib import Path

from dowse.errors import Failed
from dowse.system.platform import IS_WINDOWS

SERVE = ("serve", "--tools", "assistant")
"""The arguments with which an assistant starts the server."""
_UV_CACHE_FOLDER = "archive-v0"
"""uvx runs dowse from a folder of its cache, which it may delete."""
_PIPX_FILE, _PIPX_INSTALLED = "pipx_metadata.json", "venvs"
"""pipx writes this file into its environments. Those outside of this folder are of `pipx run`, which deletes them."""


def own_command(*, is_shared: bool) -> list[str]:
    """Return the command that starts this dowse: its full path, or the bare name in a file that others share.

    pipx and uv install a program into a private folder and link to it from a folder on PATH.
    The private folder may move with an upgrade, so the path is that of the link.
    """
    if runner := _runner():
        program, *arguments = runner
        if found := shutil.which(program):
            return [program if is_shared else found, *arguments]
    if is_shared and shutil.which("dowse"):
        return ["dowse"]
    beside = Path(sys.executable).with_name("dowse.exe" if IS_WINDOWS else "dowse")
    if not beside.exists():
        if found := shutil.which("dowse"):
            return [found]
        raise Failed("The command dowse is not installed beside this Python. Install dowse with pipx, uv or pip.")
    return [str(_link_to(beside) or beside)]


def _runner() -> list[str] | None:
    """Return the command that runs dowse without installing it, if this dowse was started so."""
    environment = Path(sys.prefix)
    if _UV_CACHE_FOLDER in environment.parts:
        return ["uvx", *_origin("--from"), "dowse"]
    if (environment / _PIPX_FILE).exists() and environment.parent.name != _PIPX_INSTALLED:
        return ["pipx", "run", *_origin("--spec"), "dowse"]
    return None


def _origin(option: str) -> list[str]:
    """Return the option that names where this dowse came from, if that was not a package index.

    Without it the command would run the package that an index has under the name of dowse.
    """
    from importlib.metadata import distribution  # 37 ms, for uvx and pipx run alone

    found = json.loads(distribution("dowse").read_text("direct_url.json") or "null")
    if found is None:
        return []
    address, repository = found["url"], found.get("vcs_info")
    if repository:
        revision = repository.get("requested_revision")
        address = f"{repository['vcs']}+{address}" + (f"@{revision}" if revision else "")
    return [option, f"dowse @ {address}"]


def _link_to(program: Path) -> Path | None:
    """Return a link to a program that is on PATH, or by which it was started."""
    folders = [*map(Path, os.get_exec_path()), Path(sys.argv[0]).parent]
    links = (folder / program.name for folder in folders if folder.is_absolute() and folder != program.parent)
    return next((link for link in links if _starts(link, program)), None)


def _starts(link: Path, program: Path) -> bool:
    try:
        if link.parent.samefile(program.parent):
            return False
        # On Windows, pipx and uv copy the program, which has the path of its Python in it.
        return link.samefile(program) or (IS_WINDOWS and filecmp.cmp(link, program, shallow=False))
    except OSError:
        return False
