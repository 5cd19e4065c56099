"""An index in an S3 bucket; needs the extra `s3`."""

from typing import Any

from dowse.errors import Failed, UsageError
from dowse.sites.index_model import MAX_INDEX_BYTES
from dowse.sites.index_source import FetchedIndex

CONNECT_SECONDS = 10
READ_SECONDS = 60
_UNCHANGED_CODES = ("304", "NotModified", "PreconditionFailed")
_ERROR_MEANINGS = {
    "NoSuchKey": "there is no object with this name",
    "NoSuchBucket": "there is no such bucket",
    "AccessDenied": "these credentials have no access",
    "403": "these credentials have no access",
    "InvalidAccessKeyId": "the access key is unknown",
    "SignatureDoesNotMatch": "the secret key is wrong",
}


class S3IndexSource:
    """An index in an S3 bucket. Credentials, region and endpoint come from where the AWS tools look for them."""

    is_remote = True

    def __init__(self, url: str) -> None:
        self._bucket, _, self._key = url.partition("://")[2].partition("/")
        self.name = url
        if not self._bucket or not self._key:
            raise UsageError(f"{url} is not an address such as s3://bucket/search-index.json.")
        try:
            import boto3  # type: ignore[import-untyped]
            from botocore.config import Config  # type: ignore[import-untyped]
        except ImportError as error:
            raise UsageError("s3:// needs the extra s3. Install it with: pip install 'dowse[s3]'") from error
        from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

        config = Config(connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, retries={"max_attempts": 2})
        try:
            self._client: Any = boto3.Session().client("s3", config=config)
        except (BotoCoreError, ValueError) as error:
            raise UsageError(f"{url} cannot be reached: {error}") from error

    def has_changed(self, revision: str) -> bool:  # noqa: ARG002 - fetch() asks the store
        """Return True: only a request to the store can tell."""
        return True

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        """Download the index; return None if the store answers that the revision is unchanged."""
        from botocore.exceptions import BotoCoreError, ClientError

        conditions = {"IfNoneMatch": revision} if revision else {}
        try:
            reply = self._client.get_object(Bucket=self._bucket, Key=self._key, **conditions)
            return FetchedIndex(bytearray(reply["Body"].read(MAX_INDEX_BYTES + 1)), str(reply["ETag"]))
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if revision and code in _UNCHANGED_CODES:
                return None
            raise Failed(f"{self.name} cannot be fetched: {_ERROR_MEANINGS.get(code, str(error))}.") from error
        except (BotoCoreError, OSError) as error:
            raise Failed(f"{self.name} cannot be fetched: {error}") from error
