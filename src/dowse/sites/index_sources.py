"""The index source for a location: a file, an https:// address or a bucket."""

from dowse.errors import UsageError
from dowse.sites.file_source import FileIndexSource, index_path
from dowse.sites.index_source import IndexSource


def open_index_source(location: str) -> IndexSource:
    """Return the source for a location: a path, or an address that begins with https:// or s3://."""
    scheme, colon, _ = location.partition("://")
    if not colon:
        return FileIndexSource(index_path(location))
    if scheme.lower() == "https":
        from dowse.sites.https_source import HttpsIndexSource

        return HttpsIndexSource(location)
    if scheme.lower() == "s3":
        from dowse.sites.s3_source import S3IndexSource

        return S3IndexSource(location)
    raise UsageError(f"{location[:100]} cannot be fetched: an index is a file, or an https:// or s3:// address.")
