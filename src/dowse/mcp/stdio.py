"""The stdio transport. Only protocol messages go to stdout, and the process ends when the client does."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowse.system.signals import exit_after, on_stop_signals

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage

EXIT_SECONDS = 1.5
"""How long running work may take to end after the client has gone."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The file descriptors of the connection with the client."""

    reading: int
    writing: int


def take_stdio() -> Wire:
    """Reserve stdin and stdout for the protocol; from now on, printed text goes to stderr.

    Call this before heavy imports, since a library may print while it is imported. A signal that comes during
    the imports ends the process at once: there is nothing to save yet, and an import may swallow an interrupt.
    """
    on_stop_signals(lambda *_: _exit(0))
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    return wire


def serve_stdio(wire: Wire, server: "Server[Any]") -> None:
    """Serve until the client goes away or a signal comes, then end the process.

    The process ends by `os._exit`, because the interpreter would wait for the thread that reads stdin.
    """
    import anyio

    code = 0
    try:
        anyio.run(_serve, wire, server)
    except KeyboardInterrupt:
        pass
    except BaseException:
        logging.getLogger(__name__).exception("the server failed")
        code = 3
    finally:
        _exit(code)


async def _serve(wire: Wire, server: "Server[Any]") -> None:
    import anyio
    from mcp.shared.message import SessionMessage

    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    replies, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    loop = asyncio.get_running_loop()
    async with anyio.create_task_group() as tasks:

        def leave(*_: object) -> None:
            """End in order, and within EXIT_SECONDS in any case, as when the client goes."""
            exit_after(EXIT_SECONDS, 0)
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                loop.call_soon_threadsafe(tasks.cancel_scope.cancel)

        on_stop_signals(leave)
        tasks.start_soon(_read, wire.reading, incoming, replies.clone())
        tasks.start_soon(_write, wire.writing, outgoing, leave)
        await server.run(received, replies, server.create_initialization_options())


async def _read(
    descriptor: int,
    incoming: "MemoryObjectSendStream[SessionMessage | Exception]",
    replies: "MemoryObjectSendStream[SessionMessage]",
) -> None:
    """Pass on the messages of the client until it goes away."""
    from anyio import BrokenResourceError, to_thread
    from mcp.shared.message import SessionMessage

    from dowse.errors import InvalidMessage
    from dowse.mcp.jsonrpc_lines import read_message

    file = os.fdopen(descriptor, "rb", closefd=False)
    with contextlib.suppress(BrokenResourceError):  # the server has ended before its client
        async with incoming, replies:
            while True:
                try:
                    message = await to_thread.run_sync(read_message, file, abandon_on_cancel=True)
                except InvalidMessage as error:
                    await replies.send(SessionMessage(error.refusal))
                    continue
                if message is None:
                    break
                await incoming.send(SessionMessage(message))
            exit_after(EXIT_SECONDS, 0)


async def _write(
    descriptor: int, outgoing: "MemoryObjectReceiveStream[SessionMessage]", leave: Callable[[], None]
) -> None:
    """Write messages until there are no more, or until the client stops reading."""
    from anyio import to_thread

    from dowse.mcp.jsonrpc_lines import format_line

    with os.fdopen(descriptor, "wb", buffering=0, closefd=False) as file:
        async with outgoing:
            async for outgoing_message in outgoing:
                try:
                    await to_thread.run_sync(_write_all, file, format_line(outgoing_message.message))
                except OSError:
                    leave()


def _write_all(file: Any, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[file.write(left) :]


def _exit(code: int) -> None:
    try:
        sys.stderr.flush()
    finally:
        os._exit(code)
