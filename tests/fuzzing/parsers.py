"""The parsers of documents and code: as the parser processes call them, and through these processes.

Most targets call them in their own process, which is as expendable as a parser process and saves the way there.
"""

import hashlib

from dowse.parsing.document_parsing import outline as outline_in_pool
from dowse.parsing.document_parsing import start_parsing
from dowse.parsing.text_cutting import chunk
from dowse.reading.file_reading import read_document
from dowse.reading.languages import detect_language
from dowse.reading.links import find_links
from dowse.reading.outlines import Outline
from dowse.sources.project_files import ProjectFiles
from dowse.types import FileContent, Stat, Verdict, View

__all__ = ["AnySource", "chunk", "cut_in_pool", "outline", "parse_in_pool", "read_document"]


class AnySource:
    """A source of files that refuses none."""

    parser_jobs = ProjectFiles.parser_jobs

    def text_refusal(self, _path: str, _text: str) -> None:
        """Accept any text."""


def cut_in_pool(language: str, data: bytes) -> None:
    """Have code cut; each chunk has to be a slice of the file, whatever happened to the parser."""
    stat, digest = Stat(size=len(data), mtime_ns=1, inode=1, ctime_ns=1), hashlib.sha256(data).digest()
    content = FileContent("a", "code", language, stat, digest, data)
    parsed = start_parsing(AnySource(), content)()  # type: ignore[arg-type]
    assert not isinstance(parsed, Verdict)
    text = parsed.document.reading.text.encode()
    assert all(text[chunk.start_byte : chunk.end_byte] == chunk.text.encode() for chunk in parsed.chunks)


def parse_in_pool(path: str, data: bytes) -> None:
    """Have a file read and cut as a document and as a file of a project, and outlined."""
    language = detect_language(path, data[:1024])
    stat, digest = Stat(size=len(data), mtime_ns=1, inode=1, ctime_ns=1), hashlib.sha256(data).digest()
    source: AnySource = AnySource()
    document = FileContent(path, "docs", language, stat, digest, data, View.DOCUMENTS)
    file = FileContent(path, "code", language, stat, digest, data)
    for wait in [start_parsing(source, content) for content in (document, file)]:  # type: ignore[arg-type]
        parsed = wait()
        if not isinstance(parsed, Verdict):
            parsed.document.reading.text.encode()
            assert not parsed.problem, parsed.problem
            outline_in_pool(parsed.document.reading.text)


def outline(text: str) -> None:
    """Find the headings, sections and links of a text."""
    found = Outline(text)
    for heading in found.headings[:20]:
        found.section(heading.anchor)
    find_links(text)
