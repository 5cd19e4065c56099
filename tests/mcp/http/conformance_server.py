"""A server with the tools that the MCP conformance suite calls: `python -m tests.mcp.http.conformance_server`.

The tools are built like those of every surface (`Tool`, `Call`, `make_server`) and are behind the same access
control, so that the suite tests how dowse transports calls, errors, progress and elicitation.
"""

import json
import sys
from typing import Any

import uvicorn

from dowse.errors import DowseError
from dowse.mcp.http.access import Admission
from dowse.mcp.http.app import make_app
from dowse.mcp.http.uvicorn_server import bind, uvicorn_config
from dowse.mcp.protocol import make_server
from dowse.mcp.tools import Call, ProseReply, Schema, Tool
from tests.mcp.fixed_tools import fixed_tools

NAME: dict[str, Schema] = {"name": {"type": "string"}}
OK: dict[str, Schema] = {"ok": {"type": "boolean"}}
DEFAULTS: dict[str, Schema] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}


async def simple_text(_call: Call) -> ProseReply:
    return ProseReply({}, "This is a simple text response for testing.")


async def error(_call: Call) -> ProseReply:
    raise DowseError("This tool intentionally returns an error for testing")


async def progress(call: Call) -> ProseReply:
    for done in (0, 50, 100):
        await call.progress(done, 100, f"{done} of 100")
    return ProseReply({}, "Done.")


async def elicitation(call: Call) -> ProseReply:
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    return _format_answer(await call.ask("user", str(call.arguments["message"]), fields))


async def defaults(call: Call) -> ProseReply:
    return _format_answer(await call.ask("user", "Who are you?", DEFAULTS))


async def user_name(call: Call) -> ProseReply:
    answer = await call.ask("user_name", "What is your name?", NAME)
    return ProseReply({}, f"Hello, {(answer or {}).get('name')}!")


async def request_state(call: Call) -> ProseReply:
    await call.ask("confirm", "Please confirm", OK)
    return ProseReply({}, "state-ok")


async def multi_round(call: Call) -> ProseReply:
    first = await call.ask("step1", "Step 1: What is your name?", NAME)
    second = await call.ask("step2", "Step 2: What is your favorite color?", {"color": {"type": "string"}})
    return _format_answer({**(first or {}), **(second or {})})


def _format_answer(answer: dict[str, Any] | None) -> ProseReply:
    return ProseReply({}, f"action={'decline' if answer is None else 'accept'}, content={json.dumps(answer)}")


def _tool(name: str, run: Any, **arguments: Schema) -> Tool:
    return Tool(name, name, "For the conformance suite", run, {"type": "object"}, arguments, tuple(arguments))


TOOLS = [
    _tool("test_simple_text", simple_text),
    _tool("test_error_handling", error),
    _tool("test_tool_with_progress", progress),
    _tool("test_elicitation", elicitation, message={"type": "string"}),
    _tool("test_elicitation_sep1034_defaults", defaults),
    _tool("test_input_required_result_elicitation", user_name),
    _tool("test_input_required_result_request_state", request_state),
    _tool("test_input_required_result_tampered_state", request_state),
    _tool("test_input_required_result_multi_round", multi_round),
    _tool("test_streaming_elicitation", user_name),
]


def main() -> None:
    """Serve until a signal arrives."""

    app = make_app(make_server(fixed_tools(TOOLS), instructions="For the conformance suite."), list, Admission(), 0)
    listening = bind("127.0.0.1", 0)
    print(f"suite: serving at http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn_config(app)).run(sockets=[listening])


if __name__ == "__main__":
    main()
