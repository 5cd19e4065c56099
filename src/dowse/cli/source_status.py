"""Every source that `dowse serve` would serve here, as a person sees it: for `dowse status --all` and a dowse.toml."""

import asyncio
from typing import TYPE_CHECKING, Any

from dowse.cli.output import CommandReply, SafeText, counted, say, show, shown
from dowse.cli.serve_options import ServeOptions, composed

if TYPE_CHECKING:
    from dowse.federation.federation_types import SourceStatus

UNUSABLE = ("not_found", "failed")
_COUNTED = {"files": "file", "documents": "document", "pages": "page", "chunks": "chunk"}


def show_sources(wish: ServeOptions, *, as_json: bool) -> int | CommandReply:
    """Show how all sources of a wish stand; exit code 1 where none of them can be searched."""
    each = _standings(wish)
    exit_code = 1 if all(one.state in UNUSABLE for one in each) else 0
    if as_json:
        from dowse.federation.federated_replies import overview

        return CommandReply(overview(each), exit_code)
    for one in each:
        show(*_line(one))
        if one.problem:
            show(f"  {one.problem}")
    if not each:
        say("Nothing would be served here. Name a folder, or write a dowse.toml: docs/federation.md")
    return exit_code


def _standings(wish: ServeOptions) -> "list[SourceStatus]":
    from dowse.federation.federated_search import standings
    from dowse.federation.source_list import RUN_INDEX, NoClient

    made = composed(wish)
    made.holdings.remedy = RUN_INDEX
    try:
        return asyncio.run(standings(made.holdings, NoClient()))
    finally:
        made.close()


def _line(one: "SourceStatus") -> list[SafeText | str]:
    counts = ", ".join(counted(count, _COUNTED[name]) for name, count in one.counts.items())
    updated = f"  updated {one.last_updated}" if one.last_updated else ""
    parts: list[Any] = [shown(one.name, bold=True), f": {one.state}"]
    return [*parts, f"  {counts}" if counts else "", updated]
