"""`search_history` finds commits of the project's repository."""

from functools import partial
from pathlib import Path

import anyio
import pytest

from dowse.searching.history import commit_reading, history_search, project_history
from dowse.searching.history.history_database import SYMBOLS_READ, read_commit_counts
from dowse.store.storage_layout import index_folder
from tests.sample_data import index, write_tree
from tests.searching.history.repositories import Change, git, make_repository
from tests.surfaces.project import project_client

FULL = {"level": "full"}
call_tool = partial(project_client.call_tool, client=FULL)
expect_error = partial(project_client.expect_error, client=FULL)
connect = partial(project_client.connect, "auto", level="full")

CHANGES = [
    Change("Begin", {"pay.py": "def charge():\n    bill()\n"}),
    Change("Charge only once\n\nA retry billed twice.", {"pay.py": "def charge():\n    once()\n", ".env": "A=1\n"}),
    Change("Write all", {f"page/{number}.md": "x\n" for number in range(40)}),
]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "shop", CHANGES)
    git(root, "checkout", "-q", "main")
    index(root)
    return root


def test_a_commit_is_found_with_its_files_and_without_its_author(shop: Path) -> None:
    reply = call_tool("auto", "search_history", shop, query="when was a retry billed twice")
    (hit,) = reply["results"]
    assert {key: hit[key] for key in ("commit", "date", "subject", "lines", "files")} == {
        "commit": git(shop, "rev-parse", "HEAD~1")[:10],
        "date": "2023-11-14",
        "subject": "Charge only once",
        "lines": ["A retry billed twice."],
        "files": ["pay.py"],
    }
    assert "author" not in hit
    assert (reply["covers"], reply["totalResults"]) == ("all 3 commits", 1)


def test_authors_are_shown_on_request_and_files_are_counted(shop: Path) -> None:
    reply = call_tool("auto", "search_history", shop, query="write all", authors=True, path="page/**", since="2023")
    (hit,) = reply["results"]
    assert (hit["author"], len(hit["files"]), hit["moreFiles"]) == ("Ada", 10, 30)


def test_a_count_that_is_not_complete_says_so(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit of 100,000 renames once had 59,903 files."""
    monkeypatch.setattr(commit_reading, "MAX_RECORD_BYTES", 20_000)
    renamed = {f"page/{number}-{'x' * 200}.md": "x\n" for number in range(2000)}
    make_repository(shop, [*CHANGES, Change("Rename all", renamed)])
    git(shop, "checkout", "-qf", "main")
    reply = call_tool("auto", "search_history", shop, query="rename all")
    assert [hit["hasUncountedFiles"] for hit in reply["results"] if hit["subject"] == "Rename all"] == [True]
    whole = call_tool("auto", "search_history", shop, query="write all")
    assert not any("hasUncountedFiles" in hit for hit in whole["results"] if hit["subject"] == "Write all")


@pytest.mark.anyio
async def test_a_reply_fits_its_budget(tmp_path: Path) -> None:
    body = "\n".join(f"The word is {number} {'x' * 200}" for number in range(3))
    changes = [Change(f"Word {number}\n\n{body}", {f"{number}/{'f' * 100}.py": "x\n"}) for number in range(40)]
    root = make_repository(tmp_path / "words", changes)
    git(root, "checkout", "-q", "main")
    index(root)
    async with connect(root, budget_tokens=2000) as assistant:
        reply = await assistant.call_tool("search_history", query="word", limit=40)
        assert (0 < len(reply["results"]) < 40, reply["cut"]) == (True, True)


@pytest.mark.anyio
async def test_commits_that_a_search_did_not_wait_for_are_read_in_the_background(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first reply says how far it has read, and the rest is read although nobody asks again."""
    monkeypatch.setattr(history_search, "search_history", partial(history_search.search_history, seconds=0))
    monkeypatch.setattr(project_history, "BATCH", 1)
    monkeypatch.setattr(project_history, "BATCHES", 1)
    async with connect(shop) as assistant:
        first = await assistant.call_tool("search_history", query="begin")
        with anyio.fail_after(60):
            while read_commit_counts(index_folder(shop)) != {SYMBOLS_READ: 3}:
                await anyio.sleep(0.02)
        second = await assistant.call_tool("search_history", query="begin")
        assert (first["covers"], second["covers"]) == ("the newest 1 of 3 commits", "all 3 commits")


def test_what_cannot_be_searched_says_why(tmp_path: Path, shop: Path) -> None:
    plain = write_tree(tmp_path / "plain", {"pyproject.toml": "", "a.py": "x\n"})
    assert expect_error("auto", "search_history", plain, query="x")["code"] == "INDEX_NOT_FOUND"
    index(plain)
    error = expect_error("auto", "search_history", plain, query="x")
    assert (error["code"], error["userMessage"]) == (
        "NO_HISTORY",
        "The history of this project cannot be searched. "
        "git cannot read the history: the folder is not in a git repository.",
    )
    wrong = expect_error("auto", "search_history", shop, query="x", since="monday")
    assert wrong["userMessage"] == "since is 'monday', which is no date. Write 2025, 2025-05 or 2025-05-20."
    assert expect_error("auto", "search_history", shop, query="x", path="../x")["code"] == "INVALID_PATTERN"
