"""Documents and bibliographies of an archive, read by the parser processes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dowse.archives.archive_documents import read_as_plain_document
from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import ArchivedDocument, CitationInText, CitationKind
from dowse.archives.bibtex import BibEntry
from dowse.archives.file_groups import FileGroup
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserReply, ParserRequest
from dowse.types import Reason, Verdict

_JOBS = "dowse.archives.archive_jobs"


@dataclass(frozen=True, slots=True)
class ParsedFileGroup:
    """The document of a group of files, or the entries of a bibliography."""

    document: ArchivedDocument | None = None
    entries: tuple[BibEntry, ...] = ()
    problem: str = ""
    """Why the files were read as plain text, or the bibliography not at all; empty if their parser read them."""


def start_reading(
    group: FileGroup, files: Mapping[str, bytes], archive: Archive
) -> Callable[[], ParsedFileGroup | Verdict]:
    """Have the files of a group read by the next free process; return a function that waits for the result.

    It returns a verdict where the parser of the format is not installed. A document that its parser cannot cope
    with is kept as plain text.
    """
    fields = {
        "module": _JOBS,
        "form": group.form,
        "files": [(path, len(data)) for path, data in files.items()],
        "others": group.others,
        "archive": archive,
    }
    future = shared_pool().submit(ParserRequest(fields, b"".join(files.values())))
    return lambda: _make_parsed(group, files, archive, future.result())


def _make_parsed(
    group: FileGroup, files: Mapping[str, bytes], archive: Archive, reply: ParserReply
) -> ParsedFileGroup | Verdict:
    if "unreadable" in reply.fields:
        return Verdict(group.path, Reason.UNREADABLE, detail=reply.fields["unreadable"])
    if group.form == "bibliography":
        entries = (BibEntry(**entry) for entry in reply.fields.get("entries", ()))
        return ParsedFileGroup(entries=tuple(entries), problem=reply.problem)
    if reply.problem:
        return ParsedFileGroup(read_as_plain_document(group, files, archive), problem=reply.problem)
    return ParsedFileGroup(_document_from_json(group, archive, reply.fields, reply.data))


def _document_from_json(group: FileGroup, archive: Archive, fields: dict[str, Any], text: bytes) -> ArchivedDocument:
    """Return a document; its place is that of the request, whatever a parser process says."""
    lists = {name: tuple(fields[name]) for name in ("keys", "names")}
    citations = tuple(CitationInText(**{**cited, "kind": CitationKind(cited["kind"])}) for cited in fields["citations"])
    known = {"archive": archive, "path": group.path, "text": text.decode("utf-8", "surrogatepass")}
    return ArchivedDocument(**{**fields, **lists, **known, "citations": citations})
