"""`dowse archive` as a person types it."""

from pathlib import Path

import pytest

from tests.archives.sample_archives import captured_page, make_archives
from tests.cli.conftest import Run

RESEARCH = {
    "2025-05-20/intro.md": "# Introduction to Machine Learning\n\nSee [this](https://example.com/p) and [x](gone.md).\n",
    "alone.md": "# Alone\n\nNothing.\n",
}
PAGES = {"1f": captured_page("https://example.com/p", "The page", "Gradient descent.\n")}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_archives(tmp_path, RESEARCH, PAGES)
    monkeypatch.chdir(tmp_path)
    for variable in ("SEARCH_DB_PATH", "RESEARCH_ARCHIVE_PATH", "URL_CONTENT_ARCHIVE_PATH"):
        monkeypatch.delenv(variable, raising=False)


def test_an_archive_that_is_named_and_missing_is_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warning = (
        f"The url-content archive {tmp_path / 'pages'} does not exist. "
        "Create the folder, or correct URL_CONTENT_ARCHIVE_PATH."
    )
    monkeypatch.setenv("URL_CONTENT_ARCHIVE_PATH", "pages")
    assert run("archive", "index", "--json").json["warnings"] == [warning]
    assert warning in run("archive", "search", "nothing").err
    monkeypatch.delenv("URL_CONTENT_ARCHIVE_PATH")
    (tmp_path / "url-content-archive").rename(tmp_path / "elsewhere")
    assert run("archive", "index", "--json").json["warnings"] == [], "a default location may be absent"


def test_folders_and_the_database_may_be_named(run: Run) -> None:
    folders = ["research-archive", "--urls", "url-content-archive"]
    assert run("archive", "index", *folders, "--db", "other/x.db", "--json").json["documents"] == 3
    assert Path("other/x.db").is_file()
    assert run("archive", "search", "gradient", "--db", "other/x.db", "--json").json["results"]
    wrong = run("archive", "index", "nothing-here")
    assert (wrong.code, "is not a folder" in wrong.err) == (2, True)


def test_projects_status_doctor_and_forget_know_the_index_of_an_archive(run: Run, tmp_path: Path) -> None:
    run("archive", "index")
    research = str(tmp_path / "research-archive")
    listed = run("projects").out
    assert research in listed
    assert "(an archive)" in listed
    assert f"{research}: ready" in run("status", research).out
    assert "the index is complete and matches the files" in run("doctor", research).out
    assert "Deleted the index" in run("forget", research).out
    assert research not in run("projects").out
