"""Browsers that may see the page: a token is exchanged for a cookie, and forms prove that the page sent them."""

import hmac
import secrets

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response


class BrowserSessions:
    """The cookie of one server. It ends with the server, and no request but that of our own page carries it."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.cookie_name = f"dowse-{port}"
        """Browsers share cookies between the ports of a machine, so the name says which server a cookie is for."""
        self.form_token = secrets.token_urlsafe(32)
        """The token in our forms. A page of another origin cannot read it."""
        self._cookie = secrets.token_urlsafe(32)
        self._token = token
        self._once: str | None = None

    def issue_one_time_token(self) -> str:
        """Return a token for the address that a browser is opened with; the first to use it gets the cookie."""
        self._once = secrets.token_urlsafe(32)
        return self._once

    def redeem(self, once: str) -> bool:
        """Return whether a one-time token is right, and make it useless."""
        is_right = self._once is not None and _is_same(once, self._once)
        if is_right:
            self._once = None
        return is_right

    def knows(self, token: str) -> bool:
        """Return whether this is the token of the server."""
        return self._token is not None and _is_same(token, self._token)

    def has_cookie(self, headers: Headers) -> bool:
        """Return whether a request carries the cookie."""
        given = cookie_parser(headers.get("cookie", "")).get(self.cookie_name, "")
        return _is_same(given, self._cookie)

    def may_change(self, headers: Headers, form_token: str) -> bool:
        """Return whether a form was sent by our own page, in a browser that has the cookie."""
        return self.has_cookie(headers) and _is_same(form_token, self.form_token)

    def give_cookie(self, response: Response, headers: Headers) -> None:
        """Add the cookie to a reply. A proxy in front says whether TLS is used."""
        is_secure = headers.get("x-forwarded-proto") == "https"
        response.set_cookie(self.cookie_name, self._cookie, secure=is_secure, httponly=True, samesite="strict")


def _is_same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
