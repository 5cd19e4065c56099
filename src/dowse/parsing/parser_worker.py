"""The program of a parser process: it reads jobs from stdin and writes replies to stdout, until stdin ends.

It may be ended at any moment, by itself or by the system: the process that started it notices and starts another.
"""

import contextlib
import importlib
import os
from typing import Any

from dowse.errors import DowseError
from dowse.parsing import parser_jobs
from dowse.parsing.grammars import grammar_folder
from dowse.parsing.parser_limits import KEPT_BYTES, forbid_core_dumps, kept_bytes, limited
from dowse.system.child_messages import (
    encode_fields,
    is_too_long,
    open_messages,
    read_message,
    write_encoded,
    write_message,
)
from dowse.system.platform import make_private_folder, release_memory
from dowse.system.sandbox import interpreter_folders, restrict_process
from dowse.system.signals import ignore_interrupts


def main() -> int:
    """Do jobs until there are no more, or until this process holds too much memory; return the exit code."""
    ignore_interrupts()
    forbid_core_dumps()
    with contextlib.suppress(DowseError):  # without it, grammars that are unpacked later could not be read
        make_private_folder(grammar_folder())
    restrict_process([*interpreter_folders(), str(grammar_folder())], [os.devnull])
    requests, replies = open_messages()
    write_message(replies, {"ready": True})
    while (message := read_message(requests)) is not None:
        reply, data = _answer(*message)
        is_last = _holds_too_much()
        write_encoded(replies, _mark_last(reply) if is_last else reply, data)
        del reply, data, message
        if is_last:
            break
    return 0


def _answer(fields: dict[str, Any], data: bytes) -> tuple[bytes, bytes]:
    """Do a job within the limits; return the fields of its reply, which are encoded within the limits too, and its bytes."""
    try:
        jobs = _find_jobs(fields)
        jobs.prepare(fields)
        with limited(len(data)):
            reply, data = jobs.run_job(fields, data)
            encoded = encode_fields(reply)
        if is_too_long(encoded, data):
            return encode_fields({"problem": "too much text"}), b""
    except MemoryError:
        return encode_fields({"problem": "memory"}), b""
    except Exception as error:  # no file may stop the others from being read
        return encode_fields({"problem": type(error).__name__}), b""
    return encoded, data


def _find_jobs(fields: dict[str, Any]) -> Any:
    """Return the module with `prepare` and `run_job`. A request names it, so that this process need not know them all."""
    name = fields.get("module", parser_jobs.__name__)
    if not name.startswith("dowse."):
        raise ValueError(f"{name} has no jobs")
    return importlib.import_module(name)


def _mark_last(reply: bytes) -> bytes:
    """Add to an encoded reply that no other will follow."""
    return reply.removesuffix(b"}") + (b"," if len(reply) > 2 else b"") + b'"is_last":true}'


def _holds_too_much() -> bool:
    if kept_bytes() <= KEPT_BYTES:
        return False
    release_memory()
    return kept_bytes() > KEPT_BYTES


if __name__ == "__main__":
    try:
        code = main()
    except (BrokenPipeError, KeyboardInterrupt):
        code = 1
    os._exit(code)
