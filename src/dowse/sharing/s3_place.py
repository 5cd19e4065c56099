"""A place in an S3 bucket."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from dowse.errors import Failed, UsageError
from dowse.s3_client import error_code, error_meaning, open_s3
from dowse.sharing.object_place import MAX_READ_BYTES, TaggedObject, require_at_most, require_small

CONNECT_SECONDS = 5
READ_SECONDS = 30
ATTEMPTS = 4
"""Attempts at a request that the store answers with an error of its own or not at all."""
_MISSING_CODES = ("404", "NoSuchKey")
_REFUSED_CODES = ("412", "PreconditionFailed", "ConditionalRequestConflict", "409")

_Reply = TypeVar("_Reply")


class S3Place:
    """A bucket with a prefix."""

    def __init__(self, url: str) -> None:
        self._bucket, _, prefix = url.partition("://")[2].partition("/")
        self.name, self._prefix = url, f"{prefix}/" if prefix else ""
        if not self._bucket:
            raise UsageError(f"{url} is not an address such as s3://bucket/prefix.")
        retries = {"total_max_attempts": ATTEMPTS, "mode": "standard"}
        settings = {"connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS}
        self._session, self._client = open_s3(url, "lance", **settings, retries=retries)

    @property
    def options(self) -> Mapping[str, str]:
        """The endpoint, the region and the credentials in force now."""
        found = self._session.get_credentials()
        if found is None:
            raise Failed(
                f"{self.name} cannot be reached: there are no credentials. Set AWS_PROFILE or AWS_ACCESS_KEY_ID."
            )
        keys, endpoint = found.get_frozen_credentials(), self._client.meta.endpoint_url
        options = {
            "aws_access_key_id": keys.access_key,
            "aws_secret_access_key": keys.secret_key,
            "aws_region": self._client.meta.region_name or "us-east-1",
            "connect_timeout": f"{CONNECT_SECONDS}s",
            "timeout": f"{READ_SECONDS}s",
        }
        if keys.token:
            options["aws_session_token"] = keys.token
        if not endpoint.endswith(".amazonaws.com"):
            options |= {"aws_endpoint": endpoint, "allow_http": str(endpoint.startswith("http://")).lower()}
        return options

    def read(self, key: str) -> TaggedObject | None:

        def get() -> TaggedObject:
            reply = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)
            with contextlib.closing(reply["Body"]) as body:
                data = require_small(self.name, key, body.read(MAX_READ_BYTES + 1))
            return TaggedObject(data, str(reply["ETag"]))

        return self._try("read", get, expected=_MISSING_CODES)

    def write(self, key: str, data: bytes, *, replaces: str | None) -> str | None:
        """Write an object under a condition, which the store itself checks."""
        condition = {"IfNoneMatch": "*"} if replaces is None else {"IfMatch": replaces}

        def put() -> str:
            place = {"Bucket": self._bucket, "Key": self._prefix + key}
            return str(self._client.put_object(**place, Body=data, **condition)["ETag"])

        tag = self._try("written", put, expected=(*_REFUSED_CODES, *_MISSING_CODES))
        if tag is None and (found := self.read(key)) and found.data == data:
            return found.tag  # the reply to an earlier attempt was lost, and the next one met what that had written
        return tag

    def upload(self, file: Path, key: str) -> None:
        """Write an object from a file, in parts if it is large."""
        self._try("written", lambda: self._client.upload_file(str(file), self._bucket, self._prefix + key))

    def download(self, key: str, file: Path, max_bytes: int) -> None:
        """Write an object into a file, in parts if it is large."""

        def get() -> bool:
            found = self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)
            require_at_most(self.name, key, int(found["ContentLength"]), max_bytes)
            self._client.download_file(self._bucket, self._prefix + key, str(file))
            return True

        if not self._try("read", get, expected=_MISSING_CODES):
            raise Failed(f"{self.name} is incomplete: {key} is missing. Publish the commit again.")

    def remove(self, key: str) -> None:
        self._try("written", lambda: self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key))

    def keys(self, folder: str) -> list[str]:

        def list_all() -> list[str]:
            prefix = f"{self._prefix}{folder}/"
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            return [item["Key"].removeprefix(self._prefix) for page in pages for item in page.get("Contents", ())]

        return self._try("read", list_all) or []

    def _try(self, what: str, request: Callable[[], _Reply], *, expected: tuple[str, ...] = ()) -> _Reply | None:
        """Return the reply to a request; None if the store answers with an expected code. Other errors become Failed."""
        from boto3.exceptions import Boto3Error  # type: ignore[import-untyped]
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

        try:
            return request()
        except ClientError as error:
            if error_code(error) in expected:
                return None
            raise Failed(f"{self.name} cannot be {what}: {error_meaning(error)}.") from error
        except (BotoCoreError, Boto3Error, OSError) as error:
            raise Failed(f"{self.name} cannot be {what}: {error}") from error
