"""MCP resources: their definition by a surface, and listing, reading and change notifications by the server."""

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ServerCapabilities,
    SubscriptionsListenRequestParams,
    TextResourceContents,
)
from mcp_types.version import is_version_at_least

from dowse.errors import DowseError, ResourceNotFound
from dowse.mcp.tools import Call
from dowse.screening.masking import find_flags

MAX_FLAGGED_LINES = 100
"""Maximum number of flagged lines that are listed for one text."""
_RESOURCE_NOT_FOUND = -32002
"""Error code of a missing resource up to revision 2025-11-25; later revisions use INVALID_PARAMS."""
_NEW_REVISION = "2026-07-28"


class Resources(Protocol):
    """The resources of a surface."""

    async def begin(self, client: Call) -> None:
        """Start to watch the list for changes."""
        ...

    async def list_page(self, client: Call, cursor: str | None) -> tuple[Sequence[Resource], str | None]:
        """Return a page of the list, and the cursor of the next page."""
        ...

    async def read(self, client: Call, uri: str) -> tuple[str, str]:
        """Return the text of a resource and its MIME type; raise ResourceNotFound if there is none."""
        ...


class ResourceServer(Server[Any]):
    """The SDK's server with our capabilities: the list of resources may change, and there are no subscriptions."""

    def get_capabilities(self, *args: Any, **kwargs: Any) -> ServerCapabilities:
        """Return the capabilities of the handlers, corrected for resources and tools."""
        capabilities = super().get_capabilities(*args, **kwargs)
        if capabilities.resources is not None:
            capabilities.resources.subscribe = False
            capabilities.resources.list_changed = True
        if capabilities.tools is not None:
            capabilities.tools.list_changed = False
        return capabilities


class Announcer:
    """Notifies clients of both revisions that the list of resources has changed."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._connections: weakref.WeakSet[Any] = weakref.WeakSet()

    async def remember_client(self, ctx: Any, call_next: Any) -> Any:
        """Remember a client of the older protocol, which is notified without a subscription."""
        if not is_version_at_least(ctx.session.protocol_version, _NEW_REVISION):
            # A session ends with its request; the connection behind it stays and can be notified.
            self._connections.add(ctx.session._connection)
        return await call_next(ctx)

    async def announce(self) -> None:
        """Notify all clients that the list of resources has changed."""
        await self.bus.publish(ResourcesListChanged())
        for connection in list(self._connections):
            await connection.send_resource_list_changed()  # never fails, even if the client has gone


def serve_resources(
    server: Server[Any], resources: Resources, announcer: Announcer, client_of: Callable[[Any], Call]
) -> None:
    """Add resources to a server."""
    server.middleware.append(announcer.remember_client)
    handle_listen = ListenHandler(announcer.bus)

    async def list_resources(context: Any, params: PaginatedRequestParams | None) -> ListResourcesResult:
        try:
            page, next_cursor = await resources.list_page(client_of(context), params.cursor if params else None)
        except DowseError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from error
        return ListResourcesResult(resources=list(page), next_cursor=next_cursor)

    async def read(context: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        try:
            text, mime_type = await resources.read(client_of(context), uri)
        except ResourceNotFound as error:
            is_new_revision = is_version_at_least(context.session.protocol_version, _NEW_REVISION)
            code = INVALID_PARAMS if is_new_revision else _RESOURCE_NOT_FOUND
            raise MCPError(code=code, message=str(error), data={"uri": uri}) from error
        except DowseError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error), data={"uri": uri}) from error
        contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text, _meta=_warning_metadata(text))
        return ReadResourceResult(contents=[contents])

    async def listen(context: Any, params: SubscriptionsListenRequestParams) -> Any:
        await resources.begin(client_of(context))
        return await handle_listen(context, params)

    async def templates(_context: Any, _params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[])  # clients ask for them, and show an error to the user

    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read)
    server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)


def _warning_metadata(text: str) -> dict[str, Any] | None:
    """Return the content warnings of a text, for its `_meta`."""
    flags = find_flags(text)
    if not flags:
        return None
    return {
        "dowse/flags": sorted({flag.kind for flag in flags}),
        "dowse/flaggedLines": sorted({flag.line for flag in flags})[:MAX_FLAGGED_LINES],
    }
