"""A trial start of the server, with the command line that an assistant has in its configuration."""

import contextlib
import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import IO, Any, cast

CHECK_SECONDS = 30.0
"""A server that does not answer within this time does not start; a cold start takes two seconds."""
_KEPT_VARIABLES = ("HOME", "USER", "LANG", "TMPDIR", "DOWSE_HOME", "XDG_CONFIG_HOME", "SYSTEMROOT", "APPDATA", "TEMP")
_DESKTOP_PATH = os.defpath
"""Desktop programs do not have the PATH of a shell."""
_HANDSHAKE: tuple[dict[str, Any], ...] = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "dowse-install", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def check_server(command: list[str], folder: Path) -> str:
    """Start a server as an assistant does, and return what is wrong with it, or an empty text."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    environment = {**kept, "PATH": _DESKTOP_PATH}
    try:
        server = subprocess.Popen(  # noqa: S603 - the user asked for this very command
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment
        )
    except OSError as error:
        return f"{command[0]} cannot be started: {error.strerror or error}"
    with server:
        try:
            return _converse(server)
        finally:
            server.kill()
            with contextlib.suppress(OSError):  # closing sends what is left, to a process that has ended
                cast("IO[bytes]", server.stdin).close()


def _converse(server: "subprocess.Popen[bytes]") -> str:
    if not (server.stdin and server.stdout and server.stderr):
        return "it has no streams"
    lines: queue.Queue[bytes] = queue.Queue()
    errors: list[bytes] = []
    readers = (
        threading.Thread(target=_forward, args=(server.stdout, lines.put), daemon=True),
        threading.Thread(target=_forward, args=(server.stderr, errors.append), daemon=True),
    )
    for reader in readers:
        reader.start()
    try:
        for message in _HANDSHAKE:
            server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        while True:
            line = lines.get(timeout=CHECK_SECONDS)
            if not line:
                break
            reply = json.loads(line)
            if reply.get("id") == _HANDSHAKE[-1]["id"]:
                return "" if reply.get("result", {}).get("tools") else "it offers no tools"
    except queue.Empty:
        return f"it did not answer within {CHECK_SECONDS:.0f} seconds"
    except (OSError, ValueError, AttributeError):
        pass
    readers[1].join(1)
    said = b"".join(errors).decode(errors="replace").strip().splitlines()
    return said[-1] if said else "it ended without an answer"


def _forward(stream: Any, take: Any) -> None:
    """Hand on each line, and an empty one at the end."""
    for line in stream:
        take(line)
    take(b"")
