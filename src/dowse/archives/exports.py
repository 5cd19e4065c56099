"""Exports: documents as BibTeX, and the whole archives as JSON."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_replies import citation_reply, document_reply
from dowse.archives.archive_types import StoredArchiveDocument

_TEX_ESCAPES = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def as_bibtex(documents: Iterable[StoredArchiveDocument]) -> str:
    """Return BibTeX with an entry for each document, whose key is the id of the document."""
    return "\n".join(map(_bibtex_entry, documents))


def export_all(database: ArchiveDatabase) -> Iterator[str]:
    """Yield all documents with their texts and citations, as parts of one JSON object."""
    yield '{"documents": [\n'
    for number, document in enumerate(database.documents().values()):
        value: dict[str, Any] = document_reply(document) | {
            "text": database.text(document.number),
            "citing": [
                citation_reply(citation) | {"kind": citation.kind, "line": citation.line}
                for citation in database.citations_from(document.number)
            ],
        }
        yield (",\n" if number else "") + json.dumps(value, ensure_ascii=False)
    yield "\n]}\n"


def _bibtex_entry(document: StoredArchiveDocument) -> str:
    fields = {
        "title": f"{{{_escape_tex(document.title)}}}",
        "url": _escape_url(document.url),
        "note": _escape_tex(document.path),
    }
    year, *rest = (document.date or "").split("-")
    fields |= {"year": year, "month": rest[0].lstrip("0") if rest else "", "date": document.date or ""}
    fields |= {"urldate": document.date or ""} if document.url else {}
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{'online' if document.url else 'misc'}{{{document.id},\n" + ",\n".join(lines) + "\n}\n"


def _escape_tex(text: str) -> str:
    return "".join(_TEX_ESCAPES.get(character, character) for character in _CONTROL.sub(" ", text))


def _escape_url(url: str) -> str:
    """Return a URL without braces, which would end the BibTeX field."""
    return _CONTROL.sub("", url).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")
