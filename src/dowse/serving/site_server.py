"""The server that `dowse site serve` is: sites, their surface, and the protocol around them."""

from typing import TYPE_CHECKING, Any

from dowse.serving.protocol import make_server
from dowse.serving.surfaces.sites import INSTRUCTIONS, SitesSurface
from dowse.serving.tools import BUDGET_TOKENS, Call, Tool

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def make_site_server(surface: SitesSurface, budget_tokens: int = BUDGET_TOKENS) -> "Server[Any]":
    """A server of these sites alone."""

    async def tools(_client: Call) -> list[Tool]:
        return list(surface.tools)

    return make_server(tools, instructions=INSTRUCTIONS, budget_tokens=budget_tokens)
