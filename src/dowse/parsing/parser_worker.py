"""The program of a parser process: it reads jobs from stdin and writes replies to stdout, until stdin ends.

It may be ended at any moment, by itself or by the system: the process that started it notices and starts another.
"""

import gc
import os
import signal
from typing import Any

from dowse.parsing.parser_jobs import prepare, run_job
from dowse.parsing.parser_limits import KEPT_BYTES, forbid_core_dumps, kept_bytes, limited
from dowse.parsing.parser_messages import read_message, write_message
from dowse.platform import release_memory


def main() -> int:
    """Do jobs until there are no more, or until this process holds too much memory; return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent decides
    forbid_core_dumps()
    requests, replies = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # a library that prints cannot spoil a reply
    gc.disable()  # a file's objects are freed without it; garbage is collected when memory grows
    write_message(replies, {"ready": True})
    while (message := read_message(requests)) is not None:
        fields, data = message
        reply, data = _answer(fields, data)
        is_last = _holds_too_much()
        write_message(replies, reply | {"is_last": is_last}, data)
        del reply, data, message
        if is_last:
            break
    return 0


def _answer(fields: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    try:
        prepare(fields)
        with limited(len(data)):
            return run_job(fields, data)
    except MemoryError:
        return {"problem": "memory"}, b""
    except Exception as error:  # no file may stop the others from being read
        return {"problem": type(error).__name__}, b""


def _holds_too_much() -> bool:
    if kept_bytes() <= KEPT_BYTES:
        return False
    gc.collect()
    release_memory()
    return kept_bytes() > KEPT_BYTES


if __name__ == "__main__":
    try:
        code = main()
    except (BrokenPipeError, KeyboardInterrupt):
        code = 1
    os._exit(code)
