"""Scenarios over HTTP: status codes, headers and bodies of raw requests."""

import json

from tests.recording.projects import Place
from tests.recording.starting import NEWER, OLDER, Commands, WebServer

BOTH = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CLIENT = {"name": "recording", "version": "1"}
TOKEN = {"Authorization": "Bearer a-token-of-the-recording"}


def message(number: int, method: str, parameters: object) -> bytes:
    """Return a request; one without a number is a notification."""
    number_of = {"id": number} if number else {}
    return json.dumps({"jsonrpc": "2.0", **number_of, "method": method, "params": parameters}).encode()


HELLO = message(1, "initialize", {"protocolVersion": OLDER, "capabilities": {}, "clientInfo": CLIENT})


def web(place: Place) -> str:
    """Record access control, refused requests, and the HTML pages."""
    shell = Commands(place)
    shell.run_quietly("index", "shop")
    with WebServer(place, "shop", "--only", "code") as open_server, WebServer(
        place, "shop", "--only", "code", "--token-file", "token", "--allow-origin", "https://app.example", "--allow-host", "search.example"
    ) as closed:  # fmt: skip
        _ask_without_token(open_server)
        _ask_with_token(closed)
        said = [*open_server.said, "=== with a token\n", *closed.said]
    return "\n".join(said)


def public(place: Place) -> str:
    """Record a public server of documents and a site: its tools, and a session of the older revision."""
    shell = Commands(place)
    shell.run_quietly("docs", "list", "handbook")
    with WebServer(place, "handbook", "--site", "site.json", "--public", "--tools", "full") as server:
        server.ask("GET", "/")
        server.ask("GET", "/health")
        _, headers, _ = server.ask("POST", "/mcp", HELLO, BOTH)
        session = {**BOTH, "Mcp-Session-Id": headers["mcp-session-id"], "MCP-Protocol-Version": OLDER}
        for number, (method, parameters) in enumerate(
            (
                ("notifications/initialized", {}), ("ping", {}), ("tools/list", {}),
                ("tools/call", {"name": "search_documents", "arguments": {"query": "scales", "limit": 1}}),
                ("tools/call", {"name": "search_fruit", "arguments": {"query": "pears", "limit": 1}}),
                ("tools/call", {"name": "search_code", "arguments": {"query": "cart"}}),
                ("resources/read", {"uri": "docs://note.txt"}), ("nothing", {}),
            )
        ):  # fmt: skip
            server.ask("POST", "/mcp", message(number, method, parameters), session)
        server.ask("DELETE", "/mcp", headers=session)
        server.ask("POST", "/mcp", HELLO, session)
        return "\n".join(server.said)


def _ask_without_token(server: WebServer) -> None:
    for path in ("/", "/health", "/nothing", "/mcp"):
        server.ask("GET", path)
    server.ask("HEAD", "/")
    server.ask("DELETE", "/mcp")
    server.ask("PUT", "/mcp", b"{}", BOTH)
    server.ask("POST", "/health")
    server.ask("POST", "/mcp", HELLO, {**BOTH, "Host": "evil.example"})
    server.ask("POST", "/mcp", HELLO, {**BOTH, "Origin": "https://evil.example"})
    server.ask("POST", "/mcp", HELLO, {**BOTH, "Origin": "null"})
    server.ask("POST", "/mcp", HELLO, {**BOTH, "Content-Type": "text/plain"})
    server.ask("POST", "/mcp", HELLO, {**BOTH, "Accept": "text/html"})
    server.ask("POST", "/mcp", b"{", BOTH)
    server.ask("POST", "/mcp", b"[]", BOTH)
    server.ask("POST", "/mcp", b"5", BOTH)
    server.ask("POST", "/mcp", b" " * 4_200_000, BOTH, note="(4.2 MB)")
    server.ask("POST", "/mcp", HELLO, BOTH)
    server.ask("POST", "/mcp", HELLO, {**BOTH, "Mcp-Session-Id": "nothing"})
    server.ask("GET", "/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": "nothing"})
    for tool, arguments in (("search_code", {"query": "discount", "top_k": 1}), ("search_code", {}), ("nothing", {})):
        about = {"protocolVersion": NEWER, "clientInfo": CLIENT, "clientCapabilities": {}}
        meta = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
        call = message(7, "tools/call", {"name": tool, "arguments": arguments, "_meta": meta})
        told = {**BOTH, "MCP-Protocol-Version": NEWER, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        server.ask("POST", "/mcp", call, told)


def _ask_with_token(server: WebServer) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}, TOKEN):
        server.ask("POST", "/mcp", HELLO, {**BOTH, **headers})
    for path in ("/", "/health"):
        server.ask("GET", path)
        server.ask("GET", path, headers=TOKEN)
    server.ask("GET", "/health", headers={"Host": "search.example"})
    server.ask("GET", "/health", headers={"Host": "search.example.evil"})
    server.ask("POST", "/mcp", HELLO, {**BOTH, **TOKEN, "Origin": "https://app.example"})
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    server.ask("OPTIONS", "/mcp", headers={**asked, "Access-Control-Request-Headers": "authorization"})
    server.ask("OPTIONS", "/mcp", headers={**asked, "Origin": "https://evil.example"})
