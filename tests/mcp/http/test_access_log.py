"""The access log: clients and results always, queries only where the user asks for them."""

import re
from pathlib import Path

import pytest

from tests.mcp.http.http_server import HttpClient, HttpServer
from tests.mcp.stdio.stdio_client import NEWER, wait_until

SECRET = "peel_apple_of_my_eye"


def test_the_log_has_a_line_for_a_request_and_nothing_of_what_was_asked(server: HttpServer, revision: str) -> None:
    logged = len(server.stderr)
    HttpClient(server, revision).call_tool("search_code", query=SECRET)
    server.send_request("GET", f"/health?{SECRET}", Cookie=SECRET, Referer=f"http://{SECRET}/", User_Agent=SECRET)
    wait_until(lambda: "GET /health" in server.stderr[logged:])
    lines = server.stderr[logged:].splitlines()
    assert all(re.fullmatch(r"\S+ \S+ 127\.0\.0\.1 (POST /mcp|GET /health) 20[02] \d+ ms", line) for line in lines), (
        lines
    )


def test_what_was_refused_is_in_the_log(server: HttpServer) -> None:
    logged = len(server.stderr)
    server.send_request("POST", "/mcp", Origin="https://evil.example")
    wait_until(lambda: "POST /mcp 403" in server.stderr[logged:])


@pytest.mark.parametrize(
    "path", ["/%0a2026-01-01%20127.0.0.1%20GET%20/secret%20200", "/%1b[31mred", "/%e2%80%ae", "/" + "x" * 5000]
)
def test_nobody_writes_a_line_of_his_own_into_the_log(server: HttpServer, path: str) -> None:
    logged = len(server.stderr)
    server.send_request("GET", path)
    wait_until(lambda: " 404 " in server.stderr[logged:])
    (line,) = (line for line in server.stderr[logged:].splitlines() if "POST /mcp 200" not in line)
    assert len(line.split()) == 8
    assert line.isascii()
    assert line.isprintable()
    assert len(line) < 400


def test_a_stranger_cannot_fill_the_log_with_what_is_no_http(server: HttpServer) -> None:
    logged = len(server.stderr)
    for _ in range(5):
        server.send_bytes(b"\0\r\n\r\n")
    assert [line for line in server.stderr[logged:].splitlines() if "POST /mcp 200" not in line] == []


def test_with_log_queries_the_tool_and_its_arguments_are_in_it(indexed: Path) -> None:
    with HttpServer(indexed, options=("--log-queries",)) as server:
        HttpClient(server, NEWER).call_tool("search_code", query=f"{SECRET}\n\x1b[31m")
        wait_until(lambda: SECRET in server.stderr)
        (line,) = (line for line in server.stderr.splitlines() if SECRET in line)
        assert "search_code" in line
        assert line.isprintable()
