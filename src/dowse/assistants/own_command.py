"""The command that starts this dowse, for the configuration of an assistant."""

import shutil
import sys
from pathlib import Path

from dowse.errors import Failed
from dowse.platform import IS_WINDOWS

SERVE = ("serve", "--tools", "assistant")
"""The arguments with which an assistant starts the server."""
_UV_CACHE_FOLDER = "archive-v0"
"""uvx runs dowse from a folder of its cache, which it may delete."""


def own_command(*, is_shared: bool) -> list[str]:
    """Return the command that starts this dowse: its full path, or the bare name in a file that others share."""
    if _UV_CACHE_FOLDER in Path(sys.executable).parts and (uvx := shutil.which("uvx")):
        return ["uvx" if is_shared else uvx, "dowse"]
    if is_shared and shutil.which("dowse"):
        return ["dowse"]
    beside = Path(sys.executable).with_name("dowse.exe" if IS_WINDOWS else "dowse")
    found = str(beside) if beside.exists() else shutil.which("dowse")
    if found is None:
        raise Failed("The command dowse is not installed beside this Python. Install dowse with pipx, uv or pip.")
    return [found]
