"""The jobs of the archives in a parser process: read the files of a document, or a bibliography."""

from dataclasses import asdict, replace
from typing import Any

from dowse.archives.archive_documents import read_file_group
from dowse.archives.bibtex import parse_bibtex
from dowse.archives.file_groups import FileGroup
from dowse.errors import FormatNotReadable
from dowse.reading.decoding import decode
from dowse.types import Entry, Stat

Fields = dict[str, Any]

_NO_STAT = Stat(0, 0, 0, 0)


def prepare(_fields: Fields) -> None:
    """Load nothing: the modules that are imported here are all that a job needs."""


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Read the files of a group, whose contents follow each other; return the fields and the text of the document."""
    if fields["form"] == "bibliography":
        return {"entries": [asdict(entry) for entry in parse_bibtex(decode(data).text)]}, b""
    files, at = dict[str, bytes](), 0
    for path, length in fields["files"]:
        files[path] = data[at : at + length]
        at += length
    group = FileGroup(fields["form"], tuple(Entry(path, "docs", _NO_STAT) for path in files), tuple(fields["others"]))
    try:
        document = read_file_group(group, files, fields["archive"])
    except FormatNotReadable as error:
        return {"unreadable": str(error)}, b""
    return asdict(replace(document, text="")), document.text.encode("utf-8", "surrogatepass")
