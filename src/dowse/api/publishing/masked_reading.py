"""Reading for publishers: the text of Word, PDF and other files that are converted is masked before it is cut and encoded.

The bytes of other files are masked when they are written, see `commit_files`; those of a packed file do not show its text.
"""

from dataclasses import replace

from dowse.parsing import parser_jobs
from dowse.parsing.parser_jobs import Fields
from dowse.screening.masking import screen_text
from dowse.screening.secrets import load_secret_rules
from dowse.sources.project_files import ProjectFiles
from dowse.types import Reading


class MaskedFiles(ProjectFiles):
    """The files that a publisher has written."""

    parser_jobs = __name__


def prepare(fields: Fields) -> None:
    """Load what a job needs, and the rules for secrets."""
    parser_jobs.prepare(fields)
    load_secret_rules()


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Read, cut and encode a file, masked if it is converted."""
    if fields["job"] == "document" and fields["is_converted"]:
        return parser_jobs.parse_document(fields, data, _read_masked)
    return parser_jobs.run_job(fields, data)


def _read_masked(fields: Fields, data: bytes) -> Reading:
    found = parser_jobs.read_file(fields, data)

    def mask(text: str, around: str = "") -> str:
        return screen_text(text, around=around, path=fields["path"]).text

    return replace(
        found,
        text=mask(found.text),
        title=mask(found.title, found.text),  # perhaps a part of the text that was cut
        description=mask(found.description, found.text),
        tags=tuple(map(mask, found.tags)),
    )
