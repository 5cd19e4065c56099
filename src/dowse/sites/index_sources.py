"""The source of an index by its address: a file, an https:// address, a bucket."""

from dowse.errors import UsageError
from dowse.sites.file_source import FileIndexSource, index_path
from dowse.sites.index_source import IndexSource


def open_index_source(place: str) -> IndexSource:
    """The keeper of a place as it is typed: a path, or an address that begins with https:// or s3://."""
    scheme, colon, _ = place.partition("://")
    if not colon:
        return FileIndexSource(index_path(place))
    if scheme.lower() == "https":
        from dowse.sites.https_source import HttpsIndexSource

        return HttpsIndexSource(place)
    if scheme.lower() == "s3":
        from dowse.sites.s3_source import S3IndexSource

        return S3IndexSource(place)
    raise UsageError(f"{place[:100]} cannot be fetched: an index is a file, or at https:// or s3://.")
