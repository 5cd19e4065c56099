"""What holds for every file, whatever it is."""

import json
import os
from pathlib import Path

import pytest

from dowse.reading import language_of, read, read_document

EVAL = Path(os.environ.get("DOWSE_EVAL", Path(__file__).parents[3] / "shared" / "eval"))
NAUGHTY = EVAL / "hostile" / "blns.json"


@pytest.mark.skipif(not NAUGHTY.is_file(), reason="needs hostile/blns.json in the folder that DOWSE_EVAL names")
def test_every_naughty_string_is_a_file_like_any_other() -> None:
    for text in json.loads(NAUGHTY.read_text(encoding="utf-8")):
        data = text.encode("utf-8", "surrogatepass")
        for path in ("a.md", "a.txt", "a.py", "a.rst", text):
            reading = read(data, path, language_of(path, data))
            assert reading.is_verbatim == (reading.text.encode() == data[reading.text_start :])
        assert read_document(data, "a.html").title


def test_code_is_called_by_its_file_and_has_no_links() -> None:
    reading = read(b'"""[a](b)"""\r\nx = "https://c.org"\n', "src/engine/index.py", "python")
    assert (reading.title, reading.description, reading.links) == ("index.py", "", ())
    assert reading.is_verbatim


@pytest.mark.parametrize(
    ("path", "title"), [("LICENSE", "First line"), ("a/notes.TXT", "First line"), ("nginx.conf", "nginx.conf")]
)
def test_prose_in_a_project_is_called_by_its_first_line(path: str, title: str) -> None:
    assert read(b"First line\nsecond", path, language_of(path, b"")).title == title


def test_html_in_a_project_is_source_code() -> None:
    source = b"<title>T</title>\r\n<p>x"
    assert read(source, "web/index.html", "html").text.encode() == source


@pytest.mark.parametrize(
    ("path", "title"),
    [("a.md", "H"), ("a.MD", "H"), ("a.markdown", "H"), ("a.txt", "# H"), ("CMakeLists.txt", "# H"), ("a.HTM", "a")],
)
def test_a_document_is_read_by_its_extension(path: str, title: str) -> None:
    assert read_document(b"# H\n", path).title == title
