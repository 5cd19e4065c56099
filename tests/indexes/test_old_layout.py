"""An index whose documents were in a second index is upgraded when it is first used."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from dowse.indexes.document_search import DocumentQuery, find_documents
from dowse.indexes.index import ProjectIndex
from dowse.searching.query_terms import parse_search_query
from dowse.store.catalog_schema import APPLICATION_ID, STEPS
from dowse.types import View
from tests.sample_data import find, write_tree

OLD_STEPS = 4
"""The steps of the schema that the old layout had."""
FILES = {
    "a.py": "def peel_apple():\n    pass\n",
    "guide.md": "# Guide\n\nPeel the apple.\n",
    "page.html": "<title>Pears</title><p>Peel the pear.</p>",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with an index in the old layout."""
    root = write_tree(tmp_path / "fruit", FILES)
    index = ProjectIndex(root)
    index.update()
    folder = index.folder
    index.close()
    _write_old_catalog(folder / "catalog.sqlite")
    documents = folder / "documents"
    documents.mkdir()
    for name in ("catalog.sqlite", "metadata.json"):
        shutil.copyfile(folder / name, documents / name)
    return root


def _write_old_catalog(file: Path) -> None:
    """Write a catalog again as the old layout had it."""
    new = file.with_name("new.sqlite")
    file.rename(new)
    old = sqlite3.connect(file, isolation_level=None)
    for step in STEPS[:OLD_STEPS]:
        old.executescript(step)
    old.execute("ATTACH ? AS new", (str(new),))
    for table in ("documents", "chunks", "links", "texts", "refusals", "vectors", "changes"):
        columns = ", ".join(row[1] for row in old.execute(f"PRAGMA main.table_info({table})"))
        old.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    old.execute("INSERT OR REPLACE INTO main.facts SELECT * FROM new.facts WHERE key != 'views'")
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute(f"PRAGMA user_version = {OLD_STEPS}")
    old.execute("DETACH new")
    old.close()
    new.unlink()


def test_an_old_index_is_upgraded_and_keeps_its_vectors(root: Path) -> None:
    index = ProjectIndex(root)
    (encoder,) = index.whole.encoders()
    assert index.store.vector_counts(encoder) == (3, 3)
    assert {document.path: document.views for document in index.whole.documents()} == dict.fromkeys(FILES, View.PROJECT)
    report = index.update()
    assert (report.added, report.removed) == (0, 0)
    assert index.whole.views() is View.BOTH
    assert not (index.folder / "documents").exists()
    assert index.warnings == []
    assert index.check() == []
    assert len(find(index.store, "peel")) == 3
    documents = index.seen_as(View.DOCUMENTS)
    found = find_documents(documents, DocumentQuery(parse_search_query("peel"))).matches
    assert sorted(one.document.title for one in found.found) == ["Guide", "Pears"]
    index.close()


def test_ids_of_removed_documents_are_not_used_again_after_the_upgrade(root: Path) -> None:
    (root / "page.html").unlink()
    index = ProjectIndex(root)
    last = max(document.id for document in index.whole.documents())
    index.update()
    write_tree(root, {"new.py": "x = 1\n"})
    index.update()
    added = index.store.document("new.py")
    assert added is not None
    assert added.id > last
    index.close()


def test_document_settings_that_differ_are_reported_and_kept(root: Path) -> None:
    index = ProjectIndex(root, View.DOCUMENTS)
    write_tree(index.folder / "documents", {"config.json": json.dumps({"maxFileSize": "500KB", "maskSecrets": False})})
    index.update()
    (warning,) = index.warnings
    assert "maxFileSize, maskSecrets" in warning
    assert json.loads((index.folder / "config.documents.json").read_text(encoding="utf-8"))["maskSecrets"] is False
    assert not (index.folder / "documents").exists()
    index.close()


def test_a_root_that_had_only_documents_is_indexed_again(root: Path) -> None:
    folder = ProjectIndex(root).folder
    for file in (*folder.glob("catalog.sqlite*"), *folder.glob("*.json")):
        file.unlink()
    index = ProjectIndex(root, View.DOCUMENTS)
    assert not index.exists
    index.update()
    assert index.whole.views() is View.DOCUMENTS
    assert index.whole.paths() == ["guide.md", "page.html"]
    assert not (folder / "documents").exists()
    index.close()
