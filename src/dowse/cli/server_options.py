"""The options of every server: what it offers, where it listens on HTTP, and how these options depend on each other."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from dowse.cli.common_arguments import FILE_TEXT, value_option
from dowse.errors import UsageError
from dowse.mcp.replies import BUDGET_TOKENS
from dowse.mcp.tools import SURFACES, Level, Surface
from dowse.system.small_files import read_named_file

PUBLIC: frozenset[Surface] = frozenset({"documents", "site"})
"""The surfaces that may be offered to anybody: they do not write or delete, and say nothing of projects."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The sources and tools that a server offers."""

    surfaces: tuple[Surface, ...] = SURFACES
    level: Level = "standard"
    budget_tokens: int = BUDGET_TOKENS
    is_public: bool = False
    roots: tuple[Path, ...] = ()
    """If empty: the client's roots, or the project around the working directory."""
    sites: tuple[str, ...] = ()
    store: str | None = None
    """The place to serve instead of folders."""
    projects: tuple[str, ...] = ()
    """The projects of the place that are served; all if there are none."""

    @property
    def sources(self) -> tuple[Surface, ...]:
        """The surfaces that can be searched, whether or not their own tools are offered. `federated` alone means all."""
        named = set(self.surfaces) - {"federated"} or set(SURFACES) - {"federated"}
        return tuple(name for name in SURFACES if name in (named & PUBLIC if self.is_public else named))

    @property
    def is_federated(self) -> bool:
        """Whether all sources can be searched at once."""
        return self.level == "minimal" or ("federated" in self.surfaces and self.level != "assistant")

    def has_tools_of(self, surface: Surface) -> bool:
        """Return whether the tools of a surface are offered."""
        return surface in self.surfaces and self.level not in ("minimal", "assistant")


MIN_TOKEN_CHARACTERS = 16
MAX_TOKEN_FILE_BYTES = 64 * 1024
TOKEN_VARIABLE = "DOWSE_TOKEN"  # noqa: S105 - the name of a variable

_ORIGIN = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_HOST_NAME = re.compile(r"[a-z0-9_.:-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where a server listens, and who may connect: the options by the names that click gives them."""

    address: tuple[str, int]
    """The host and the port; 0 is any free port."""
    allow_remote: bool = False
    token_file: str | None = None
    public: bool = False
    allow_changes: bool = False
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    rate: float | None = None
    log_queries: bool = False

    def read_token(self) -> str | None:
        """Return the token of the file or the variable, if there is one."""
        token = os.environ.pop(TOKEN_VARIABLE, None)  # child processes must not inherit it
        if self.token_file is not None:
            try:
                token = read_named_file(Path(self.token_file), MAX_TOKEN_FILE_BYTES).decode("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise UsageError(f"--token-file {self.token_file} cannot be read ({error}).") from error
        if token is None:
            return None
        if len(token) < MIN_TOKEN_CHARACTERS or not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError(f"The token has to be at least {MIN_TOKEN_CHARACTERS} ASCII characters without spaces.")
        return token


def parse_address(text: str) -> tuple[str, int]:
    """Return the host and the port of `HOST:PORT`."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not port.isdecimal() or int(port) > 65535 or not _HOST_NAME.fullmatch(host or "127.0.0.1"):
        raise UsageError(f"--http {text} is not HOST:PORT, such as 127.0.0.1:8321.")
    return "127.0.0.1" if host in ("", "localhost") else host, int(port)


def parse_origin(text: str) -> str:
    """Return an origin as browsers write it: in lower case, without the default port of its scheme."""
    match = _ORIGIN.fullmatch(text.lower())
    if match is None:
        raise UsageError(f"--allow-origin {text} is not an origin such as https://example.org.")
    scheme, host, port = match.groups()
    return f"{scheme}://{host}" if port in (None, _DEFAULT_PORTS[scheme]) else f"{scheme}://{host}:{port}"


def parse_host(text: str) -> str:
    """Return the name of a host, or its address without the brackets, in lower case."""
    name = text.removeprefix("[").removesuffix("]").lower()
    is_address = ":" in name
    if not _HOST_NAME.fullmatch(name) or is_address != text.startswith("["):
        raise UsageError(f"--allow-host {text} is not a name such as search.example.org, without a port.")
    return name


def http_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _require_http(context: click.Context, option: click.Parameter, value: Any) -> Any:
    """Refuse an option that has no effect without --http and might be mistaken for protection."""
    if value not in (None, False, ()) and context.params.get("address") is None:
        raise click.UsageError(f"{option.opts[0]} needs --http", context)
    return value


def _http_only_option(name: str, *more: str, **how: Any) -> Callable[..., Any]:
    return click.option(name, *more, callback=_require_http, **how)


_OPTIONS = [
    click.option(
        "--http", "address", metavar="HOST:PORT", is_eager=True, type=parse_address,
        help="Serve over HTTP, at /mcp. Port 0 means any free port.",
    ),
    _http_only_option("--allow-remote", is_flag=True, help="Allow a HOST that other machines can reach."),
    _http_only_option("--token-file", metavar="FILE", type=FILE_TEXT, help="Require the token in FILE. Or set DOWSE_TOKEN."),
    _http_only_option("--public", is_flag=True, help="Require no token. Serve only documents and sites, read-only."),
    _http_only_option("--allow-changes", is_flag=True, help="With --allow-remote, let the page index and forget projects."),
    _http_only_option("--allow-origin", "origins", metavar="ORIGIN", multiple=True, type=parse_origin, help="Allow web pages of ORIGIN. May be repeated."),
    _http_only_option("--allow-host", "hosts", metavar="NAME", multiple=True, type=parse_host, help="Also accept this host name. May be repeated."),
    _http_only_option("--rate", metavar="N", type=click.FloatRange(0), help="Maximum requests per second and client; 0 is no limit."),
    _http_only_option("--log-queries", is_flag=True, help="Also log the name and arguments of each call."),
]  # fmt: skip


budget_option = value_option(
    "--budget",
    click.IntRange(1000),
    BUDGET_TOKENS,
    "Maximum length of a reply; a token is four characters.",
    metavar="TOKENS",
)
tools_option = value_option(
    "--tools",
    get_args(Level),
    "standard",
    "minimal: search, fetch and get_index_status; assistant: search, read, find and uses, which answer in plain text; "
    "standard: the usual tools; full: all tools.",
    names=["level"],
)
