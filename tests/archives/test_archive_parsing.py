"""Documents of an archive are read by the parser processes, and hostile files do no harm."""

from pathlib import Path

import pytest

from dowse.archives.archive_database import create_database
from dowse.archives.archive_documents import read_file_group
from dowse.archives.archive_indexing import update_database
from dowse.archives.archive_parsing import ParsedFileGroup, start_reading
from dowse.archives.file_groups import FileGroup, Form
from dowse.types import Entry, Stat
from tests.archives.sample_archives import captured_page, make_archives
from tests.end_to_end.security.fake_secrets import private_key
from tests.reading.test_docx import archive, paragraph, part

PAGE = captured_page(
    "https://e.com/a", "Apples", "---\nquestion: Why?\n---\n\n# Apples\n\nSee [b](/b) and doi:10.1000/182.\n"
)
FILES: dict[Form, list[dict[str, str]]] = {
    "capture": [{f"p/{name}": text for name, text in PAGE.items()}],
    "query": [{"q/result.json": '{"answer": "# Grüße\\n\\nSee https://e.com \\ud800."}'}],
    "text": [
        {"pep-0008.rst": "PEP: 8\nTitle: Style\nRequires: 7\nCreated: 05-Jul-2001\n\nSee :pep:`257`.\n"},
        {"2025-01-31/r.md": "---\nreferences: [https://e.com]\naliases: x\n---\n\n# R\n\n@smith and PEP 20.\n"},
    ],
}


@pytest.mark.parametrize(("form", "texts"), [(form, texts) for form in FILES for texts in FILES[form]])
def test_a_document_is_what_its_reader_makes_of_it(form: Form, texts: dict[str, str]) -> None:
    files = {path: text.encode() for path, text in texts.items()}
    group = FileGroup(form, tuple(Entry(path, "docs", Stat(0, 0, 0, 0)) for path in files), ("p/original.html",))
    found = start_reading(group, files, "research")()
    assert found == ParsedFileGroup(read_file_group(group, files, "research"))


def test_a_file_that_cannot_be_parsed_is_kept_as_plain_text_and_reported_in_every_run(tmp_path: Path) -> None:
    bomb = ">" * 900_000
    locations = make_archives(tmp_path, {"a.md": "# Apples\n\n[b](b.md)\n", "b.md": bomb, "c.md": "# Pears\n"})
    database = create_database(locations.database)
    report = update_database(database, locations)
    warning = "b.md takes more than 1.5 s to parse; it is kept as plain text."
    assert (report.added, report.warnings, report.skipped) == (3, [warning], {})
    assert [document.title for document in database.documents().values()] == ["Apples", "b", "Pears"]
    assert database.rows("SELECT text FROM content WHERE document = 2") == [(bomb,)]
    again = update_database(database, locations)
    assert (again.unchanged, again.warnings, again.changed_anything) == (3, [warning], False)
    (locations.research / "b.md").write_text("# Bananas\n", encoding="utf-8")
    mended = update_database(database, locations)
    assert (mended.updated, mended.warnings) == (1, [])
    database.close()


def test_a_word_file_with_a_private_key_is_not_read(tmp_path: Path) -> None:
    lines = "".join(paragraph(line) for line in private_key().splitlines())
    locations = make_archives(tmp_path, {"key.docx": archive({"word/document.xml": part("document", lines)})})
    database = create_database(locations.database)
    report = update_database(database, locations)
    assert (report.added, report.skipped) == (0, {"denied": 1})
    database.close()
