"""A file that takes too much is paid for once on a machine."""

import time
from pathlib import Path

import pytest

from dowse.parsing import parser_pool
from dowse.parsing.costly_files import KEPT_SECONDS, costly_folder, known_problem, note_problem
from dowse.parsing.parser_pool import ParserPool
from dowse.parsing.parser_process import ParserProcess, ParserReply, ParserRequest

BOMB = "".join(f"{f'(a{number}, b{number}) => ' * 8}\n" for number in range(150)).encode()


COSTLY = ParserReply({}, problem="crashes its parser", is_costly=True)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path))
    return costly_folder()


def request(data: bytes, path: str = "arrows.c") -> ParserRequest:
    fields = {"job": "document", "path": path, "language": "c", "kind": "code", "is_converted": False}
    return ParserRequest({**fields, "is_cut": True, "is_encoded": False, "has_references": False}, data)


def test_a_bomb_is_parsed_once_under_any_name_and_by_any_process(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[ParserRequest]()

    class Counted(ParserProcess):
        def run(self, request: ParserRequest) -> ParserReply:
            runs.append(request)
            return super().run(request)

    monkeypatch.setattr(parser_pool, "ParserProcess", Counted)
    problems = []
    for name in ("arrows.c", "other/name.c", "arrows.c"):
        pool = ParserPool(1)
        problems.append(pool.run(request(BOMB, name)).problem)
        assert pool.run(request(b"int a;\n")).problem == ""
        pool.close()
    assert len(set(problems)) == 1
    assert problems[0].startswith("takes more than")
    assert sum(one.data == BOMB for one in runs) == 1
    (note,) = notes.iterdir()
    assert BOMB[:20] not in note.read_bytes()


def test_other_content_and_other_jobs_are_parsed(notes: Path) -> None:
    note_problem(notes, request(BOMB), COSTLY)
    assert known_problem(notes, request(BOMB, "copy.c")) == "crashes its parser"
    assert known_problem(notes, request(BOMB + b" ")) == ""
    assert known_problem(notes, ParserRequest({"job": "outline", "anchors": []}, BOMB)) == ""


@pytest.mark.parametrize(("seconds", "is_known"), [(KEPT_SECONDS - 60, True), (KEPT_SECONDS + 1, False), (-2, False)])
def test_a_file_is_forgotten_after_some_days(
    notes: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, is_known: bool
) -> None:
    note_problem(notes, request(BOMB), COSTLY)
    later = time.time() + seconds
    monkeypatch.setattr(time, "time", lambda: later)
    assert bool(known_problem(notes, request(BOMB))) == is_known
    note_problem(notes, request(b"another"), COSTLY)
    assert len(list(notes.iterdir())) == 1 + is_known


def test_a_file_that_fails_quickly_is_tried_again(notes: Path) -> None:
    note_problem(notes, request(BOMB), ParserReply({}, problem="cannot be parsed (ValueError)"))
    assert known_problem(notes, request(BOMB)) == ""


def test_where_nothing_can_be_written_it_is_paid_again(notes: Path) -> None:
    notes.write_bytes(b"")
    note_problem(notes, request(BOMB), COSTLY)
    assert known_problem(notes, request(BOMB)) == ""
