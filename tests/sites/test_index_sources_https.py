"""An index over https://, fetched from a real server: updates, limits and forbidden addresses."""

import datetime
import gzip
import ipaddress
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dowse.errors import Failed, UsageError
from dowse.sites import index_sources
from dowse.sites.index_sources import FetchedIndex, open_index_source
from dowse.sites.site import ServedSite
from tests.http_server import serving
from tests.sites.sample_sites import PAGES, encoded, index

Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


class Site:
    """A web server with configurable replies."""

    url = ""

    def __init__(self) -> None:
        self.answer: Answer = lambda _request: None
        self.requests: list[dict[str, str]] = []


@contextmanager
def serving_site(certificate: Path | None) -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.requests.append({"path": self.path, **dict(self.headers)})
            with suppress(OSError):
                site.answer(self)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            pass

    with serving(Handler, certificate) as site.url:
        yield site


@pytest.fixture
def site(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving_site(certificate) as made:
        yield made


def giving(data: bytes, **headers: str) -> Answer:
    """Reply with these bytes, or with 304 if the client has them."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        known = request.headers.get("If-None-Match") == headers.get("ETag", "none")
        known |= request.headers.get("If-Modified-Since") == headers.get("Last_Modified", "none")
        request.send_response(304 if known else 200)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", "0" if known else str(len(data)))
        request.end_headers()
        request.wfile.write(b"" if known else data)

    return answer


def leading(place: str, status: int = 302) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Location", place)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def refusing(_request: BaseHTTPRequestHandler) -> None:
    """Close the connection without a reply."""


def failing(request: BaseHTTPRequestHandler) -> None:
    request.send_error(503)


def dripping(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("ETag", "x")
    request.send_header("Content-Length", "100000")
    request.end_headers()
    with suppress(OSError):
        while True:
            request.wfile.write(b" ")
            time.sleep(0.05)


def cut(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("ETag", "x")
    request.send_header("Content-Length", str(len(INDEX)))
    request.end_headers()
    request.wfile.write(INDEX[:-10])


def fetched(site: Site, mark: str | None = None) -> FetchedIndex | None:
    return open_index_source(f"{site.url}/search-index.json").fetch(mark)


INDEX = encoded(index())


def test_an_index_is_served_from_a_web_server(site: Site) -> None:
    site.answer = giving(INDEX, ETag='"1"')
    assert len(ServedSite(open_index_source(f"{site.url}/search-index.json")).current) == 4
    assert site.requests[0]["User-Agent"].startswith("dowse/")


@pytest.mark.parametrize("headers", [{"ETag": 'W/"1"'}, {"Last_Modified": "Wed, 15 Jan 2025 12:00:00 GMT"}])
def test_it_is_only_sent_again_when_it_changed(site: Site, headers: dict[str, str]) -> None:
    now = 0.0
    site.answer = giving(INDEX, **headers)
    live = ServedSite(open_index_source(f"{site.url}/search-index.json"), lambda: now)
    before = live.current
    live.refresh()
    assert len(site.requests) == 1
    now = 100
    live.refresh()
    assert live.current is before
    asked = site.requests[1].get("If-None-Match") or site.requests[1].get("If-Modified-Since")
    assert asked in headers.values()
    site.answer = giving(encoded(index(*PAGES[:2])), ETag='"2"')
    now = 200
    live.refresh()
    assert len(live.current) == 2


def test_a_server_that_fails_later_does_not_take_the_site_away(site: Site) -> None:
    now = 0.0
    site.answer = giving(INDEX, ETag='"1"')
    live = ServedSite(open_index_source(f"{site.url}/search-index.json"), lambda: now)
    now = 100
    site.answer = failing
    live.refresh()
    assert len(live.current) == 4
    assert live.problem
    assert "could not be updated" in live.problem
    assert "503" in live.problem


def test_a_compressed_index_is_taken(site: Site) -> None:
    site.answer = giving(gzip.compress(INDEX), Content_Encoding="gzip")
    got = fetched(site)
    assert got
    assert got.data == INDEX


def test_a_redirect_on_the_same_server_is_followed(site: Site) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        (leading("/other/index.json") if request.path != "/other/index.json" else giving(INDEX))(request)

    site.answer = answer
    got = fetched(site)
    assert got
    assert got.data == INDEX


def test_a_redirect_into_a_private_network_is_not_followed(site: Site, certificate: Path) -> None:
    with serving_site(certificate) as inner:
        port = inner.url.rpartition(":")[2]
        for place in (inner.url, f"https://127.0.0.1:{port}/", f"https://[::1]:{port}/", "https://0.0.0.0/"):
            site.answer = leading(place)
            with pytest.raises(Failed, match="not a public address"):
                fetched(site)
        assert inner.requests == []


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("http://localhost/", "only https://"),
        ("file:///etc/passwd", "only https://"),
        ("ftp://localhost/", "only https://"),
        ("", "more than 5 times"),
        ("/again", "more than 5 times"),
        ("https://a b/", "not an address"),
        ("https://[::1/", "not an address"),
    ],
)
def test_a_redirect_to_anything_odd_is_not_followed(site: Site, place: str, message: str) -> None:
    site.answer = leading(place)
    with pytest.raises(Failed, match=message):
        fetched(site)


def test_what_is_too_long_is_not_read_to_its_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_sources, "MAX_INDEX_BYTES", 1 << 20)
    for data, headers in ((b"x" * (2 << 20), {}), (gzip.compress(b"x" * (64 << 20)), {"Content_Encoding": "gzip"})):
        site.answer = giving(data, **headers)
        with pytest.raises(Failed, match="larger than 1 MB"):
            fetched(site)


def test_what_comes_too_slowly_is_not_waited_for(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_sources, "FETCH_SECONDS", 0.3)
    site.answer = dripping
    started = time.monotonic()
    with pytest.raises(Failed, match="took longer"):
        fetched(site)
    assert time.monotonic() - started < 60


def test_a_reply_that_ends_too_early_is_no_index(site: Site) -> None:
    for site.answer in (cut, giving(gzip.compress(INDEX)[:-10], Content_Encoding="gzip")):
        with pytest.raises(Failed):
            fetched(site)


def test_a_certificate_that_nobody_trusts_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(Failed, match="certificate"):
        fetched(site)


def test_an_address_that_is_none_is_refused() -> None:
    for place in (
        "https://",
        "https://user:pw@a.example/",
        "https://a.example:x/",
        "https://a\u00e9.example/",
        "http://a.example/",
    ):
        with pytest.raises(UsageError):
            open_index_source(place)
