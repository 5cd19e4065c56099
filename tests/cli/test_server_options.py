"""The safety rules between HTTP options: every refusal is one line and exit code 2."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dowse.cli import main
from dowse.cli.server_options import parse_address, parse_host, parse_origin
from dowse.errors import UsageError
from tests.mcp.http.conftest import TOKEN

Refusal = tuple[int, str]


@pytest.fixture
def refusal(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Refusal]:
    """Return a function that starts a server that must not start, and returns its exit code and error line."""
    import dowse.mcp.http.app

    def started(*_: Any) -> None:
        raise AssertionError("it was started")

    monkeypatch.setattr(dowse.mcp.http.app, "run_http_server", started)

    def refused(*options: str, **environment: str) -> Refusal:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = main(["serve", str(root), *options])
        out, err = capsys.readouterr()
        assert out == ""
        (line,) = err.splitlines()
        return code, line

    return refused


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "[::]", "example.org", "127.0.0.1.evil.example", "127.1"])
def test_an_address_beyond_this_machine_needs_a_word(refusal: Callable[..., Refusal], host: str) -> None:
    code, line = refusal("--http", f"{host}:0")
    assert code == 2
    assert "--allow-remote" in line


@pytest.mark.parametrize("host", ["", "localhost", "127.0.0.1"])
def test_an_address_without_a_host_is_this_machine(host: str) -> None:
    assert parse_address(f"{host}:8321") == ("127.0.0.1", 8321)


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "192.0.2.1"])
def test_beyond_this_machine_a_token_is_needed(refusal: Callable[..., Refusal], host: str) -> None:
    code, line = refusal("--http", f"{host}:0", "--allow-remote")
    assert code == 2
    assert "DOWSE_TOKEN" in line


@pytest.mark.parametrize(
    "token",
    ["", "short", "x" * 15, "with space in the middle of it", "ümlaut-in-the-token", "tab\tin-the-token-of-ours"],
)
def test_a_weak_token_is_refused(refusal: Callable[..., Refusal], token: str) -> None:
    code, line = refusal("--http", "127.0.0.1:0", DOWSE_TOKEN=token)
    assert code == 2
    assert "at least 16 ASCII characters" in line
    assert not token or token not in line


def test_an_empty_token_file_is_refused_although_the_variable_has_one(
    refusal: Callable[..., Refusal], tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("\n", encoding="utf-8")
    assert refusal("--http", "127.0.0.1:0", "--token-file", str(tmp_path / "token"), DOWSE_TOKEN=TOKEN)[0] == 2


def test_what_is_public_has_no_token(refusal: Callable[..., Refusal]) -> None:
    assert "exclude each other" in refusal(*HERE, "--public", DOWSE_TOKEN=TOKEN)[1]


@pytest.mark.parametrize("where", ["127.0.0.1:0", "0.0.0.0:0"])
def test_a_project_is_not_for_the_public(refusal: Callable[..., Refusal], where: str) -> None:
    code, line = refusal("--only", "code", "--http", where, "--allow-remote", "--public")
    assert code == 2
    assert "--public" in line


@pytest.mark.parametrize(
    "address",
    [
        "", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "[::1]", ":",
        "http://127.0.0.1:1", "a b:1", "<x>:1",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(refusal: Callable[..., Refusal], address: str) -> None:
    code, line = refusal("--http", address, "--allow-remote")
    assert code == 2
    assert "HOST:PORT" in line


HERE = ("--http", "127.0.0.1:0")
WITHOUT_EFFECT = (
    ("--public",), ("--allow-remote",), ("--token-file", "x"), ("--allow-origin", "https://example.org"),
    ("--allow-host", "x"), ("--rate", "1"), ("--log-queries",),
)  # fmt: skip
NO_ORIGINS = (
    "*", "null", "example.org", "https://", "https://example.org/", "https://a@example.org", "https://*.example.org",
    "ftp://example.org", "https://example.org:x", "https://ex ample.org", "file:///x", "https://exämple.org",
)  # fmt: skip
NO_NAMES = ("*", "", "example.org:80", "http://example.org", "a b", "[::1]:80", "::1")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        *((option, f"{option[0]} needs --http") for option in WITHOUT_EFFECT),
        *(((*HERE, "--allow-origin", origin), "--allow-origin") for origin in NO_ORIGINS),
        *(((*HERE, "--allow-host", name), "--allow-host") for name in NO_NAMES),
        *(((*HERE, "--rate", rate), "--rate") for rate in ("-1", "x", "nan")),
        ((*HERE, "--token-file", "absent"), "cannot be read"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_has_no_effect_or_no_meaning_is_refused(
    refusal: Callable[..., Refusal], options: tuple[str, ...], problem: str
) -> None:
    code, line = refusal(*options)
    assert (code, problem in line) == (2, True), line


def test_a_port_that_is_in_use_is_said(refusal: Callable[..., Refusal]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, line = refusal("--http", address)
    assert code == 3
    assert address in line
    assert "Choose another port" in line


def test_an_address_that_is_not_ours_is_said(refusal: Callable[..., Refusal]) -> None:
    code, line = refusal("--http", "192.0.2.1:0", "--allow-remote", DOWSE_TOKEN=TOKEN)
    assert code == 3
    assert "Cannot listen on" in line


def test_processes_that_the_server_starts_do_not_get_the_token(refusal: Callable[..., Refusal]) -> None:
    refusal("--http", "192.0.2.1:0", "--allow-remote", DOWSE_TOKEN=TOKEN)
    assert "DOWSE_TOKEN" not in os.environ


def test_an_origin_is_spelled_as_browsers_do() -> None:
    for given, meant in (("https://Example.ORG", "https://example.org"), ("https://example.org:443", "https://example.org"),
    ("http://localhost:3000", "http://localhost:3000"), ("http://[::1]:80", "http://[::1]")):  # fmt: skip
        assert parse_origin(given) == meant


def test_a_name_may_be_an_address_in_brackets() -> None:
    assert (parse_host("[2001:DB8::1]"), parse_host("Search.Example.org")) == ("2001:db8::1", "search.example.org")
    with pytest.raises(UsageError):
        parse_host("2001:db8::1")
