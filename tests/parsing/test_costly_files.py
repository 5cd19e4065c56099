"""A file that takes too much is paid for once on a machine."""

import time
from pathlib import Path

import pytest

from dowse.parsing import parser_pool
from dowse.parsing.costly_files import FILE_NAME, KEPT_DAYS, MAX_BYTES, CostlyFiles
from dowse.parsing.parser_pool import ParserPool
from dowse.parsing.parser_process import ParserProcess, ParserReply, ParserRequest

BOMB = "".join(f"{f'(a{number}, b{number}) => ' * 8}\n" for number in range(150)).encode()


def request(data: bytes, path: str = "arrows.c") -> ParserRequest:
    fields = {"job": "document", "path": path, "language": "c", "kind": "code", "is_converted": False}
    return ParserRequest({**fields, "is_cut": True, "is_encoded": False, "has_references": False}, data)


def test_a_bomb_is_parsed_once_under_any_name_and_by_any_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path))
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
    assert BOMB[:20] not in (tmp_path / FILE_NAME).read_bytes()


def test_other_content_and_other_jobs_are_parsed(tmp_path: Path) -> None:
    files = CostlyFiles(tmp_path / "list")
    files.note(request(BOMB), ParserReply({}, problem="takes more than 1.5 s to parse", is_costly=True))
    assert files.known_problem(request(BOMB, "copy.c")) == "takes more than 1.5 s to parse"
    assert files.known_problem(request(BOMB + b" ")) == ""
    assert files.known_problem(ParserRequest({"job": "outline", "anchors": []}, BOMB)) == ""


@pytest.mark.parametrize(("days", "is_known"), [(KEPT_DAYS, True), (KEPT_DAYS + 1, False), (-2, False)])
def test_a_file_is_forgotten_after_some_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, is_known: bool
) -> None:
    note = ParserReply({}, problem="crashes its parser", is_costly=True)
    CostlyFiles(tmp_path / "list").note(request(BOMB), note)
    later = time.time() + days * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    assert bool(CostlyFiles(tmp_path / "list").known_problem(request(BOMB))) == is_known


def test_a_file_that_fails_quickly_is_tried_again(tmp_path: Path) -> None:
    files = CostlyFiles(tmp_path / "list")
    files.note(request(BOMB), ParserReply({}, problem="cannot be parsed (ValueError)"))
    assert files.known_problem(request(BOMB)) == ""


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b"\xff\x00 \n \n", b"k " + b"9" * 9000 + b" p\n", b"x" * (MAX_BYTES + 1)]
)
def test_a_damaged_list_is_no_problem(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "list").write_bytes(content)
    files = CostlyFiles(tmp_path / "list")
    assert files.known_problem(request(b"x")) == ""
    files.note(request(BOMB), ParserReply({}, problem="crashes its parser", is_costly=True))
    assert (tmp_path / "list").stat().st_size < MAX_BYTES


def test_where_nothing_can_be_written_it_is_paid_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    files = CostlyFiles(tmp_path / "file" / "list")
    files.note(request(BOMB), ParserReply({}, problem="crashes its parser", is_costly=True))
    assert files.known_problem(request(BOMB)) == ""
