"""The frame of every view: head, search box, navigation, headers, style and script; who may see the page, and what they may do."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from dowse.errors import UsageError
from dowse.mcp.http.access import BrowserSessions
from dowse.page.markup import Html, encode, html, link, tag
from dowse.page.page_search import PageQuery

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers hide the origin of our own forms
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
ASSETS = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="{icon}" type="image/svg+xml">
<link rel="stylesheet" href="{style}">
<script src="{script}" type="module"></script>
</head>
<body class="{name}">
<a class="skip" href="#main">Skip to content</a>
<header class="bar">
<a class="brand" href="/">dowse</a>{form}
<nav aria-label="Views">{links}</nav>
</header>
<main id="main">
{body}
</main>
</body>
</html>
"""
_FORM = """
<form id="search-form" role="search" action="/" method="get">
<label class="hidden" for="q">Search</label>
<input id="q" name="q" type="search" value="{q}" placeholder="Search code and documents" autocomplete="off" autocapitalize="off" spellcheck="false"{focus} maxlength="10000">
<fieldset class="modes"><legend class="hidden">How to search</legend>{modes}</fieldset>
<button class="go">Search</button>
</form>
<a id="find" class="button" href="/find">Go to file <kbd>t</kbd></a>"""
_MODE = '<label title="{about}"><input type="radio" name="mode" value="{mode}"{checked}><span>{mode}</span></label>'
_MODES = {
    "words": "Rank by words and meaning",
    "exact": "List every line with exactly this text",
    "regex": "List every line that matches this pattern",
}
_VIEWS = (("history", "/history", "History"), ("status", "/status", "Status"))


def page(name: str, title: str, body: Html, *, status: int = 200, query: PageQuery | None = None) -> Response:
    """Return a whole view, with the query in the box."""
    asked = query or PageQuery()
    links = [link(address, label, aria_current="page" if view == name else None) for view, address, label in _VIEWS]
    modes = [
        html(_MODE, mode=mode, about=about, checked=Html(" checked") if asked.mode == mode else None)
        for mode, about in _MODES.items()
    ]
    is_asking, focus = name == "sign-in", Html(" autofocus") if name == "search" else None
    found = html(
        _FRAME, title=f"{title} - dowse" if title else "dowse", name=name, links=None if is_asking else links,
        form=None if is_asking else html(_FORM, q=asked.q, modes=modes, focus=focus), body=body,
        icon=asset_address("icon.svg"), style=asset_address("page.css"), script=asset_address("page.js"),
    )  # fmt: skip
    return reply(found, status)


def reply(markup: Html, status: int = 200) -> Response:
    """Return HTML as a reply: a whole page or a part of one."""
    return Response(encode(markup), status, HEADERS, "text/html; charset=utf-8")


def is_part(request: Request) -> bool:
    """Return whether the script asks for a part of a view."""
    return request.headers.get("x-part") == "1"


def error_view(request: Request, title: str, message: str, status: int, *ways: Html) -> Response:
    """Return an error as a view, with links that lead on, or as a line for the script."""
    if is_part(request):
        return reply(tag("p", message, class_="note"), status)
    links = [tag("p", one) for one in (*ways, link("/", "Search, or see what is here"))]
    body = tag("section", tag("h1", title), tag("p", message), links, class_="message")
    return page("message", title, body, status=status)


def asset_address(name: str) -> str:
    """Return the address of an asset; it changes with the content, so that browsers can keep it."""
    return f"/assets/{name}?{hashlib.sha256(_asset(name)).hexdigest()[:12]}"


@cache
def _asset(name: str) -> bytes:
    return (resources.files("dowse.page") / name).read_bytes()


async def asset(request: Request) -> Response:
    """Reply with the style, the script or the icon."""
    name = request.path_params["name"]
    if name not in ASSETS:
        return Response(status_code=404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Content-Security-Policy": "default-src 'none'"}
    return Response(_asset(name), headers=headers, media_type=ASSETS[name])


MAX_FORM_BYTES = 16 * 1024
_CONTINUE = '<p class="about">Signed in already, and here by a link from elsewhere? <a href="{next}">Continue</a></p>'
_SIGN_IN = f"""<section class="message"><h1>Sign in</h1>
<p>This page needs the token that the server was started with: it is in <code>DOWSE_TOKEN</code>, or in the file of
<code>--token-file</code>.</p>{{problem}}
<form method="post" action="/sign-in">
<input type="hidden" name="next" value="{{next}}">
<label for="token">Token</label>
<input id="token" name="token" type="password" required autocomplete="current-password" autofocus>
<button>Sign in</button>
</form>
{_CONTINUE}</section>
"""
_OPEN_ADDRESS = f"""<section class="message"><h1>Open the address that was printed</h1>
<p>This page is for those who have its address. <code>dowse open --no-browser</code> prints it: copy the whole line,
with what follows <code>key=</code>. It works on this machine as often as you like, until the server stops.</p>
<p>Is the address of an earlier server? Run <code>dowse open</code> again.</p>
{_CONTINUE}</section>
"""
_WRONG_TOKEN = "This is not the token. It is in DOWSE_TOKEN or the file of --token-file."  # noqa: S105 - a message


@dataclass(frozen=True, slots=True)
class PageAccess:
    """The people that the page is for, and what they may do."""

    is_local: bool = True
    """Only this machine can connect, so that its folders may be named."""
    is_public: bool = False
    is_opened: bool = False
    """The server was started for one browser: no MCP client can connect."""
    allows_changes: bool = False
    """People on other machines may index and forget, too."""

    @property
    def may_change(self) -> bool:
        """Whether the page can index and forget."""
        return not self.is_public and (self.is_local or self.allows_changes)

    @property
    def is_here(self) -> bool:
        """Whether the files are on the machine of the reader, and may be named."""
        return self.is_local and not self.is_public


class SignIn:
    """The way of a browser to its cookie."""

    def __init__(self, sessions: BrowserSessions, access: PageAccess) -> None:
        self._sessions, self._access = sessions, access

    async def handle(self, request: Request) -> Response:
        """Exchange the token, or the key in the address that was printed, for the cookie."""
        if request.method == "GET":
            if self._sessions.accepts_key(request.query_params.get("key", "")):
                return self._welcome(request, "/")
            return self.view(request.scope, "/")
        form = await read_form(request)
        target = own_address(form.get("next", "/"))
        if not self._sessions.knows(form.get("token", "").strip()):
            return self.view(request.scope, target, _WRONG_TOKEN)
        return self._welcome(request, target)

    def view(self, scope: Scope, target: str | None = None, problem: str = "") -> Response:
        """Return the reply to a browser without a cookie: a form, or where the address is."""
        if target is None:
            query = scope["query_string"].decode("ascii", "replace")
            target = own_address(scope["path"] + (f"?{query}" if query else ""))
        shown = tag("p", problem, class_="warning", role="alert")
        template = _OPEN_ADDRESS if self._access.is_opened else _SIGN_IN
        return page("sign-in", "Sign in", html(template, next=target, problem=shown), status=401)

    def _welcome(self, request: Request, target: str) -> Response:
        response = RedirectResponse(target, 303, HEADERS)
        self._sessions.give_cookie(response, request.headers)
        return response


def own_address(target: str) -> str:
    """Return an address of this page; anything else, such as //example.org, becomes the first page."""
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_own else "/"


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form."""
    from urllib.parse import parse_qsl

    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_FORM_BYTES:
            raise UsageError("The form is too large.")
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=20))
