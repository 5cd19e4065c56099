"""Folders, sites, archives and notes, searched at once from a program."""

from pathlib import Path

import pytest

import dowse
from tests.sample_data import write_tree
from tests.sites.sample_sites import write_index


def test_everything_is_searched_at_once_and_read_by_the_id_of_a_hit(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = write_index(tmp_path / "site.json")
    archive = write_tree(tmp_path / "archive", {"a/report.md": "# Plums\n\nPlums ripen in September.\n"})
    monkeypatch.setenv("RESEARCH_ARCHIVE_PATH", str(archive))
    monkeypatch.setenv("SEARCH_DB_PATH", str(tmp_path / "search.db"))
    with dowse.notes("decisions") as notes:
        notes.add("prices", "Delivery prices are in cents.")
    with dowse.open(shop) as index:
        index.wait()
    with dowse.open(shop, sites=[str(site)], archives=True, notes=True) as index:
        sources = {status.name.partition("/")[0] for status in index.status()}
        assert sources >= {"project", "site", "index"}
        hits = index.search("delivery cents", limit=10)
        assert {hit.source for hit in hits} >= {"project/shop", "index/decisions"}
        note = next(hit for hit in hits if hit.source == "index/decisions")
        assert index.read(note.id) == "Delivery prices are in cents."
        assert index.find("FREE_FROM_CENTS").total == 2
        with pytest.raises(dowse.DowseError, match="was not found"):
            index.read("project/shop/nothing.py")


def test_a_site_alone_is_searched_and_has_no_files(tmp_path: Path) -> None:
    with dowse.open(sites=[str(write_index(tmp_path / "site.json"))]) as index:
        first = index.search("apple")[0]
        assert first.source.startswith("site/")
        assert index.read(first.id)
        index.wait()
        with pytest.raises(dowse.DowseError, match="needs a folder"):
            index.find("apple")
        with pytest.raises(dowse.DowseError, match="has no exclude, tests, mode, alpha and detail"):
            index.search("apple", mode="lexical")
