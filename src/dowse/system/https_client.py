"""The HTTPS client for everything that dowse downloads: verified certificates, pinned addresses, few redirects.

It is built on `http.client`: httpx, which comes with the protocol's SDK, takes 0.3 s to import, and does not let a
caller choose the IP address that a name stands for.
"""

import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from dowse import __version__
from dowse.errors import DownloadFailed, Failed, UsageError

MAX_REDIRECTS = 5
_READ_BYTES = 1 << 18
_REDIRECT_STATUSES = (301, 302, 303, 307, 308)
_HOST_NAME = re.compile(r"[a-z0-9_.:-]+", re.IGNORECASE)
_DEFAULT_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """A URL, split into the parts that a request needs."""

    url: str
    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, int]:
        """The server that answers."""
        return self.host, self.port


@dataclass(frozen=True, slots=True)
class DownloadRules:
    """Limits of a download, and the connections that it may use."""

    idle_seconds: float
    """How long to wait for a connection, and for each piece of the reply."""
    total_seconds: float | None = None
    """How long the whole download may take, redirects included."""
    allows_loopback: bool = False
    """Whether http:// is allowed on this machine."""
    uses_proxy: bool = False
    """Whether to connect through the proxy of the environment, which then resolves the names."""


class Reply:
    """The reply to a request. Reading it raises DownloadFailed when the connection fails or the time is over."""

    def __init__(self, reply: http.client.HTTPResponse, limit: "_TimeLimit") -> None:
        self.status, self.reason, self.headers = reply.status, reply.reason, reply.headers
        self._reply = reply
        self._limit = limit

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it arrives, as the server encoded it."""
        while True:
            with self._limit.errors():
                piece = self._reply.read1(_READ_BYTES)
            if not piece:
                break
            yield piece
        if self._reply.length:
            raise DownloadFailed("the connection ended too early")


@contextmanager
def open_url(url: str, headers: Mapping[str, str], rules: DownloadRules) -> Iterator[Reply]:
    """Request a URL, follow its redirects, and yield the reply, whatever its status.

    Raise DownloadFailed if no reply comes, and Failed for a redirect that is not followed. The user may name a host
    with any address; a redirect to another host is followed only if all addresses of that host are public.
    """
    first = address = parse_url(url, allows_loopback=rules.allows_loopback)
    limit = _TimeLimit(rules.total_seconds)
    resolved: dict[
        tuple[str, int], list[str]
    ] = {}  # looked up once, so that a name cannot change its target in between
    for _ in range(MAX_REDIRECTS + 1):
        with limit.errors():
            if address.origin not in resolved:
                resolved[address.origin] = _resolve(address, first, rules)
            connection = _connect(address, resolved[address.origin], limit.seconds_left(rules.idle_seconds))
        with closing(connection), limit.shutting_down(connection):
            with limit.errors():
                request_headers = {"User-Agent": f"dowse/{__version__}", **headers}
                connection.request("GET", address.target, headers=request_headers)
                reply = connection.getresponse()
            with reply:
                if reply.status not in _REDIRECT_STATUSES:
                    yield Reply(reply, limit)
                    return
                address = _parse_redirect(reply.headers.get("Location", ""), address)
    raise Failed(f"{first.host} redirects more than {MAX_REDIRECTS} times.")


def parse_url(url: str, *, base: str = "", allows_loopback: bool = False) -> ParsedUrl:
    """Parse a URL, which may be relative to a base; raise UsageError if nothing can be downloaded from it."""
    try:
        url = urljoin(base, url)
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise UsageError(f"{url[:100]} is not an address ({error}).") from error
    if parts.scheme != "https" and not (allows_loopback and parts.scheme == "http" and is_loopback(host)):
        raise UsageError(f"{url[:100]} cannot be fetched: only https:// addresses are allowed.")
    if not _HOST_NAME.fullmatch(host) or not url.isascii() or any(character.isspace() for character in url):
        raise UsageError(f"{url[:100]!r} is not an address such as https://example.com/search-index.json.")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return ParsedUrl(url, parts.scheme, host, port, target)


def is_loopback(host: str) -> bool:
    """Return whether the name or IP address of a host means this machine."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_public(ip: str) -> bool:
    """Return whether an IP address is reachable from the public internet."""
    parsed = ipaddress.ip_address(ip.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None and not is_public(str(inner)):
            return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


def _parse_redirect(location: str, base: ParsedUrl) -> ParsedUrl:
    try:
        return parse_url(location, base=base.url, allows_loopback=base.scheme == "http")
    except UsageError as error:
        raise Failed(f"{base.host} redirects to an address that is not followed: {error}") from error


def _resolve(address: ParsedUrl, first: ParsedUrl, rules: DownloadRules) -> list[str]:
    """Return the IP addresses of a host; none if a proxy resolves its name."""
    if rules.uses_proxy and _find_proxy(address) is not None:
        return []
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    ips = list(dict.fromkeys(str(info[4][0]) for info in found))
    if is_loopback(address.host) and not all(map(is_loopback, ips)):
        raise Failed(f"{address.host} is not the name of this machine here.")
    if address.origin != first.origin and not all(map(is_public, ips)):
        raise Failed(
            f"{first.host} redirects to {address.host}, which is not a public address. Such redirects are not followed."
        )
    return ips


def _find_proxy(address: ParsedUrl) -> str | None:
    from urllib.request import getproxies, proxy_bypass  # here because only the download of a model uses a proxy

    return None if address.scheme != "https" or proxy_bypass(address.host) else getproxies().get("https")


def _connect(address: ParsedUrl, ips: list[str], seconds: float) -> http.client.HTTPConnection:
    """Return a connection to the first IP address that answers, or through the proxy if there is no IP address."""
    if ips:
        return _PinnedConnection(address, ips, seconds)
    proxy = urlsplit(_find_proxy(address) or "")
    through = http.client.HTTPSConnection(
        proxy.hostname or "", proxy.port or 80, timeout=seconds, context=ssl.create_default_context()
    )
    credentials = {}
    if proxy.username is not None:
        from base64 import b64encode

        secret = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        credentials["Proxy-Authorization"] = f"Basic {b64encode(secret.encode()).decode()}"
    through.set_tunnel(address.host, address.port, credentials)
    return through


class _PinnedConnection(http.client.HTTPConnection):
    """A connection to the first of the given IP addresses that answers, without another name lookup."""

    def __init__(self, address: ParsedUrl, ips: list[str], seconds: float) -> None:
        self.default_port = _DEFAULT_PORTS[address.scheme]  # a Host header leaves this port out
        super().__init__(address.host, address.port, timeout=seconds)
        self._is_encrypted = address.scheme == "https"
        self._ips = ips
        self.socket: socket.socket | None = None
        """The open socket; unlike `sock`, it stays known while the reply is read."""

    def connect(self) -> None:
        for at, ip in enumerate(self._ips, 1):
            try:
                self.sock = self.socket = socket.create_connection((ip, self.port), self.timeout)
                break
            except OSError:
                if at == len(self._ips):
                    raise
        if self._is_encrypted:
            tls = ssl.create_default_context()
            self.sock = self.socket = tls.wrap_socket(self.sock, server_hostname=self.host)


class _TimeLimit:
    """The end of the time that a download may take."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds if seconds is not None else float("inf")

    def seconds_left(self, max_seconds: float) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise DownloadFailed(f"it took longer than {self._seconds:.0f} seconds")
        return min(max_seconds, left)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise DownloadFailed for errors of the connection, and when the time is over."""
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            raise DownloadFailed(f"its certificate is not trusted: {error.verify_message}") from error
        except http.client.IncompleteRead as error:
            self.seconds_left(0)
            raise DownloadFailed("the connection ended too early") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.seconds_left(0)
            raise DownloadFailed(str(error) or type(error).__name__) from error
        self.seconds_left(0)

    @contextmanager
    def shutting_down(self, connection: http.client.HTTPConnection) -> Iterator[None]:
        """Shut the socket down at the end: a server that sends a byte now and then never reaches the socket timeout."""
        if self._seconds is None:
            yield
            return

        def shut_down() -> None:
            open_socket = getattr(connection, "socket", None)
            with suppress(OSError):
                if open_socket is not None:
                    open_socket.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self.seconds_left(self._seconds), shut_down)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
