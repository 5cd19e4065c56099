"""Documents of an archive are read by the parser processes, and hostile files do no harm."""

from pathlib import Path

import pytest

from dowse.archives.archive_database import create_database
from dowse.archives.archive_documents import read_archived
from dowse.archives.archive_files import ArchiveFiles
from dowse.parsing.document_parsing import parse
from dowse.types import Document, Entry, Verdict
from tests.archives.sample_archives import captured_page, make_archives, update
from tests.end_to_end.security.fake_secrets import private_key
from tests.reading.test_office_files import archive, paragraph, part
from tests.sample_data import write_tree

PAGE = captured_page(
    "https://e.com/a", "Apples", "---\nquestion: Why?\n---\n\n# Apples\n\nSee [b](/b) and doi:10.1000/182.\n"
)
FILES: list[dict[str, str]] = [
    {f"p/{name}": text for name, text in PAGE.items()} | {"p/original.html": "<p>Apples"},
    {"q/result.json": '{"answer": "# Grüße\\n\\nSee https://e.com."}', "q/metadata.json": '{"query": "Why?"}'},
    {"pep-0008.rst": "PEP: 8\nTitle: Style\nRequires: 7\nCreated: 05-Jul-2001\n\nSee :pep:`257`.\n"},
    {"2025-01-31/r.md": "---\nreferences: [https://e.com]\naliases: x\n---\n\n# R\n\n@smith and PEP 20.\n"},
]


@pytest.mark.parametrize("files", FILES)
def test_a_document_is_what_its_reader_makes_of_its_files(tmp_path: Path, files: dict[str, str]) -> None:
    source = ArchiveFiles(write_tree(tmp_path, files))
    (entry,) = (one for one in source.entries() if isinstance(one, Entry))
    assert entry.path == next(iter(files))
    assert source.entry_at(entry.path) == entry
    (content,) = [] if isinstance(read := source.read(entry), Verdict) else read
    assert (content.data, content.stat) == source.read_bytes(entry.path)
    assert content.stat == entry.stat
    document = parse(source, content)
    assert isinstance(document, Document)
    assert document.reading == read_archived(entry.path, content.data)
    assert all(isinstance(source.entry_at(path), Verdict) for path in list(files)[1:])
    assert {source.compared_path(path) for path in files} == {
        "p" if "p/content.md" in files else "q" if "q/result.json" in files else entry.path
    }


def test_every_file_of_a_document_changes_its_stat(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {f"p/{name}": text for name, text in PAGE.items()})
    seen = set[object]()
    for files in ({}, {"p/metadata.json": "{}"}, {"p/content.md": "new"}):
        write_tree(root, files)
        entry = ArchiveFiles(root).entry_at("p/content.md")
        assert isinstance(entry, Entry)
        seen.add(entry.stat)
    assert len(seen) == 3


def test_a_file_that_cannot_be_parsed_is_kept_as_plain_text_and_reported_in_every_run(tmp_path: Path) -> None:
    bomb = ">" * 900_000
    locations = make_archives(tmp_path, {"a.md": "# Apples\n\n[b](b.md)\n", "b.md": bomb, "c.md": "# Pears\n"})
    database = create_database(locations.database)
    report = update(database, locations)
    (warning,) = report.warnings
    assert warning == "b.md has more than 200,000 > in it; it is kept as plain text."
    assert (report.added, report.skipped) == (3, {})
    assert [document.title for document in database.documents().values()] == ["Apples", "b", "Pears"]
    assert database.rows("SELECT text FROM content WHERE document = 2") == [(bomb,)]
    again = update(database, locations)
    assert (again.unchanged, again.warnings) == (3, [warning])
    (locations.research / "b.md").write_text("# Bananas\n", encoding="utf-8")
    mended = update(database, locations)
    assert (mended.updated, mended.warnings) == (1, [])
    database.close()


def test_a_word_file_with_a_private_key_is_not_read(tmp_path: Path) -> None:
    lines = "".join(paragraph(line) for line in private_key().splitlines())
    locations = make_archives(tmp_path, {"key.docx": archive({"word/document.xml": part("document", lines)})})
    database = create_database(locations.database)
    report = update(database, locations)
    assert (report.added, report.skipped) == (0, {"denied": 1})
    database.close()
