"""A file of the lexical index that was changed is noticed before Tantivy reads it."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse.errors import LexicalDamaged
from dowse.store.lexical import LexicalIndex
from dowse.store.local import LocalStore
from dowse.store.segment_files import RECORD_FILE, SegmentFiles
from dowse.types import Batch, TextQuery
from tests.sample_data import World
from tests.store.opened_stores import found_paths, lexical_folder

PARTS = ("term", "fieldnorm", "idx", "pos", "fast", "store", "del")


@pytest.fixture
def folder(tmp_path: Path, world: World) -> Path:
    """A closed index of some documents, one of which was removed again."""
    store = LocalStore(tmp_path / "index", world.read_text)
    names = [f"fruit{number}" for number in range(9)]
    store.apply(Batch(puts=[world.put(f"{name}.py", f"fruit {name} " + "apple " * len(name)) for name in names]))
    store.apply(Batch(drops=["fruit0.py"]))
    store.close()
    return tmp_path / "index"


def files_of(folder: Path, part: str = "") -> list[Path]:
    return sorted(file for file in lexical_folder(folder).iterdir() if file.suffix == f".{part}")


def scramble(file: Path) -> None:
    """Change the middle of a file, and keep its length and its footer."""
    data = bytearray(file.read_bytes())
    for place in range(len(data) // 3):
        data[place] ^= 0xA5
    file.write_bytes(data)


def cut(file: Path) -> None:
    whole = file.read_bytes()
    file.unlink()  # a file that is mapped must not be cut
    file.write_bytes(whole[:-9])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("harm", [scramble, cut, Path.unlink])
def test_a_damaged_file_is_noticed_by_the_next_search(
    harm: Callable[[Path], None], part: str, folder: Path, world: World
) -> None:
    """A damaged `.term` once ended every command in a panic; a damaged `.fieldnorm` changed the order unsaid."""
    harm(files_of(folder, part)[0])
    store = LocalStore(folder, world.read_text)
    assert [finding.part for finding in store.quick_check()] == ["lexical index"]
    assert found_paths(store, "fruit") == [f"fruit{number}.py" for number in range(1, 9)]
    assert store.check() == []


def test_no_bytes_of_a_term_file_make_tantivy_panic(
    folder: Path, world: World, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of 300 such damages, 106 once ended in a panic, which no handler of Exception catches."""
    dice = random.Random(18)
    for number in range(20):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(folder, copy)
        for file in files_of(copy, "term"):
            data = bytearray(file.read_bytes())
            for _ in range(dice.choice([1, 4, 16])):
                data[dice.randrange(len(data))] = dice.randrange(256)
            file.write_bytes(data)
        store = LocalStore(copy, world.read_text)
        assert len(found_paths(store, "fruit")) == 8
        store.close()
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize("part", PARTS)
def test_damage_before_a_write_is_noticed_by_the_write(part: str, folder: Path, world: World) -> None:
    for file in files_of(folder, part):
        scramble(file)
    store = LocalStore(folder, world.read_text)
    store.apply(Batch(puts=[world.put("date.py", "fruit date")]))
    assert store.check() == []
    assert "date.py" in found_paths(store, "fruit")


def test_a_panic_of_tantivy_is_one_of_our_errors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the files is switched off, so that Tantivy reads what it cannot bear."""
    monkeypatch.setattr(SegmentFiles, "check", lambda self: None)
    lexical, causes = lexical_folder(folder), set()
    for file in sorted(lexical.glob("*.term")) + sorted(lexical.glob("*.pos")):
        whole = file.read_bytes()
        for place in range(0, len(whole), 16):
            file.unlink()  # a file that is mapped must not be cut, even for a moment
            file.write_bytes(whole[:place] + b"\xff" * 16 + whole[place + 16 :])
            index = LexicalIndex(lexical)
            index.marker()
            for question in (LexicalIndex.chunk_ids, _find_fruit, lambda index: index.words_with_prefix("f", 9)):
                try:
                    question(index)
                except LexicalDamaged as error:
                    causes.add(type(error.__cause__).__name__)
        file.unlink()
        file.write_bytes(whole)
    assert "PanicException" in causes


def _find_fruit(index: LexicalIndex) -> object:
    return index.find_chunks(TextQuery(("fruit",), {"words": 1.0, "parts": 1.0}), 9)


def note_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the files that are read whole from now on."""
    read: list[str] = []
    checksum = SegmentFiles._read_checksum

    def note(files: SegmentFiles, name: str) -> int:
        read.append(name)
        return checksum(files, name)

    monkeypatch.setattr(SegmentFiles, "_read_checksum", note)
    return read


def test_a_file_of_another_segment_is_noticed(folder: Path, world: World) -> None:
    writer = LocalStore(folder, world.read_text)
    writer.apply(Batch(puts=[world.put("fruit9.py", "fruit pear")]))
    writer.close()
    first, second = files_of(folder, "fast")[:2]
    shutil.copyfile(first, second)
    store = LocalStore(folder, world.read_text)
    assert [finding.part for finding in store.check()] == ["lexical index"]
    assert len(found_paths(store, "fruit")) == 9
    assert store.check() == []


def test_files_that_are_known_to_be_whole_are_not_read_again(
    folder: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (touched,) = files_of(folder, "fieldnorm")
    os.utime(touched)
    known = {file.name for part in PARTS for file in files_of(folder, part)} - {touched.name}
    read = note_reads(monkeypatch)
    store = LocalStore(folder, world.read_text)
    assert len(found_paths(store, "fruit")) == 8
    assert read == [touched.name]
    store.apply(Batch(puts=[world.put("date.py", "fruit date")]))
    assert len(found_paths(store, "fruit")) == 9
    store.close()
    assert known.isdisjoint(read)
    assert len(read) == len(set(read))


@pytest.mark.parametrize("content", ["", "[]", '{"files": {}, "marker": {"sequence": 1}}', '{"files": {"a": 1}}', None])
def test_an_index_without_its_record_is_built_again(content: str | None, folder: Path, world: World) -> None:
    record = lexical_folder(folder) / RECORD_FILE
    record.unlink() if content is None else record.write_text(content, encoding="ascii")
    store = LocalStore(folder, world.read_text)
    assert [finding.part for finding in store.quick_check()] == ["lexical index"]
    assert len(found_paths(store, "fruit")) == 8
    assert store.check() == []
    store.close()


def test_a_commit_that_is_in_no_record_yet_is_used(folder: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process reads the index between a commit or a merge and its record, and a writer may be killed then."""
    writer = LocalStore(folder, world.read_text)
    before = lexical_folder(folder)
    with monkeypatch.context() as killed:
        killed.setattr(SegmentFiles, "record", lambda *_: None)
        writer.apply(Batch(puts=[world.put("date.py", "fruit date")]))
        writer.close()
    store = LocalStore(folder, world.read_text)
    assert len(found_paths(store, "fruit")) == 9
    assert lexical_folder(folder) == before
    assert store.check() == []
    store.close()
