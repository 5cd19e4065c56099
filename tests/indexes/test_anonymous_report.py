"""A report for an issue has nothing of the user in it, whatever the names are."""

import json
import re
import shutil
from pathlib import Path

import pytest

from dowse.store import storage_layout
from tests.cli.conftest import Run, run
from tests.sample_data import write_tree

__all__ = ["run"]

SECRET = "hunter2-ACME-ghp_0123456789abcdefghijABCDEFGHIJ012345"
HOSTILE = f"{SECRET} [x](http://evil) `$(id)` \u202e\n| ERROR"
WORD = re.compile(r"hunter2|acme|ghp_|evil|\$\(id\)|\u202e|lantern|moritz", re.IGNORECASE)


@pytest.fixture
def hostile(tmp_path: Path, storage: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project whose names, settings, texts and log all hold what must not be shown."""
    root = write_tree(
        tmp_path / "moritz" / HOSTILE,
        {
            "package.json": '{"name": "lantern"}\n',
            f"{HOSTILE}.py": f"# {SECRET}\ndef lantern():\n    return 1\n",
            f"{HOSTILE}.md": f"# lantern {SECRET}\n",
            f"{HOSTILE}.bin": "\0\0",
            f"{HOSTILE}2.md": ">" * 300_000,
            ".env": f"TOKEN={SECRET}\n",
        },
    )
    settings = {
        "exclude": [f"{SECRET}/**"],
        "docPatterns": ["**/lantern.md", "**/*.md"],
        "maxFiles": 77,
        "encoder": {"url": "http://127.0.0.1:9/lantern", "model": SECRET, "key": SECRET},
        SECRET: SECRET,
    }
    write_tree(storage, {"config.json": json.dumps(settings)})
    monkeypatch.setenv("RESEARCH_ARCHIVE_PATH", f"/home/moritz/{SECRET}")
    return root


def test_nothing_of_the_user_is_in_a_report(run: Run, hostile: Path) -> None:
    assert run("index", hostile).code == 0
    log = storage_layout.index_folder(hostile) / "logs" / "dowse.log"
    with log.open("a", encoding="utf-8") as file:
        file.write(f"2026-01-01 00:00:00,000 WARNING lantern {HOSTILE}\n2026-01-01 00:00:00,000 {SECRET.upper()} x\n")
    (hostile / f"{HOSTILE}.py").write_text("changed = 1\n", encoding="utf-8")
    (hostile / f"{HOSTILE}.md").unlink()
    for arguments in ((), ("--json",)):
        ran = run("doctor", "--report", hostile, *arguments)
        assert ran.code == 0
        assert not WORD.search(ran.out + ran.err)
        assert str(hostile.parent.parent) not in ran.out
    index = ran.json["index"]
    assert (index["state"], index["problems"]) == ("ready", {"files": 2})
    assert index["files"] == {"code": 2, "docs": 2}
    assert index["files read as plain text"] == 1
    assert index["settings changed"]["maxFiles"] == 77
    assert {key for key, value in index["settings changed"].items() if value == "changed"} >= {"exclude", "docPatterns"}
    assert "RESEARCH_ARCHIVE_PATH" in ran.json["machine"]["variables set"]
    assert ran.json["versions"]["dowse"]


def test_a_report_is_written_where_nothing_else_works(
    run: Run, hostile: Path, monkeypatch: pytest.MonkeyPatch, storage: Path
) -> None:
    assert run("doctor", "--report", hostile, "--json").json["index"]["state"] == "not_found"
    run("index", hostile)
    catalog = storage_layout.index_folder(hostile) / "catalog.sqlite"
    catalog.write_bytes(SECRET.encode() * 1000)
    damaged = run("doctor", "--report", hostile, "--json")
    assert damaged.code == 0
    assert damaged.json["index"]["state"] == "failed"
    assert not WORD.search(damaged.out)
    shutil.rmtree(storage)
    monkeypatch.chdir("/")
    assert run("doctor", "--report", "--json").json["index"] == {"error": "PROJECT_NOT_DETECTED"}
    assert run("doctor", "--report", "--fix").code == 2
    assert run("doctor", "--report", "/nowhere").code == 2


def test_an_error_is_named_without_its_message(run: Run, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError(5, "no lantern", SECRET)

    monkeypatch.setattr("dowse.indexes.anonymous_report.file_system_of", fail)
    ran = run("doctor", "--report", hostile, "--json")
    assert (ran.json["machine"], ran.json["index"]) == ({"error": "OSError"}, {"error": "OSError"})
