"""The HTTPS client: which addresses it connects to, and through which proxy. The tests of its two users test the rest."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from dowse.errors import DownloadFailed
from dowse.system.https_client import DownloadRules, is_public, open_url


class Proxy(BaseHTTPRequestHandler):
    """A proxy that notes where it is asked to connect to, and refuses."""

    asked: list[tuple[str, str | None]]

    def do_CONNECT(self) -> None:
        self.asked.append((self.path, self.headers["Proxy-Authorization"]))
        self.send_error(403)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass


@pytest.mark.parametrize("is_allowed", [True, False])
def test_the_proxy_of_the_environment_is_used_only_where_the_rules_say_so(
    is_allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    Proxy.asked = []
    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("https_proxy", f"http://me:p%40ss@127.0.0.1:{server.server_port}")
        monkeypatch.delenv("no_proxy", raising=False)
        rules = DownloadRules(idle_seconds=10, uses_proxy=is_allowed)
        with pytest.raises(DownloadFailed), open_url("https://name.invalid/a", {}, rules):
            pass
        server.shutdown()
    assert Proxy.asked == ([("name.invalid:443", "Basic bWU6cEBzcw==")] if is_allowed else [])


def test_which_addresses_are_public() -> None:
    for ip, expected in (
        ("93.184.216.34", True), ("2606:4700::1111", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False), ("100.64.0.1", False),
        ("0.0.0.0", False), ("224.0.0.1", False), ("255.255.255.255", False), ("::1", False), ("::", False),
        ("fe80::1%eth0", False), ("fd00::1", False), ("::ffff:127.0.0.1", False), ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False), ("64:ff9b::a00:1", False),
    ):  # fmt: skip
        assert is_public(ip) == expected
