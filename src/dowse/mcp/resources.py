"""Resources as every surface defines them, and as the protocol knows them: listed, read, announced when they change."""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    ServerCapabilities,
    SubscriptionsListenRequestParams,
    TextResourceContents,
)
from mcp_types import Resource as ListedResource
from mcp_types.version import is_version_at_least

from dowse.errors import DowseError, ResourceNotFound
from dowse.mcp.tools import Call
from dowse.screening.instructions import Flag, find_flags

META_PREFIX = "dowse"
"""Before the keys of our own that stand beside what the protocol has."""
MAX_FLAGGED_LINES = 100
"""Lines of one text that are named."""
_RESOURCE_NOT_FOUND = -32002
"""What a missing resource is up to 2025-11-25; since then it is a wrong parameter."""
_NEW_REVISION = "2026-07-28"


@dataclass(frozen=True, slots=True)
class Resource:
    """What is listed of a resource: nothing of its content."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str


class Resources(Protocol):
    """What a surface has to read."""

    async def begin(self, client: Call) -> None:
        """From now on, notice when the list changes."""
        ...

    async def listed(self, client: Call, cursor: str | None) -> tuple[Sequence[Resource], str | None]:
        """A page, and where the next begins."""
        ...

    async def read(self, client: Call, uri: str) -> tuple[str, str]:
        """The text of a resource and its type; NoSuchResource where there is none."""
        ...


class ResourceServer(Server[Any]):
    """The SDK's server with what we announce: lists that change, and nothing to subscribe to."""

    def get_capabilities(self, *how: Any, **more: Any) -> ServerCapabilities:
        """What the handlers allow, but for what is said of resources and tools."""
        capabilities = super().get_capabilities(*how, **more)
        if capabilities.resources is not None:
            capabilities.resources.subscribe = False
            capabilities.resources.list_changed = True
        if capabilities.tools is not None:
            capabilities.tools.list_changed = False
        return capabilities


class Announcer:
    """Tells clients of both revisions that a list has changed."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._connections: weakref.WeakSet[Any] = weakref.WeakSet()

    async def meet(self, ctx: Any, call_next: Any) -> Any:
        """Remember whoever speaks the older protocol, and is told without having asked."""
        if not is_version_at_least(ctx.session.protocol_version, _NEW_REVISION):
            # A session lives as long as a request; what stays, and can be told something, is behind it.
            self._connections.add(ctx.session._connection)
        return await call_next(ctx)

    async def announce(self) -> None:
        """The list of resources is another one."""
        await self.bus.publish(ResourcesListChanged())
        for connection in list(self._connections):
            await connection.send_resource_list_changed()  # never fails, whether or not anybody listens


def serve_resources(
    server: Server[Any], resources: Resources, announcer: Announcer, client_of: Callable[[Any], Call]
) -> None:
    """Add resources to a server."""
    server.middleware.append(announcer.meet)
    heard = ListenHandler(announcer.bus)

    async def listed(context: Any, params: PaginatedRequestParams | None) -> ListResourcesResult:
        try:
            found, following = await resources.listed(client_of(context), params.cursor if params else None)
        except DowseError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from error
        return ListResourcesResult(resources=[_listed_resource(one) for one in found], next_cursor=following)

    async def read(context: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        try:
            text, mime_type = await resources.read(client_of(context), uri)
        except ResourceNotFound as error:
            is_new = is_version_at_least(context.session.protocol_version, _NEW_REVISION)
            code = INVALID_PARAMS if is_new else _RESOURCE_NOT_FOUND
            raise MCPError(code=code, message=str(error), data={"uri": uri}) from error
        except DowseError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error), data={"uri": uri}) from error
        contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text, _meta=_warning_metadata(text))
        return ReadResourceResult(contents=[contents])

    async def listen(context: Any, params: SubscriptionsListenRequestParams) -> Any:
        await resources.begin(client_of(context))
        return await heard(context, params)

    async def templates(_context: Any, _params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[])  # clients ask, and an error would alarm people

    server.add_request_handler("resources/list", PaginatedRequestParams, listed)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read)
    server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)


def _warning_metadata(text: str) -> dict[str, Any] | None:
    """What a text that is read whole is to be read with care for."""
    flags = find_flags(text)
    if not flags:
        return None
    return {
        f"{META_PREFIX}/flags": sorted({one.kind for one in flags}),
        f"{META_PREFIX}/flaggedLines": _flagged_lines(flags),
    }


def _flagged_lines(flags: Sequence[Flag]) -> list[int]:
    return sorted({one.line for one in flags})[:MAX_FLAGGED_LINES]


def _listed_resource(resource: Resource) -> ListedResource:
    return ListedResource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description or None,
        mime_type=resource.mime_type,
    )
