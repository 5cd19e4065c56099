"""The jobs of a parser process: read, cut and encode a file, or outline a text."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from dowse.errors import Failed, FormatNotReadable
from dowse.parsing import text_cutting
from dowse.reading import file_reading
from dowse.types import Chunk, Reading

if TYPE_CHECKING:
    from dowse.encoding.static import StaticEncoder

Fields = dict[str, Any]
ReadFile = Callable[[Fields, bytes], Reading]


def prepare(fields: Fields) -> None:
    """Load what a job needs and no file can influence, so that it does not count against the limits of the file."""
    if fields["job"] == "document":
        if fields["kind"] == "code":
            text_cutting.prepare(fields["language"], has_references=fields["has_references"])
        if fields["is_encoded"]:
            _table()
    elif fields["job"] == "prepare":
        text_cutting.prepare_all()


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Do one job; return the fields and the bytes of the reply."""
    match fields["job"]:
        case "document":
            return parse_document(fields, data)
        case "prepare":
            return {}, b""
        case "outline":
            from dowse.reading.outlines import Outline

            outline = Outline(data.decode("utf-8", "surrogatepass"), fields.get("language", "markdown"))
            headings = [(heading.level, heading.text, heading.line, heading.anchor) for heading in outline.headings]
            wanted = {*fields["anchors"], *(heading.anchor for heading in outline.headings)}
            return {
                "headings": headings,
                "sections": {anchor: found for anchor in wanted if (found := outline.section(anchor)) is not None},
            }, b""
    raise ValueError(f"no job is called {fields['job']}")


def read_file(fields: Fields, data: bytes) -> Reading:
    """Read a file as the fields of its job say."""
    if fields["is_converted"]:
        return file_reading.read_document(data, fields["path"])
    return file_reading.read(data, fields["path"], fields["language"])


def parse_document(fields: Fields, data: bytes, read: ReadFile = read_file) -> tuple[Fields, bytes]:
    """Read, cut and encode a file; a source with a reader of its own names it."""
    try:
        found = read(fields, data)
    except FormatNotReadable as error:
        return {"unreadable": str(error)}, b""
    reply: Fields = {"reading": asdict(replace(found, text=""))}
    text = b"" if found.is_verbatim else found.text.encode("utf-8", "surrogatepass")
    if fields["is_cut"]:
        chunks, is_truncated = text_cutting.chunk(found.text, fields["language"], fields["kind"])
        reply |= {"chunks": [_chunk_to_json(chunk) for chunk in chunks], "is_truncated": is_truncated}
        if fields["is_encoded"] and (vectors := _encode(fields["path"], chunks)):
            reply["vector_bytes"] = len(vectors[0])
            text += b"".join(vectors)
    if fields["has_references"] and fields["kind"] == "code":
        references = text_cutting.find_references(found.text, fields["language"])
        reply["reference_bytes"] = len(references)
        text += references
    return reply, text


def _encode(path: str, chunks: Sequence[Chunk]) -> list[bytes]:
    """Return the packed vectors of chunks; none if the table cannot be loaded, which the other process reports."""
    from dowse.encoding.packing import encode_chunks  # only large runs encode here

    table = _table()
    return encode_chunks(table, path, chunks) if table and chunks else []


@cache
def _table() -> "StaticEncoder | None":
    from dowse.encoding.selection import static_encoder  # imports NumPy

    try:
        return static_encoder()
    except Failed:
        return None


def _chunk_to_json(chunk: Chunk) -> list[Any]:
    symbols = [(symbol.name, symbol.kind, symbol.line, symbol.end_line) for symbol in chunk.symbols]
    return [chunk.start_byte, chunk.end_byte, chunk.start_line, chunk.end_line, symbols, chunk.headings]
