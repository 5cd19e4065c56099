"""The routes of the page, each behind the same access control as the MCP endpoint.

The modules for search and reading are imported before the server listens, so that the first page does not wait for them.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from dowse.errors import DowseError, ItemNotFound, UsageError
from dowse.federation.federated_search import find_source, source_statuses
from dowse.federation.federation_types import SourceStatus
from dowse.federation.source_list import SourceList
from dowse.mcp.http.access import BrowserSessions
from dowse.mcp.http.app import PageRoutes
from dowse.mcp.replies import error_reply
from dowse.mcp.tools import Call
from dowse.page.beside_view import (
    find_by_name,
    find_page,
    links_view,
    outline_view,
    related_view,
    symbol_history,
    symbol_view,
    tree_view,
)
from dowse.page.folder_view import find_overviews, folder_address, folder_view, home_view
from dowse.page.history_view import ProjectQuestions, commit_view, history_view
from dowse.page.item_links import editor_address, read_picture, root_name, ways_from
from dowse.page.markup import Html, html
from dowse.page.page_frame import HEADERS, PageAccess, SignIn, asset, error_view, is_part, page, read_form, reply
from dowse.page.page_search import PageQuery, find_hits, read_query, running_roots
from dowse.page.page_texts import PageTexts
from dowse.page.reading_view import TITLE_CHARACTERS, item_title, item_view, lines_view, open_item
from dowse.page.search_view import COLOUR_SECONDS, RELOAD_SECONDS, filters_view, results_view, why_view
from dowse.page.status_view import make_change, progress_view, question_view, status_view
from dowse.parsing.parser_pool import shared_pool

Result = TypeVar("Result")
Handler = Callable[[Request], Awaitable[Response]]
View = Callable[..., Awaitable[Html]]

_RAW_POLICY = "default-src 'none'; sandbox"


class BrowserPage:
    """The page of one server."""

    def __init__(self, sources: SourceList, sessions: BrowserSessions, access: PageAccess) -> None:
        self.sources, self.sessions, self.access = sources, sessions, access
        self.questions = ProjectQuestions(sources)
        self.texts = PageTexts()
        self._warm_up: asyncio.Future[None] | None = None

    def routes(self) -> PageRoutes:
        """Return the routes, and the reply to a browser that has to sign in."""
        sources, questions = self.sources, self.questions
        sign_in = SignIn(self.sessions, self.access)
        handlers = ("results", "progress", "find", "read", "raw", "picture", "history", "commit", "status")
        views: dict[str, tuple[str, View, tuple[str, ...]]] = {
            "why": ("Why this hit?", partial(why_view, sources), ("id", "q")),
            "lines": ("Lines", partial(lines_view, sources, self.texts), ("id", "from", "to")),
            "tree": ("Files", partial(tree_view, sources), ("id",)),
            "outline": ("Outline", partial(outline_view, sources, self.texts), ("id",)),
            "links": ("Links", partial(links_view, sources), ("id",)),
            "related": ("Related files", partial(related_view, questions), ("id",)),
            "symbol": ("{1:.80}", partial(symbol_view, questions), ("id", "name")),
            "symbol-history": ("{1:.80}", partial(symbol_history, questions), ("in", "name", "path")),
        }
        routes = [
            _get("", self.search),
            *(_get(name, getattr(self, name)) for name in handlers),
            *(_get(name, _shown(name, *view)) for name, view in views.items()),
            Route("/change", _with_errors(self.change), methods=["POST"]),
            Route("/assets/{name}", asset, methods=["GET"]),
            Route("/sign-in", _with_errors(sign_in.handle), methods=["GET", "POST"]),
            _get("{rest:path}", _not_found),
        ]
        return PageRoutes(routes, sign_in.view)

    # Searching

    async def search(self, request: Request) -> Response:
        """Reply with the whole view of a search, or with what is here."""
        query = read_query(request.query_params)
        sources = await self.sources.find_quickly() or (await self.sources.find(Call()))[0]
        if query.q.strip():
            shared_pool().expect(0)  # the process that colours starts beside the search
            found = await self._found(request, RELOAD_SECONDS)
        else:  # the counts follow: indexes that are not open yet take half a second
            running = running_roots(self.sources)
            states = dict.fromkeys(running, "indexing")
            known = [
                SourceStatus(one.kind, one.name, states.get(one.name, ""), growth=running.get(one.name))
                for one in sources
            ]
            names = home_view(known, {})
            found = html('<div data-part="/results">{names}</div>', names=names)
        body = html(
            '{filters}<p id="news" role="status"></p><div id="results">{found}</div>',
            filters=filters_view(query, dict.fromkeys(root_name(source.name) for source in sources)),
            found=found,
        )
        return page("search", query.q[:80], body, query=query)

    async def results(self, request: Request) -> Response:
        """Reply with the results alone, for the script; with the first ones while somebody types."""
        if not request.query_params.get("q", "").strip():
            self._warm_up = asyncio.ensure_future(self.texts.start())
            statuses = await self.statuses()
            return reply(home_view(statuses, await find_overviews(self.sources, statuses)))
        found = await _unless_disconnected(request, self._found(request))
        return Response(status_code=204) if found is None else reply(found)

    async def progress(self, request: Request) -> Response:
        """Reply with how far the indexes are that a query searches, for the script."""
        wanted = read_query(request.query_params).source
        growing = {
            status.name: status.growth
            for status in await self.statuses()
            if status.state == "indexing" and wanted in ("", status.name, status.kind, root_name(status.name))
        }
        return reply(progress_view(growing))

    async def _found(self, request: Request, seconds: float = COLOUR_SECONDS) -> Html:
        query = read_query(request.query_params)
        try:
            found = await find_hits(self.sources, query, is_quick="typed" in request.query_params)
            return await results_view(query, found, self.texts, seconds)
        except UsageError as error:  # half a pattern is no reason for a page of its own
            return html('<p class="note" role="status">{message}</p>', message=error_reply(error)["userMessage"])

    async def find(self, request: Request) -> Response:
        """Reply with the files and symbols that have a name."""
        (text,) = _parameters(request, "q")
        names = await find_by_name(self.sources, text)
        return reply(names) if is_part(request) else page("find", "Go to a file or symbol", find_page(text, names))

    # Reading

    async def read(self, request: Request) -> Response:
        """Reply with a file or document as it is now, or with a folder."""
        item_id, view = _parameters(request, "id", "view")
        if item_id.endswith("/"):
            source, folder = await find_source(self.sources, Call(), item_id)
            body = await folder_view(self.sources, source, folder, self.texts)
            return page("read", folder.rstrip("/").rpartition("/")[2] or root_name(source.name), body)
        try:
            opened = await open_item(self.sources, item_id)
        except ItemNotFound as error:
            if address := await folder_address(self.sources, item_id):
                return RedirectResponse(address, 303, HEADERS)
            return error_view(request, "Not found", _nothing_shown(error), 404, *ways_from(item_id))
        is_here = self.access.is_here  # elsewhere, no editor can open it
        editor = await editor_address(self.sources, opened.source.name, opened.locator) if is_here else ""
        return page("read", item_title(opened), await item_view(opened, self.texts, view, editor))

    async def raw(self, request: Request) -> Response:
        """Reply with the text alone."""
        opened = await open_item(self.sources, *_parameters(request, "id"))
        text = opened.item.text.encode("utf-8", "replace")
        headers = {**HEADERS, "Content-Security-Policy": _RAW_POLICY}
        return Response(text, headers=headers, media_type="text/plain; charset=utf-8")

    async def picture(self, request: Request) -> Response:
        """Reply with a picture of a document."""
        data, kind = await read_picture(self.sources, *_parameters(request, "id"))
        return Response(data, headers={**HEADERS, "Content-Security-Policy": _RAW_POLICY}, media_type=kind)

    async def history(self, request: Request) -> Response:
        """Reply with the commits of a search, of a file or folder, or the newest."""
        text, item_id = _parameters(request, "q", "id")
        body = await history_view(self.questions, text, item_id)
        return page("history", "History", body, query=PageQuery(text))

    async def commit(self, request: Request) -> Response:
        """Reply with a commit, which is a part of the history."""
        subject, body = await commit_view(self.questions, *_parameters(request, "in", "name"))
        return page("history", subject[:TITLE_CHARACTERS], body)

    async def status(self, request: Request) -> Response:
        """Reply with the status; a browser that may change something gets the cookie for that."""
        may_change = self.access.may_change
        token = self.sessions.form_token if may_change else None
        body = await status_view(self.sources, await self.statuses(), token, is_public=self.access.is_public)
        if is_part(request):
            return reply(body)
        response = page("status", "Status", html('<div id="status">{body}</div>', body=body))
        if may_change and not self.sessions.has_cookie(request.headers):
            self.sessions.give_cookie(response, request.headers)
        return response

    async def change(self, request: Request) -> Response:
        """Make a change, after a question."""
        form = await read_form(request)
        if not self.access.may_change:
            return error_view(
                request, "Not allowed", "This page is read-only. Start the server with --allow-changes.", 403
            )
        if not self.sessions.may_change(request.headers, form.get("form_token", "")):
            return error_view(request, "Not allowed", "The form is too old. Open the status again.", 403)
        action, source = form.get("action", ""), form.get("source", "")
        if form.get("confirm") != "yes":
            return page(
                "status", "Confirm", await question_view(self.sources, action, source, self.sessions.form_token)
            )
        await make_change(self.sources, action, source)
        return RedirectResponse("/status", 303, HEADERS)

    async def statuses(self) -> list[SourceStatus]:
        """Return the status of every source."""
        return await source_statuses(self.sources, Call())


def _parameters(request: Request, *names: str) -> list[str]:
    """Return parameters of an address; empty where they are missing."""
    return [request.query_params.get(name, "") for name in names]


def _shown(name: str, title: str, view: View, names: tuple[str, ...]) -> Handler:
    """Return the handler of a view that is made of parameters of its address; the script asks for it as a part."""

    async def handle(request: Request) -> Response:
        values = _parameters(request, *names)
        body = await view(*values)
        return reply(body) if is_part(request) else page(name, title.format(*values), body)

    return handle


def _get(name: str, handler: Handler) -> Route:
    return Route(f"/{name}", _with_errors(handler), methods=["GET"])


def _with_errors(handler: Handler) -> Handler:
    """Return a handler that replies with a view where something is wrong."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except ItemNotFound as error:
            return error_view(request, "Not found", _nothing_shown(error), 404)
        except UsageError as error:
            return error_view(request, "This cannot be done", error_reply(error)["userMessage"], 400)
        except DowseError as error:
            return error_view(request, "This did not work", error_reply(error)["userMessage"], 503)

    return handle


def _nothing_shown(error: ItemNotFound) -> str:
    return f"Nothing is shown here: {error}."


async def _not_found(request: Request) -> Response:
    if "text/html" not in request.headers.get("accept", ""):  # a program asked
        return PlainTextResponse("Not Found", 404)
    return error_view(request, "Not found", "There is no such page here.", 404)


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
