"""An audit hook that records network access, started programs and opened files of a Python process."""

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


def _record(event: str, details: tuple[object, ...]) -> None:
    if event == "open" and _NAMES and isinstance(details[0], str | bytes):
        if not os.fsdecode(details[0]).casefold().endswith(_NAMES):
            return
    elif event not in _WATCHED:
        return
    with open(os.environ["DOWSE_GUARD"], "a", encoding="utf-8") as file:
        file.write(json.dumps([event, repr(details)]) + "\n")


if "DOWSE_GUARD" in os.environ:
    sys.addaudithook(_record)
