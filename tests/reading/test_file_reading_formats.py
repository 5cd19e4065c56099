"""Properties that hold for every file."""

from importlib.util import find_spec

from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.reading.file_reading import DOCUMENT_EXTENSIONS, read, read_document
from dowse.reading.languages import detect_language
from dowse.types import Reading

READABLE = DOCUMENT_EXTENSIONS.keys() - (set() if find_spec("pypdfium2") else {".pdf"})
"""All formats; PDF only where pypdfium2 has a build."""


def is_true(reading: Reading, data: bytes) -> bool:
    """Return whether a reading can be stored, and whether its text is that of the file if it claims so."""
    links = "".join(link.target + link.text for link in reading.links)
    "".join([reading.title, reading.description, *reading.tags, links]).encode()
    return reading.text.encode() == data[reading.text_start :] or not reading.is_verbatim


@given(st.binary())
@settings(deadline=None)
def test_any_bytes_are_a_document_of_any_format(data: bytes) -> None:
    for extension in READABLE:
        reading = read_document(data, f"a{extension}")
        assert reading.title
        assert is_true(reading, data)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
@settings(deadline=None)
def test_every_format_of_text_may_begin_with_a_mark(text: str, encoding: str) -> None:
    for extension in READABLE - {".docx", ".pdf"}:
        plain, marked = (read_document(data, f"a{extension}") for data in (text.encode(), text.encode(encoding)))
        assert "\0" in text or text[:1] == "\ufeff" or plain.text == marked.text


def test_every_extension_has_the_type_of_what_its_files_become() -> None:
    assert DOCUMENT_EXTENSIONS[".txt"] == "text/plain"
    plain = {extension for extension, kind in DOCUMENT_EXTENSIONS.items() if kind == "text/plain"}
    assert plain == {".txt", ".rst", ".adoc", ".asciidoc"}
    assert {".md", ".html", ".mdx", ".rst", ".adoc", ".ipynb", ".docx", ".pdf"} <= DOCUMENT_EXTENSIONS.keys()


FENCED = {
    ".md": "```\n# no\n```\n\ntext",
    ".mdx": "~~~\n# no\n~~~\n\ntext",
    ".rst": "::\n\n   no\n   ==\n\ntext",
    ".adoc": "----\n= no\n----\n\ntext",
    ".html": "<pre><code># no\n</code></pre><p>text</p>",
    ".ipynb": '{"cells": [{"cell_type": "code", "source": "# no"}]}',
}


def test_a_heading_in_code_is_no_title() -> None:
    for extension, text in FENCED.items():
        assert read_document(text.encode(), f"docs/name{extension}").title == "name"


def test_code_is_called_by_its_file_and_has_no_links() -> None:
    reading = read(b'"""[a](b)"""\r\nx = "https://c.org"\n', "src/engine/index.py", "python")
    assert (reading.title, reading.description, reading.links) == ("index.py", "", ())
    assert reading.is_verbatim


def test_prose_in_a_project_is_called_by_its_first_line() -> None:
    for path, title in (("LICENSE", "First line"), ("a/notes.TXT", "First line"), ("nginx.conf", "nginx.conf")):
        assert read(b"First line\nsecond", path, detect_language(path, b"")).title == title


def test_html_in_a_project_is_source_code() -> None:
    source = b"<title>T</title>\r\n<p>x"
    assert read(source, "web/index.html", "html").text.encode() == source


def test_a_document_is_read_by_its_extension() -> None:
    for path, title in (
        ("a.md", "H"),
        ("a.MD", "H"),
        ("a.markdown", "H"),
        ("a.txt", "# H"),
        ("CMakeLists.txt", "# H"),
        ("a.HTM", "a"),
        ("x.y/a.MDX", "H"),
    ):
        assert read_document(b"# H\n", path).title == title
