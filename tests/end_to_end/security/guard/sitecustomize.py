"""An audit hook that records network access, started programs, opened files and imports of a Python process."""

import json
import os
import sys

_WATCHED = {
    "socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname",
    "urllib.Request", "http.client.connect", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn",
    "pickle.find_class",
}  # fmt: skip


_NAMES = tuple(filter(None, os.environ.get("DOWSE_GUARD_NAMES", "").split("|")))
"""Files whose opening is recorded, by the end of their path."""


_MODULES = frozenset(filter(None, os.environ.get("DOWSE_GUARD_MODULES", "").split("|")))
"""Modules whose import is recorded, with the command of the process."""


def _record(event: str, details: tuple[object, ...]) -> None:
    if event == "import":
        if details[0] not in _MODULES:
            return
        details = (details[0], *sys.orig_argv)
    elif event == "open" and _NAMES and isinstance(details[0], str | bytes):
        if not os.fsdecode(details[0]).casefold().endswith(_NAMES):
            return
    elif event not in _WATCHED:
        return
    os.write(_EVENTS, (json.dumps([event, repr(details)]) + "\n").encode())


if "DOWSE_GUARD" in os.environ:
    _EVENTS = os.open(
        os.environ["DOWSE_GUARD"], os.O_WRONLY | os.O_APPEND
    )  # now, because a sandbox opens nothing later
    sys.addaudithook(_record)
