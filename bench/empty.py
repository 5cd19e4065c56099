"""`python -m bench.empty`: a server whose only tool does nothing, plain or behind dowse's access checks, to compare with."""

import sys
from typing import TYPE_CHECKING

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool

from dowse.mcp.http.access import Admission
from dowse.mcp.http.app import bind, make_app, uvicorn_config

if TYPE_CHECKING:
    from starlette.types import ASGIApp

TOOL = "nothing"
GATED = "--behind-the-gate"
ON_STDIO = "--stdio"


async def _list(_context: object, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name=TOOL, input_schema={"type": "object"})])


async def _call(_context: object, _params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(text="")])


async def _serve_stdio(server: Server[object]) -> None:
    async with stdio_server() as (messages, replies):
        await server.run(messages, replies, server.create_initialization_options())


def main() -> None:
    """Serve with dowse's settings of uvicorn until a signal comes."""
    server = Server[object]("empty", on_list_tools=_list, on_call_tool=_call)
    if ON_STDIO in sys.argv:
        anyio.run(_serve_stdio, server)
        return
    app: ASGIApp = server.streamable_http_app()
    if GATED in sys.argv:
        app = make_app(server, list, Admission(), 0)
    listening = bind("127.0.0.1", 0)
    print(f"empty: serving at http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn_config(app)).run(sockets=[listening])


if __name__ == "__main__":
    main()
