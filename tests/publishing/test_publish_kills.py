"""A publisher that is killed leaves the version before or the next one, and the next publisher removes its folders."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.keeping.shared_copy import prepare_version
from dowse.platform import storage_root
from dowse.sharing.place_lookup import open_place
from dowse.sharing.shared_version import require_version
from dowse.store import storage_layout
from tests.publishing.shared_places import FILES, commit, found_at, found_in, publish_words

lancedb = pytest.importorskip("lancedb", reason="needs the extra lance")


def publishing_folder() -> Path:
    return storage_root().with_name(f"{storage_root().name}-publishing")


def indexed_roots() -> list[str]:
    return [project.root.name for project in storage_layout.list_projects()]


def test_the_next_publisher_removes_the_folders_of_one_that_was_killed(project: Path, place: str) -> None:
    """And those of one that still runs stay."""
    program = (
        "import sys, time; from dowse.publishing.publish import working_folder; "
        "from dowse.indexes.index import ProjectIndex\n"
        "with working_folder() as folder:\n"
        "    (folder / sys.argv[1]).mkdir(); ProjectIndex(folder / sys.argv[1]).update(); print('begun', flush=True)\n"
        "    time.sleep(600)\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program, name], stdout=subprocess.PIPE, start_new_session=True)
        for name in ("killed", "running")
    ]
    try:
        for process in processes:
            assert process.stdout
            assert process.stdout.readline() == b"begun\n"
        os.killpg(processes[0].pid, signal.SIGKILL)
        processes[0].wait()
        assert sorted(indexed_roots()) == ["killed", "running"]
        publish_words(project, place)
        assert indexed_roots() == ["running"]
        assert [path.name for path in publishing_folder().glob("*/*/")] == ["running"]
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    commit(project, {"src/pond.py": "def count_ducks(): pass\n"})
    publish_words(project, place)
    assert indexed_roots() == []
    assert [file.name for file in publishing_folder().iterdir()] == ["folders.lock"]


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_killed_publish_leaves_the_version_before_or_the_next(project: Path, place: str) -> None:
    """Kill a publisher at many moments: each time, a reader finds one of the two versions whole."""
    kills = int(os.environ.get("KILLS", "20"))
    publish_words(project, place)
    command = [sys.executable, "-m", "dowse", "publish", str(project), place, "--without-model"]
    started = time.monotonic()
    commit(project, {"count.py": "def count_0(): pass\n"})
    subprocess.run(command, check=True, capture_output=True)
    whole, number, killed = time.monotonic() - started, 0, 0
    for kill in range(kills):
        commit(project, {"count.py": f"def count_{number + 1}(): pass\n"})
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        started = time.monotonic()
        try:
            process.wait(whole * (0.3 + 0.7 * kill / kills))
            whole = min(whole, time.monotonic() - started)  # the first one was slower
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
            (Path(place) / "writer.json").unlink(missing_ok=True)  # its lease expires after a minute
        assert found_at(place, "milk cow") == ["src/farm.py"]
        where = open_place(place)
        version = require_version(where)
        root = prepare_version(where, version)
        text = (root / "count.py").read_text(encoding="utf-8")
        assert text in (f"def count_{number}(): pass\n", f"def count_{number + 1}(): pass\n")
        assert found_in(root, "count") == ["count.py"]
        with contextlib.closing(ProjectIndex(root)) as index:
            assert index.check() == []
        number += text == f"def count_{number + 1}(): pass\n"
        table = lancedb.connect(f"{place}/index.lancedb").open_table("project_docs")
        table.checkout(version.tables["versions"][0])
        rows = table.search().limit(50).to_list()
        assert sorted({row["path"] for row in rows}) == ["count.py", *sorted(FILES)[1:]]
        assert any(row["text"].strip() == text.strip() for row in rows)
    assert killed > kills // 3
    subprocess.run(command, check=True, capture_output=True)
    assert [file.name for file in publishing_folder().iterdir()] == ["folders.lock"]
