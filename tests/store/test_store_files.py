"""The files of a store are removed, also while another process closes its databases."""

from pathlib import Path

import pytest

from dowse.store import store_files


def test_a_file_that_sqlite_removes_meanwhile_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, gone = tmp_path / "catalog.sqlite", tmp_path / "catalog.sqlite-wal"
    kept.touch()
    monkeypatch.setattr(store_files, "_catalog_files", lambda _: [kept, gone])  # the second is gone after the listing
    store_files.remove_store(tmp_path)
    assert list(tmp_path.iterdir()) == []
