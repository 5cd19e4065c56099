"""The index source for a location: a file, an https:// address or a bucket."""

import contextlib
import os
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DownloadFailed, Failed, UsageError
from dowse.sites.index_check import MAX_INDEX_BYTES, Inspection, inspect_bytes
from dowse.system.platform import open_beneath
from dowse.system.s3_client import error_code, error_meaning, open_s3

if TYPE_CHECKING:
    from dowse.system.https_client import Reply

REMOTE_CHECK_SECONDS = 60.0
"""Seconds between two checks whether a remote index has changed."""
CONNECT_SECONDS = 10.0
FETCH_SECONDS = 60.0
"""Time limit for the whole download, redirects included."""
S3_READ_SECONDS = 60
_UNCHANGED_CODES = ("304", "NotModified", "PreconditionFailed")


@dataclass(frozen=True, slots=True)
class FetchedIndex:
    """The bytes of an index, and the revision that its source gave them."""

    data: bytearray
    revision: str
    """Opaque to callers: an ETag, a date, or the size and times of a file."""


class IndexSource(ABC):
    """A place that an index is fetched from."""

    name: str
    """The name used in messages: without secrets, and without paths of this machine."""
    is_remote = True
    """Whether a fetch goes over the network."""

    @abstractmethod
    def fetch(self, revision: str | None) -> FetchedIndex | None:
        """Return the index; None if it still has that revision. Raise Failed if it cannot be read."""

    def has_changed(self, revision: str) -> bool:  # noqa: ARG002 - only a fetch tells
        """Return whether a fetch may return another index."""
        return True


def open_index_source(location: str) -> IndexSource:
    """Return the source for a location: a path, or an address that begins with https:// or s3://."""
    scheme, colon, _ = location.partition("://")
    if not colon:
        return FileIndexSource(index_path(location))
    if scheme.lower() == "https":
        return HttpsIndexSource(location)
    if scheme.lower() == "s3":
        return S3IndexSource(location)
    raise UsageError(f"{location[:100]} cannot be fetched: an index is a file, or an https:// or s3:// address.")


class FileIndexSource(IndexSource):
    """An index file on this machine."""

    is_remote = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        """Return the content of the file; None if its revision is unchanged.

        If it changes while it is read, the revision is that before, so that it is read again.
        """
        real = Path(os.path.realpath(self._path))
        try:
            with open_beneath(real.parent, real.name) as descriptor, open(descriptor, "rb", closefd=False) as file:
                found = _revision_of(os.fstat(descriptor))
                return None if found == revision else FetchedIndex(bytearray(file.read(MAX_INDEX_BYTES + 1)), found)
        except OSError as error:
            raise Failed(f"{self.name} cannot be read ({error.strerror}).") from error

    def has_changed(self, revision: str) -> bool:
        """Return whether the file has changed; a file that no longer exists has."""
        try:
            return _revision_of(self._path.stat()) != revision
        except OSError:
            return True


def index_path(text: str) -> Path:
    """Return the path of an index file that a user typed; UsageError where there is no such file."""
    if not text or "\0" in text:
        raise UsageError(f"{text!r} is not a path.")
    try:
        path = Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(
            f"{text} cannot be found: there is no user of this name. Write ./{text} if it is a file name."
        ) from error
    if path.is_dir():
        raise UsageError(
            f"{text} is a folder. Name the index file in it, or build one: dowse site build {text} -o FILE"
        )
    if not path.exists():
        raise UsageError(f"{text} does not exist. Build it with: dowse site build SRC -o {text}")
    return path


def _revision_of(stat: os.stat_result) -> str:
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}-{stat.st_ctime_ns}"


class HttpsIndexSource(IndexSource):
    """An index on a web server."""

    def __init__(self, url: str) -> None:
        from dowse.system.https_client import parse_url  # a site in a file needs no ssl

        address = parse_url(url)
        if "@" in url.partition("://")[2].partition("/")[0]:
            raise UsageError("The address contains a user name or a password, which logs would keep. Remove it.")
        self._url = url
        port = "" if address.port == 443 else f":{address.port}"
        self.name = f"https://{address.host}{port}{address.target.partition('?')[0]}"

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        """Download the index; return None if the server answers that the revision is unchanged.

        A revision is the request header that asks whether a reply is still current.
        """
        from dowse.system.https_client import DownloadRules, open_url

        rules = DownloadRules(CONNECT_SECONDS, FETCH_SECONDS)
        condition, _, value = (revision or "").partition(" ")
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"} | ({condition: value} if value else {})
        try:
            with open_url(self._url, headers, rules) as reply:
                if reply.status == 304 and revision is not None:
                    return None
                if reply.status == 200:
                    etag, modified = (reply.headers.get(name, "") for name in ("ETag", "Last-Modified"))
                    asks = f"If-None-Match {etag}" if etag else f"If-Modified-Since {modified}".rstrip()
                    return FetchedIndex(_read_body(reply), asks)
                raise Failed(f"{self.name} answered {reply.status} {reply.reason}. Check the address.")
        except DownloadFailed as error:
            raise Failed(f"{self.name} cannot be fetched ({error}). Try again later.") from error


def _read_body(reply: "Reply") -> bytearray:
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


class S3IndexSource(IndexSource):
    """An index in an S3 bucket."""

    def __init__(self, url: str) -> None:
        self._bucket, _, self._key = url.partition("://")[2].partition("/")
        self.name = url
        if not self._bucket or not self._key:
            raise UsageError(f"{url} is not an address such as s3://bucket/search-index.json.")
        settings = {"connect_timeout": CONNECT_SECONDS, "read_timeout": S3_READ_SECONDS}
        _, self._client = open_s3(url, "s3", **settings, retries={"max_attempts": 2})

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

        conditions = {"IfNoneMatch": revision} if revision else {}
        try:
            reply = self._client.get_object(Bucket=self._bucket, Key=self._key, **conditions)
            with contextlib.closing(reply["Body"]) as sent, _ended_after(FETCH_SECONDS, sent._raw_stream):
                body = bytearray(sent.read(MAX_INDEX_BYTES + 1))
            if len(body) < min(reply["ContentLength"], MAX_INDEX_BYTES + 1):
                raise OSError("the connection ended too early")
            return FetchedIndex(body, str(reply["ETag"]))
        except ClientError as error:
            if revision and error_code(error) in _UNCHANGED_CODES:
                return None
            raise Failed(f"{self.name} cannot be fetched: {error_meaning(error)}.") from error
        except (BotoCoreError, OSError) as error:
            raise Failed(f"{self.name} cannot be fetched: {error}") from error


@contextlib.contextmanager
def _ended_after(seconds: float, stream: Any) -> Iterator[None]:
    """End the connection of a reply after some time: one that gets a byte now and then never reaches its timeout."""
    timer = threading.Timer(seconds, getattr(stream, "shutdown", stream.close))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def inspect(location: str) -> Inspection:
    """Return the problems of the index at a location; raise Failed if it cannot be read."""
    fetched = open_index_source(location).fetch(None)
    assert fetched is not None  # noqa: S101 - without a revision nothing is unchanged
    return inspect_bytes(fetched.data)
