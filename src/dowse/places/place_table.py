"""The table of a place: how it is reached, opened and made. LanceDB decides which of two writers comes first."""

import contextlib
import functools
import json
import os
import random
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from dowse.encoding.selection import STATIC_VERSION
from dowse.errors import DowseError, Failed, NotFound, StoreTooNew, UsageError
from dowse.places.place_indexes import make_word_indexes
from dowse.places.place_rows import FORMAT, PLACE_ID, place_row, schema
from dowse.store.lance_import import import_lancedb

TABLE = "dowse"
SCHEMES = ("s3", "gs", "az", "db")
CONNECT_SECONDS, READ_SECONDS = 5, 30
"""How long a connection and a request may take; the client repeats requests that the store did not answer."""
ANSWER_SECONDS = 120.0
"""How long any work on a place may take: a file that is none, or a store that never answers, must not hang a server."""
WRITE_SECONDS = 7200.0
FOLDER_CACHE_BYTES, BUCKET_CACHE_BYTES, METADATA_CACHE_BYTES = 224 << 20, 288 << 20, 32 << 20
"""Memory for parts of the indexes and of the table's files, for all searches of a process. From a bucket, the vectors and most
words of a million chunks are kept: a new word costs seven requests. The system itself keeps the files of a folder."""
ATTEMPTS = 12
"""How often a writer tries again after others were faster; each of them has then written something."""
_CONFLICTS = ("conflict", "please retry", "concurrent", "contention")
Result = TypeVar("Result")


class SharedPlace:
    """A folder, a bucket with a prefix or a LanceDB server, and the table there."""

    def __init__(self, location: str) -> None:
        scheme, colon, rest = location.partition("://")
        if (
            "\0" in location
            or not location.strip()
            or (colon and (scheme.lower() not in SCHEMES or not rest.strip("/")))
        ):
            raise UsageError(
                f"{location[:100]!r} is no place: it is a folder, or an address that begins with s3://, gs://, az:// or db://."
            )
        self.is_folder = not colon
        self.name = location.rstrip("/") if colon else str(Path(location).expanduser().absolute())
        self.scheme = scheme.lower() if colon else ""
        self._connection: Any = None
        self._reading: Any = None

    def find_table(self) -> Any:
        """Return the table; None if nothing has been published here. Raise if it is another program's or a newer one."""
        with self.errors("read"):
            table = within(ANSWER_SECONDS, self._open)
        if table is not None:
            self._require_own(table.schema)
        return table

    def open_table(self) -> Any:
        """Return the table; raise NotFound if nothing has been published here."""
        table = self.find_table()
        if table is None:
            raise self._nothing_published()
        return table

    def make_table(self) -> Any:
        """Return the table, which is made first if there is none, with its indexes of words before any row."""
        self._require_conditions()
        table = self.find_table()
        with self.errors("written"):
            if table is None:
                if self.is_folder:
                    Path(self.name).mkdir(parents=True, exist_ok=True)
                table = within(ANSWER_SECONDS, self._create)
            within(WRITE_SECONDS, lambda: retried(table, lambda: make_word_indexes(table)))
            if not table.count_rows(f"id = {PLACE_ID}"):
                merge(table, [place_row()], "target.row = 'place'")
        return table

    def _create(self) -> Any:
        try:
            return self._connect().create_table(TABLE, schema=schema())
        except (ValueError, RuntimeError):  # another publisher has just made it, or the next line says what is wrong
            return self._connect().open_table(TABLE)

    def _open(self) -> Any:
        if not self._may_have_table():
            return None
        try:
            return self._connect().open_table(TABLE)
        except ValueError as error:
            if "not found" in str(error):
                return None
            raise

    def _may_have_table(self) -> bool:
        """Return whether there is a folder or bucket; raise Failed for a folder with anything but files."""
        if not self.is_folder:
            return True
        _require_plain_files(Path(self.name))
        return Path(self.name).is_dir()

    def _nothing_published(self) -> NotFound:
        return NotFound(f"Nothing has been published to {self.name}. Run in a repository: dowse publish {self.name}")

    async def open_for_queries(self) -> Any:
        """Return the newest version of the table, for queries that a loop of events runs at the same time."""
        if not self._may_have_table():
            raise self._nothing_published()
        if self._reading is None:
            self._reading = await import_lancedb(is_whole=self.scheme == "db").connect_async(
                self.name, **self._settings
            )
        try:
            table = await self._reading.open_table(TABLE)
        except ValueError as error:
            if "not found" in str(error):
                raise self._nothing_published() from error
            raise
        self._require_own(await table.schema())
        return table

    def _connect(self) -> Any:
        if self._connection is None:
            self._connection = import_lancedb(is_whole=self.scheme == "db").connect(self.name, **self._settings)
        return self._connection

    @functools.cached_property
    def _settings(self) -> Mapping[str, Any]:
        """The credentials and the caches, which all connections share."""
        if self.scheme == "db":
            return {}
        session = import_lancedb().Session(
            index_cache_size_bytes=FOLDER_CACHE_BYTES if self.is_folder else BUCKET_CACHE_BYTES,
            metadata_cache_size_bytes=METADATA_CACHE_BYTES,
        )
        return {"storage_options": dict(_s3_options(self.name) if self.scheme == "s3" else {}), "session": session}

    def _require_own(self, schema: Any) -> None:
        try:
            found = json.loads((schema.metadata or {})[b"dowse"])
            number, encoder = int(found["format"]), str(found["encoder"])
        except (KeyError, ValueError, TypeError) as error:
            raise Failed(
                f"{self.name} has a table {TABLE} of another program. It is left as it is; use another place."
            ) from error
        if number > FORMAT:
            raise StoreTooNew(f"{self.name} was published by a newer dowse (format {number}). Update dowse.")
        if number < FORMAT or encoder != STATIC_VERSION:
            raise Failed(
                f"{self.name} was published by an older dowse. Publish its projects to a new place with this one."
            )

    def _require_conditions(self) -> None:
        """Raise Failed if a bucket ignores conditions: two publishers would overwrite each other there."""
        if self.scheme != "s3":
            return
        from botocore.exceptions import ClientError  # type: ignore[import-untyped]

        bucket, _, prefix = self.name.partition("://")[2].partition("/")
        key = "/".join(filter(None, (prefix, f"probe-{os.urandom(8).hex()}")))
        with self.errors("written"):
            client = _s3_client(self.name)[1]
            client.put_object(Bucket=bucket, Key=key, Body=b"1", IfNoneMatch="*")
            try:
                client.put_object(Bucket=bucket, Key=key, Body=b"2", IfNoneMatch="*")
            except ClientError:
                return
            finally:
                client.delete_object(Bucket=bucket, Key=key)
        raise Failed(
            f"{self.name} cannot be published to: it ignores the condition If-None-Match of a write, "
            "so that two publishers would overwrite each other. Use a store with conditional writes."
        )

    @contextlib.contextmanager
    def errors(self, what: str) -> Iterator[None]:
        """Turn the errors of LanceDB and of the store below it into Failed with a sentence that helps."""
        try:
            yield
        except DowseError:
            raise
        except BaseException as error:  # a panic of its Rust code is no Exception
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise Failed(f"{self.name} cannot be {what}: {_reason(error)}.") from error


_REASONS = (
    (("NoSuchBucket", "bucket does not exist"), "there is no such bucket"),
    (("InvalidAccessKeyId",), "the access key is unknown"),
    (("SignatureDoesNotMatch",), "the secret key is wrong"),
    (("AccessDenied", "Forbidden", "Unauthorized"), "these credentials have no access"),
    (("NoCredentials", "Unable to locate credentials", "no credentials"), "there are no credentials. Set AWS_PROFILE or AWS_ACCESS_KEY_ID"),
    (
        ("error sending request", "Could not connect", "dns error", "connection refused", "Connection refused", "timed out", "TimeoutError"),
        "it does not answer. Look at the network and at the address of the endpoint",
    ),
    (("No space left",), "no space is left"),
    (("Permission denied",), "this user has no rights there"),
)  # fmt: skip
"""What the errors of stores mean, by words that occur in them."""


def _reason(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}"
    for signs, meaning in _REASONS:
        if any(sign in text for sign in signs):
            return meaning
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[0][:300].rstrip(".")


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Do some work on a thread of its own; raise TimeoutError if it takes longer."""
    asked = Future[Result]()

    def run() -> None:
        try:
            asked.set_result(work())
        except BaseException as error:
            asked.set_exception(error)

    threading.Thread(target=run, daemon=True, name="asks a place").start()
    return asked.result(seconds)


def merge(table: Any, rows: Any, updated: str, deleted: str | None = None) -> None:
    """Insert the rows that are not there and update those that a condition finds, in one commit; with `deleted`, remove
    the rows that this condition finds and that are not among them, for which LanceDB compares all rows of the table.

    LanceDB does it again if another writer was faster and changed a row of them.
    """
    import pyarrow as pa

    data = pa.Table.from_pylist(rows, schema()) if isinstance(rows, list) else rows
    how = table.merge_insert("id").when_matched_update_all(where=updated).when_not_matched_insert_all()
    if deleted:
        how = how.when_not_matched_by_source_delete(deleted)
    retried(table, lambda: how.execute(data, on_bad_vectors="null"))


def retried(table: Any, work: Callable[[], Result]) -> Result:
    """Do some work on the newest version of a table, again if another writer was faster."""
    for attempt in range(1, ATTEMPTS):
        try:
            return work()
        except RuntimeError as error:
            if not any(sign in str(error).lower() for sign in _CONFLICTS):
                raise
        time.sleep(random.uniform(0, 0.2 * attempt))  # noqa: S311 - a moment, no secret
        table.checkout_latest()
    return work()


def _require_plain_files(folder: Path) -> None:
    """Raise Failed if a folder has anything but files and folders: reading a pipe never ends, and a link leads elsewhere."""
    table = folder / f"{TABLE}.lance"
    if table.is_symlink():
        raise Failed(f"{folder} is not used: {table.name!r} in it is not a regular file.")
    for path, names, files in os.walk(table):
        for name in (*names, *files):
            with contextlib.suppress(FileNotFoundError):  # another process has removed it
                mode = Path(path, name).lstat().st_mode
                if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                    raise Failed(f"{folder} is not used: {name[:100]!r} in it is not a regular file.")


def _s3_client(url: str) -> tuple[Any, Any]:
    from dowse.system.s3_client import open_s3

    retries = {"total_max_attempts": 3, "mode": "standard"}
    return open_s3(url, "lance", connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, retries=retries)


def _s3_options(url: str) -> Mapping[str, str]:
    """Return the endpoint, the region and the credentials as the AWS tools find them."""
    found = _environment_options() or _configured_options(url)
    endpoint = found.get("aws_endpoint", "")
    bounds = {"connect_timeout": f"{CONNECT_SECONDS}s", "timeout": f"{READ_SECONDS}s", "client_max_retries": "3"}
    own = {"allow_http": str(endpoint.startswith("http://")).lower()} if endpoint else {}
    return {name: value for name, value in {**found, **bounds, **own}.items() if value}


def _environment_options() -> Mapping[str, str]:
    """Return the options of the environment, where they stand there alone: the AWS tools take 0.3 s to find them."""
    variables = os.environ
    configured = Path(variables.get("AWS_CONFIG_FILE", "~/.aws/config")).expanduser().exists()
    if configured or "AWS_PROFILE" in variables or "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS" in variables:
        return {}
    keys = {
        "aws_access_key_id": variables.get("AWS_ACCESS_KEY_ID", ""),
        "aws_secret_access_key": variables.get("AWS_SECRET_ACCESS_KEY", ""),
        "aws_region": variables.get("AWS_DEFAULT_REGION", ""),
    }
    if not all(keys.values()):
        return {}
    endpoint = variables.get("AWS_ENDPOINT_URL_S3") or variables.get("AWS_ENDPOINT_URL", "")
    return {**keys, "aws_session_token": variables.get("AWS_SESSION_TOKEN", ""), "aws_endpoint": endpoint}


def _configured_options(url: str) -> Mapping[str, str]:
    session, client = _s3_client(url)
    found = session.get_credentials()
    if found is None:
        raise Failed(f"{url} cannot be reached: there are no credentials. Set AWS_PROFILE or AWS_ACCESS_KEY_ID.")
    keys, endpoint = found.get_frozen_credentials(), client.meta.endpoint_url
    return {
        "aws_access_key_id": keys.access_key,
        "aws_secret_access_key": keys.secret_key,
        "aws_region": client.meta.region_name or "us-east-1",
        "aws_session_token": keys.token or "",
        "aws_endpoint": "" if endpoint.endswith(".amazonaws.com") else endpoint,
    }
