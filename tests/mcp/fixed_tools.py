"""A provider of tools for servers of tests."""

from collections.abc import Iterable, Mapping

from dowse.mcp.tools import Call, Tool, ToolProvider


def fixed_tools(tools: Iterable[Tool]) -> ToolProvider:
    """Return a provider of tools that never change."""
    by_name = {tool.name: tool for tool in tools}

    async def provide(_client: Call) -> Mapping[str, Tool]:
        return by_name

    return provide
