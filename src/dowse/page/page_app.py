"""The routes of the page, each behind the same access control as the MCP endpoint.

The modules for search and reading are imported before the server listens, so that the first page does not wait for them.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from dowse.errors import DowseError, ItemNotFound, UsageError
from dowse.federation.federated_search import find_source, source_statuses
from dowse.federation.federation_types import SearchSource, SourceStatus
from dowse.federation.source_list import NoClient, SourceList
from dowse.http.access import BrowserSessions
from dowse.http.app import PageRoutes
from dowse.mcp.error_replies import error_reply
from dowse.page.colouring import Colours
from dowse.page.markup import Html, html
from dowse.page.page_frame import HEADERS, asset, message_page, page, reply
from dowse.page.page_search import find_hits, read_query, running_sources
from dowse.page.reading_view import OpenItem, folder_view, item_view, lines_view, open_item, outline_view
from dowse.page.search_view import (
    COLOUR_SECONDS,
    RELOAD_SECONDS,
    progress_view,
    results_view,
    search_form,
    source_overview,
)
from dowse.parsing.parser_pool import shared_pool
from dowse.types import Coverage

Result = TypeVar("Result")
Handler = Callable[[Request], Awaitable[Response]]

MAX_FORM_BYTES = 16 * 1024
_SIGN_IN = """<section class="message"><h1>Sign in</h1>
<p>This page needs the token that the server was started with.</p>{problem}
<form method="post" action="/sign-in">
<input type="hidden" name="next" value="{next}">
<label for="token">Token</label>
<input id="token" name="token" type="password" required autocomplete="current-password" autofocus>
<button>Sign in</button>
</form>
<p class="about">Signed in already, and here by a link from elsewhere? <a href="{next}">Continue</a></p></section>
"""


@dataclass(frozen=True, slots=True)
class PageAccess:
    """The people that the page is for, and what they may do."""

    is_local: bool = True
    """Only this machine can connect, so that its folders may be named."""
    is_public: bool = False
    needs_token: bool = False
    """MCP clients need a token."""
    is_opened: bool = False
    """The server was started for one browser: no MCP client can connect."""
    allows_changes: bool = False
    """People on other machines may index and forget, too."""

    @property
    def may_change(self) -> bool:
        """Whether the page can index and forget."""
        return not self.is_public and (self.is_local or self.allows_changes)


class BrowserPage:
    """The page of one server."""

    def __init__(self, sources: SourceList, sessions: BrowserSessions, access: PageAccess) -> None:
        self.sources, self.sessions, self.access = sources, sessions, access
        self.colours = Colours()
        self._warm_up: asyncio.Future[None] | None = None

    def routes(self) -> PageRoutes:
        """Return the routes, and the reply to a browser that has to sign in."""

        def get(path: str, handler: Handler) -> Route:
            return Route(path, _with_errors(handler), methods=["GET"])

        routes = [
            get("/", self.search),
            get("/results", self.results),
            get("/progress", self.progress),
            get("/why", self.why),
            get("/read", self.read),
            get("/lines", self.lines),
            get("/outline", self.outline),
            get("/raw", self.raw),
            get("/links", self.links),
            get("/problems", self.problems),
            get("/graph", self.graph),
            get("/status", self.status),
            get("/connect", self.connect),
            Route("/change", _with_errors(self.change), methods=["POST"]),
            Route("/assets/{name}", asset, methods=["GET"]),
            Route("/sign-in", _with_errors(self.sign_in), methods=["GET", "POST"]),
            Route("/{rest:path}", _with_errors(_not_found), methods=["GET"]),
        ]
        return PageRoutes(routes, _sign_in_page)

    async def search(self, request: Request) -> Response:
        """Reply with the whole view of a search."""
        query = read_query(request.query_params)
        sources = await self.sources.find_quickly() or (await self.sources.find(NoClient()))[0]
        if query.q.strip():
            shared_pool().expect(0)  # the process that colours starts beside the search
            found = await self._found(request, RELOAD_SECONDS)
        else:  # the counts follow: indexes that are not open yet take half a second
            running = running_sources(self.sources)
            names = source_overview([_known_status(source, running.get(source.name)) for source in sources])
            found = html('<div data-part="/results">{names}</div>', names=names)
        body = html(
            '{form}<p id="news" role="status"></p><div id="results">{found}</div>',
            form=search_form(query, sources),
            found=found,
        )
        return page("search", f"{query.q[:80]} - dowse" if query.q else "dowse", body)

    async def results(self, request: Request) -> Response:
        """Reply with the results alone, for the script; with the first ones while somebody types."""
        if not request.query_params.get("q", "").strip():
            self._warm_up = asyncio.ensure_future(self.colours.start())
            return reply(source_overview(await self.statuses()))
        found = await _unless_disconnected(request, self._found(request))
        return Response(status_code=204) if found is None else reply(found)

    async def progress(self, request: Request) -> Response:
        """Reply with how far the indexes are that a query searches, for the script."""
        wanted = read_query(request.query_params).source
        statuses = await self.statuses()
        growing = {
            status.name: status.growth
            for status in statuses
            if status.state == "indexing" and wanted in ("", status.name, status.kind)
        }
        return reply(progress_view(growing))

    async def _found(self, request: Request, colour_seconds: float = COLOUR_SECONDS) -> Html:
        query = read_query(request.query_params)
        try:
            found = await find_hits(self.sources, query, is_quick="typed" in request.query_params)
            return await results_view(query, found, self.colours, colour_seconds)
        except UsageError as error:  # half a pattern is no reason for a page of its own
            return html('<p class="note" role="status">{message}</p>', message=error_reply(error)["userMessage"])

    async def why(self, request: Request) -> Response:
        """Reply with the reasons for the place of a hit."""
        from dowse.page.search_view import explain_hit

        body = await explain_hit(self.sources, request.query_params.get("id", ""), request.query_params.get("q", ""))
        return reply(body) if is_part(request) else page("why", "Why this hit? - dowse", body)

    async def read(self, request: Request) -> Response:
        """Reply with a file or document as it is now, or with a folder."""
        item_id = request.query_params.get("id", "")
        if item_id.endswith("/"):
            source, folder = await find_source(self.sources, NoClient(), item_id)
            return page("read", f"{folder or source.name} - dowse", await folder_view(source, folder))
        opened = await self._open(request)
        body = await item_view(opened, self.colours, request.query_params.get("view", ""))
        return page("read", f"{opened.item.title[:80]} - dowse", body)

    async def lines(self, request: Request) -> Response:
        """Reply with some lines in colours, for the script."""
        start, end = (_number(request.query_params.get(name, "")) for name in ("from", "to"))
        return reply(await lines_view(await self._open(request), self.colours, start, end))

    async def outline(self, request: Request) -> Response:
        """Reply with the symbols of a file, for the script."""
        return reply(await outline_view(await self._open(request)))

    async def raw(self, request: Request) -> Response:
        """Reply with the text alone."""
        text = (await self._open(request)).item.text.encode("utf-8", "replace")
        headers = {**HEADERS, "Content-Security-Policy": "default-src 'none'; sandbox"}
        return Response(text, headers=headers, media_type="text/plain; charset=utf-8")

    async def links(self, request: Request) -> Response:
        """Reply with the links of an item, for the script."""
        from dowse.page.link_view import item_links

        return reply(await item_links(self.sources, request.query_params.get("id", "")))

    async def problems(self, request: Request) -> Response:
        """Reply with the broken links of a source."""
        from dowse.page.link_view import problems_view

        name = request.query_params.get("in", "")
        return page("graph", "Broken links - dowse", await problems_view(self.sources, name))

    async def graph(self, request: Request) -> Response:
        """Reply with the graph of the links of a source."""
        from dowse.page.graph_view import graph_page

        return await graph_page(self.sources, request.query_params.get("in", ""))

    async def status(self, request: Request) -> Response:
        """Reply with the status; a browser that may change something gets the cookie for that."""
        from dowse.page.status_view import status_view

        may_change = self.access.may_change
        token = self.sessions.form_token if may_change else None
        body = await status_view(self.sources, await self.statuses(), token, is_public=self.access.is_public)
        if is_part(request):
            return reply(body)
        response = page("status", "Status - dowse", html('<div id="status">{body}</div>', body=body))
        if may_change and not self.sessions.has_cookie(request.headers):
            self.sessions.give_cookie(response, request.headers)
        return response

    async def change(self, request: Request) -> Response:
        """Make a change, after a question."""
        from dowse.page.status_view import Change, make_change, question_view

        form = await read_form(request)
        if not self.access.may_change:
            return error_view(
                request, "Not allowed", "This page is read-only. Start the server with --allow-changes.", 403
            )
        if not self.sessions.may_change(request.headers, form.get("form_token", "")):
            return error_view(request, "Not allowed", "The form is too old. Open the status again.", 403)
        change = Change(form.get("action", ""), form.get("source", ""))
        if form.get("confirm") != "yes":
            return page(
                "status", "Confirm - dowse", await question_view(self.sources, change, self.sessions.form_token)
            )
        await make_change(self.sources, change)
        return RedirectResponse("/status", 303, HEADERS)

    async def connect(self, request: Request) -> Response:
        """Reply with how to connect an assistant."""
        from dowse.page.connect_view import connect_view

        scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else "http"
        address = None if self.access.is_opened else f"{scheme}://{request.headers['host']}/mcp"
        folders = [served.root for served in self.sources.projects.projects] if self.sources.projects else []
        is_here = self.access.is_local and not self.access.is_public
        body = connect_view(address, folders if is_here else None, needs_token=self.access.needs_token)
        return page("connect", "Connect - dowse", body)

    async def _open(self, request: Request) -> OpenItem:
        return await open_item(self.sources, request.query_params.get("id", ""))

    async def sign_in(self, request: Request) -> Response:
        """Exchange the token, or a one-time token in the address, for the cookie."""
        if request.method == "GET":
            if self.sessions.redeem(request.query_params.get("once", "")):
                return self._welcome(request, "/")
            return _sign_in_page(request.scope, "/")
        form = await read_form(request)
        target = _own_address(form.get("next", "/"))
        if not self.sessions.knows(form.get("token", "").strip()):
            return _sign_in_page(
                request.scope, target, "This is not the token. It is in DOWSE_TOKEN or the file of --token-file."
            )
        return self._welcome(request, target)

    def _welcome(self, request: Request, target: str) -> Response:
        response = RedirectResponse(target, 303, HEADERS)
        self.sessions.give_cookie(response, request.headers)
        return response

    async def statuses(self) -> list[SourceStatus]:
        """Return the status of every source."""
        return await source_statuses(self.sources, NoClient())


def _known_status(source: SearchSource, growth: Coverage | None) -> SourceStatus:
    return SourceStatus(source.kind, source.name, "indexing" if growth else "", growth=growth)


def is_part(request: Request) -> bool:
    """Return whether the script asks for a part of a view."""
    return request.headers.get("x-part") == "1"


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 1


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form."""
    from urllib.parse import parse_qsl

    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_FORM_BYTES:
            raise UsageError("The form is too large.")
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=20))


def _with_errors(handler: Handler) -> Handler:
    """Return a handler that replies with a view where something is wrong."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except ItemNotFound as error:
            return error_view(request, "Not found", f"Nothing is shown here: {error}.", 404)
        except UsageError as error:
            return error_view(request, "This cannot be done", error_reply(error)["userMessage"], 400)
        except DowseError as error:
            return error_view(request, "This did not work", error_reply(error)["userMessage"], 503)

    return handle


def error_view(request: Request, title: str, message: str, status: int) -> Response:
    """Return an error as a view, or as a line for the script."""
    if is_part(request):
        return reply(html('<p class="note">{message}</p>', message=message), status)
    return message_page(title, message, status, html('<p><a href="/">Search</a></p>'))


async def _not_found(request: Request) -> Response:
    if "text/html" not in request.headers.get("accept", ""):  # a program asked
        return PlainTextResponse("Not Found", 404)
    return error_view(request, "Not found", "There is no such page here.", 404)


def _sign_in_page(scope: Scope, target: str | None = None, problem: str = "") -> Response:
    if target is None:
        query = scope["query_string"].decode("ascii", "replace")
        target = _own_address(scope["path"] + (f"?{query}" if query else ""))
    shown = html('<p class="warning" role="alert">{problem}</p>', problem=problem) if problem else None
    return page("message", "Sign in - dowse", html(_SIGN_IN, next=target, problem=shown), status=401)


def _own_address(target: str) -> str:
    """Return an address of this page; anything else, such as //example.org, becomes the first page."""
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_own else "/"


async def _unless_disconnected(request: Request, work: Awaitable[Result]) -> Result | None:
    """Do some work; stop it and return None for a browser that has asked for something else meanwhile."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_disconnect(request))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for one in (task, gone):
            one.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await one


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
