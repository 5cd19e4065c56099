"""docs/http.md agrees with the program."""

import re
import shlex
from pathlib import Path

import click

from dowse.cli.command_list import dowse
from dowse.mcp.http import access, app, mcp_endpoint
from tests.repository import REPOSITORY

PAGE = (REPOSITORY / "docs" / "http.md").read_text(encoding="utf-8")
TEAM = (REPOSITORY / "docs" / "how-to" / "http-for-a-team.md").read_text(encoding="utf-8")


def assert_is_taken(*command: str) -> None:
    """The command is dowse, and it accepts the options."""
    program, name, *arguments = command
    serve = dowse.get_command(click.Context(dowse), name)
    assert (Path(program).name, name) == ("dowse", "serve")
    assert serve is not None
    serve.make_context(name, arguments)


def test_the_service_starts_the_server() -> None:
    (line,) = re.findall(r"^ExecStart=(.+)$", TEAM, re.MULTILINE)
    assert_is_taken(*shlex.split(line))


def test_the_container_starts_the_server() -> None:
    (line,) = re.findall(r"^docker run .* dowse (serve .+)$", TEAM, re.MULTILINE)
    assert_is_taken("dowse", *shlex.split(line))


def test_the_limits_are_those_of_the_program() -> None:
    limits = PAGE.partition("## Limits")[2].partition("\n## ")[0]
    for limit in (
        f"{mcp_endpoint.MAX_BODY_BYTES >> 20} MB, {mcp_endpoint.BODY_SECONDS:.0f} s; {mcp_endpoint.MAX_BODIES_BYTES >> 20} MB",
        f"{access.MAX_HEAD_BYTES >> 10} KB, {access.MAX_HEADERS} headers, {app.REQUEST_HEAD_SECONDS:.0f} s",
        f"| a reply that is not read | {app.REPLY_READ_SECONDS:.0f} s",
        f"| a connection that is not used | {app.KEEP_ALIVE_SECONDS} s",
        f"{app.MAX_CONNECTIONS:,}; {app.MAX_CLIENT_CONNECTIONS} of one client",
        f"{mcp_endpoint.MAX_SESSIONS:,}, 30 minutes",
        f"{access.LOOPBACK_RATE:,.0f} a second from this machine, {access.REMOTE_RATE:.0f} from others",
        f"requests have {app.GRACE_SECONDS:.0f} seconds",
        f"{app.FORCE_SECONDS:.0f} seconds later",
    ):
        assert limit in limits
