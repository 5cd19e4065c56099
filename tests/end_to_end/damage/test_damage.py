"""Every file of the storage root may be damaged in every way: a search answers or says what to do, and a repair helps."""

import itertools
import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from tests.end_to_end.damage.harms import (
    HARMS,
    Harm,
    halve,
    make_unreadable,
    raise_the_version,
    replace_by_a_folder,
    scramble,
    scramble_the_head,
    scramble_the_middle,
    take_the_older,
    zero,
)
from tests.end_to_end.damage.storage import (
    Outcome,
    Storage,
    is_incomplete,
    make_storage,
    native_output,
    results,
    run,
)
from tests.end_to_end.storm.servers import Server
from tests.mcp.stdio.stdio_client import wait_until

RAW = re.compile(r"Traceback|panicked|Unexpected|Errno|mmap length|Is a directory|levels of symbolic links")
"""Words of errors that nobody has translated for the user."""
REMEDY = re.compile(r"Run: |run: |Upgrade|Check the disk|Restore|remove it|Move it away|Name a file|To create it")
"""A message that says what to do."""


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """A storage root that is whole; tests damage copies of it."""
    with pytest.MonkeyPatch.context() as patch:
        yield make_storage(tmp_path_factory.mktemp("storage"), patch)


@pytest.fixture
def home(storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the storage root, which is in use."""
    home = tmp_path / "home"
    monkeypatch.setenv("DOWSE_HOME", str(home))
    monkeypatch.setenv("SEARCH_DB_PATH", str(home / "search.db"))
    storage.copy_to(home)
    return home


class Witness:
    """Asks damaged storage what it was asked while it was whole."""

    def __init__(self, storage: Storage, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._storage, self._folder, self._monkeypatch = storage, folder, monkeypatch
        self._numbers = itertools.count()

    def assert_survives(self, file: str, harm: Harm) -> bool:
        """Damage a file; assert what the next search says, and the one after a repair. Return whether it could be damaged."""
        kind = self._storage.kind_of(file)
        home = self._use_a_copy(self._storage.home)
        if not harm(home / file, self._storage.older / file):
            return False
        self._use_a_copy(home)
        self._assert_answer(self._ask(kind), kind, is_older=harm is take_the_older)
        self._use_a_copy(home)
        self._assert_repaired(self._run(*self._storage.repair(kind)), kind)
        return True

    def assert_no_raw_error(self, file: str, data: bytes) -> None:
        """Replace a database by other bytes; assert that a search and a repair say nothing raw."""
        home = self._use_a_copy(self._storage.home)
        for journal in ("-wal", "-shm"):
            (home / f"{file}{journal}").unlink(missing_ok=True)
        (home / file).write_bytes(data)
        self._use_a_copy(home)
        self._ask(self._storage.kind_of(file))
        self._use_a_copy(home)
        # SQLite has no checksums: a byte that changes within a vector changes the order, which nothing can notice.
        self._assert_repaired(
            self._run(*self._storage.repair(self._storage.kind_of(file))),
            self._storage.kind_of(file),
            is_in_order=False,
        )

    def _use_a_copy(self, home: Path) -> Path:
        """Use a copy of a storage root from now on. A process in the background may still use the last one."""
        number = next(self._numbers)
        for older in self._folder.glob("home*"):
            if older != home:
                shutil.rmtree(older, ignore_errors=True)
        copy = self._folder / f"home{number}"
        shutil.copytree(home, copy, symlinks=True)
        self._monkeypatch.setenv("DOWSE_HOME", str(copy))
        self._monkeypatch.setenv("SEARCH_DB_PATH", str(copy / "search.db"))
        return copy

    def _assert_answer(self, outcome: Outcome, kind: str, *, is_older: bool) -> None:
        if is_incomplete(outcome):  # it says so; a process builds the index anew in the background
            outcome = self._run(*self._storage.questions()[kind], "--wait")
        if outcome.code:
            assert REMEDY.search(outcome.err), outcome
        elif not is_older or kind in ("project", "documents"):  # an older archive or named index is whole
            assert sorted(results(outcome)) == sorted(self._storage.expected[kind]), outcome

    def _assert_repaired(self, repair: Outcome, kind: str, *, is_in_order: bool = True) -> None:
        if kind in ("project", "documents") and repair.code == 0:
            index = ProjectIndex(self._storage.root)
            assert index.check() == []
            index.close()
            answer = self._ask(kind)
            if results(answer) != self._storage.expected[kind]:  # the model's vectors are encoded later
                self._run("index", "--wait", self._storage.root)
                answer = self._ask(kind)
            found, expected = results(answer), self._storage.expected[kind]
            assert answer.code == 0, answer
            assert (found if is_in_order else sorted(found)) == (expected if is_in_order else sorted(expected)), answer
        elif repair.code:
            assert REMEDY.search(repair.err), repair

    def _ask(self, kind: str) -> Outcome:
        return self._run(*self._storage.questions()[kind])

    def _run(self, *arguments: object) -> Outcome:
        with native_output(self._folder / "native"):
            outcome = run(*arguments)
        printed = outcome.out + outcome.err + (self._folder / "native").read_text(errors="replace")
        assert not RAW.search(printed), (arguments, printed)
        assert outcome.code in (0, 1, 2, 3), outcome
        return outcome


@pytest.fixture
def witness(storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Witness:
    return Witness(storage, tmp_path, monkeypatch)


SOME_CASES: dict[str, Harm] = {
    "config.json": scramble,
    "indexes/*/catalog.sqlite": halve,
    "indexes/*/catalog.sqlite-wal": take_the_older,
    "indexes/*/metadata.json": replace_by_a_folder,
    "indexes/*/index.lock": make_unreadable,
    "indexes/*/vectors-*.matrix": scramble_the_middle,
    "indexes/*/lexical-*/*.term": scramble_the_head,
    "indexes/*/lexical-*/*.idx": take_the_older,
    "indexes/*/lexical-*/*.fieldnorm": scramble_the_middle,
    "indexes/*/lexical-*/reached.json": take_the_older,
    "notes/.lock": replace_by_a_folder,
    "notes/*.db": zero,
    "search.db": halve,
    "archives/*/catalog.sqlite": halve,
    "archives/*/lexical-*/*.term": scramble_the_head,
}
"""The damages of the suite; the soak has all of them."""


@pytest.mark.parametrize(("pattern", "harm"), SOME_CASES.items(), ids=SOME_CASES)
def test_a_damaged_file_is_survived(pattern: str, harm: Harm, storage: Storage, witness: Witness) -> None:
    files = sorted(storage.home.glob(pattern), reverse=True)
    assert any(witness.assert_survives(str(file.relative_to(storage.home)), harm) for file in files)


def test_a_folder_in_place_of_a_catalog_is_repaired(storage: Storage, home: Path) -> None:
    """It once ended every command, and `doctor --fix` as well."""
    (file,) = home.glob("indexes/*/catalog.sqlite")
    file.unlink()
    file.mkdir()
    repair = run("doctor", "--fix", storage.root)
    assert repair.code == 0
    assert "set aside as catalog.sqlite.bak" in repair.err
    assert run("doctor", storage.root).code == 0
    assert file.is_file()


def test_a_later_version_is_refused_and_left_alone(storage: Storage, home: Path) -> None:
    (file,) = home.glob("indexes/*/catalog.sqlite")
    raise_the_version(file, file)
    for arguments in (["search", "peel", storage.root], ["index", storage.root], ["doctor", "--fix", storage.root]):
        outcome = run(*arguments)
        assert outcome.code == 3
        assert "Upgrade dowse" in outcome.err
    assert not file.with_name("catalog.sqlite.bak").exists()


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_every_file_survives_every_damage(storage: Storage, witness: Witness) -> None:
    cases, failures = 0, []
    for file in storage.files():
        for harm in HARMS:
            try:
                cases += witness.assert_survives(file, harm)
            except AssertionError as error:
                failures.append(f"{file}, {harm.__name__}: {error}")
    assert cases > 500
    assert not failures, f"{len(failures)} of {cases} cases:\n" + "\n".join(failures)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_bytes_that_change_at_random_in_a_database_are_survived(storage: Storage, witness: Witness) -> None:
    """SQLite has no checksums: a row may have values that nobody has written."""
    dice = random.Random(18)
    for file in storage.files():
        if file.endswith(("catalog.sqlite", ".db")):
            for _ in range(100):
                data = bytearray((storage.home / file).read_bytes())
                for _ in range(dice.choice([1, 8, 60])):
                    data[dice.randrange(len(data))] = dice.randrange(256)
                witness.assert_no_raw_error(file, bytes(data))


def overwrite(file: Path) -> None:
    """Change the middle of a file in place, as a broken disk does."""
    with file.open("r+b") as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(size // 3)
        stream.write(random.Random(file.name).randbytes(size // 3))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="servers of these tests are forked")
def test_a_server_survives_damage_to_what_it_has_open(storage: Storage, home: Path) -> None:
    with Server(storage.root) as server:
        wait_until(server.is_settled)
        expected = server.find("peel_apple")
        assert expected
        for pattern in ("lexical-*/*.term", "lexical-*/*.fieldnorm", "vectors-*.matrix", "catalog.sqlite"):
            for file in home.glob(f"indexes/*/{pattern}"):
                overwrite(file)
            wait_until(lambda: server.find("peel_apple") == expected)
        said = server.stderr
    assert not RAW.search(said), said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="servers of these tests are forked")
@pytest.mark.parametrize("size", [0, 5000], ids=["to nothing", "in the first page but one"])
def test_a_server_survives_that_what_it_has_mapped_is_cut(storage: Storage, home: Path, size: int) -> None:
    """The system ends a process that reads what is no longer there."""
    with Server(storage.root) as server:
        wait_until(server.is_settled)
        expected = server.find("peel_apple")
        assert expected
        for pattern in ("catalog.sqlite-shm", "lexical-*/*.*", "vectors-*.matrix", "catalog.sqlite-shm"):
            for file in home.glob(f"indexes/*/{pattern}"):
                os.truncate(file, min(size, file.stat().st_size))
            wait_until(lambda: server.find("peel_apple") == expected)
        (storage.root / "new.py").write_text("def peel_mango(): return 1\n", encoding="utf-8")
        wait_until(lambda: server.find("peel_mango") == ["new.py"])
        (storage.root / "new.py").unlink()
        wait_until(lambda: not server.find("peel_mango"))
        said = server.stderr
    assert not RAW.search(said), said
    assert run("doctor", "--fix", storage.root).code == 0
