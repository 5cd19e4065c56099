"""The job of the archives in a parser process: read the files of a document."""

from dowse.archives.archive_documents import read_archived
from dowse.parsing import parser_jobs
from dowse.parsing.parser_jobs import Fields, prepare

__all__ = ["prepare", "run_job"]


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Read and cut the files of a document."""
    return parser_jobs.parse_document(fields, data, lambda fields, data: read_archived(fields["path"], data))
