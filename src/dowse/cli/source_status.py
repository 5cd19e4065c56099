"""The status of every source that `dowse serve` would offer, for `dowse status --all`."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from dowse.cli.output import CommandReply, SafeText, escape, pluralize, say, show, show_warnings
from dowse.cli.serve_options import ServeOptions, compose_server

if TYPE_CHECKING:
    from dowse.federation.federation_types import SourceStatus
    from dowse.server.composition import ComposedServer

Answer = TypeVar("Answer")

FILE_KINDS = ("project", "documents")
UNUSABLE_STATES = {"not_found", "failed"}
_NOUNS = {"files": "file", "documents": "document", "pages": "page", "chunks": "chunk"}


def reply_with_status(options: ServeOptions, *, is_all: bool) -> CommandReply:
    """Return what the tool get_index_status of the server replies; the exit code is about files alone, or all sources."""
    from dowse.federation.source_list import NoClient

    reply: dict[str, Any] = _ask(options, lambda composed: composed.status(NoClient()))
    show_warnings(reply.get("warnings", []))
    states = {source["state"] for source in reply["sources"] if is_all or source["kind"] in FILE_KINDS}
    return CommandReply(reply, _exit_code(states))


def show_sources(options: ServeOptions) -> int:
    """Show the status of every source. The exit code is 1 if one of them has failed, or if none can be searched."""
    from dowse.federation.federated_search import source_statuses
    from dowse.federation.source_list import NoClient

    statuses = _ask(options, lambda composed: source_statuses(composed.source_list, NoClient()))
    for status in statuses:
        show(*_format_line(status))
        if status.problem:
            show(f"  {status.problem}")
    if not statuses:
        say("There is nothing to serve here. Name a folder.")
    return _exit_code({status.state for status in statuses})


def _exit_code(states: set[str]) -> int:
    return 1 if "failed" in states or states <= UNUSABLE_STATES else 0


def _ask(options: ServeOptions, question: "Callable[[ComposedServer], Coroutine[Any, Any, Answer]]") -> "Answer":
    """Return the answer of the server that the options describe, which indexes nothing for that."""
    from dowse.federation.source_list import RUN_INDEX

    composed = compose_server(options)
    composed.source_list.remedy, composed.source_list.indexes_projects = RUN_INDEX, False
    try:
        return asyncio.run(question(composed))
    finally:
        composed.close()


def _format_line(status: "SourceStatus") -> list[SafeText | str]:
    counts = ", ".join(pluralize(count, _NOUNS[name]) for name, count in status.counts.items())
    updated = f"  updated {status.last_updated}" if status.last_updated else ""
    parts: list[Any] = [escape(status.name, bold=True), f": {status.state}"]
    return [*parts, f"  {counts}" if counts else "", updated]
