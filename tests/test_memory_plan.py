"""Little memory: when it is chosen, and what a server does then."""

import json
import os
import shutil
from pathlib import Path

import pytest

import dowse
from bench import meter
from dowse import memory_plan
from dowse.memory_plan import scaled, usable_bytes, why_memory_is_small
from dowse.system.platform import storage_root
from tests.end_to_end.storm.servers import Server, eventually
from tests.sample_data import write_tree

GIB = 1024**3


def write_settings(**settings: str) -> None:
    storage_root().mkdir(parents=True, exist_ok=True)
    (storage_root() / "config.json").write_text(json.dumps(settings), encoding="utf-8")


@pytest.mark.parametrize(
    ("files", "usable"),
    [
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": f"{GIB // 2}\n"}, GIB // 2),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": f"{GIB // 2}\n"}, GIB // 2),
        ({"proc/self/cgroup": "0::/outside\n", "sys/fs/cgroup/memory.max": f"{GIB // 2}\n"}, GIB // 2),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 8 * GIB),
        ({"proc/self/cgroup": "4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": f"{GIB}\n"}, GIB),
        ({"proc/self/cgroup": "3:cpu:/a\n", "sys/fs/cgroup/a/memory.max": f"{GIB}\n"}, 8 * GIB),
    ],
)  # fmt: skip
def test_the_usable_memory_is_that_of_the_machine_or_of_the_control_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], usable: int
) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 8 * GIB, "SC_PAGE_SIZE": 1}.__getitem__)
    write_tree(tmp_path, files)
    assert usable_bytes(tmp_path) == usable


def test_little_memory_is_chosen_by_itself_and_by_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_plan, "usable_bytes", lambda: GIB)
    assert "1.1 GB of memory can be used here" in str(why_memory_is_small())
    assert scaled(1600) == 1600 // memory_plan.SMALL_SHARE
    write_settings(memory="normal")
    assert why_memory_is_small() is None
    monkeypatch.setattr(memory_plan, "usable_bytes", lambda: 8 * GIB)
    write_settings(memory="small")
    assert why_memory_is_small() == '"memory" is "small" in config.json'
    write_settings(memory="auto")
    assert (why_memory_is_small(), scaled(1600)) == (None, 1600)


def test_a_server_with_little_memory_answers_without_the_model_and_says_so(tmp_path: Path) -> None:
    write_settings(memory="small")
    root = tmp_path / "project"
    write_tree(root, {f"src/fruit{number}.py": f"def peel_{number}(): ...\n" for number in range(40)})
    with Server(root) as server:
        server.call("create_index")
        eventually(lambda: server.status()["status"] == "ready", server.status)
        assert server.find("peel_7") == ["src/fruit7.py"]
        assert server.status()["memory"] == 'small, without the model: "memory" is "small" in config.json'
        assert server.status()["encoding"]["encoder"].startswith("dowse-static")
        assert server.status()["encoding"]["state"] == "complete"


@pytest.mark.soak
@pytest.mark.skipif(not meter.CAN_SAMPLE, reason="the system does not report the memory of a process")
def test_all_processes_of_a_server_with_little_memory_stay_small(tmp_path: Path) -> None:
    write_settings(memory="small")
    root = tmp_path / "project"
    shutil.copytree(Path(dowse.__file__).parent, root)
    with Server(root) as server, meter.Sampler(server.process.pid) as sampler:
        server.call("create_index")
        eventually(lambda: server.status()["status"] == "ready", server.status)
        for query in ("vector search", "watch a folder", "def storage_root"):
            assert server.call("search_code", query=query)["results"]
    assert 0 < sampler.own_bytes < 200_000_000
