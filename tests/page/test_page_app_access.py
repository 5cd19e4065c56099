"""Who may see the page: cookies, tokens, remote and public servers, and pages from elsewhere."""

import re
from pathlib import Path

from tests.forking import start
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import wait_until
from tests.page.conftest import TOKEN, get, post, shown

FROM_ELSEWHERE = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "script"}
BY_A_LINK = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}


def test_a_page_from_elsewhere_cannot_load_anything(page: HttpServer) -> None:
    for path in ("/", "/results?q=apple", "/raw?id=project/fruit/src/apple.py", "/assets/page.js"):
        assert get(page, path, **FROM_ELSEWHERE).status == 403
        assert get(page, path, Origin="https://evil.example").status == 403
        assert get(page, path, Host="evil.example").status == 421
    assert get(page, "/?q=apple", **BY_A_LINK).status == 200
    frame = {**BY_A_LINK, "Sec_Fetch_Dest": "iframe"}
    assert get(page, "/?q=apple", **frame).status == 403


def test_without_the_token_there_is_a_form_and_nothing_else(guarded: HttpServer) -> None:
    for path in ("/", "/?q=apple", "/read?id=project/fruit/src/apple.py", "/status"):
        reply = get(guarded, path)
        assert reply.status == 401
        assert "Sign in" in shown(reply)
        assert b"fruit/" not in reply.body.replace(b'value="/read?id=project/fruit/', b"").replace(
            b'"/read?id=project/fruit/', b""
        )
    for path in ("/results?q=apple", "/raw?id=project/fruit/src/apple.py"):
        assert guarded.send_request("GET", path, Accept="*/*").status == 401
    assert get(guarded, "/assets/page.css").status == 200


def test_the_token_is_exchanged_for_a_cookie_that_is_of_no_use_at_the_mcp_endpoint(guarded: HttpServer) -> None:
    wrong = post(guarded, "/sign-in", {"token": "wrong-horse-battery-staple", "next": "/"})
    assert (wrong.status, "set-cookie" in wrong.headers) == (401, False)
    right = post(guarded, "/sign-in", {"token": TOKEN, "next": "/?q=apple"})
    assert (right.status, right.headers["location"]) == (303, "/?q=apple")
    cookie = right.headers["set-cookie"].partition(";")[0]
    assert TOKEN not in right.headers["set-cookie"]
    assert "src/apple.py" in shown(get(guarded, "/?q=peel_apple", Cookie=cookie))
    assert get(guarded, "/?q=apple", Cookie=cookie[:-1]).status == 401
    assert guarded.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, Cookie=cookie).status == 401
    secure = post(guarded, "/sign-in", {"token": TOKEN}, X_Forwarded_Proto="https", Origin=f"https://{guarded.name}")
    assert "Secure" in secure.headers["set-cookie"]
    assert TOKEN not in guarded.stderr


def test_signing_in_leads_to_an_address_of_this_page_only(guarded: HttpServer) -> None:
    for target in ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/a\nb"):
        reply = post(guarded, "/sign-in", {"token": TOKEN, "next": target})
        assert (reply.status, reply.headers["location"]) == (303, "/")


def test_from_other_machines_the_page_is_read_only_unless_a_flag_says_otherwise(guarded: HttpServer) -> None:
    cookie = post(guarded, "/sign-in", {"token": TOKEN}).headers["set-cookie"].partition(";")[0]
    status = get(guarded, "/status", Cookie=cookie)
    assert b'action="/change"' not in status.body
    change = post(guarded, "/change", {"action": "forget", "source": "project/fruit", "confirm": "yes"}, Cookie=cookie)
    assert change.status == 403
    assert "read-only" in shown(change)


def test_with_the_flag_other_machines_may_change_something(fruit: Path) -> None:
    options = ("--http", "0.0.0.0:0", "--allow-remote", "--allow-changes")
    with HttpServer(fruit, options=options, home=fruit.parent, token=TOKEN) as server:
        cookie = post(server, "/sign-in", {"token": TOKEN}).headers["set-cookie"].partition(";")[0]
        assert b'action="/change"' in get(server, "/status", Cookie=cookie).body


def test_a_public_page_shows_documents_and_nothing_of_projects(fruit: Path) -> None:
    with HttpServer(fruit, options=("--public",), home=fruit.parent) as server:
        wait_until(lambda: b"docs/guide.md" in get(server, "/results?q=apple").body)
        found = shown(get(server, "/?q=peel+apple"))
        assert "src/apple.py" not in found
        assert "project/" not in found
        assert "Nothing found" in shown(get(server, "/results?q=def+peel_apple&mode=exact"))
        assert get(server, "/read?id=project/fruit/src/apple.py").status == 404
        assert get(server, "/raw?id=documents/fruit/src/apple.py").status == 404
        status = get(server, "/status")
        assert b'action="/change"' not in status.body
        assert str(fruit).encode() not in status.body
        assert (
            post(server, "/change", {"action": "forget", "source": "documents/fruit", "confirm": "yes"}).status == 403
        )


def test_an_opened_page_is_for_those_who_have_its_address(fruit: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    environment = {"HOME": str(fruit.parent), "DOWSE_HOME": str(fruit.parent / "dowse"), "PATH": ""}
    with log.open("wb") as output:
        process = start("open", fruit, "--json", stderr=output.fileno(), stdout=output.fileno(), env=environment)
    try:
        wait_until(lambda: '"url"' in log.read_text(encoding="utf-8"))
        found = re.search(r"http://(127\.0\.0\.1):(\d+)(/sign-in\?key=[\w-]+)", log.read_text(encoding="utf-8"))
        assert found
        server = OpenedServer(found[1], int(found[2]))
        asked = get(server, "/")
        assert (asked.status, b'name="token"' in asked.body) == (401, False)
        assert "dowse open" in shown(asked)
        opened = get(server, found[3])
        assert (opened.status, opened.headers["location"]) == (303, "/")
        cookie = opened.headers["set-cookie"].partition(";")[0]
        assert "What is here" in shown(get(server, "/", Cookie=cookie))
        assert get(server, found[3]).status == 303  # as often as one likes
        assert get(server, found[3][:-1]).status == 401
        assert found[3].partition("=")[2] not in log.read_text(encoding="utf-8").replace(found[0], "")
        assert server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status == 401
    finally:
        process.terminate()
        process.wait(20)


class OpenedServer(HttpServer):
    """A server that another command has started."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
