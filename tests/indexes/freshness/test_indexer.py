"""Indexing brings the store up to date with the files and repeats no work for unchanged ones."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dowse.indexes.freshness import indexer
from dowse.indexes.freshness import scan as scanning
from dowse.indexes.freshness.indexer import IndexReport, reindex, text_reader, update_index
from dowse.indexes.freshness.scan import check_files, scan
from dowse.settings import Settings
from dowse.sources.project_files import ProjectFiles
from dowse.store.local import LocalStore
from dowse.types import Batch, Entry, Reason, StoredChunk, Verdict
from tests.examples import examples
from tests.sample_data import write_tree
from tests.store.opened_stores import found_paths

LONG_AGO_NS = 1_600_000_000_123_456_789


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_tree(
        tmp_path / "project",
        {
            "src/a.py": "def apple():\n    return 1\n",
            "src/b.py": "def banana():\n    return 2\n",
            "README.md": "# Fruit\n\nAll about cherries.\n",
            "logo.png": b"\x89PNG\r\n\x1a\n\0\0",
        },
    )
    age(*root.rglob("*.*"))
    return root


@pytest.fixture
def source(root: Path) -> ProjectFiles:
    return ProjectFiles(root, Settings())


@pytest.fixture
def store(tmp_path: Path, source: ProjectFiles) -> LocalStore:
    return LocalStore(tmp_path / "index", text_reader(source))


def age(*files: Path) -> None:
    for file in files:
        os.utime(file, ns=(LONG_AGO_NS, LONG_AGO_NS))
    changed_ns = max(file.stat().st_ctime_ns for file in files)
    while time.time_ns() < changed_ns + 50_000_000:  # wait for a tick of the file system's clock
        time.sleep(0.005)


def update(source: ProjectFiles, store: LocalStore, *, is_thorough: bool = False) -> IndexReport:
    report = update_index(
        source, store, drift=scan(source, store, distrust_before_ns=time.time_ns() if is_thorough else 0)
    )
    assert [*store.check(), *check_files(source, store)] == []
    return report


def test_a_first_run_indexes_everything_that_is_allowed(source: ProjectFiles, store: LocalStore) -> None:
    report = update(source, store)
    assert (report.added, report.updated, report.removed, report.unchanged) == (3, 0, 0, 0)
    assert report.skipped_by_reason() == {Reason.BINARY: 1}
    assert found_paths(store, "apple") == ["src/a.py"]
    assert [(document.path, document.kind) for document in store.documents()] == [
        ("README.md", "docs"),
        ("src/a.py", "code"),
        ("src/b.py", "code"),
    ]


def test_a_second_run_reads_nothing(source: ProjectFiles, store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    update(source, store)
    monkeypatch.setattr(ProjectFiles, "read", lambda *_: pytest.fail("nothing changed, yet a file was read"))
    report = update_index(source, store)
    assert (report.unchanged, report.changed_anything) == (3, False)


def test_no_moment_has_a_file_in_its_old_and_its_new_folder(
    root: Path, source: ProjectFiles, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A renamed folder counted twice until all of its files were added."""
    files = {f"old/{number}.py": f"def fruit_{number}(): ...\n" for number in range(40)}
    write_tree(root, files | {"old/copy.py": files["old/3.py"], "old/kept.py": "def kept(): ...\n"})
    update(source, store)
    monkeypatch.setattr(indexer, "FIRST_BATCH_FILES", 5)
    monkeypatch.setattr(indexer, "BATCH_FILES", 5)
    (root / "old").rename(root / "new")
    write_tree(root, {"old/kept.py": "def kept(): ...\n"})
    total, really_apply, counts = len(list(store.documents())), store.apply, list[int]()

    def apply(batch: Batch) -> object:
        done = really_apply(batch)
        counts.append(len(list(store.documents())))
        return done

    monkeypatch.setattr(store, "apply", apply)
    report = update(source, store)
    assert (report.added, report.removed) == (42, 41)
    assert len(counts) > 5
    assert max(counts) <= total + 2  # the new file, and one of two with the same content


def test_only_what_changed_is_done_again(root: Path, source: ProjectFiles, store: LocalStore) -> None:
    update(source, store)
    before = {document.path: document.id for document in store.documents()}
    (root / "src/a.py").write_text("def apricot():\n    pass\n", encoding="utf-8")
    (root / "src/b.py").unlink()
    write_tree(root, {"src/new.py": "def date(): ...\n"})
    report = update(source, store)
    assert (report.added, report.updated, report.removed, report.unchanged) == (1, 1, 1, 1)
    after = {document.path: document.id for document in store.documents()}
    assert after["README.md"] == before["README.md"]
    assert found_paths(store, "apple") == []
    assert found_paths(store, "banana") == []
    assert found_paths(store, "apricot") == ["src/a.py"]


def test_a_file_that_was_only_touched_is_not_chunked_again(
    root: Path, source: ProjectFiles, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(source, store)
    os.utime(root / "src/a.py")
    monkeypatch.setattr(indexer, "make_put", lambda _: pytest.fail("the content is the same"))
    report = update_index(source, store)
    assert (report.unchanged, report.changed_anything) == (3, False)


@pytest.mark.parametrize("change", ["copied", "moved", "touched"])
def test_chunks_that_another_process_removes_while_they_are_read_are_not_taken_for_none(
    root: Path, source: ProjectFiles, store: LocalStore, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """A copy takes the chunks of its twin, a moved file those of its old path, and a touched file its own."""
    update(source, store)
    content = (root / "src/a.py").read_text(encoding="utf-8")
    path = {"touched": "src/a.py"}.get(change, "src/copy.py")
    if change == "moved":
        (root / "src/a.py").unlink()
    write_tree(root, {path: content})
    os.utime(root / path)
    other, really_read = LocalStore(store.folder, text_reader(source)), store.chunks

    def remove_and_read(document_id: int) -> list[StoredChunk]:
        other.apply(Batch(drops=["src/a.py"]))
        return really_read(document_id)

    with monkeypatch.context() as patched:
        patched.setattr(store, "chunks", remove_and_read)
        update_index(source, store)
    other.close()
    update_index(source, store)
    assert path in found_paths(store, "apple")
    assert all(store.chunks(document.id) for document in store.documents())


def test_a_change_within_the_clocks_tick_is_found(root: Path, source: ProjectFiles, store: LocalStore) -> None:
    """A file that is written right after it was read can have the same size and time: it has to be read again."""
    file = root / "src/a.py"
    file.write_text("def apple():\n    return 1\n", encoding="utf-8")
    stat = file.stat()
    update_index(source, store)
    document = store.document("src/a.py")
    assert document is not None
    store.apply(Batch(touches=[("src/a.py", document.stat)]))
    file.write_text("def peach():\n    return 1\n", encoding="utf-8")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    update_index(source, store)
    assert found_paths(store, "peach") == ["src/a.py"]


def test_a_change_that_no_stat_shows_is_found_by_a_thorough_run(
    root: Path, source: ProjectFiles, store: LocalStore
) -> None:
    update(source, store)
    file = root / "src/a.py"
    file.write_text("def peach():\n    return 1\n", encoding="utf-8")
    age(file)
    entry = source.entry("src/a.py")
    assert isinstance(entry, Entry)
    store.apply(Batch(touches=[("src/a.py", entry.stat)]))
    assert "src/a.py" not in {changed.path for changed in scan(source, store).changed}
    findings = [finding.problem for finding in check_files(source, store)]
    assert findings == ["src/a.py has changed since it was indexed"]
    report = update(source, store, is_thorough=True)
    assert (report.updated, report.unchanged) == (1, 2)


def test_a_file_that_becomes_forbidden_leaves_the_index(root: Path, source: ProjectFiles, store: LocalStore) -> None:
    update(source, store)
    write_tree(root, {".dowseignore": "b.py\n"})
    report = update(source, store)
    assert report.removed == 1
    assert found_paths(store, "banana") == []
    assert Reason.DOWSEIGNORED in report.skipped_by_reason()


def test_a_file_that_becomes_binary_leaves_the_index(root: Path, source: ProjectFiles, store: LocalStore) -> None:
    update(source, store)
    write_tree(root, {"src/b.py": b"\0\1\2banana"})
    report = update(source, store)
    assert (report.removed, report.updated) == (1, 0)
    assert report.skipped_by_reason() == {Reason.BINARY: 2}


def test_a_file_refused_for_its_content_is_not_read_again(
    root: Path, source: ProjectFiles, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(root, {"data/blob": b"\0\1\2"})
    age(root / "data/blob")
    update(source, store)
    with monkeypatch.context() as patch:
        patch.setattr(ProjectFiles, "read", lambda *_: pytest.fail("it was read and refused before"))
        report = update_index(source, store)
    assert report.skipped_by_reason() == {Reason.BINARY: 2}
    write_tree(root, {"data/blob": "text by now"})
    assert update(source, store).added == 1
    assert update(source, store).changed_anything is False


def test_a_file_refused_within_the_clocks_tick_is_read_again(
    root: Path, source: ProjectFiles, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that gets its text right after it was refused can have the same size and time: it was never indexed."""
    monkeypatch.setattr(scanning, "_FINE_CLOCK_NS", 3_600_000_000_000)  # however long this test takes
    write_tree(root, {"data/blob": "text by now"})
    with monkeypatch.context() as patch:
        patch.setattr(ProjectFiles, "read", lambda _, entry: Verdict(entry.path, Reason.BINARY))
        update_index(source, store)
    update_index(source, store)
    assert found_paths(store, "text") == ["data/blob"]


def test_changed_settings_take_effect_on_the_next_run(root: Path, source: ProjectFiles, store: LocalStore) -> None:
    update(source, store)
    other = ProjectFiles(root, Settings(exclude=("src/b.py",), doc_patterns=("**/*.md", "**/a.py")))
    report = update(other, store)
    assert (report.removed, report.updated) == (1, 1)
    document = store.document("src/a.py")
    assert document is not None
    assert document.kind == "docs"


def test_another_recipe_makes_the_index_anew(
    source: ProjectFiles, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(source, store)
    for module in (indexer, scanning):
        monkeypatch.setattr(module, "RECIPE", "reading 2, chunking 9")
    assert update(source, store).updated == 3
    assert update(source, store).updated == 0


def test_an_interrupted_run_keeps_what_it_did(
    root: Path, source: ProjectFiles, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(root, {f"many/{number}.py": f"value = {number}\n" for number in range(50)})
    monkeypatch.setattr(indexer, "FIRST_BATCH_FILES", 5)
    monkeypatch.setattr(indexer, "BATCH_FILES", 5)

    def interrupt(done: int, _: int) -> None:
        if done == 22:
            raise KeyboardInterrupt

    report = update_index(source, store, interrupt)
    assert (report.is_complete, report.added) == (False, 22)
    assert len(list(store.documents())) == 22
    assert store.check() == []
    assert update(source, store).added == 31


def test_a_time_that_no_database_holds_is_no_obstacle(root: Path, source: ProjectFiles, store: LocalStore) -> None:
    os.utime(root / "src/a.py", (10_413_792_000, 10_413_792_000))  # the year 2300
    assert update(source, store).added == 3
    assert update(source, store).changed_anything is False


def test_a_file_that_git_ignores_by_now_is_not_read_for_a_rebuild(
    root: Path, tmp_path: Path, source: ProjectFiles, store: LocalStore
) -> None:
    import shutil

    update(source, store)
    store.close()
    for folder in (tmp_path / "index").glob("lexical-*"):
        shutil.rmtree(folder)
    write_tree(root, {".gitignore": "b.py\n"})
    again = LocalStore(tmp_path / "index", text_reader(source))
    assert found_paths(again, "banana") == []
    assert again.document("src/b.py") is None


def test_single_files_are_brought_up_to_date(root: Path, source: ProjectFiles, store: LocalStore) -> None:
    update(source, store)
    (root / "src/a.py").write_text("def apricot(): ...\n", encoding="utf-8")
    (root / "src/b.py").unlink()
    report = reindex(source, store, ["src/a.py", "src/b.py", "README.md"])
    assert (report.updated, report.removed, report.unchanged) == (1, 1, 1)
    assert [*store.check(), *check_files(source, store)] == []


def test_each_encoding_and_newline_style_has_the_lines_an_editor_shows(
    root: Path, source: ProjectFiles, store: LocalStore
) -> None:
    text = "first line\nsecond\n\ndef héllo():\n    pass\n"
    write_tree(
        root,
        {
            "n/utf8.py": text,
            "n/bom.py": b"\xef\xbb\xbf" + text.encode(),
            "n/utf16.py": text.encode("utf-16"),
            "n/latin.py": text.encode("latin-1"),
            "n/crlf.py": text.replace("\n", "\r\n"),
            "n/cr.py": text.replace("\n", "\r"),
        },
    )
    update(source, store)
    for name in ("utf8", "bom", "utf16", "latin", "crlf", "cr"):
        document = store.document(f"n/{name}.py")
        assert document is not None
        chunks = store.chunks(document.id)
        assert (chunks[0].start_line, chunks[-1].end_line) == (1, 5), name
        assert (store.converted_text(document.id) is None) == document.is_verbatim
    assert found_paths(store, "héllo") == sorted(
        f"n/{name}.py" for name in ("utf8", "bom", "utf16", "latin", "crlf", "cr")
    )


_NAMES = st.text(st.sampled_from("aA0 !#-./_~é𝒳ß"), min_size=1, max_size=4).map(lambda name: name.strip(". /") or "x")


@given(st.sets(st.lists(_NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=20))
@examples(20, many=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files_and_store_go_by_the_same_order_whatever_the_names(
    tmp_path_factory: pytest.TempPathFactory, paths: set[str]
) -> None:
    """Walk and store are compared in step: a name with another sort order would be removed and added at every scan."""
    root = tmp_path_factory.mktemp("names") / "root"
    for path in sorted(paths):
        file = root / path
        if not any(parent.is_file() for parent in file.parents) and not file.is_dir():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(path, encoding="utf-8")
    source = ProjectFiles(root, Settings())
    store = LocalStore(root.parent / "index", text_reader(source))
    update(source, store)
    drift = scan(source, store)
    assert (drift.new, drift.gone) == ([], [])
    store.close()
