"""The commands of `dowse notes`."""

import io
import json
import sys
from pathlib import Path

import pytest

from dowse.cli import notes_command
from dowse.system.platform import storage_root
from tests.cli.conftest import Run, run
from tests.sample_data import write_tree

__all__ = ["run"]


@pytest.fixture
def ideas(run: Run) -> str:
    run("notes", "create", "ideas")
    run("notes", "add", "ideas", "a", "Rate limiting with token buckets", "--metadata", '{"year": 2026}')
    run("notes", "add", "ideas", "b", "Token based login", "--metadata", '{"year": 2020}')
    return "ideas"


def test_what_is_exported_can_be_imported_and_is_the_same(run: Run, ideas: str, tmp_path: Path) -> None:
    file = tmp_path / "ideas.jsonl"
    assert run("notes", "export", ideas, file).code == 0
    printed = run("notes", "export", ideas).out
    assert printed == file.read_text(encoding="utf-8")
    assert [json.loads(line)["doc_id"] for line in printed.splitlines()] == ["a", "b"]
    assert run("notes", "import", "copy", file, "--create", "--json").json["added"] == 2
    assert run("notes", "import", "copy", file).out == "copy: 0 added, 2 replaced\n"
    assert run("notes", "export", "copy").out == printed


def test_an_import_from_stdin_is_checked_to_its_end_before_anything_is_added(
    run: Run, ideas: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = "".join(f'{{"doc_id": "n{number}", "content": "note"}}\n' for number in range(5)).encode()
    monkeypatch.setattr(notes_command, "BATCH_DOCUMENTS", 2)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(good + b"\n\xff\n")))
    ran = run("notes", "import", ideas)
    assert ran.code == 2
    assert "Nothing was added: line 7:" in ran.err
    assert run("notes", "show", ideas, "n0").code == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + good)))
    assert run("notes", "import", ideas).out == f"{ideas}: 5 added, 0 replaced\n"


def test_a_text_that_is_not_given_comes_from_stdin(run: Run, ideas: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("von stdin ü".encode())))
    assert run("notes", "add", ideas, "s").code == 0
    assert run("notes", "show", ideas, "s").out == "von stdin ü\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * (10 * 2**20 + 1))))
    assert "stdin has more than 10 MiB. Split it" in run("notes", "add", ideas, "z").err


def test_a_damaged_index_is_told_of_as_such_where_all_sources_are_listed(run: Run, ideas: str, tmp_path: Path) -> None:
    """It said that it rebuilds the index, which nothing does."""
    (file,) = storage_root().rglob(f"index-{ideas}.db")
    file.write_bytes(b"nonsense" * 1000)
    sources = run("status", "--json", write_tree(tmp_path / "root", {"a.py": ""})).json["sources"]
    (damaged,) = (one for one in sources if one["name"] == f"index/{ideas}")
    message = f"The index index-{ideas}.db cannot be used (file is not a database). "
    remedy = "Restore the file from a backup, or delete the index."
    assert (damaged["state"], damaged["problem"]) == ("failed", message + remedy)
