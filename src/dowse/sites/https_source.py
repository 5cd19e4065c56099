"""An index at an https:// address, downloaded within limits and only when it has changed."""

import zlib
from email.message import Message

from dowse.errors import DownloadFailed, Failed, UsageError
from dowse.https_client import DownloadRules, Reply, open_url, parse_url
from dowse.sites.index_model import MAX_INDEX_BYTES
from dowse.sites.index_source import FetchedIndex

CONNECT_SECONDS = 10.0
FETCH_SECONDS = 60.0
"""Time limit for the whole download, redirects included."""


class HttpsIndexSource:
    """An index on a web server."""

    is_remote = True

    def __init__(self, url: str) -> None:
        address = parse_url(url)
        if "@" in url.partition("://")[2].partition("/")[0]:
            raise UsageError("The address contains a user name or a password, which logs would keep. Remove it.")
        self._url = url
        port = "" if address.port == 443 else f":{address.port}"
        self.name = f"https://{address.host}{port}{address.target.partition('?')[0]}"

    def has_changed(self, revision: str) -> bool:  # noqa: ARG002 - fetch() asks the server
        """Return True: only a request to the server can tell."""
        return True

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        """Download the index; return None if the server answers that the revision is unchanged."""
        rules = DownloadRules(CONNECT_SECONDS, FETCH_SECONDS)
        try:
            with open_url(self._url, _request_headers(revision), rules) as reply:
                if reply.status == 304 and revision is not None:
                    return None
                if reply.status == 200:
                    return FetchedIndex(_read_body(reply), _revision_of(reply.headers))
                raise Failed(f"{self.name} answered {reply.status} {reply.reason}. Check the address.")
        except DownloadFailed as error:
            raise Failed(f"{self.name} cannot be fetched ({error}). Try again later.") from error


def _read_body(reply: Reply) -> bytearray:
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if reply.headers.get("Content-Encoding") == "gzip" else None
    body = bytearray()
    for data in reply.pieces():
        try:
            body += inflate.decompress(data, MAX_INDEX_BYTES + 1 - len(body)) if inflate else data
        except zlib.error as error:
            raise DownloadFailed(f"its reply is damaged: {error}") from error
        if len(body) > MAX_INDEX_BYTES:
            raise Failed(f"The index is larger than {MAX_INDEX_BYTES >> 20} MB. Split the site, or shorten the bodies.")
    if inflate and not inflate.eof:
        raise DownloadFailed("the connection ended too early")
    return body


def _request_headers(revision: str | None) -> dict[str, str]:
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
    name, _, value = (revision or "").partition(" ")
    if value:
        headers[name] = value
    return headers


def _revision_of(headers: Message) -> str:
    """Return the request header, and its value, that asks whether this reply is still current."""
    if etag := headers.get("ETag"):
        return f"If-None-Match {etag}"
    return f"If-Modified-Since {headers.get('Last-Modified', '')}".rstrip()
