"""The client of an S3 bucket. Credentials, region and endpoint come from where the AWS tools look for them, nowhere else."""

from typing import Any

from dowse.errors import UsageError

_MEANINGS = {
    "NoSuchKey": "there is no object with this name",
    "NoSuchBucket": "there is no such bucket",
    "AccessDenied": "these credentials have no access",
    "403": "these credentials have no access",
    "InvalidAccessKeyId": "the access key is unknown",
    "SignatureDoesNotMatch": "the secret key is wrong",
    "NotImplemented": "it does not support writing under a condition",
    "503": "it is overloaded; try again later",
    "SlowDown": "it is overloaded; try again later",
}


def open_s3(url: str, extra: str, **settings: Any) -> tuple[Any, Any]:
    """Return a session and its client with these settings; UsageError without the extra that brings the library."""
    try:
        import boto3  # type: ignore[import-untyped]
        from botocore.config import Config  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError(f"s3:// needs the extra {extra}. Install it with: pip install 'dowse[{extra}]'") from error
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

    try:
        session = boto3.Session()
        return session, session.client("s3", config=Config(**settings))
    except (BotoCoreError, ValueError) as error:
        raise UsageError(f"{url} cannot be reached: {error}") from error


def error_code(error: Any) -> str:
    """Return the code with which the store refused a request."""
    return str(error.response.get("Error", {}).get("Code", ""))


def error_meaning(error: Any) -> str:
    """Return what a refusal of the store means."""
    status = str(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
    return _MEANINGS.get(error_code(error)) or _MEANINGS.get(status) or str(error)
