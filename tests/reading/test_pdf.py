"""PDF files are read page by page, and hostile files do no harm."""

import hashlib
import re
import signal
import sys
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from dowse.errors import FormatNotReadable
from dowse.parsing.document_parsing import ParsedDocument, start_parsing
from dowse.reading import pdf
from dowse.reading.file_reading import read_document
from dowse.settings import Settings
from dowse.sources.document_files import DocumentFiles
from dowse.types import FileContent, Link, Reading, Stat, View

has_parser = pytest.mark.skipif(find_spec("pypdfium2") is None, reason="needs pypdfium2")


def make_pdf(*pages: str, info: str = "", trailer: str = "") -> bytes:
    """Return a small PDF with a page of text for each string, one line per newline."""
    numbers = [4 + 2 * number for number in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = {
        1: "<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    for number, text in zip(numbers, pages, strict=True):
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.split("\n"))
        content = f"BT /F1 12 Tf 72 720 Td {lines} ET" if text else ""
        page = "/Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects[number] = f"<< {page} /Contents {number + 1} 0 R >>"
        objects[number + 1] = f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"
    objects[max(objects) + 1] = f"<< {info} >>"
    return assemble_pdf(objects, trailer)


def assemble_pdf(objects: dict[int, str], trailer: str = "") -> bytes:
    body, offsets = "%PDF-1.4\n", {}
    for number, content in objects.items():
        offsets[number] = len(body)
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offsets[number]:010} 00000 n \n" for number in sorted(offsets))
    size = f"/Size {len(objects) + 1} /Root 1 0 R /Info {max(objects)} 0 R {trailer}"
    return (
        f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< {size} >>\nstartxref\n{len(body)}\n%%EOF"
    ).encode("latin-1")


def repeat_page(content: bytes, count: int, filters: str = "/FlateDecode") -> bytes:
    """Return a PDF with many pages of the same compressed content."""
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 4 0 R >>"
    )
    kids = " ".join(f"{number} 0 R" for number in range(5, 5 + count))
    objects = {
        1: "<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: f"<< /Length {len(content)} /Filter {filters} >>\nstream\n{content.decode('latin-1')}\nendstream",
        **dict.fromkeys(range(5, 5 + count), page),
        5 + count: "<< >>",
    }
    return assemble_pdf(objects)


def read(data: bytes) -> Reading:
    return read_document(data, "papers/On search.pdf")


@has_parser
def test_each_page_is_a_section() -> None:
    reading = read(make_pdf("First line\nsecond", "", "On page three\n# no heading"))
    assert reading.text == "## Page 1\n\nFirst line\nsecond\n\n## Page 3\n\nOn page three\n\\# no heading\n"
    assert (reading.title, reading.description, reading.is_verbatim) == (
        "First line",
        "second On page three # no heading",
        False,
    )


@has_parser
def test_what_the_file_states_precedes_what_it_shows() -> None:
    info = "/Title (Stated) /Subject (What it is about) /Keywords (one, two; one)"
    reading = read(make_pdf("First line", info=info))
    assert (reading.title, reading.description, reading.tags) == ("Stated", "What it is about", ("one", "two"))


@has_parser
def test_the_first_line_with_words_is_the_title() -> None:
    assert read(make_pdf("1\nIntroduction\ntext")).title == "Introduction"


@has_parser
def test_addresses_in_the_text_are_links() -> None:
    assert read(make_pdf("See https://a.org/b.")).links == (Link("https://a.org/b", "https://a.org/b", 1),)


@has_parser
@pytest.mark.parametrize(
    "data",
    [
        make_pdf(""),
        make_pdf(
            "secret",
            trailer=f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >> /ID [<41> <41>]",
        ),
        make_pdf("words")[:200],
        b"%PDF-1.7",
        b"",
        b"no PDF at all",
    ],
    ids=["without text", "encrypted", "cut off", "empty", "no bytes", "text"],
)
def test_a_file_without_readable_text_is_called_by_its_name(data: bytes) -> None:
    reading = read(data)
    assert (reading.text, reading.title, reading.description) == ("", "On search", "")


def looping() -> bytes:
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>"
    )
    form = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>"
    objects = {
        1: "<< /Type /Catalog /Pages 2 0 R >>",
        2: "<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 900000000 >>",
        3: page,
        4: "<< /Length 5 >>\nstream\n/X Do\nendstream",
        5: f"{form}\nstream\n/X Do\nendstream",
        6: "<< >>",
    }
    return assemble_pdf(objects)


@has_parser
def test_a_hostile_file_is_read_in_seconds() -> None:
    assert read(looping()).title


@has_parser
def test_pages_after_the_time_is_used_up_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([1.0, 0.9, 0.0])
    monkeypatch.setattr(pdf, "_start_clock", lambda: lambda: next(seconds))
    text = read(make_pdf("one", "two", "three", "four")).text
    assert text == "## Page 1\n\none\n\n## Page 2\n\ntwo\n\n*(Pages 3 to 4 were not read.)*\n"


@has_parser
def test_a_broken_property_is_left_out() -> None:
    reading = read(make_pdf("Words", info="/Title <FEFFD800> /Subject (About)"))
    assert (reading.text, reading.description) == ("Words\n", "About")


def test_without_the_parser_the_reason_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(FormatNotReadable, match="PDF files need pypdfium2"):
        read(b"%PDF-1.4")


def content_of(data: bytes) -> FileContent:
    stat, digest = Stat(len(data), 1, 1, 1), hashlib.sha256(data).digest()
    return FileContent("a.pdf", "docs", "markdown", stat, digest, data, View.DOCUMENTS)


@has_parser
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a limit on processor time")
def test_a_long_file_is_read_as_far_as_the_time_of_its_process_allows(tmp_path: Path) -> None:
    packed = zlib.compress(b"BT /F1 12 Tf 72 720 Td " + b"(words of a page) Tj 0 -14 Td " * 4000 + b"ET")
    parsed = start_parsing(DocumentFiles(tmp_path, Settings()), content_of(repeat_page(packed, 4000)))()
    assert isinstance(parsed, ParsedDocument)
    assert parsed.problem == ""
    assert parsed.document.reading.text.startswith("## Page 1\n\nwords of a page\n")
    assert re.search(r"\*\(Pages \d+ to 4000 were not read\.\)\*\n$", parsed.document.reading.text)


@has_parser
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a limit on processor time")
def test_a_page_that_never_ends_costs_the_file_its_text(tmp_path: Path) -> None:
    packed = zlib.compress(zlib.compress(b"BT /F1 12 Tf " + b"(a) Tj " * 9_000_000, 9), 9)
    parsed = start_parsing(
        DocumentFiles(tmp_path, Settings()), content_of(repeat_page(packed, 1, "[/FlateDecode /FlateDecode]"))
    )()
    assert isinstance(parsed, ParsedDocument)
    assert parsed.problem in ("takes more than 1.5 s to parse", "takes more than 100 MB to parse")
    assert (parsed.document.reading.title, parsed.document.reading.text) == ("a", "")


@has_parser
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a limit on processor time")
def test_a_page_that_never_ends_costs_the_pages_after_it(tmp_path: Path) -> None:
    """It once cost the pages before it, too."""
    packed = zlib.compress(zlib.compress(b"BT /F1 12 Tf " + b"(a) Tj " * 9_000_000, 9), 9)
    bomb = f"<< /Length {len(packed)} /Filter [/FlateDecode /FlateDecode] >>\nstream\n{packed.decode('latin-1')}\nendstream"
    whole = make_pdf("the first page", "the second page", "X", "the last page").decode("latin-1")
    objects = dict(re.findall(r"(\d+) 0 obj\n(.*?)\nendobj", whole, re.DOTALL))
    data = assemble_pdf({int(number): content for number, content in objects.items()} | {9: bomb})
    parsed = start_parsing(DocumentFiles(tmp_path, Settings()), content_of(data))()
    assert isinstance(parsed, ParsedDocument)
    assert parsed.problem == ""
    assert "the first page" in parsed.document.reading.text
    assert "the second page" in parsed.document.reading.text
    assert parsed.document.reading.text.endswith("*(Pages 3 to 4 were not read.)*\n")
