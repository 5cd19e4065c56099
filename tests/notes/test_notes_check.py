"""A check of notes finds what changed on the disk, also where every page and every value is well-formed."""

import sqlite3

import pytest

from dowse.errors import StoreDamaged
from dowse.notes.named_index import NamedIndex
from dowse.notes.notes_check import check_notes
from dowse.notes.notes_documents import make_note
from dowse.notes.registry import NotesRegistry, index_file

DAMAGES = {
    "contents SET text = 'wother words' || substr(text, 12) WHERE id = 20": "the note n20 is not what was written",
    "documents SET metadata = '{\"a\": 1}' WHERE id = 3": "the note n3 is not what was written",
    "documents SET doc_id = 'other' WHERE id = 3": "the note other is not what was written",
    "contents SET id = 1000 WHERE id = 3": "the note n3 is not what was written",
    "postings SET places = x'0000000000000000' WHERE token = 'word7'": "its words are not those of its notes",
    "postings SET token = 'word77' WHERE token = 'word7'": "its words are not those of its notes",
    "documents SET tokens = 99 WHERE id = 3": "its words are not those of its notes",
    "state SET documents = documents + 1": "its counts are wrong",
    "state SET text_bytes = 'three'": "An index of notes is damaged: its counts cannot be read",
    "documents SET tokens = 'three'": "29 values of documents.tokens have another type",
}


@pytest.fixture
def kept(library: NotesRegistry, tiny: None) -> NotesRegistry:
    """An index of several batches, in which notes were replaced and deleted."""
    library.create("kept", "disk")

    def fill(index: NamedIndex) -> None:
        for number in range(1, 31):
            index.add([make_note(f"n{number}", f"some words word{number} " * 3)])
        index.add([make_note("empty", "- - -")])
        for number in (1, 8):
            index.delete(f"n{number}")

    library.use("kept", fill)
    library.close()
    return library


def test_a_whole_index_has_no_findings(kept: NotesRegistry) -> None:
    assert check_notes() == []


@pytest.mark.parametrize(("change", "problem"), DAMAGES.items())
def test_a_change_is_found(kept: NotesRegistry, change: str, problem: str) -> None:
    with sqlite3.connect(index_file("kept")) as connection:
        assert connection.execute(f"UPDATE {change}").rowcount
    connection.close()
    findings = check_notes()
    assert [finding.part for finding in findings] == ["notes"]
    assert problem in findings[0].problem


def test_a_file_that_is_no_index_is_a_finding_and_the_others_are_checked(kept: NotesRegistry) -> None:
    index_file("broken").write_bytes(b"no database" * 1000)
    assert ["index index-broken.db cannot be used" in finding.problem for finding in check_notes()] == [True]


@pytest.mark.parametrize(
    "change", ["documents SET doc_id = x'fffe'", "contents SET text = x'fffe'", "state SET posted = 'three'"]
)
def test_a_value_of_another_type_is_damage_where_it_is_read(kept: NotesRegistry, change: str) -> None:
    """It once ended in a TypeError."""
    with sqlite3.connect(index_file("kept")) as connection:
        connection.execute(f"UPDATE {change} WHERE rowid = (SELECT max(rowid) FROM {change.split(maxsplit=1)[0]})")
    connection.close()

    def use(index: NamedIndex) -> None:
        index.search("some", 100)
        list(index.every_document())
        index.add([make_note("new", "new words")])

    with pytest.raises(StoreDamaged, match=r"another type|not what was written"):
        NotesRegistry().use("kept", use)


@pytest.mark.parametrize("table", ["documents", "contents"])
def test_a_note_that_words_name_and_that_is_gone_is_damage(kept: NotesRegistry, table: str) -> None:
    """It once ended in a KeyError."""
    with sqlite3.connect(index_file("kept")) as connection:
        connection.execute(f"DELETE FROM {table} WHERE id = 3")
    connection.close()
    with pytest.raises(StoreDamaged, match="its words are in a note that is gone"):
        NotesRegistry().use("kept", lambda index: index.search("some", 100))


def test_a_note_with_a_number_of_another_type_is_damaged_and_can_be_replaced(kept: NotesRegistry) -> None:
    """It once ended in a TypeError when the note was shown, and a half token spread to the counts."""
    with sqlite3.connect(index_file("kept")) as connection:
        connection.execute("UPDATE documents SET tokens = CASE id WHEN 3 THEN x'fffe' ELSE 1.5 END WHERE id IN (3, 4)")
    connection.close()
    with pytest.raises(StoreDamaged, match="The note n3 is damaged"):
        kept.use("kept", lambda index: index.document("n3"))
    for doc_id in ("n3", "n4"):
        kept.use("kept", lambda index: index.add([make_note(doc_id, "other words")]))  # noqa: B023 - called at once
    assert check_notes() == []
