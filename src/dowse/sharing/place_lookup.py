"""The place for a location: a folder or a bucket."""

from pathlib import Path

from dowse.errors import UsageError
from dowse.sharing.object_place import FolderPlace, ObjectPlace


def open_place(location: str) -> ObjectPlace:
    """Return the place for a path or an address that begins with s3://."""
    scheme, colon, _ = location.partition("://")
    if not colon:
        return FolderPlace(Path(location).expanduser().absolute())
    if scheme.lower() == "s3":
        from dowse.sharing.s3_place import S3Place

        return S3Place(location.rstrip("/"))
    raise UsageError(f"{location[:100]} is no place for a shared index: it is a folder, or an s3:// address.")
