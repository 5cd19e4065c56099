"""Files as the parser processes read and cut them, compared with the same functions called here."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dowse.encoding.packing import encode_chunks
from dowse.encoding.selection import static_encoder
from dowse.parsing import parser_pool, text_cutting
from dowse.parsing.document_parsing import ParsedDocument, outline, parse, parse_within, start_parsing
from dowse.parsing.parser_limits import MAX_PROCESSES, MEMORY_BYTES
from dowse.parsing.parser_pool import shared_pool
from dowse.reading import file_reading
from dowse.reading.languages import detect_language
from dowse.reading.outlines import Outline
from dowse.settings import Settings
from dowse.sources.document_files import DocumentFiles
from dowse.sources.project_files import ProjectFiles
from dowse.types import FileContent, Kind, Stat, Verdict, View
from tests.forker import FRESH
from tests.fuzzing.parser_costs import CostMeter
from tests.reading.test_office_files import archive, paragraph, part

POOL_BYTES = 300_000_000


@pytest.fixture
def source(tmp_path: Path) -> ProjectFiles:
    return ProjectFiles(tmp_path, Settings())


def content_of(path: str, data: bytes, kind: Kind = "code", *, is_converted: bool = False) -> FileContent:
    language = "markdown" if is_converted else detect_language(path, data[:1024])
    return FileContent(
        path,
        kind,
        language,
        Stat(len(data), 1, 1, 1),
        hashlib.sha256(data).digest(),
        data,
        View.DOCUMENTS if is_converted else View.PROJECT,
    )


def parsed(source: ProjectFiles, content: FileContent) -> ParsedDocument:
    found = start_parsing(source, content)()
    assert isinstance(found, ParsedDocument)
    return found


SOURCES = {
    "a.py": b"import os\n\n\nclass Apple:\n    def peel(self):\n        return os.name\n" * 40,
    "a.ts": b"export interface Apple { peel(): void }\nexport const x = 1;\n" * 60,
    "a.go": b"package a\n\nfunc Peel() int {\n\treturn 1\n}\n" * 50,
    "a.md": "---\ntitle: Äpfel\ntags: [obst]\n---\n\n# Äpfel\n\nSiehe [hier](b.md).\n\n## Schälen\n\nText.\n".encode()
    * 3,
    "a.txt": "Erste Zeile\nzweite grüße\n".encode("latin-1"),
    "b.txt": "Gr\u00fc\u00dfe\n".encode("utf-16"),
    "c.py": b"\xef\xbb\xbfdef f():\n    return 1\n",
    "d.py": b"x = '\xff\xfe'\n" * 30,
    "empty.py": b"",
    "README.rst": b"Title\n=====\n\nText.\n",
}


@pytest.mark.parametrize("path", SOURCES)
def test_a_source_file_is_what_the_readers_and_the_chunker_make_of_it(source: ProjectFiles, path: str) -> None:
    kind: Kind = "docs" if path.endswith((".md", ".txt", ".rst")) else "code"
    content = content_of(path, SOURCES[path], kind)
    found = parsed(source, content)
    expected = file_reading.read(content.data, path, content.language)
    assert found.document.reading == expected
    assert (found.chunks, found.is_truncated) == text_cutting.chunk(expected.text, content.language, kind)
    assert found.problem == ""


@pytest.mark.parametrize("path", SOURCES)
def test_the_vectors_of_the_parser_processes_are_those_of_this_process(source: ProjectFiles, path: str) -> None:
    content = content_of(path, SOURCES[path], "docs" if path.endswith((".md", ".txt", ".rst")) else "code")
    found = start_parsing(source, content, is_encoded=True)()
    assert isinstance(found, ParsedDocument)
    assert found == replace(parsed(source, content), vectors=found.vectors)
    assert list(found.vectors or ()) == encode_chunks(static_encoder(), path, found.chunks)


DOCUMENTS = {
    "a.html": b"<title>T</title><h1>Apple</h1><p>Peel <a href='b.html'>it</a>.</p>",
    "a.rst": b"Apple\n=====\n\nPeel `it <b.rst>`_.\n",
    "a.adoc": b"= Apple\n\nPeel it.\n",
    "a.ipynb": b'{"cells": [{"cell_type": "markdown", "source": ["# Apple"]}], "metadata": {}}',
    "a.mdx": b"import X from 'x'\n\n# Apple\n\n<X/>\n",
    "a.docx": archive({"word/document.xml": part("document", paragraph("Apple"))}),
}


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_is_what_its_reader_makes_of_it(tmp_path: Path, path: str) -> None:
    content = content_of(path, DOCUMENTS[path], "docs", is_converted=True)
    found = parse(DocumentFiles(tmp_path, Settings()), content)
    assert not isinstance(found, Verdict)
    assert found.reading == file_reading.read_document(content.data, path)
    assert (found.path, found.content_hash, found.language) == (path, content.content_hash, "markdown")


def grow(size: int, line: Callable[[int], str]) -> bytes:
    lines, length = list[str](), 0
    while length < size:
        lines.append(line(len(lines)))
        length += len(lines[-1])
    return "".join(lines).encode()


BOMBS: dict[str, bytes] = {
    "arrows.c": grow(20_000, lambda number: f"(a{number}, b{number}) => " * 8 + "\n"),
    "nested.m": grow(480_000, lambda number: f"{'(' * 120}{number}\n"),
    "quotes.md": b">" * 900_000,
}


@pytest.mark.parametrize("path", BOMBS)
def test_a_file_that_its_parser_cannot_cope_with_is_read_as_plain_text(source: ProjectFiles, path: str) -> None:
    data = BOMBS[path]
    found = parsed(source, content_of(path, data, "docs" if path.endswith(".md") else "code"))
    assert found.problem.startswith(("takes more than", "has more than 200,000 >"))
    assert found.document.reading.text == data.decode()
    assert found.chunks[0].start_byte == 0
    assert found.chunks[-1].end_byte == len(data.rstrip())
    assert not any(chunk.symbols for chunk in found.chunks)
    after = parsed(source, content_of("a.py", b"def peel():\n    return 1\n"))
    assert [symbol.name for chunk in after.chunks for symbol in chunk.symbols] == ["peel"]


def test_a_very_long_heading_is_not_kept_whole(source: ProjectFiles) -> None:
    found = parsed(source, content_of("a.md", b"# " + b"x" * 50_000 + b"\n\nText.\n", "docs"))
    assert {len(heading) for chunk in found.chunks for heading in chunk.headings} == {300}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux limits and tells memory")
def test_all_processes_together_stay_below_their_limit(source: ProjectFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    shared_pool().close()
    parser_pool._pool_of.cache_clear()
    monkeypatch.setenv(FRESH, "1")  # a forked process has the memory of the tests' own modules
    with CostMeter() as meter:
        bombs = [content_of("arrows.c", BOMBS["arrows.c"] + bytes([number])) for number in b"1234"]  # none is known
        waiting = [start_parsing(source, bomb) for bomb in bombs]
        assert all(isinstance(found, ParsedDocument) and found.problem for found in (wait() for wait in waiting))
    assert 0 < meter.cost.peak_bytes < POOL_BYTES
    assert MAX_PROCESSES * MEMORY_BYTES < POOL_BYTES


def test_files_that_are_parsed_in_time_are_those_of_a_run(source: ProjectFiles) -> None:
    contents = [content_of(path, data) for path, data in SOURCES.items() if path != "a.md"]
    found = dict(parse_within(source, contents, 60))
    assert list(found.values()) == [parsed(source, content) for content in contents]


def test_no_file_is_waited_for_when_there_is_no_time(source: ProjectFiles) -> None:
    contents = [content_of(f"{number}.py", SOURCES["a.py"]) for number in range(200)]
    assert len(list(parse_within(source, contents, 0))) < len(contents)
    assert len(list(parse_within(source, contents[:1], 60))) == 1


GUIDE = "# Guide\n\nText.\n\n## Use it {#use}\n\n<a id=deep></a>Deep.\n\n## Use it\n\nAgain.\n"


def test_an_outline_is_the_one_that_the_reader_makes() -> None:
    found, expected = outline(GUIDE, ["deep", "use_it", "nothing"]), Outline(GUIDE)
    assert found.headings == expected.headings
    for anchor in ("guide", "use", "deep", "use_it"):
        assert found.section(anchor) == expected.section(anchor) is not None
    assert found.section("nothing") is None


def test_a_text_that_the_parser_cannot_cope_with_has_no_headings() -> None:
    assert outline(">" * 900_000, ["a"]).headings == ()
