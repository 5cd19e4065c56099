"""The options of every server that can listen on HTTP, and how they depend on each other."""

import logging
import math
import os
import re
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.output import say
from dowse.errors import Failed, UsageError
from dowse.system.small_files import read_named_file

if TYPE_CHECKING:
    from dowse.cli.composition import ComposedServer

MIN_TOKEN_CHARACTERS = 16
MAX_TOKEN_FILE_BYTES = 64 * 1024
TOKEN_VARIABLE = "DOWSE_TOKEN"  # noqa: S105 - the name of a variable

_ORIGIN = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_HOST_NAME = re.compile(r"[a-z0-9_.:-]+", re.IGNORECASE)


def http_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _require_http(context: click.Context, option: click.Parameter, value: Any) -> Any:
    """Refuse an option that has no effect without --http and might be mistaken for protection."""
    if value not in (None, False, ()) and not context.params.get("address"):
        raise click.UsageError(f"{option.opts[0]} needs --http", context)
    return value


def _require_address(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    if value == "":  # an unset shell variable; without --http the server would read stdin
        raise click.UsageError(f"{option.opts[0]} needs HOST:PORT, such as 127.0.0.1:8321", context)
    return value


def _http_only_option(name: str, *more: str, **how: Any) -> Callable[..., Any]:
    return click.option(name, *more, callback=_require_http, **how)


_OPTIONS = [
    click.option(
        "--http", "address", metavar="HOST:PORT", is_eager=True, callback=_require_address,
        help="Serve over HTTP, at /mcp. Port 0 means any free port.",
    ),
    _http_only_option("--allow-remote", is_flag=True, help="Allow a HOST that other machines can reach."),
    _http_only_option("--token-file", metavar="FILE", help="Require the token in FILE. Or set DOWSE_TOKEN."),
    _http_only_option("--public", is_flag=True, help="Require no token. Serve only documents and sites, read-only."),
    _http_only_option("--allow-changes", is_flag=True, help="With --allow-remote, let the page index and forget projects."),
    _http_only_option("--allow-origin", "origins", metavar="ORIGIN", multiple=True, help="Allow web pages of ORIGIN. May be repeated."),
    _http_only_option("--allow-host", "hosts", metavar="NAME", multiple=True, help="Also accept this host name. May be repeated."),
    _http_only_option("--rate", metavar="N", type=click.FloatRange(0), help="Maximum requests per second and client; 0 is no limit."),
    _http_only_option("--log-queries", is_flag=True, help="Also log the name and arguments of each call."),
]  # fmt: skip


def serve_over_http(
    make: "Callable[[bool], ComposedServer]",
    *,
    address: str,
    allow_remote: bool,
    token_file: str | None,
    public: bool,
    allow_changes: bool,
    origins: tuple[str, ...],
    hosts: tuple[str, ...],
    rate: float | None,
    log_queries: bool,
    open_browser: Callable[[str], None] | None = None,
) -> int:
    """Serve what `make` returns until a signal arrives. `make` takes whether the server is public.

    `open_browser` is given an address that signs one browser in; then nobody else may read anything.
    """
    host, port = _parse_address(address)
    known_origins, known_hosts = frozenset(map(_parse_origin, origins)), frozenset(map(_parse_host, hosts))
    token = secrets.token_urlsafe(32) if open_browser else _read_token(token_file)
    if rate is not None and not math.isfinite(rate):
        raise UsageError(f"--rate {rate} is not a number of requests.")
    from dowse.mcp.http.access import LOOPBACK_NAMES, Admission, is_loopback

    is_local = is_loopback(host)
    if not is_local and not allow_remote:
        raise UsageError(f"Other machines can reach {host}. To allow that, add --allow-remote.")
    if not is_local and not (token or public):
        raise UsageError(
            "Other machines need a token. Set DOWSE_TOKEN or --token-file, or serve without one with --public."
        )
    if public and token:
        raise UsageError("--public and a token exclude each other.")
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it would log every malformed request
    # A page asks with every key that is pressed.
    logging.getLogger("dowse.access").setLevel(logging.WARNING if open_browser else logging.INFO)
    logging.getLogger("dowse.calls").setLevel(logging.INFO if log_queries else logging.WARNING)
    from dowse.indexes.early_parsing import start_parser
    from dowse.memory_plan import is_memory_small

    if not is_memory_small():
        start_parser()  # which colours what the page shows
    composed = make(public)  # before more is imported, so that its indexes are loaded meanwhile
    from dowse.mcp.http.access import BrowserSessions
    from dowse.mcp.http.app import bind, make_app, run_http_server
    from dowse.page.page_app import BrowserPage
    from dowse.page.page_frame import PageAccess

    names = LOOPBACK_NAMES | {host.lower()} | known_hosts
    try:
        listener = bind(host, port)
    except OSError as error:
        raise Failed(f"Cannot listen on {address} ({error.strerror or error}). Choose another port.") from error
    port = listener.getsockname()[1]
    sessions = BrowserSessions(port, token)
    admission = Admission(names if is_local or hosts else None, known_origins, token, sessions)
    access = PageAccess(is_local, public, open_browser is not None, allow_changes)
    page = BrowserPage(composed.source_list, sessions, access)
    host_text = f"[{host}]" if ":" in host else host
    address = f"http://{host_text}:{port}"
    app = make_app(composed.server(is_over_http=True), composed.health, admission, rate, page.routes())

    def announce() -> None:
        say(f"dowse: serving {composed.names()} at {address}/mcp")
        if open_browser:
            open_browser(f"{address}/sign-in?key={sessions.key}")

    run_http_server(app, listener, announce)
    return 0


def _parse_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not port.isdecimal() or int(port) > 65535 or not _HOST_NAME.fullmatch(host or "127.0.0.1"):
        raise UsageError(f"--http {text} is not HOST:PORT, such as 127.0.0.1:8321.")
    return "127.0.0.1" if host in ("", "localhost") else host, int(port)


def _read_token(file: str | None) -> str | None:
    token = os.environ.pop(TOKEN_VARIABLE, None)  # child processes must not inherit it
    if file is not None:
        try:
            token = read_named_file(Path(file), MAX_TOKEN_FILE_BYTES).decode("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--token-file {file} cannot be read ({error}).") from error
    if token is None:
        return None
    if len(token) < MIN_TOKEN_CHARACTERS or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"The token has to be at least {MIN_TOKEN_CHARACTERS} ASCII characters without spaces.")
    return token


def _parse_origin(text: str) -> str:
    """Return an origin as browsers write it: in lower case, without the default port of its scheme."""
    match = _ORIGIN.fullmatch(text.lower())
    if match is None:
        raise UsageError(f"--allow-origin {text} is not an origin such as https://example.org.")
    scheme, host, port = match.groups()
    return f"{scheme}://{host}" if port in (None, _DEFAULT_PORTS[scheme]) else f"{scheme}://{host}:{port}"


def _parse_host(text: str) -> str:
    name = text.removeprefix("[").removesuffix("]").lower()
    is_address = ":" in name
    if not _HOST_NAME.fullmatch(name) or is_address != text.startswith("["):
        raise UsageError(f"--allow-host {text} is not a name such as search.example.org, without a port.")
    return name
