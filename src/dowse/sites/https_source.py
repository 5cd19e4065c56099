"""An index at an https:// address: fetched within limits, and only again when it changed."""

import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from dowse import __version__
from dowse.errors import Failed, UsageError
from dowse.sites.index_model import MAX_INDEX_BYTES
from dowse.sites.index_source import FetchedIndex

CONNECT_SECONDS = 10.0
FETCH_SECONDS = 60.0
"""For all of it, however slowly it comes."""
MAX_REDIRECTS = 5
_READ_BYTES = 1 << 18
_REDIRECT_STATUSES = (301, 302, 303, 307, 308)
_HOST_NAME = re.compile(r"[a-z0-9_.:-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _ParsedUrl:
    """An address taken apart."""

    url: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, int]:
        return self.host, self.port


class HttpsIndexSource:
    """A web server that has an index."""

    is_remote = True

    def __init__(self, url: str) -> None:
        address = _parse_url(url)
        if urlsplit(url).username is not None:
            raise UsageError("An address with a password in it is kept in too many logs. Leave it out.")
        self._url = url
        port = "" if address.port == 443 else f":{address.port}"
        self.name = f"https://{address.host}{port}{address.target.partition('?')[0]}"

    def has_changed(self, mark: str) -> bool:  # noqa: ARG002 - the server is asked when it is fetched
        """Nobody knows without asking."""
        return True

    def fetch(self, mark: str | None) -> FetchedIndex | None:
        """The index; nothing where the server says it is as it was at that mark."""
        try:
            return _Fetch(self._url).fetch(mark)
        except ssl.SSLCertVerificationError as error:
            raise Failed(f"{self.name} has no certificate that can be trusted ({error.verify_message}).") from error
        except TimeoutError as error:
            raise Failed(f"{self.name} took longer than {FETCH_SECONDS:.0f} seconds. Try again later.") from error
        except (OSError, http.client.HTTPException) as error:
            raise Failed(f"{self.name} cannot be fetched ({str(error) or type(error).__name__}).") from error


class _Fetch:
    """One fetch, over all its redirects."""

    def __init__(self, url: str) -> None:
        self._first = _parse_url(url)
        self._deadline = time.monotonic() + FETCH_SECONDS
        self._reached: dict[tuple[str, int], list[str]] = {}
        """The addresses behind each name, looked up once: a name must not lead elsewhere the next time."""

    def fetch(self, mark: str | None) -> FetchedIndex | None:
        address = self._first
        for _ in range(MAX_REDIRECTS + 1):
            connection = _PinnedConnection(address, self._ips(address), self._left(CONNECT_SECONDS))
            with self._ended_in_time(connection):
                connection.request("GET", address.target, headers=_request_headers(mark))
                reply = connection.getresponse()
                if reply.status == 304 and mark is not None:
                    return None
                if reply.status == 200:
                    return FetchedIndex(self._body(reply), _revision_of(reply))
                if reply.status not in _REDIRECT_STATUSES:
                    raise Failed(f"{address.host} answered {reply.status} {reply.reason}. Is the address right?")
                address = _parse_url(reply.headers.get("Location", ""), since=address.url)
        raise Failed(f"{self._first.host} leads from one address to the next more than {MAX_REDIRECTS} times.")

    def _ips(self, address: _ParsedUrl) -> list[str]:
        """Where a name leads. What the user named may be anywhere; where others send us has to be public."""
        if address.origin not in self._reached:
            found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
            ips = list(dict.fromkeys(str(info[4][0]) for info in found))
            if address.origin != self._first.origin and not all(map(is_public, ips)):
                raise Failed(
                    f"{self._first.host} leads to {address.host}, which is not a public address. It is not followed."
                )
            self._reached[address.origin] = ips
        return self._reached[address.origin]

    @contextmanager
    def _ended_in_time(self, connection: "_PinnedConnection") -> Iterator[None]:
        """Cut a connection at the deadline: whoever sends a byte now and then would never exceed a socket's patience."""
        timer = threading.Timer(self._left(FETCH_SECONDS), connection.cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, ValueError, http.client.HTTPException, Failed):
            self._left(0)  # it was cut: that is why
            raise
        finally:
            timer.cancel()
            connection.close()

    def _body(self, reply: http.client.HTTPResponse) -> bytearray:
        inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if reply.headers.get("Content-Encoding") == "gzip" else None
        body = bytearray()
        while True:
            self._left(0)
            piece = reply.read1(_READ_BYTES)
            if not piece:
                break
            body += inflate.decompress(piece, MAX_INDEX_BYTES + 1 - len(body)) if inflate else piece
            if len(body) > MAX_INDEX_BYTES:
                raise Failed(
                    f"The index has more than {MAX_INDEX_BYTES >> 20} MB. Split the site, or shorten the bodies."
                )
        self._left(0)
        if (inflate and not inflate.eof) or (not inflate and reply.length):
            raise Failed("The reply ended too early.")
        return body

    def _left(self, most: float) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(most, left)


class _PinnedConnection(http.client.HTTPSConnection):
    """A connection to a name at the first of its addresses that answers; it is not looked up again."""

    def __init__(self, address: _ParsedUrl, ips: list[str], seconds: float) -> None:
        self._tls = ssl.create_default_context()
        super().__init__(address.host, address.port, timeout=seconds, context=self._tls)
        self._ips = ips
        self._wire: socket.socket | None = None

    def connect(self) -> None:
        for at, ip in enumerate(self._ips, 1):
            try:
                plain = socket.create_connection((ip, self.port), self.timeout)
                break
            except OSError:
                if at == len(self._ips):
                    raise
        self._wire = plain
        self.sock = self._wire = self._tls.wrap_socket(plain, server_hostname=self.host)

    def cut(self) -> None:
        """End whatever goes on; from another thread."""
        with suppress(OSError):
            if self._wire is not None:
                self._wire.shutdown(socket.SHUT_RDWR)


def is_public(ip: str) -> bool:
    """Whether an address is one that anybody in the world could reach."""
    parsed = ipaddress.ip_address(ip.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None and not is_public(str(inner)):
            return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


def _parse_url(url: str, *, since: str = "") -> _ParsedUrl:
    """An address, or where one leads that we came from."""
    kind = Failed if since else UsageError
    try:
        url = urljoin(since, url) if since else url
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 443
    except ValueError as error:
        raise kind(f"{url[:100]} is not an address ({error}).") from error
    if parts.scheme.lower() != "https":
        raise kind(f"{url[:100]} is not fetched: only https:// addresses are.")
    if not _HOST_NAME.fullmatch(host) or not url.isascii() or any(character.isspace() for character in url):
        raise kind(f"{url[:100]!r} is not an address such as https://example.com/search-index.json.")
    return _ParsedUrl(url, host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def _request_headers(mark: str | None) -> dict[str, str]:
    headers = {"User-Agent": f"dowse/{__version__}", "Accept": "application/json", "Accept-Encoding": "gzip"}
    kind, _, value = (mark or "").partition(" ")
    if value:
        headers[kind] = value
    return headers


def _revision_of(reply: http.client.HTTPResponse) -> str:
    """How to ask whether this is still so: the header to send, and its value."""
    if etag := reply.headers.get("ETag"):
        return f"If-None-Match {etag}"
    return f"If-Modified-Since {reply.headers.get('Last-Modified', '')}".rstrip()
