"""Who may see the page, and what they may do: signing in, and forms that change something."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from dowse.errors import UsageError
from dowse.mcp.http.access import BrowserSessions
from dowse.page.markup import html
from dowse.page.page_frame import HEADERS, page

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
        shown = html('<p class="warning" role="alert">{problem}</p>', problem=problem) if problem else None
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
