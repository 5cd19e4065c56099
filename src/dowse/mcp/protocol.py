"""The MCP server: lists tools, checks the arguments of a call, asks users, and sends replies and errors.

It is built on the SDK's `Server`, not on its `MCPServer`, which derives schemas from functions, drops unknown
arguments, and announces prompts and resources that do not exist (docs/design.md).

There are two ways to ask a user. Up to revision 2025-11-25 the server sends a request of its own and waits. Since
2026-07-28 the call ends with the question, and the client calls again with the answer and the sealed state that the
server gave it.

Arguments are checked against the schema that the tool publishes. The schemas use a small part of JSON Schema. Checking
that part here is cheap, while importing a complete JSON Schema library takes 110 ms.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from anyio import move_on_after
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import lifespan as no_lifespan
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool
from mcp_types.version import is_version_at_least

from dowse import __version__
from dowse.errors import CatalogError, ConfirmationNeeded, DowseError, InvalidArgument, UsageError
from dowse.mcp.replies import BUDGET_TOKENS, CHARACTERS_PER_TOKEN, error_reply
from dowse.mcp.resources import Announcer, Resources, ResourceServer, serve_resources
from dowse.mcp.tools import Call, ProseReply, Schema, Tool, ToolProvider
from dowse.system.platform import writing_error
from dowse.visible_text import show_line_breaks

SERVER_NAME = "dowse"

ROOTS_WAIT_SECONDS = 5.0
"""How long to wait for the roots of a client; after that it counts as having none."""

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

MAX_LOGGED_CHARACTERS = 500

_log = logging.getLogger(__name__)
_calls = logging.getLogger("dowse.calls")
"""The log of calls, which `--log-queries` turns on."""


class OpenCalls:
    """Counts the calls that are being answered, to which other work gives way: `with` it, a call is one of them."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    def __enter__(self) -> None:
        self._count += 1
        self._none.clear()

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if not self._count:
            self._none.set()

    async def wait_until_none(self) -> None:
        """Wait until no call is being answered."""
        await self._none.wait()


def make_server(
    tools: ToolProvider,
    *,
    instructions: str,
    lifespan: Lifespan = no_lifespan,
    budget_tokens: int = BUDGET_TOKENS,
    resources: tuple[Resources, Announcer] | None = None,
    open_calls: OpenCalls | None = None,
) -> Server[Any]:
    """Return a server of these tools, which may change between calls, and of resources; it counts its open calls."""
    answering = open_calls or OpenCalls()

    def client_of(context: Any) -> _Call:
        return _Call(context, CallToolRequestParams(name=""), budget_tokens)

    async def list_tools(context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params and params.cursor is not None:
            raise MCPError(code=INVALID_PARAMS, message="The list of tools has one page; ask without a cursor.")
        return ListToolsResult(tools=[_listed_tool(tool) for tool in (await tools(client_of(context))).values()])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        client = _Call(context, params, budget_tokens)
        tool = (await tools(client)).get(params.name)
        if tool is None:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}")
        with answering:
            return await _call_tool(tool, client, params)

    server = ResourceServer(
        SERVER_NAME,
        version=__version__,
        title="dowse: search on this machine",
        instructions=instructions,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=SERVER_NAME))
    if resources:
        serve_resources(server, *resources, client_of)
    return server


def _listed_tool(tool: Tool) -> ListedTool:
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output,
        annotations=ToolAnnotations(
            read_only_hint=tool.is_read_only,
            destructive_hint=tool.is_destructive,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
    )


async def _call_tool(tool: Tool, call: "_Call", params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    try:
        call.arguments = check_arguments(tool, params.arguments)
        _calls.info("%s %s", tool.name, json.dumps(params.arguments or {})[:MAX_LOGGED_CHARACTERS])
        return _tool_result(await tool.run(call))
    except ConfirmationNeeded as needed:
        result: InputRequiredResult = needed.result
        return result
    except DowseError as error:
        return _error_result(tool, error)
    except Exception as error:
        if isinstance(error, OSError) and (refusal := writing_error(error)):
            return _error_result(tool, refusal)
        _log.exception("%s failed", tool.name)
        return _error_result(tool, CatalogError("UNEXPECTED", detail=f"{type(error).__name__}: {error}"))


def _error_result(tool: Tool, error: DowseError) -> CallToolResult:
    return _tool_result(tool.failure(error) if tool.failure else error_reply(error), is_error=True)


def _tool_result(reply: dict[str, Any] | ProseReply | str, *, is_error: bool = False) -> CallToolResult:
    if isinstance(reply, str):
        text = show_line_breaks(reply).encode(errors="replace").decode()
        return CallToolResult(content=[TextContent(text=text)], is_error=is_error)
    content, prose = reply if isinstance(reply, ProseReply) else (reply, None)
    dumped = json.dumps(content, ensure_ascii=False)
    sendable = dumped.encode(errors="replace").decode()
    if sendable != dumped:  # a folder's name may not be Unicode, but the reply has to be
        content = json.loads(sendable)
    text = sendable if prose is None else prose.encode(errors="replace").decode()
    return CallToolResult(content=[TextContent(text=text)], structured_content=content, is_error=is_error)


_ROUNDS_REVISION = "2026-07-28"


class _Call(Call):
    """A call as it comes from the SDK, with the answers to questions of its earlier rounds."""

    def __init__(self, context: Any, params: CallToolRequestParams, budget_tokens: int) -> None:
        self.budget_characters = budget_tokens * CHARACTERS_PER_TOKEN
        self._session, self._request_id, self._params = context.session, context.request_id, params
        self._rounds: dict[str, dict[str, Any]] = json.loads(params.request_state or "{}")

    @property
    def can_ask(self) -> bool:
        capabilities = self._session.client_capabilities
        elicitation = capabilities.elicitation if capabilities else None
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    async def ask(self, key: str, question: str, fields: Mapping[str, Schema] | None = None) -> dict[str, Any] | None:
        schema: Schema = {"type": "object", "properties": dict(fields or {}), "required": list(fields or {})}
        if is_version_at_least(self._session.protocol_version, _ROUNDS_REVISION):
            return self._answer_from_rounds(key, question, schema)
        try:
            result = await self._session.elicit_form(question, schema, related_request_id=self._request_id)
        except MCPError:
            return None
        return _accepted_content(result)

    def _answer_from_rounds(self, key: str, question: str, schema: Schema) -> dict[str, Any] | None:
        known = self._rounds.get(key)
        if known and known["question"] == question:  # an answer counts for its own question alone
            if "answer" not in known:
                known["answer"] = _accepted_content((self._params.input_responses or {}).get(key))
            answer: dict[str, Any] | None = known["answer"]
            return answer
        self._rounds[key] = {"question": question}
        form = ElicitRequestFormParams(message=question, requested_schema=schema)
        raise ConfirmationNeeded(
            InputRequiredResult(
                input_requests={key: ElicitRequest(params=form)}, request_state=json.dumps(self._rounds)
            )
        )

    async def roots(self) -> list[str]:
        capabilities = self._session.client_capabilities
        if not capabilities or capabilities.roots is None or not self._session.can_send_request:
            return []
        with contextlib.suppress(MCPError, ValueError), move_on_after(ROOTS_WAIT_SECONDS):
            # Not `list_roots`, which logs a deprecation warning at every call.
            listed = await self._session.send_request(ListRootsRequest(), ListRootsResult)
            return [str(root.uri) for root in listed.roots]
        return []

    async def progress(self, done: float, total: float | None, message: str) -> None:
        await self._session.report_progress(done, total, message)


def _accepted_content(result: object) -> dict[str, Any] | None:
    if not isinstance(result, ElicitResult) or result.action != "accept":
        return None
    content = dict(result.content or {})
    return None if any(value is False for value in content.values()) else content


_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a string"),
    "number": ((int, float), "a number"),
    "integer": ((int, float), "a whole number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list,), "a list"),
    "object": ((dict,), "an object"),
}
"""The types of Python that a type of the schema allows, and its name in a message."""


def check_arguments(tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a call with defaults filled in; null means absent. Raise UsageError for a wrong one."""
    for name in arguments or {}:
        if name not in tool.arguments:
            known = ", ".join(tool.arguments) or "none"
            raise UsageError(f"{tool.name} has no argument {_display(name)}. It takes: {known}.")
    present = {name: value for name, value in (arguments or {}).items() if value is not None}
    for name in tool.required:
        if name not in present:
            raise InvalidArgument(name, f"{tool.name} needs the argument '{name}'.")
    for name, value in present.items():
        try:
            _check_value(name, value, tool.arguments[name])
        except UsageError as error:
            raise InvalidArgument(name, str(error)) from error
    return {
        name: _normalize(present.get(name, schema.get("default")), schema) for name, schema in tool.arguments.items()
    }


def _normalize(value: Any, schema: Schema) -> Any:
    """Return a whole number as an integer, and a text that can be encoded: JSON may contain lone surrogates."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return int(value) if isinstance(value, float) and _is_whole(schema) else value


def _is_whole(schema: Schema) -> bool:
    return schema["type"] == "integer" or schema.get("multipleOf") == 1


def _check_value(name: str, value: Any, schema: Schema) -> None:
    kind = schema["type"]
    types, wanted = _TYPES[kind]
    has_type = isinstance(value, types)
    if not has_type or (isinstance(value, bool) and kind != "boolean"):
        raise UsageError(f"{name} has to be {wanted}, not {_display(value)}.")
    if "enum" in schema and value not in schema["enum"]:
        raise UsageError(f"{name} has to be one of {', '.join(schema['enum'])}, not {_display(value)}.")
    if kind in ("number", "integer"):
        _check_number(name, value, schema)
    if kind == "string":
        _check_length(name, value, schema)
    if kind == "array":
        for position, item in enumerate(value):
            _check_value(f"{name}[{position}]", item, schema["items"])


def _check_number(name: str, value: Any, schema: Schema) -> None:
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    if (minimum is not None and not value >= minimum) or (maximum is not None and not value <= maximum):
        bounds = f"between {minimum} and {maximum}" if maximum is not None else f"at least {minimum}"
        raise UsageError(f"{name} has to be {bounds}, not {_display(value)}.")
    if _is_whole(schema) and isinstance(value, float) and not value.is_integer():
        raise UsageError(f"{name} has to be a whole number, not {_display(value)}.")


def _check_length(name: str, value: str, schema: Schema) -> None:
    if len(value) > schema.get("maxLength", len(value)):
        raise UsageError(f"{name} has {len(value):,} characters; the maximum is {schema['maxLength']:,}.")
    if schema.get("minLength") and not value.strip():
        raise UsageError(f"{name} is empty. It needs a value.")


def _display(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 200:  # Python refuses to convert very long integers to text
        return "a number of more than 60 digits"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
