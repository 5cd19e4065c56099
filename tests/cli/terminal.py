"""A pseudo-terminal of a given width that a command runs in."""

import contextlib
import fcntl
import os
import pty
import struct
import termios
from dataclasses import dataclass

from tests.forking import start


@dataclass(frozen=True, slots=True)
class Screen:
    """The output of a command in its terminal, including escape codes."""

    code: int
    raw: str

    @property
    def lines(self) -> list[str]:
        return self.raw.replace("\r\n", "\n").split("\n")


def in_terminal(*arguments: object, typed: str = "", columns: int = 80, **environment: str) -> Screen:
    """Run dowse in a terminal, with input that is typed in advance."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.write(ours, typed.encode())
    with start(
        *arguments, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env=os.environ | {"TERM": "xterm-256color"} | environment,
    ) as child:  # fmt: skip
        os.close(theirs)
        pieces = []
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while piece := os.read(ours, 65536):
                pieces.append(piece)
        code = child.wait(60)
    os.close(ours)
    return Screen(code, b"".join(pieces).decode("utf-8", "replace"))
