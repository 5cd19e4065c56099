"""A server on stdin and stdout: nothing but the protocol on the wire, and gone when the client is."""

import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

LEAVE_SECONDS = 1.5
"""How long what goes on may take to end once the client has gone."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The descriptors that the client reads and writes."""

    reading: int
    writing: int


def take_the_wire() -> Wire:
    """Keep stdin and stdout for the protocol: from here on all that is printed goes to stderr.

    Done before anything heavy is imported, since a library may print while it is.
    """
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    return wire


def run_on(wire: Wire, server: "Server[Any]") -> None:
    """Serve until the client goes away, then end the process.

    By `os._exit`: the thread that reads stdin cannot be stopped, and the interpreter would wait for it.
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
        _end(code)


async def _serve(wire: Wire, server: "Server[Any]") -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    written = anyio.wrap_file(TextIOWrapper(os.fdopen(wire.writing, "wb"), encoding="utf-8"))
    async with stdio_server(_Lines(wire.reading), written) as (reading, writing):  # type: ignore[arg-type]
        await server.run(reading, writing, server.create_initialization_options())


class _Lines:
    """What the client writes, line by line; at its end the process has a moment left."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "rb", closefd=False)

    async def __aiter__(self) -> AsyncIterator[str]:
        import anyio

        text = TextIOWrapper(self._file, encoding="utf-8", errors="replace")
        async for line in anyio.wrap_file(text):
            if line.strip():
                yield line
        leave = threading.Timer(LEAVE_SECONDS, _end, (0,))
        leave.daemon = True
        leave.start()


def _end(code: int) -> None:
    try:
        sys.stderr.flush()
    finally:
        os._exit(code)
