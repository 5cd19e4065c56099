"""The tables of the LanceDB store, read by a plain LanceDB client."""

import subprocess
import sys
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from dowse.errors import Failed, UsageError
from dowse.store import lance_tables
from dowse.store.local import LocalStore
from dowse.types import Batch, Finding, Put, View
from tests import lance_extra
from tests.sample_data import World

lancedb = lance_extra.import_or_skip()
SEED_COLUMNS = ["id", "path", "text", "vector", "start_line", "end_line", "content_hash"]


@pytest.fixture
def store(tmp_path: Path, world: World) -> LocalStore:
    made = LocalStore(tmp_path, world.read_text, has_tables=True)
    made.apply(Batch(puts=[world.put("a.py", "apple\n\nbanana"), world.put("b.md", "cherry", kind="docs")]))
    return made


def read(folder: Path, database: str = "index.lancedb", table: str = "project_docs") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = lancedb.connect(folder / database).open_table(table).search().limit(1000).to_list()
    return sorted(found, key=lambda row: (row["path"], row["start_line"]))


def encode(store: LocalStore, *, width: int = 384) -> None:
    ids = store.catalog.chunks_without_vectors("model", 100)
    store.put_vectors("model", [(chunk, np.eye(width, dtype=np.float32)[chunk % width]) for chunk in ids])


def test_any_client_reads_the_columns_of_the_specification(store: LocalStore, tmp_path: Path, world: World) -> None:
    encode(store)
    store.write_tables()
    first, second = read(tmp_path)
    assert list(first)[:7] == SEED_COLUMNS
    assert (first["path"], first["text"], first["start_line"], first["end_line"]) == ("a.py", "apple", 1, 1)
    assert (second["text"], second["start_line"]) == ("banana", 3)
    assert uuid.UUID(first["id"]).version == 4
    assert len(first["vector"]) == 384
    assert max(first["vector"]) == pytest.approx(1.0)
    (prose,) = read(tmp_path, "docs.lancedb", "project_docs_prose")
    assert (prose["path"], prose["text"]) == ("b.md", "cherry")
    table = lancedb.connect(tmp_path / "index.lancedb").open_table("project_docs")
    assert table.search(first["vector"]).limit(1).to_list()[0]["id"] == first["id"]


def test_the_tables_follow_each_change_of_the_catalog(store: LocalStore, tmp_path: Path, world: World) -> None:
    store.write_tables()
    ids = [row["id"] for row in read(tmp_path)]
    store.apply(Batch(puts=[world.put("c.py", "damson"), world.put("b.md", "elder", kind="docs")]))
    store.write_tables()
    assert [row["text"] for row in read(tmp_path)] == ["apple", "banana", "damson"]
    assert [row["id"] for row in read(tmp_path)][:2] == ids
    assert [row["text"] for row in read(tmp_path, "docs.lancedb", "project_docs_prose")] == ["elder"]
    encode(store)
    store.write_tables()
    assert all(row["vector"] for row in read(tmp_path))
    store.apply(Batch(puts=[world.put("a.py", "fig")], drops=["c.py"]))
    store.write_tables()
    assert [(row["text"], row["vector"]) for row in read(tmp_path)] == [("fig", None)]
    assert store.check() == []


def test_a_replacement_is_one_version_of_the_table(store: LocalStore, tmp_path: Path, world: World) -> None:
    """Removing rows first and adding rows then lost a file when the process was killed in between."""
    store.write_tables()
    table: Any = lancedb.connect(tmp_path / "index.lancedb").open_table("project_docs")
    before = table.version
    store.apply(Batch(puts=[world.put("a.py", "fig")]))
    store.write_tables()
    table.checkout_latest()
    assert table.version == before + 1


def test_an_index_that_another_program_made_stays_however_much_changes(
    store: LocalStore, tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_tables, "MERGED_DOCUMENTS", 2)
    store.write_tables()
    table: Any = lancedb.connect(tmp_path / "index.lancedb").open_table("project_docs")
    table.create_index("text", config=lancedb.index.FTS())
    puts = [world.put(f"{number}.py", f"fig {number}") for number in range(5)]
    store.apply(Batch(puts=puts, drops=["a.py"]))
    store.write_tables()
    table.checkout_latest()
    assert len(table.list_indices()) == 1
    assert [row["path"] for row in read(tmp_path)] == [f"{number}.py" for number in range(5)]
    assert store.check() == []


def test_a_killed_writer_is_repeated(
    store: LocalStore, tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write_tables()
    store.apply(Batch(puts=[world.put("a.py", "fig")]))
    with monkeypatch.context() as patched:
        patched.setattr(lance_tables, "write_atomically", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            store.write_tables()
    store.apply(Batch(drops=["a.py"]))
    store.write_tables()
    assert read(tmp_path) == []
    assert store.check() == []


def test_a_table_that_was_changed_is_found_and_repaired(store: LocalStore, tmp_path: Path) -> None:
    store.write_tables()
    lancedb.connect(tmp_path / "index.lancedb").open_table("project_docs").delete("text = 'apple'")
    assert store.check() == [Finding("tables", "differ from the catalog in 1 rows")]
    store.repair()
    assert store.check() == []
    assert len(read(tmp_path)) == 2


def test_an_index_of_the_specifications_own_program_is_not_overwritten(store: LocalStore, tmp_path: Path) -> None:
    row = {
        "id": "1",
        "path": "a.ts",
        "text": "x",
        "vector": [0.0] * 384,
        "start_line": 1,
        "end_line": 1,
        "content_hash": "0",
    }
    lancedb.connect(tmp_path / "index.lancedb").create_table("project_docs", [row])
    with pytest.raises(Failed, match=r"index\.lancedb was made by another program.*dowse doctor --fix"):
        store.write_tables()
    assert [found["path"] for found in read(tmp_path)] == ["a.ts"]
    store.repair()
    assert len(read(tmp_path)) == 2
    assert read(tmp_path / "index.lancedb.bak", "")[0]["path"] == "a.ts"


def test_nothing_of_lancedb_is_imported_without_the_store(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from dowse.indexes.index import ProjectIndex; "
        "index = ProjectIndex(pathlib.Path(sys.argv[1])); index.update(); index.close(); "
        "sys.exit(', '.join(name for name in ('lancedb', 'pyarrow', 'boto3') if name in sys.modules) or 0)"
    )
    (tmp_path / "a.py").write_text("apple = 1\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tables_that_are_damaged_before_a_change_are_made_anew(store: LocalStore, tmp_path: Path, world: World) -> None:
    """`dowse doctor` said nothing of them once a file had changed, and every change failed."""
    store.write_tables()
    for file in (tmp_path / "index.lancedb").rglob("*.manifest"):
        file.write_bytes(b"damaged")
    store.apply(Batch(puts=[world.put("c.py", "cherry")]))
    (finding,) = store.check()
    assert "cannot be used" in finding.problem
    store.write_tables()
    assert len(read(tmp_path)) == 3
    assert store.check() == []


def test_an_index_that_another_program_made_stays(store: LocalStore, tmp_path: Path, world: World) -> None:
    store.write_tables()
    table = lancedb.connect(tmp_path / "index.lancedb").open_table("project_docs")
    table.create_index("path", config=lancedb.index.BTree())
    store.apply(Batch(puts=[world.put("c.py", "cherry")]))
    store.write_tables()
    table.checkout_latest()
    assert [one.columns for one in table.list_indices()] == [["path"]]
    assert len(read(tmp_path)) == 3
    assert store.check() == []


def test_tables_are_removed_when_the_settings_do_not_ask_for_them_any_more(
    store: LocalStore, tmp_path: Path, world: World
) -> None:
    store.write_tables()
    (tmp_path / "docs.lancedb" / "theirs").mkdir()
    store.close()
    LocalStore(tmp_path, world.read_text).write_tables()
    assert not (tmp_path / "index.lancedb").exists()
    assert [file.name for file in (tmp_path / "docs.lancedb").iterdir()] == ["theirs"]


def test_without_the_extra_there_is_a_hint(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lancedb", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"pip install 'dowse\[lance\]'"):
        store.write_tables()


def test_a_file_that_changes_while_it_is_written_and_changes_back_gets_its_rows(
    store: LocalStore, tmp_path: Path, world: World
) -> None:
    """A switch to another branch and back is no change for the catalog, and the rows were never written."""
    store.write_tables()
    store.apply(Batch(puts=[world.put("c.py", "damson")]))
    world.files["c.py"] = "elder"
    store.write_tables()
    assert [row["path"] for row in read(tmp_path)] == ["a.py", "a.py"]
    world.files["c.py"] = "damson"
    store.write_tables()
    assert [row["text"] for row in read(tmp_path)] == ["apple", "banana", "damson"]
    assert store.check() == []


def test_tables_of_documents_become_those_of_the_project_once_the_index_has_it(tmp_path: Path, world: World) -> None:
    """The rows of the converted documents stayed beside those of the files."""

    def put(text: str, view: View) -> Put:
        made = world.put("a.html", text, kind="docs", is_verbatim=view is View.PROJECT)
        return replace(made, document=replace(made.document, views=view))

    store = LocalStore(tmp_path, world.read_text, has_tables=True)
    store.add_views(View.DOCUMENTS)
    converted = put("apple", View.DOCUMENTS)
    store.apply(Batch(puts=[converted]))
    store.write_tables()
    store.add_views(View.PROJECT)
    store.apply(Batch(puts=[converted, put("<b>apple", View.PROJECT)]))
    store.write_tables()
    assert [row["text"] for row in read(tmp_path, "docs.lancedb", "project_docs_prose")] == ["<b>apple"]
    assert store.check() == []


def test_tables_that_a_killed_writer_made_anew_in_part_are_made_anew(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record of the tables before was believed once the settings named no model again."""
    store.write_tables()
    encode(store)
    with monkeypatch.context() as patched:
        patched.setattr(lance_tables, "_compact", Mock(side_effect=SystemExit))  # after the first table
        with pytest.raises(SystemExit):
            store.write_tables()
    store.forget_vectors("model")
    store.write_tables()
    assert [row["vector"] for row in read(tmp_path)] == [None, None]
    assert store.check() == []
