"""A trial start of the server, with the command line that an assistant has in its configuration."""

import logging
import os
import tempfile
from pathlib import Path
from typing import TextIO, cast

CHECK_SECONDS = 30.0
"""A server that does not answer within this time does not start; a cold start takes two seconds."""
_KEPT_VARIABLES = ("LANG", "TMPDIR", "DOWSE_HOME", "XDG_CONFIG_HOME")
"""Variables that an assistant's programs have beside those that the SDK passes on."""
_DESKTOP_PATH = os.defpath
"""Desktop programs do not have the PATH of a shell."""


def check_server(command: list[str], folder: Path) -> str:
    """Start a server as an assistant does, and return what is wrong with it, or an empty text."""
    import anyio
    from mcp.shared.exceptions import MCPError

    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # the reply says what is wrong
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            return anyio.run(_list_tools, command, folder, cast("TextIO", errors))
        except OSError as error:
            if not isinstance(error, TimeoutError):
                return f"{command[0]} cannot be started: {error.strerror or error}"
            return f"it did not answer within {CHECK_SECONDS:.0f} seconds"
        except (MCPError, ExceptionGroup):
            errors.seek(0)
            said = errors.read().strip().splitlines()
            return said[-1] if said else "it ended without an answer"


async def _list_tools(command: list[str], folder: Path, errors: TextIO) -> str:
    import anyio
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    server = StdioServerParameters(
        command=command[0], args=command[1:], env={**kept, "PATH": _DESKTOP_PATH}, cwd=folder
    )
    with anyio.fail_after(CHECK_SECONDS):
        async with stdio_client(server, errors) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return "" if (await session.list_tools()).tools else "it offers no tools"
