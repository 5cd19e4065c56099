"""Encoding in servers and commands, over the protocol and on the command line."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from dowse.cli.composition import ComposedServer, Offer
from dowse.encoding.selection import MINILM_VERSION
from dowse.errors import Failed
from dowse.indexes.encoding_progress import encoding_lease
from dowse.indexes.index import ProjectIndex
from dowse.keeping import keeper, watched_index
from dowse.keeping.encoding_worker.background_encoder import BackgroundEncoder, encode_now
from dowse.keeping.served_index import Service
from dowse.store import storage_layout
from mcp import Client
from tests import lance_extra
from tests.keeping.encoding_worker.conftest import MANY, encoding_progress, is_complete, wait_until
from tests.mcp.stdio.stdio_client import is_alive
from tests.sample_data import write_tree

Indexed = Callable[[Path], ProjectIndex]


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers start to encode without delay."""
    monkeypatch.setattr(keeper, "ENCODE_EVERY_SECONDS", 0.1)
    monkeypatch.setattr(watched_index, "SETTLE_SECONDS", 0.1)


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "dowse", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)


def test_a_server_encodes_what_it_serves_and_says_how_far_it_is(root: Path, mode: str) -> None:
    async def talk() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        async def status() -> dict[str, Any]:
            return dict((await client.call_tool("get_index_status", {})).structured_content or {})

        service = Service([root])
        async with Client(ComposedServer(service, root, Offer(("code",))).server(), mode=mode) as client:
            created = await client.call_tool("create_index", {})
            assert (created.structured_content or {})["status"] == "success"
            first = await status()
            with anyio.fail_after(60):
                while (second := await status())["encoding"]["state"] != "complete":
                    await anyio.sleep(0.1)
                (root / "kiwi.py").write_text("def peel_kiwi(): return 'green'\n", encoding="utf-8")
                while (third := await status())["encoding"] != {**second["encoding"], "done": 4, "total": 4}:
                    await anyio.sleep(0.1)
            return first, second, third

    first, second, third = anyio.run(talk)
    assert first["encoding"]["encoder"] == MINILM_VERSION
    assert first["encoding"]["total"] == 3
    assert second["encoding"] == {"encoder": MINILM_VERSION, "state": "complete", "done": 3, "total": 3}
    assert third["totalChunks"] == 4


def test_an_index_can_be_deleted_while_it_is_encoded(many: Path, indexed: Indexed) -> None:
    async def talk() -> None:
        service = Service([many])
        project = indexed(many)
        async with Client(ComposedServer(service, many, Offer(("code",))).server()) as client:
            await client.call_tool("get_index_status", {})
            lease = encoding_lease(project.folder)
            with anyio.fail_after(60):
                while not lease.is_taken():
                    await anyio.sleep(0.05)
                deleted = await client.call_tool("delete_index", {"confirm": True})
            assert (deleted.structured_content or {})["status"] == "success"
            assert not project.folder.exists()

    anyio.run(talk)


def test_without_an_encoder_there_is_no_process(root: Path, storage: Path, indexed: Indexed) -> None:
    storage.mkdir(parents=True)
    (storage / "config.json").write_text('{"encoder": "none"}', encoding="utf-8")
    indexed(root)
    with contextlib.closing(Service([root])) as service:
        (served,) = service.projects
        served.keep_fresh()
        wait_until(lambda: served.keeper is not None and served.keeper._watched is not None)
        service.encoder.encode_if_needed(indexed(root))
        assert service.encoder.process_id is None
    shown = run("status", root, "--json")
    assert json.loads(shown.stdout)["encoding"]["state"] == "off"


def test_a_service_that_ends_takes_its_process_with_it(many: Path, indexed: Indexed) -> None:
    project, service = indexed(many), Service([many])
    service.projects[0].keep_fresh()
    wait_until(lambda: service.encoder.process_id is not None)
    pid = service.encoder.process_id
    assert pid
    service.close()
    assert not is_alive(pid)
    assert not encoding_lease(project.folder).is_taken()


def test_the_index_command_says_what_is_behind_and_waits_when_it_is_told_to(root: Path) -> None:
    write_tree(root, {".git/HEAD": ""})
    done = run("index", root)
    assert done.returncode == 0
    assert "meaning: 0 of 3 chunks encoded" in done.stdout
    assert "or run dowse index --wait" in done.stdout
    assert run("index", root, "--wait").returncode == 0
    assert json.loads(run("status", root, "--json").stdout)["encoding"] == {
        "encoder": MINILM_VERSION, "state": "complete", "done": 3, "total": 3,
    }  # fmt: skip
    shown = run("status", root)
    assert f"meaning: all 3 chunks encoded by {MINILM_VERSION}" in shown.stdout
    assert run("index", root, "--wait").stdout.count("meaning: all 3 chunks") == 1


def test_a_copy_of_a_project_is_encoded_from_the_cache(root: Path, tmp_path: Path, storage: Path) -> None:

    copy = shutil.copytree(root, tmp_path / "copy")
    assert run("index", root, "--wait").returncode == 0
    file = storage / "vectors-2.sqlite"
    before = file.stat()
    assert "meaning: all 3 chunks" in run("index", copy, "--wait").stdout
    after = file.stat()
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


def test_ctrl_c_keeps_what_was_encoded(many: Path, indexed: Indexed) -> None:
    project = indexed(many)
    command = [sys.executable, "-m", "dowse", "index", "--wait", str(many)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        wait_until(lambda: encoding_progress(project).done > 0)
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to all processes
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "the work done so far is kept" in errors
    assert 0 < encoding_progress(project).done < MANY
    wait_until(lambda: not encoding_lease(project.folder).is_taken())


def test_who_waits_waits_for_the_process_that_is_at_it(many: Path, indexed: Indexed) -> None:
    project, service = indexed(many), Service([many])
    try:
        service.projects[0].keep_fresh()
        wait_until(lambda: encoding_lease(project.folder).is_taken())
        assert run("index", many, "--wait").returncode == 0
        assert is_complete(project)
    finally:
        service.close()


def test_a_model_that_cannot_be_had_is_said_and_search_goes_on(root: Path, storage: Path, tmp_path: Path) -> None:
    storage.mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    settings = {"encoder": "minilm", "encoderFolder": str(tmp_path / "empty")}
    (storage / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    waited = run("index", root, "--wait")
    assert waited.returncode == 3
    assert "Traceback" not in waited.stderr
    shown = json.loads(run("status", root, "--json").stdout)["encoding"]
    assert shown["state"] == "failed"
    assert shown["problem"]
    assert run("search", "peel", root).returncode == 0


def test_the_tables_have_the_vectors_when_the_command_ends(tmp_path: Path) -> None:
    """The process that encodes was stopped before it had written them, and every vector was null."""
    lancedb = lance_extra.import_or_skip()
    root = write_tree(tmp_path / "shop", {"a.py": "def pay(sum):\n    return sum\n"})
    folder = storage_layout.index_folder(root.resolve())
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"store": "lancedb"}', encoding="utf-8")
    index = ProjectIndex(root)
    index.update()
    assert encode_now(index, lambda *_: None, lambda _: None).state == "complete"
    (row,) = lancedb.connect(folder / "index.lancedb").open_table("project_docs").search().limit(2).to_list()
    assert row["vector"] is not None
    project = storage_layout.read_project(folder)
    assert project
    tables = sum(file.stat().st_size for file in folder.glob("*.lancedb/**/*") if file.is_file())
    assert project.size_bytes > tables > 0
    index.close()


def test_an_index_that_cannot_be_opened_ends_the_wait(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command asked for ever for the vectors of an index that the encoder did not find."""
    monkeypatch.setattr(BackgroundEncoder, "_backfill", lambda *_: "gone")
    with contextlib.closing(ProjectIndex(root)) as index:
        index.update()
        with pytest.raises(Failed, match="was removed or replaced while its vectors were made"):
            encode_now(index, lambda *_: None, lambda _: None)
