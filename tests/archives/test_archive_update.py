"""Indexing runs: they read only changed files, commit all or nothing, and remove missing documents."""

import base64
import random
import sqlite3
from pathlib import Path

import pytest

from dowse.archives.archive_database import ArchiveDatabase, open_database
from dowse.archives.archive_locations import ArchiveLocations, find_locations
from dowse.errors import NotIndexed, StoreTooNew, UsageError
from tests.archives.sample_archives import (
    captured_page,
    cited_titles,
    document_titled,
    index_archives,
    locations_in,
    make_archives,
    make_database,
    search,
    update,
)
from tests.sample_data import write_tree

TWO = {"a.md": "# A\n\n[b](b.md) https://example.com/page\n", "b.md": "# B\n\nApples.\n"}
PAGE = {"p": captured_page("https://example.com/page", "The page", "Pears.\n")}


def dump(database: ArchiveDatabase) -> list[object]:
    """Return the content of a database, without the times at which files were checked."""
    tables = ("documents", "content", "identities", "citations")
    return [database.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, TWO, PAGE)
    database = index_archives(locations)
    before = dump(database)
    report = update(database, locations)
    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 0, 0, 3)
    assert dump(database) == before


def test_links_follow_what_comes_and_goes(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, {"a.md": "# A\n\n[b](b.md) https://example.com/page\n"})
    database = index_archives(locations)
    assert cited_titles(database, "A") == ["b.md", "https://example.com/page"]
    make_archives(tmp_path, TWO, PAGE)
    update(database, locations)
    assert cited_titles(database, "A") == ["B", "The page"]
    (locations.research / "b.md").unlink()
    (locations.url_content / "p" / "metadata.json").unlink()
    (locations.url_content / "p" / "content.md").unlink()
    update(database, locations)
    assert cited_titles(database, "A") == ["b.md", "https://example.com/page"]


def test_new_metadata_makes_another_page_of_the_same_text(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, {}, PAGE)
    database = index_archives(locations)
    make_archives(tmp_path, {}, {"p": captured_page("https://example.com/other", "Renamed", "Pears.\n")})
    assert update(database, locations).updated == 1
    assert document_titled(database, "Renamed").url == "https://example.com/other"
    assert len(database.documents()) == 1


def test_ids_stay_when_the_archives_are_moved_as_a_whole(tmp_path: Path) -> None:
    first = make_database(tmp_path / "here", TWO, PAGE)
    second = make_database(tmp_path / "there", TWO, PAGE)
    assert {one.id for one in first.documents().values()} == {one.id for one in second.documents().values()}
    moved = ArchiveLocations(
        tmp_path / "there" / "research-archive", tmp_path / "there" / "url-content-archive", first.file
    )
    before = dump(first)
    assert update(first, moved).unchanged == 3
    assert dump(first) == before


def test_secrets_are_never_read(tmp_path: Path) -> None:
    body = base64.encodebytes(random.Random(7).randbytes(1200)).decode()  # the key of no document
    key = f"hunter2\n-----BEGIN OPENSSH PRIVATE KEY-----\n{body}-----END OPENSSH PRIVATE KEY-----\n"
    files = {".env.md": "hunter2", "key.md": key, "node_modules/x.md": "hunter2", ".ssh/notes.md": "hunter2"}
    locations = make_archives(tmp_path, {**files, "a.md": "# A\n"})
    database = index_archives(locations)
    assert [one.archive_path for one in database.documents().values()] == ["a.md"]
    assert search(locations, "hunter2", 5) == []


def test_a_document_that_may_not_be_read_any_more_goes(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, TWO)
    database = index_archives(locations)
    (locations.research / "b.md").write_bytes(b"\0binary")
    report = update(database, locations)
    assert (report.removed, report.skipped) == (1, {"binary": 1})
    assert update(database, locations).skipped == {"binary": 1}
    (locations.research / "b.md").write_text("# B again\n", encoding="utf-8")
    assert update(database, locations).added == 1


def test_a_symlink_leads_nowhere(tmp_path: Path) -> None:
    write_tree(tmp_path / "outside", {"secret.md": "# Hunter\n"})
    locations = make_archives(tmp_path, TWO)
    (locations.research / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    index_archives(locations).close()
    assert search(locations, "hunter", 5) == []


def test_what_git_ignores_is_archived(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "research-archive/\n*.md\n", ".git/HEAD": "ref: refs/heads/main\n"})
    assert len(make_database(tmp_path, TWO).documents()) == 2


def test_an_archive_that_is_not_there_keeps_its_documents(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, TWO, PAGE)
    database = index_archives(locations)
    locations.url_content.rename(tmp_path / "unplugged")
    report = update(database, locations)
    assert report.removed == 0
    assert "1 documents are kept" in report.warnings[0]
    assert cited_titles(database, "A") == ["B", "The page"]
    assert update(database, locations, prunes=True).removed == 1


def test_no_archive_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="RESEARCH_ARCHIVE_PATH"):
        locations_in(tmp_path / "nothing").require_any()


def test_a_newer_database_is_refused_naming_both_versions(tmp_path: Path) -> None:
    locations = make_archives(tmp_path, TWO)
    index_archives(locations).close()
    with sqlite3.connect(locations.database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreTooNew, match="format 99"):
        open_database(locations.database)


def test_a_database_that_is_not_there_is_not_made_by_a_search(tmp_path: Path) -> None:
    with pytest.raises(NotIndexed, match="dowse archive index"):
        open_database(tmp_path / "search.db")
    assert not (tmp_path / "search.db").exists()


def test_places_are_those_named_else_of_the_environment_else_the_defaults(tmp_path: Path) -> None:
    environment = {"RESEARCH_ARCHIVE_PATH": "/data/research", "SEARCH_DB_PATH": "other.db"}
    found = find_locations(environment=environment, folder=tmp_path)
    assert (found.research, found.url_content, found.database) == (
        Path("/data/research"), tmp_path / "url-content-archive", tmp_path / "other.db",
    )  # fmt: skip
    assert find_locations(Path("/x"), environment=environment, folder=tmp_path).research == Path("/x")
    assert find_locations(environment={}, folder=tmp_path).database == tmp_path / "data" / "search.db"
