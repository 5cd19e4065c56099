"""The private socket at which a server answers the hook of an assistant."""

import asyncio
import contextlib
import json
import logging
import os
import socket
import stat
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from dowse.assistants.search_hook import MAX_CALL_BYTES, is_private, socket_folder
from dowse.platform import make_private_folder

READ_SECONDS = 0.5
"""How long a hook may take to send its call; it gives up earlier."""

MAX_CALLS = 4
"""Hooks that are answered at once; the next ones get nothing, since they would give up before their turn."""

Answer = Callable[[Mapping[str, Any]], Awaitable[str]]
"""Returns what is added to the result of a tool call."""


@asynccontextmanager
async def listening(answer: Answer) -> AsyncIterator[None]:
    """Answer the hooks of this user while the block runs. Where no socket can be made, log it and go on."""

    running = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal running
        running += 1
        try:
            if running <= MAX_CALLS and is_own_user(writer.get_extra_info("socket")):
                call = json.loads(await asyncio.wait_for(_read_all(reader), READ_SECONDS))
                if isinstance(call, dict) and (text := await answer(call)):
                    writer.write(_output(call, text))
                    await writer.drain()
        except (TimeoutError, OSError, ValueError, RecursionError):  # not a call, or the hook has given up
            pass
        finally:
            running -= 1
            writer.close()

    try:
        file = _free_socket_file()
        new = file.with_suffix(".new")
        listener = await asyncio.start_unix_server(handle, new)
        new.chmod(0o600)
        new.rename(file)  # no hook sees it before it is private and listens
    except (OSError, AttributeError) as error:  # AttributeError: Windows
        reason = getattr(error, "strerror", None) or "this system has no such sockets"
        logging.getLogger(__name__).warning("The hook gets no answers: %s.", reason)
        yield
        return
    try:
        async with listener:
            yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink()


def is_own_user(connection: Any) -> bool:
    """Return whether the other end belongs to this user. Where the system does not say, the private folder decides."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    _process, user, _group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(user == os.getuid())


def _free_socket_file() -> Path:
    """Return the path of the socket of this process, and remove those of processes that were killed."""
    folder = Path(socket_folder())
    make_private_folder(folder)
    if not is_private(str(folder)):
        raise PermissionError(13, f"{folder} is not private; remove it")
    for file in (*folder.glob("*.sock"), *folder.glob("*.new")):
        with contextlib.suppress(OSError, ValueError):
            if stat.S_ISSOCK(file.lstat().st_mode) and not _is_running(int(file.stem)):
                file.unlink()
    return folder / f"{os.getpid()}.sock"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process != os.getpid()


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    data = bytearray()
    while piece := await reader.read(1 << 16):
        data += piece
        if len(data) > MAX_CALL_BYTES:
            raise ValueError("the call is too long")
    return bytes(data)


def _output(call: Mapping[str, Any], text: str) -> bytes:
    """Return what the hook prints: the same for Claude Code and Codex."""
    event = str(call.get("hook_event_name") or "PostToolUse")
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}).encode()
