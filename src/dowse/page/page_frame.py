"""The frame of every view: head, navigation, headers; and the style and the script as assets."""

import hashlib
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

from dowse.page.markup import Html, encode, html

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
ASSETS = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "graph.css": "text/css",
    "graph.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_GRAPH_FILES = {"graph.css": "graph_page.css", "graph.js": "graph_page.js"}
"""The graph of the archives has its own script, which a file of `dowse archive graph` contains as well."""

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="{icon}" type="image/svg+xml">
<link rel="stylesheet" href="{style}">
{more_head}<script src="{script}" type="module"></script>
</head>
<body class="{name}">
<a class="skip" href="#main">Skip to content</a>
<header class="bar">
<a class="brand" href="/">dowse</a>
<nav aria-label="Views">{links}</nav>{jump}
</header>
{before}<main id="main">
{body}
</main>
</body>
</html>
"""
_JUMP = Html(
    '<form action="/" role="search"><input id="jump" name="q" type="search" placeholder="Search" aria-label="Search" '
    'autocomplete="off" maxlength="10000"></form>'
)
"""The box of every view but the search, whose box is larger."""
_VIEWS = (
    ("search", "/", "Search"),
    ("status", "/status", "Status"),
    ("graph", "/graph", "Links"),
    ("connect", "/connect", "Connect"),
)


def page(
    name: str, title: str, body: Html, *, status: int = 200, head: Html | None = None, before: Html | None = None
) -> Response:
    """Return a whole view, with more in its head or before its main part if that is given."""
    links = [
        html('<a href="{address}"{current}>{label}</a>', address=address, label=label,
             current=Html(' aria-current="page"') if view == name else None)
        for view, address, label in _VIEWS
    ]  # fmt: skip
    found = html(
        _FRAME, title=title, name=name, links=links, jump=None if name in ("search", "message") else _JUMP, body=body, more_head=head, before=before,
        icon=asset_address("icon.svg"), style=asset_address("page.css"), script=asset_address("page.js"),
    )  # fmt: skip
    return reply(found, status)


def reply(markup: Html, status: int = 200) -> Response:
    """Return HTML as a reply: a whole page or a part of one."""
    return Response(encode(markup), status, HEADERS, "text/html; charset=utf-8")


def message_page(title: str, message: str, status: int, more: Html | None = None) -> Response:
    """Return a view that says what is wrong and what to do."""
    body = html(
        '<section class="message"><h1>{title}</h1><p>{message}</p>{more}</section>',
        title=title,
        message=message,
        more=more,
    )
    return page("message", f"{title} - dowse", body, status=status)


def asset_address(name: str) -> str:
    """Return the address of an asset; it changes with the content, so that browsers can keep it."""
    return f"/assets/{name}?{hashlib.sha256(_asset(name)).hexdigest()[:12]}"


@cache
def _asset(name: str) -> bytes:
    if name in _GRAPH_FILES:
        return (resources.files("dowse.archives.graph_pictures") / _GRAPH_FILES[name]).read_bytes()
    return (resources.files("dowse.page") / name).read_bytes()


async def asset(request: Request) -> Response:
    """Reply with the style, the script or the icon."""
    name = request.path_params["name"]
    if name not in ASSETS:
        return Response(status_code=404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Content-Security-Policy": "default-src 'none'"}
    return Response(_asset(name), headers=headers, media_type=ASSETS[name])
