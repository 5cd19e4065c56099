"""Encoding for a command that waits."""

from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.keeping.encoding_worker.encode_now import encode_now
from dowse.store import storage_layout
from tests import lance_extra
from tests.sample_data import write_tree

lancedb = lance_extra.import_or_skip()


def test_the_tables_have_the_vectors_when_the_command_ends(tmp_path: Path) -> None:
    """The process that encodes was stopped before it had written them, and every vector was null."""
    root = write_tree(tmp_path / "shop", {"a.py": "def pay(sum):\n    return sum\n"})
    folder = storage_layout.index_folder(root.resolve())
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"store": "lancedb"}', encoding="utf-8")
    index = ProjectIndex(root)
    index.update()
    assert encode_now(index, lambda *_: None, lambda _: None).state == "complete"
    (row,) = lancedb.connect(folder / "index.lancedb").open_table("project_docs").search().limit(2).to_list()
    assert row["vector"] is not None
    project = storage_layout.read_project(folder)
    assert project
    tables = sum(file.stat().st_size for file in folder.glob("*.lancedb/**/*") if file.is_file())
    assert project.size_bytes > tables > 0
    index.close()
