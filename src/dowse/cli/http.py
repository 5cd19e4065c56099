"""The options of every server that can be reached over HTTP, and what they demand of each other."""

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dowse.cli.output import say
from dowse.errors import Failed, UsageError

MIN_TOKEN_CHARACTERS = 16


def http_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = [
    click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP, at /mcp; port 0 takes a free one."),
    click.option("--allow-remote", is_flag=True, help="Let HOST be an address that other machines reach."),
    click.option("--token-file", metavar="FILE", help="Demand the token in FILE; or in the variable DOWSE_TOKEN."),
    click.option("--public", is_flag=True, help="No token: only what may be read by anybody is offered."),
    click.option("--allow-origin", "origins", metavar="ORIGIN", multiple=True, help="Let pages of ORIGIN use it."),
    click.option("--allow-host", "hosts", metavar="NAME", multiple=True, help="Also answer to this name."),
    click.option("--rate", metavar="N", type=click.FloatRange(0), help="Requests a second of one client (0: any)."),
    click.option("--log-queries", is_flag=True, help="Write tools and arguments to the log, too."),
]


def serve_over_http(
    roots: list[Path],
    budget: int,
    *,
    address: str,
    allow_remote: bool,
    token_file: str | None,
    public: bool,
    origins: tuple[str, ...],
    hosts: tuple[str, ...],
    rate: float | None,
    log_queries: bool,
) -> int:
    """Serve until a signal comes."""
    host, port = _address(address)
    token = _token(token_file)
    from dowse.serving.gate import LOOPBACK_NAMES, Admission, is_loopback

    is_local = is_loopback(host)
    if not is_local and not allow_remote:
        raise UsageError(f"{host} can be reached by other machines. Say so with --allow-remote.")
    if not is_local and not (token or public):
        raise UsageError("Other machines need a token: set DOWSE_TOKEN or --token-file; or offer little with --public.")
    if public and token:
        raise UsageError("--public and a token exclude each other.")
    _log(log_queries=log_queries)
    from dowse.serving.locating import open_project
    from dowse.serving.project_server import make_service_server
    from dowse.serving.service import Service
    from dowse.serving.web import bind, make_app, run_web

    service = Service(roots or [open_project(None).root])
    server = make_service_server(service, Path.cwd(), budget, is_public=public)
    names = LOOPBACK_NAMES | {name.lower() for name in hosts}
    admission = Admission(names if is_local or hosts else None, frozenset(map(_origin, origins)), token)
    try:
        listening = bind(host, port)
    except OSError as error:
        raise Failed(f"{address} cannot be listened on ({error.strerror or error}). Choose another port.") from error
    shown = f"[{host}]" if ":" in host else host
    say(f"dowse: serving {service.names()} at http://{shown}:{listening.getsockname()[1]}/mcp")
    run_web(make_app(server, service.sources, admission, rate), listening)
    return 0


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--http {text} is not HOST:PORT, such as 127.0.0.1:8321.")
    return host or "127.0.0.1", int(port)


def _token(file: str | None) -> str | None:
    if file is None:
        token = os.environ.get("DOWSE_TOKEN")
    else:
        try:
            token = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--token-file {file} cannot be read ({error}).") from error
    if token is None:
        return None
    if len(token) < MIN_TOKEN_CHARACTERS or not token.isascii() or any(character.isspace() for character in token):
        raise UsageError(f"The token has to be at least {MIN_TOKEN_CHARACTERS} ASCII characters without spaces.")
    return token


def _origin(text: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or text != f"{parts.scheme}://{parts.netloc}":
        raise UsageError(f"--allow-origin {text} is not an origin such as https://example.org.")
    return text.lower()


def _log(*, log_queries: bool) -> None:
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("dowse.access").setLevel(logging.INFO)
    logging.getLogger("dowse.calls").setLevel(logging.INFO if log_queries else logging.WARNING)
