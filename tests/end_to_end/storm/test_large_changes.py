"""Much changes at once: another branch, thousands of deleted files, a renamed folder. Every answer is right at once."""

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index
from tests.end_to_end.storm.servers import Server, eventually
from tests.searching.history.repositories import git

COMMON = "common_to_all"


def write_modules(root: Path, word: str, numbers: range) -> None:
    for number in numbers:
        file = root / "top" / f"package_{number % 20}" / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def {word}_{number}():\n    return {COMMON}\n" + f"# {word}\n" * 3, encoding="utf-8")


def make_repository(root: Path, files: int, changed: int) -> Path:
    """Write files that two branches have in different versions; each branch also has a few of its own."""
    root.mkdir()
    write_modules(root, "apple", range(files))
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "main")
    git(root, "checkout", "-q", "-b", "other")
    write_modules(root, "pear", range(changed))
    for number in range(changed, changed + 10):
        (root / "top" / f"package_{number % 20}" / f"module_{number}.py").unlink()
    write_modules(root, "pear", range(files, files + 10))
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "other")
    git(root, "checkout", "-q", "main")
    return root


def grep(root: Path, text: str) -> Counter[str]:
    """Return how many matches each file has."""
    done = subprocess.run(
        ["git", "grep", "--no-index", "-F", "-o", "-z", "-e", text, "--", "."],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Counter(line.partition("\0")[0] for line in done.stdout.splitlines())


def checkout(root: Path, _changed: int) -> None:
    git(root, "checkout", "-q", "other")


def delete(root: Path, changed: int) -> None:
    for number in range(changed):
        (root / "top" / f"package_{number % 20}" / f"module_{number}.py").unlink()


def rename(root: Path, _changed: int) -> None:
    (root / "top").rename(root / "renamed")


def delete_the_folder(root: Path, _changed: int) -> None:
    shutil.rmtree(root / "top")
    write_modules(root, "pear", range(5))


def assert_right(server: Server, words: list[str]) -> None:
    """Assert that texts, words, hits and counts are those of the files as they are now."""
    for text in (COMMON, "def apple_", "def pear_", *words):
        expected = grep(server.root, text)
        reply = server.call_tool("find_text", text=text)
        total = reply["totalMatches"]
        is_right = total == expected.total() if reply["complete"] else total <= expected.total()
        assert is_right, (text, total, reply["complete"], expected.total())
        assert {match["path"] for match in reply["matches"]} <= set(expected), text
    count = sum(1 for path in server.root.rglob("*.py"))
    for word in words:
        files = set(grep(server.root, f"{word}()"))
        reply = server.call_tool("search_code", query=word)
        found = [hit["path"] for hit in reply["results"] if f"{word}()" in hit["text"]]
        assert set(found) == files, (word, found, files, reply)
        assert all((server.root / hit["path"]).exists() for hit in reply["results"]), reply
        assert not files or word not in reply.get("notFound", ()), reply
        covered = reply["coverage"]
        searched = covered["indexedFiles"] + covered.get("searchedDirectly", 0)
        assert searched == count or not covered["complete"], (covered, count)
        assert covered["indexedFiles"] <= count, (covered, count)


def assert_commands_are_right(root: Path, words: list[str]) -> None:
    """Assert that the command line finds what the files have now; it may begin to index them."""
    for word in words:
        command = [sys.executable, "-m", "dowse", "search", "--json", "--", word, str(root)]
        reply = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
        found = {hit["path"] for hit in reply["results"] if f"{word}()" in hit["text"]}
        assert found == set(grep(root, f"{word}()")), (word, reply)


CHANGES = [(change, is_live) for change in (checkout, delete, rename, delete_the_folder) for is_live in (True, False)]
IN_EVERY_RUN = [(checkout, True), (rename, False)]


@pytest.mark.parametrize(
    ("change", "is_live"),
    [
        pytest.param(
            *one,
            id=f"{one[0].__name__}-{'live' if one[1] else 'off'}",
            marks=() if one in IN_EVERY_RUN else pytest.mark.soak,
        )
        for one in CHANGES
    ],
)
@pytest.mark.parametrize(
    ("files", "changed"),
    [pytest.param(300, 240, id="some"), pytest.param(12_000, 10_000, id="many", marks=pytest.mark.soak)],
)
def test_answers_are_right_at_once_after_a_large_change(
    tmp_path: Path, change: Callable[[Path, int], None], is_live: bool, files: int, changed: int
) -> None:
    root = make_repository(tmp_path / "project", files, changed if change is not checkout else min(changed, 2000))
    project = ProjectIndex(root)
    project.update()
    project.close()
    words = ["apple_1", f"apple_{files - 1}", "pear_1", f"pear_{files + 1}"]
    if not is_live:
        change(root, changed)
        assert_commands_are_right(root, words)
    with Server(root) as server:
        if is_live:
            eventually(server.is_watching, server.status)
            assert_right(server, words)
            change(root, changed)
        assert_right(server, words)
        while not server.is_settled():
            started = time.monotonic()
            assert_right(server, words)
            time.sleep(time.monotonic() - started)  # questions without end would hold up what they ask for
        assert_right(server, words)
        reply = server.call_tool("search_code", query="apple_1")
        assert reply["coverage"]["complete"], reply
    assert_equal_to_a_new_index(root, tmp_path / "scratch")
