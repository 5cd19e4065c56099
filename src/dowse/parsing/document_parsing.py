"""Files parsed by the parser processes: their text, their metadata, their chunks and their outlines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserReply, ParserRequest
from dowse.parsing.text_cutting import cut_as_plain_text
from dowse.reading.file_reading import read_as_plain_text
from dowse.reading.languages import detect_language, is_binary_document
from dowse.reading.outlines import Heading, Section
from dowse.sources.project_files import ProjectFiles
from dowse.types import Chunk, Document, Entry, FileContent, Link, Reading, Reason, Symbol, Verdict

MAX_HEADING_CHARACTERS = 300
"""The rest of a longer heading is not kept: replies name it beside each passage below it."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document with its chunks."""

    document: Document
    chunks: tuple[Chunk, ...] = ()
    is_truncated: bool = False
    """True when the file has more chunks than are kept."""
    vectors: tuple[bytes, ...] | None = None
    """The packed vector of each chunk by the static encoder, if the parser process has computed them."""
    problem: str = ""
    """Why the file was read as plain text and not by its parser; empty if it was not."""
    references: bytes = b""
    """The packed references of a source file."""


Parsed = ParsedDocument | Verdict


def parse(source: ProjectFiles, content: FileContent) -> Document | Verdict:
    """Have a file read, without its chunks; return the verdict against a file that cannot be read."""
    parsed = start_parsing(source, content, is_cut=False)()
    return parsed if isinstance(parsed, Verdict) else parsed.document


def expect(entries: Sequence[Entry]) -> None:
    """Prepare for the parsing of these files: start processes, and unpack the grammars of their languages."""
    pool = shared_pool()
    pool.expect(len(entries))
    languages = {detect_language(entry.path, b"") for entry in entries if entry.kind == "code"}
    if len(languages) > 1:  # a file unpacks its own grammar
        pool.submit(ParserRequest({"job": "prepare", "languages": sorted(languages)}, b""))


def parse_within(
    source: ProjectFiles, contents: Sequence[FileContent], seconds: float
) -> Iterator[tuple[FileContent, ParsedDocument]]:
    """Have files read and cut, the first ones first; yield those that are ready in time.

    Raise Failed if no process can be started.
    """
    futures = [(content, _submit(source, content, is_cut=True)) for content in contents]
    wait([future for _, future in futures], seconds)
    for content, future in futures:
        if future.done():
            parsed = _check_text(source, _make_document(content, future.result(), is_cut=True))
            if isinstance(parsed, ParsedDocument):
                yield content, parsed
        else:
            future.cancel()


def start_parsing(
    source: ProjectFiles,
    content: FileContent,
    *,
    is_cut: bool = True,
    is_encoded: bool = False,
    has_references: bool = False,
) -> Callable[[], Parsed]:
    """Have a file read by the next free process; return a function that waits for the result.

    A file that its parser cannot cope with is read as plain text. The function raises Failed if no process can be
    started.
    """
    future = _submit(source, content, is_cut=is_cut, is_encoded=is_encoded and is_cut, has_references=has_references)
    return lambda: _check_text(source, _make_document(content, future.result(), is_cut=is_cut))


def _submit(
    source: ProjectFiles, content: FileContent, *, is_cut: bool, is_encoded: bool = False, has_references: bool = False
) -> "Future[ParserReply]":
    fields = {
        "module": source.parser_jobs,
        "job": "document",
        "path": content.path,
        "language": content.language,
        "kind": content.kind,
        "is_converted": content.is_converted or is_binary_document(content.path),
        "is_cut": is_cut,
        "is_encoded": is_encoded,
        "has_references": has_references,
    }
    return shared_pool().submit(ParserRequest(fields, content.data))


def _check_text(source: ProjectFiles, parsed: Parsed) -> Parsed:
    if isinstance(parsed, Verdict) or parsed.document.reading.is_verbatim:
        return parsed
    return source.text_refusal(parsed.document.path, parsed.document.reading.text) or parsed


def _make_document(content: FileContent, reply: ParserReply, *, is_cut: bool) -> Parsed:
    fields = reply.fields
    if reply.problem:
        return _as_plain_text(content, reply.problem, is_cut=is_cut)
    if "unreadable" in fields:
        return Verdict(content.path, Reason.UNREADABLE, detail=fields["unreadable"])
    found = fields["reading"]
    end = len(reply.data) - fields.get("reference_bytes", 0)
    vectors, data = _split_vectors(fields, reply.data[:end])
    utf8 = content.data[found["text_start"] :] if found["is_verbatim"] else data
    found |= {"tags": tuple(found["tags"]), "links": tuple(Link(**link) for link in found["links"])}
    reading = Reading(**{**found, "text": utf8.decode("utf-8", "surrogatepass")})
    chunks = tuple(_chunk_from_json(row, utf8) for row in fields.get("chunks", ()))
    is_truncated, references = fields.get("is_truncated", False), reply.data[end:]
    return ParsedDocument(_document(content, reading), chunks, is_truncated, vectors, references=references)


def _split_vectors(fields: dict[str, Any], data: bytes) -> tuple[tuple[bytes, ...] | None, bytes]:
    """Return the vectors at the end of a reply's bytes, and the text before them."""
    if "vector_bytes" not in fields:
        return None, data
    size, count = fields["vector_bytes"], len(fields["chunks"])
    start = len(data) - size * count
    return tuple(data[at : at + size] for at in range(start, len(data), size)), data[:start]


def _as_plain_text(content: FileContent, problem: str, *, is_cut: bool) -> ParsedDocument:
    reading = read_as_plain_text(content.data, content.path)
    chunks, is_truncated = cut_as_plain_text(reading.text, content.kind) if is_cut else ((), False)
    return ParsedDocument(_document(content, reading), chunks, is_truncated, problem=problem)


def _document(content: FileContent, reading: Reading) -> Document:
    return Document(
        content.path, content.kind, content.language, content.stat, content.content_hash, reading, content.views
    )


def _chunk_from_json(row: list[Any], utf8: bytes) -> Chunk:
    start, end, start_line, end_line, symbols, headings = row
    return Chunk(
        text=utf8[start:end].decode(),
        start_byte=start,
        end_byte=end,
        start_line=start_line,
        end_line=end_line,
        symbols=tuple(Symbol(*symbol) for symbol in symbols),
        headings=tuple(heading[:MAX_HEADING_CHARACTERS] for heading in headings),
    )


@dataclass(frozen=True, slots=True)
class ParsedOutline:
    """The headings of a text, and the sections that their anchors and some others lead to."""

    headings: tuple[Heading, ...] = ()
    sections: dict[str, Section] = field(default_factory=dict)

    def section(self, anchor: str) -> Section | None:
        """Return the section of a heading's anchor, or of one that was asked for."""
        return self.sections.get(anchor)


def outline(text: str, anchors: Iterable[str] = (), language: str = "markdown") -> ParsedOutline:
    """Return the outline of a text. A text that the parser cannot cope with has no headings."""
    fields = {"job": "outline", "anchors": list(anchors), "language": language}
    reply = shared_pool().run(ParserRequest(fields, text.encode("utf-8", "surrogatepass")))
    if reply.problem:
        return ParsedOutline()
    sections = {
        anchor: Section(start, end, tuple(headings))
        for anchor, (start, end, headings) in reply.fields["sections"].items()
    }
    return ParsedOutline(tuple(Heading(*heading) for heading in reply.fields["headings"]), sections)
