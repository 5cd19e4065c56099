"""The known situations in which file watchers miss changes."""

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.keeping.keeper import Keeper
from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index
from tests.end_to_end.storm.servers import Server, eventually
from tests.repository import REPOSITORY
from tests.sample_data import index, open_indexed, write_tree

QUIET_SECONDS = 1.2
"""How long nothing may change; an endless loop would change something twice a second."""


class KeptProject:
    """A project, its index, and a keeper that keeps the index up to date."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = open_indexed(root)
        self.keeper = Keeper(root)
        eventually(lambda: self.keeper.watch_status(self.project).mode in ("watching", "polling"))

    def paths(self, below: str = "") -> set[str]:
        """Return the indexed paths."""
        self.project.store.refresh()
        return {document.path for document in self.project.store.documents(below)}

    def symbols(self, path: str) -> set[str]:
        """Return the symbols of a file, as indexed."""
        self.project.store.refresh()
        document = self.project.store.document(path)
        chunks = self.project.store.chunks(document.id) if document else []
        return {symbol.name for chunk in chunks for symbol in chunk.symbols}

    def wait_for(self, path: str, name: str) -> None:
        """Wait until the index has a file that defines exactly this name."""
        eventually(lambda: self.symbols(path) == {name}, lambda: f"{path} lacks {name}: {self.symbols(path)}")

    def wait_until_settled(self) -> None:
        """Wait until nothing is pending."""
        eventually(lambda: not self.keeper.watch_status(self.project).pending)

    def sequence(self) -> int:
        """Return the number of the last change to the index."""
        return self.project.store.catalog.sequence()

    def close(self) -> None:
        self.keeper.stop()
        self.project.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", {"src/apple.py": "def apple(): ...\n", "docs/guide.md": "# Guide\n"})


@pytest.fixture
def kept(root: Path) -> Iterator[KeptProject]:
    kept = KeptProject(root)
    yield kept
    kept.close()


def save(file: Path, name: str) -> None:
    """Write a file that defines a name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"def {name}(): ...\n", encoding="utf-8")


# Folders


def test_a_folder_that_was_deleted_and_made_again_is_watched(kept: KeptProject) -> None:
    """The new folder has the name of the old one, whose watch is gone."""
    shutil.rmtree(kept.root / "src")
    save(kept.root / "src/pear.py", "first")
    kept.wait_for("src/pear.py", "first")
    kept.wait_until_settled()
    save(kept.root / "src/pear.py", "second")
    kept.wait_for("src/pear.py", "second")


def test_folders_that_exchanged_their_names_are_watched(kept: KeptProject) -> None:
    """The system keeps reporting changes in them under their old names."""
    save(kept.root / "one/same.py", "one")
    save(kept.root / "two/same.py", "two")
    kept.wait_for("two/same.py", "two")
    kept.wait_until_settled()
    for before, after in (("one", "aside"), ("two", "one"), ("aside", "two")):
        (kept.root / before).rename(kept.root / after)
    kept.wait_for("one/same.py", "two")
    kept.wait_until_settled()
    save(kept.root / "one/same.py", "three")
    kept.wait_for("one/same.py", "three")


# Files


def test_a_file_that_changes_a_hundred_times_a_second_starves_nobody(kept: KeptProject) -> None:
    stop = threading.Event()

    def change() -> None:
        for number in range(1_000_000):
            if stop.wait(0.01):
                break
            save(kept.root / "src/hot.py", f"hot{number}")

    thread = threading.Thread(target=change)
    thread.start()
    try:
        eventually(lambda: kept.symbols("src/hot.py"))
        for number in range(3):
            save(kept.root / f"src/calm{number}.py", f"calm{number}")
            kept.wait_for(f"src/calm{number}.py", f"calm{number}")
        first = kept.symbols("src/hot.py")
        eventually(lambda: kept.symbols("src/hot.py") not in (first, set()))
    finally:
        stop.set()
        thread.join()


def test_names_that_are_no_unicode_do_not_end_the_watching(kept: KeptProject) -> None:
    """watchfiles raises an error when it has to report such a name."""
    with contextlib.suppress(OSError):  # some file systems have no such names
        Path(os.fsdecode(os.fsencode(kept.root) + b"/caf\xe9.py")).write_text("x = 1\n", encoding="utf-8")
    for number in range(2):
        save(kept.root / f"src/after{number}.py", "after")
        kept.wait_for(f"src/after{number}.py", "after")
    assert kept.keeper.watch_status(kept.project).mode == "watching"


# Bursts


@pytest.mark.parametrize(
    ("files", "writes"),
    [(40, 100), *(pytest.param(*many, marks=pytest.mark.soak) for many in ((100, 500), (5000, 10)))],
)
def test_thousands_of_events_in_a_burst(kept: KeptProject, tmp_path: Path, files: int, writes: int) -> None:
    for age in range(writes):
        for number in range(files):
            with (kept.root / "src" / f"file{number}.py").open("a", encoding="utf-8") as stream:
                stream.write(f"value{age} = {number}\n")
    eventually(lambda: len(kept.paths()) == files + 2)
    kept.wait_until_settled()
    assert_equal_to_a_new_index(kept.root, tmp_path / "scratch")


# The root folder, and files of dowse itself


def test_a_root_that_is_deleted_and_made_again_is_taken_up(root: Path) -> None:
    index(root)
    with Server(root) as server:
        assert server.find("apple") == ["src/apple.py"]
        shutil.rmtree(root)
        eventually(lambda: not server.find("apple"))
        save(root / "src/pear.py", "pear")
        eventually(lambda: server.find("pear") == ["src/pear.py"], server.status)
        save(root / "src/pear.py", "plum")
        eventually(lambda: server.find("plum") == ["src/pear.py"], server.status)
        assert server.find("apple") == []


def test_a_root_that_is_moved_away_and_back_loses_nothing(root: Path, tmp_path: Path) -> None:
    index(root)
    with Server(root) as server:
        assert server.find("apple") == ["src/apple.py"]
        root.rename(tmp_path / "away")
        eventually(lambda: not server.find("apple"))
        save(tmp_path / "away/src/pear.py", "pear")
        (tmp_path / "away").rename(root)
        eventually(lambda: server.find("pear") == ["src/pear.py"], server.status)
        assert server.find("apple") == ["src/apple.py"]
        save(root / "src/pear.py", "plum")
        eventually(lambda: server.find("plum") == ["src/pear.py"], server.status)


def test_our_own_files_in_the_project_cause_no_loop(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_HOME", str(root / "storage" / "dowse"))
    with contextlib.closing(KeptProject(root)) as kept:
        save(root / "src/pear.py", "pear")
        kept.wait_for("src/pear.py", "pear")
        fingerprints = kept.project.folder / "fingerprints.json"
        eventually(lambda: "pear.py" in fingerprints.read_text(encoding="utf-8"))
        kept.wait_until_settled()
        before, deadline = (kept.sequence(), fingerprints.stat().st_mtime_ns), time.monotonic() + QUIET_SECONDS
        while time.monotonic() < deadline:
            assert not kept.keeper.watch_status(kept.project).pending
            time.sleep(0.05)
        assert (kept.sequence(), fingerprints.stat().st_mtime_ns) == before
        assert kept.paths() == {"src/apple.py", "src/pear.py", "docs/guide.md"}


# Without file watching

LIMITED = """
import sys
from pathlib import Path
Path("/proc/sys/user/max_inotify_watches").write_text("3")
from dowse.indexes.freshness import pending_paths
from tests.end_to_end.storm.test_holes import KeptProject, eventually, save
pending_paths.POLL_SECONDS = 0.2
kept = KeptProject(Path(sys.argv[1]))
eventually(lambda: "first scan" not in kept.keeper.watch_status(kept.project).why)
watch = kept.keeper.watch_status(kept.project)
print(watch.mode, watch.why)
save(kept.root / "src/pear.py", "pear")
kept.wait_for("src/pear.py", "pear")
print("followed")
kept.close()
"""


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare, to lower a limit for one process alone")
def test_an_exhausted_limit_of_inotify_leads_to_polling_which_is_said(root: Path) -> None:
    """Tests the real limit: an option of watchfiles that ignores permission errors hides this one, too."""
    for number in range(10):
        save(root / f"folder{number}/file.py", "name")
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", LIMITED, str(root)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=100, check=False)
    if "Operation not permitted" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip(f"the limit cannot be lowered here: {done.stderr.splitlines()[-1]}")
    assert done.stdout.startswith("polling OS file watch limit reached"), done.stdout + done.stderr
    assert "followed" in done.stdout, done.stderr
