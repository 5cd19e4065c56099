"""Reading one file: its bytes, their stat, and the last checks."""

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.errors import PathRefused
from dowse.settings import Settings
from dowse.sources.document_files import DocumentFiles
from dowse.sources.project_files import MAX_PICTURE_BYTES, ProjectFiles, picture_type
from dowse.system.platform import read_at_most
from dowse.types import Entry, FileContent, Reason, Stat, Verdict
from tests.sample_data import make_stat, write_tree
from tests.sources.repositories import decisions, source
from tests.sources.test_denylist import KEY


def read(root: Path, path: str, **settings: object) -> FileContent | Verdict:
    project = source(root, **settings)
    item = decisions(project)[path]
    assert isinstance(item, Entry)
    found = project.read(item)
    return found if isinstance(found, Verdict) else found[0]


def test_a_document_is_what_the_file_holds(tmp_path: Path) -> None:
    write_tree(tmp_path, {"src/a.py": "def f():\n    pass\n"})
    document = read(tmp_path, "src/a.py")
    assert isinstance(document, FileContent)
    assert (document.path, document.kind, document.language) == ("src/a.py", "code", "python")
    assert document.data == b"def f():\n    pass\n"
    assert document.content_hash == hashlib.sha256(b"def f():\n    pass\n").digest()
    assert document.stat.size == 18


def test_a_file_with_a_nul_byte_is_binary_whatever_its_name(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": b"text\0more"})
    answer = read(tmp_path, "a.py")
    assert answer == Verdict("a.py", Reason.BINARY, None, "a NUL byte at offset 4")
    assert source(tmp_path).verdict("a.py") == answer


def test_a_nul_byte_far_down_does_not_count(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": b"x" * 8192 + b"\0"})
    assert isinstance(read(tmp_path, "a.py"), FileContent)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_makes_it_text(tmp_path: Path, encoding: str) -> None:
    write_tree(tmp_path, {"a.txt": "grüße".encode(encoding)})
    answer = read(tmp_path, "a.txt")
    assert isinstance(answer, FileContent)
    assert answer.data == "grüße".encode(encoding)


def test_a_file_that_grew_beyond_the_limit_is_refused_when_read(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "x"})
    project = source(tmp_path, max_file_bytes=1024)
    (item,) = project.entries()
    write_tree(tmp_path, {"a.py": "x" * 5000})
    assert isinstance(item, Entry)
    answer = project.read(item)
    assert isinstance(answer, Verdict)
    assert (answer.reason, answer.detail) == (Reason.TOO_LARGE, "4.9 KB, the limit is 1 KB")


@pytest.mark.parametrize(
    ("replace", "reason"),
    [
        (lambda path: None, Reason.VANISHED),
        (lambda path: path.symlink_to("/etc/passwd"), Reason.SYMLINK),
        (os.mkfifo, Reason.SPECIAL),
        (Path.mkdir, Reason.SPECIAL),
    ],
    ids=["nothing", "a symlink", "a pipe", "a folder"],
)
def test_what_stands_in_place_of_the_file_is_not_read(tmp_path: Path, replace: object, reason: Reason) -> None:
    write_tree(tmp_path, {"a.py": "x"})
    project = source(tmp_path)
    (item,) = project.entries()
    (tmp_path / "a.py").unlink()
    replace(tmp_path / "a.py")  # type: ignore[operator]
    assert isinstance(item, Entry)
    answer = project.read(item)
    assert isinstance(answer, Verdict)
    assert answer.reason is reason


def test_a_denied_file_is_not_read_even_when_an_entry_names_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {".env": "SECRET=1", "a/.ssh/x": ""})
    project = source(tmp_path)
    for path in (".env", "a/.ssh/x"):
        answer = project.read(Entry(path, "code", make_stat("")))
        assert isinstance(answer, Verdict)
        assert answer.reason is Reason.DENIED
        with pytest.raises(PathRefused):
            project.read_bytes(path)


def test_a_path_is_read_only_if_the_whole_policy_allows_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "gen/\n", "gen/a.py": "", "b.py": "text", ".env": "", "c.csv": "", "d/x": ""})
    project = source(tmp_path, exclude=("*.csv",))
    answers = {path: project.read_path(path) for path in ("gen/a.py", "b.py", ".env", "c.csv", "d", "gone")}
    assert {path: answer.reason for path, answer in answers.items() if isinstance(answer, Verdict)} == {
        "gen/a.py": Reason.GITIGNORED,
        ".env": Reason.DENIED,
        "c.csv": Reason.EXCLUDED,
        "d": None,
        "gone": Reason.VANISHED,
    }
    assert isinstance(answers["b.py"], list)
    assert answers["b.py"][0].data == b"text"


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../secret", ""])
def test_no_entry_can_name_a_file_outside(tmp_path: Path, path: str) -> None:
    write_tree(tmp_path, {"secret": "SECRET", "root/a/b": ""})
    answer = source(tmp_path / "root").read(Entry(path, "code", make_stat("")))
    assert isinstance(answer, Verdict)


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"a.py": "old"})
    meddle_while_reading(monkeypatch, tmp_path / "a.py", times=2)
    data, stat = source(tmp_path).read_bytes("a.py")
    assert (data, stat.size) == (b"old++", 5)


def test_a_file_that_never_rests_has_a_stat_that_tells_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"a.py": "old"})
    meddle_while_reading(monkeypatch, tmp_path / "a.py", times=100)
    data, stat = source(tmp_path).read_bytes("a.py")
    assert stat != stat_now(tmp_path / "a.py")
    assert data.startswith(b"old")


def meddle_while_reading(monkeypatch: pytest.MonkeyPatch, path: Path, times: int) -> None:
    """Append to a file each time it is read, up to a number of times."""
    left = iter(range(times))

    def meddling(descriptor: int, limit: int) -> bytes:
        data = read_at_most(descriptor, limit)
        if next(left, None) is not None:
            path.write_bytes(path.read_bytes() + b"+")
        return data

    monkeypatch.setattr("dowse.sources.project_files.read_at_most", meddling)


def stat_now(path: Path) -> Stat:
    seen = path.stat()
    return Stat(seen.st_size, seen.st_mtime_ns, seen.st_ino, seen.st_ctime_ns)


def test_no_reader_ever_stands_at_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    had_reader = threading.Event()
    writer = threading.Thread(target=wait_for_reader, args=(tmp_path / "pipe.py", had_reader))
    writer.start()
    try:
        touch_in_every_way(source(tmp_path), "pipe.py", rounds=200)
        assert not had_reader.wait(0.2)
    finally:
        os.close(os.open(tmp_path / "pipe.py", os.O_RDONLY | os.O_NONBLOCK))  # lets the writer end
        writer.join()
    assert had_reader.is_set()


def touch_in_every_way(project: ProjectFiles, path: str, rounds: int) -> None:
    for _ in range(rounds):
        assert isinstance(decisions(project)[path], Verdict)
        assert project.verdict(path).reason is Reason.SPECIAL
        assert isinstance(project.read(Entry(path, "code", make_stat(""))), Verdict)


def wait_for_reader(pipe: Path, had_reader: threading.Event) -> None:
    """Record that a pipe has had a reader: opening it for writing waits for one, however short it stays."""
    os.close(os.open(pipe, os.O_WRONLY))
    had_reader.set()


ROUNDS = 1000 if os.environ.get("SOAK") else 200
"""A reader that checks first and then opens by path fails within a few hundred rounds."""
SECRET = "TOP-SECRET"

SWAP_FILE = """
import os, sys
target, secret, spare = sys.argv[1:]
while True:
    os.symlink(secret, spare)
    os.replace(spare, target)
    with open(spare, "w") as file:
        file.write("harmless")
    os.replace(spare, target)
"""
SWAP_FOLDER = """
import os, sys
target, secret, spare = sys.argv[1:]
while True:
    os.rename(target, spare)
    os.symlink(secret, target)
    os.stat(target), os.stat(spare), os.stat(secret)  # give the reader a moment
    os.unlink(target)
    os.rename(spare, target)
    os.stat(target), os.stat(secret)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path, {"outside/a.py": SECRET, "outside/only-outside.py": SECRET})
    return write_tree(tmp_path / "root", {"folder/a.py": "harmless", "folder/deep/b.py": "harmless"})


@contextlib.contextmanager
def swapping(script: str, *paths: Path) -> Iterator[None]:
    """Run another process that swaps the paths as fast as it can."""
    process = subprocess.Popen([sys.executable, "-c", script, *map(str, paths)])
    try:
        yield
        assert process.poll() is None, "the swapping ended early"
    finally:
        process.kill()
        process.wait()


def read_until_both_were_met_often(project: ProjectFiles, path: str) -> None:
    """Read until the file was read in `ROUNDS` rounds, and refused in as many."""
    met = {list: 0, Verdict: 0}
    deadline = time.monotonic() + 20
    while min(met.values()) < ROUNDS and time.monotonic() < deadline:
        answer = project.read(Entry(path, "code", make_stat("")))
        met[type(answer)] += 1
        if isinstance(answer, list):
            assert SECRET.encode() not in answer[0].data
            assert answer[0].stat.size <= len("harmless")
        with contextlib.suppress(OSError):
            assert SECRET.encode() not in project.read_bytes(path)[0]
    assert min(met.values()) >= ROUNDS, met


@pytest.mark.property
def test_a_file_swapped_for_a_symlink_leaks_nothing(root: Path, tmp_path: Path) -> None:
    with swapping(SWAP_FILE, root / "folder/a.py", tmp_path / "outside/a.py", tmp_path / "spare"):
        read_until_both_were_met_often(source(root), "folder/a.py")


@pytest.mark.property
def test_a_folder_swapped_for_a_symlink_leaks_nothing(root: Path, tmp_path: Path) -> None:
    with swapping(SWAP_FOLDER, root / "folder", tmp_path / "outside", tmp_path / "spare"):
        read_until_both_were_met_often(source(root), "folder/a.py")


@pytest.mark.property
def test_a_folder_swapped_for_a_symlink_is_never_listed(root: Path, tmp_path: Path) -> None:
    project = source(root)
    with swapping(SWAP_FOLDER, root / "folder", tmp_path / "outside", tmp_path / "spare"):
        for _ in range(ROUNDS):
            assert "folder/only-outside.py" not in {item.path for item in project.entries()}
            assert not project.verdict("folder/only-outside.py").is_allowed


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "outside.png").write_bytes(PNG)
    found = write_tree(
        tmp_path / "shop",
        {
            "docs/logo.png": PNG, "docs/logo.svg": "<svg/>", "docs/LOGO.JPG": b"\xff\xd8\xff\xe0", "docs/text.png": "words",
            "docs/large.png": PNG + bytes(MAX_PICTURE_BYTES), "build.png": PNG, "node_modules/x.png": PNG, ".ssh/key.png": PNG,
            ".gitignore": "build.png\n", "docs/key.svg": f"<svg>{KEY}</svg>",
        },
    )  # fmt: skip
    (found / "docs" / "link.png").symlink_to(tmp_path / "outside.png")
    return found


@pytest.mark.parametrize("files", [ProjectFiles, DocumentFiles])
def test_pictures_of_allowed_folders_are_read(shop: Path, files: type[ProjectFiles]) -> None:
    source = files(shop, Settings())
    assert source.read_picture("docs/logo.png") == (PNG, "image/png")
    assert source.read_picture("docs/logo.svg") == (b"<svg/>", "image/svg+xml")
    assert source.read_picture("docs/LOGO.JPG") == (b"\xff\xd8\xff\xe0", "image/jpeg")


@pytest.mark.parametrize("files", [ProjectFiles, DocumentFiles])
@pytest.mark.parametrize(
    "path",
    [
        "docs/text.png", "docs/large.png", "build.png", "node_modules/x.png", ".ssh/key.png", "docs/link.png", "docs/none.png",
        "../outside.png", "docs/../docs/logo.png", "docs", "", "docs/logo.png\0", ".gitignore", "docs/key.svg",
    ],
)  # fmt: skip
def test_everything_else_is_refused(shop: Path, files: type[ProjectFiles], path: str) -> None:
    assert isinstance(files(shop, Settings()).read_picture(path), Verdict)


def test_the_settings_of_the_user_hold_for_pictures(shop: Path) -> None:
    assert isinstance(ProjectFiles(shop, Settings(include=("src/**",))).read_picture("docs/logo.png"), Verdict)
    assert isinstance(ProjectFiles(shop, Settings(exclude=("docs/**",))).read_picture("docs/logo.png"), Verdict)
    assert picture_type("a/b.tiff") is None
