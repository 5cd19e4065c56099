"""An index at an https:// address, downloaded within limits and only when it has changed."""

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
"""Time limit for the whole download, redirects included."""
MAX_REDIRECTS = 5
_READ_BYTES = 1 << 18
_REDIRECT_STATUSES = (301, 302, 303, 307, 308)
_HOST_NAME = re.compile(r"[a-z0-9_.:-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _ParsedUrl:
    """An https:// URL, split into the parts that a request needs."""

    url: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, int]:
        return self.host, self.port


class HttpsIndexSource:
    """An index on a web server."""

    is_remote = True

    def __init__(self, url: str) -> None:
        address = _parse_url(url)
        if urlsplit(url).username is not None:
            raise UsageError("The address contains a user name or a password, which logs would keep. Remove it.")
        self._url = url
        port = "" if address.port == 443 else f":{address.port}"
        self.name = f"https://{address.host}{port}{address.target.partition('?')[0]}"

    def has_changed(self, revision: str) -> bool:  # noqa: ARG002 - fetch() asks the server
        """Return True: only a request to the server can tell."""
        return True

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        """Download the index; return None if the server answers that the revision is unchanged."""
        try:
            return _Fetch(self._url).fetch(revision)
        except ssl.SSLCertVerificationError as error:
            raise Failed(f"{self.name} has no trusted certificate ({error.verify_message}).") from error
        except TimeoutError as error:
            raise Failed(f"{self.name} took longer than {FETCH_SECONDS:.0f} seconds. Try again later.") from error
        except (OSError, http.client.HTTPException) as error:
            raise Failed(f"{self.name} cannot be fetched ({str(error) or type(error).__name__}).") from error


class _Fetch:
    """One download, including its redirects."""

    def __init__(self, url: str) -> None:
        self._first = _parse_url(url)
        self._deadline = time.monotonic() + FETCH_SECONDS
        self._resolved: dict[tuple[str, int], list[str]] = {}
        """The IP addresses of each host. A host is looked up once, so that its name cannot change its target in between."""

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        address = self._first
        for _ in range(MAX_REDIRECTS + 1):
            connection = _PinnedConnection(address, self._resolve(address), self._seconds_left(CONNECT_SECONDS))
            with self._close_at_deadline(connection):
                connection.request("GET", address.target, headers=_request_headers(revision))
                reply = connection.getresponse()
                if reply.status == 304 and revision is not None:
                    return None
                if reply.status == 200:
                    return FetchedIndex(self._read_body(reply), _revision_of(reply))
                if reply.status not in _REDIRECT_STATUSES:
                    raise Failed(f"{address.host} answered {reply.status} {reply.reason}. Check the address.")
                address = _parse_url(reply.headers.get("Location", ""), base=address.url)
        raise Failed(f"{self._first.host} redirects more than {MAX_REDIRECTS} times.")

    def _resolve(self, address: _ParsedUrl) -> list[str]:
        """Return the IP addresses of a host.

        The host that the user named may have any address; the target of a redirect must have a public one.
        """
        if address.origin not in self._resolved:
            found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
            ips = list(dict.fromkeys(str(info[4][0]) for info in found))
            if address.origin != self._first.origin and not all(map(is_public, ips)):
                raise Failed(
                    f"{self._first.host} redirects to {address.host}, which is not a public address. Such redirects are not followed."
                )
            self._resolved[address.origin] = ips
        return self._resolved[address.origin]

    @contextmanager
    def _close_at_deadline(self, connection: "_PinnedConnection") -> Iterator[None]:
        """Close the connection at the deadline: a server that sends a byte now and then never reaches the socket timeout."""
        timer = threading.Timer(self._seconds_left(FETCH_SECONDS), connection.shut_down)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, ValueError, http.client.HTTPException, Failed):
            self._seconds_left(0)  # raises TimeoutError if the deadline closed the connection
            raise
        finally:
            timer.cancel()
            connection.close()

    def _read_body(self, reply: http.client.HTTPResponse) -> bytearray:
        inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if reply.headers.get("Content-Encoding") == "gzip" else None
        body = bytearray()
        while True:
            self._seconds_left(0)
            data = reply.read1(_READ_BYTES)
            if not data:
                break
            body += inflate.decompress(data, MAX_INDEX_BYTES + 1 - len(body)) if inflate else data
            if len(body) > MAX_INDEX_BYTES:
                raise Failed(
                    f"The index is larger than {MAX_INDEX_BYTES >> 20} MB. Split the site, or shorten the bodies."
                )
        self._seconds_left(0)
        if (inflate and not inflate.eof) or (not inflate and reply.length):
            raise Failed("The reply is incomplete. Try again later.")
        return body

    def _seconds_left(self, max_seconds: float) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(max_seconds, left)


class _PinnedConnection(http.client.HTTPSConnection):
    """A connection to the first of the given IP addresses that answers, without another name lookup."""

    def __init__(self, address: _ParsedUrl, ips: list[str], seconds: float) -> None:
        self._tls = ssl.create_default_context()
        super().__init__(address.host, address.port, timeout=seconds, context=self._tls)
        self._ips = ips
        self._socket: socket.socket | None = None

    def connect(self) -> None:
        for at, ip in enumerate(self._ips, 1):
            try:
                tcp = socket.create_connection((ip, self.port), self.timeout)
                break
            except OSError:
                if at == len(self._ips):
                    raise
        self._socket = tcp
        self.sock = self._socket = self._tls.wrap_socket(tcp, server_hostname=self.host)

    def shut_down(self) -> None:
        """Shut the socket down; called from another thread."""
        with suppress(OSError):
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)


def is_public(ip: str) -> bool:
    """Return whether an IP address is reachable from the public internet."""
    parsed = ipaddress.ip_address(ip.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None and not is_public(str(inner)):
            return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


def _parse_url(url: str, *, base: str = "") -> _ParsedUrl:
    """Parse an https:// URL; resolve it against `base`, where it is the target of a redirect."""
    error_class = Failed if base else UsageError
    try:
        url = urljoin(base, url) if base else url
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 443
    except ValueError as error:
        raise error_class(f"{url[:100]} is not an address ({error}).") from error
    if parts.scheme.lower() != "https":
        raise error_class(f"{url[:100]} cannot be fetched: only https:// addresses are allowed.")
    if not _HOST_NAME.fullmatch(host) or not url.isascii() or any(character.isspace() for character in url):
        raise error_class(f"{url[:100]!r} is not an address such as https://example.com/search-index.json.")
    return _ParsedUrl(url, host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def _request_headers(revision: str | None) -> dict[str, str]:
    headers = {"User-Agent": f"dowse/{__version__}", "Accept": "application/json", "Accept-Encoding": "gzip"}
    name, _, value = (revision or "").partition(" ")
    if value:
        headers[name] = value
    return headers


def _revision_of(reply: http.client.HTTPResponse) -> str:
    """Return the request header, and its value, that asks whether this reply is still current."""
    if etag := reply.headers.get("ETag"):
        return f"If-None-Match {etag}"
    return f"If-Modified-Since {reply.headers.get('Last-Modified', '')}".rstrip()
