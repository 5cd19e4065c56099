"""The status of every source that `dowse serve` would offer, for `dowse status --all` and with a dowse.toml."""

import asyncio
from typing import TYPE_CHECKING, Any

from dowse.cli.output import CommandReply, SafeText, escape, pluralize, say, show
from dowse.cli.serve_options import ServeOptions, compose_server

if TYPE_CHECKING:
    from dowse.federation.federation_types import SourceStatus

UNUSABLE_STATES = {"not_found", "failed"}
_NOUNS = {"files": "file", "documents": "document", "pages": "page", "chunks": "chunk"}


def show_sources(options: ServeOptions, *, as_json: bool) -> int | CommandReply:
    """Show the status of every source. The exit code is 1 if one of them has failed, or if none can be searched."""
    statuses = _read_statuses(options)
    states = {status.state for status in statuses}
    exit_code = 1 if "failed" in states or states <= UNUSABLE_STATES else 0
    if as_json:
        from dowse.federation.federated_replies import status_reply

        return CommandReply(status_reply(statuses), exit_code)
    for status in statuses:
        show(*_format_line(status))
        if status.problem:
            show(f"  {status.problem}")
    if not statuses:
        say("There is nothing to serve here. Name a folder, or write a dowse.toml: see docs/federation.md")
    return exit_code


def _read_statuses(options: ServeOptions) -> "list[SourceStatus]":
    from dowse.federation.federated_search import source_statuses
    from dowse.federation.source_list import RUN_INDEX, NoClient

    composed = compose_server(options)
    composed.source_list.remedy = RUN_INDEX
    composed.source_list.indexes_projects = False  # a status changes nothing
    try:
        return asyncio.run(source_statuses(composed.source_list, NoClient()))
    finally:
        composed.close()


def _format_line(status: "SourceStatus") -> list[SafeText | str]:
    counts = ", ".join(pluralize(count, _NOUNS[name]) for name, count in status.counts.items())
    updated = f"  updated {status.last_updated}" if status.last_updated else ""
    parts: list[Any] = [escape(status.name, bold=True), f": {status.state}"]
    return [*parts, f"  {counts}" if counts else "", updated]
