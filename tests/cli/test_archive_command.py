"""`dowse archive` as a person types it."""

import json
from pathlib import Path
from typing import Any

import pytest

from dowse.cli import main
from tests.archives.sample_archives import captured_page, make_archives

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


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    """Return the JSON that a command prints."""
    capsys.readouterr()
    assert main(["archive", *arguments, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def run_and_capture(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["archive", *arguments]) == code
    out, err = capsys.readouterr()
    return out, err


def test_an_archive_that_is_named_and_missing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    warning = (
        f"The url-content archive {tmp_path / 'pages'} does not exist. "
        "Create the folder, or correct URL_CONTENT_ARCHIVE_PATH."
    )
    monkeypatch.setenv("URL_CONTENT_ARCHIVE_PATH", "pages")
    assert answer(capsys, "index")["warnings"] == [warning]
    assert warning in run_and_capture(capsys, "search", "nothing")[1]
    monkeypatch.delenv("URL_CONTENT_ARCHIVE_PATH")
    (tmp_path / "url-content-archive").rename(tmp_path / "elsewhere")
    assert answer(capsys, "index")["warnings"] == [], "a default location may be absent"


def test_folders_and_the_database_may_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folders = ["research-archive", "--urls", "url-content-archive"]
    assert answer(capsys, "index", *folders, "--db", "other/x.db")["documents"] == 3
    assert Path("other/x.db").is_file()
    assert answer(capsys, "search", "gradient", "--db", "other/x.db")["results"]
    _, err = run_and_capture(capsys, "index", "nothing-here", code=2)
    assert "is not a folder" in err


def test_the_environment_is_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_DB_PATH", str(tmp_path / "elsewhere.db"))
    monkeypatch.setenv("RESEARCH_ARCHIVE_PATH", str(tmp_path / "url-content-archive"))
    monkeypatch.setenv("URL_CONTENT_ARCHIVE_PATH", str(tmp_path / "nothing"))
    assert answer(capsys, "index")["documents"] == 1
    assert (tmp_path / "elsewhere.db").is_file()


def test_projects_status_doctor_and_forget_know_the_index_of_an_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> str:
        assert main(list(arguments)) == 0
        return capsys.readouterr().out

    run_and_capture(capsys, "index")
    research = str(tmp_path / "research-archive")
    listed = run("projects")
    assert research in listed
    assert "(an archive)" in listed
    assert f"{research}: ready" in run("status", research)
    assert "the index is complete and matches the files" in run("doctor", research)
    assert "Deleted the index" in run("forget", research)
    assert research not in run("projects")
