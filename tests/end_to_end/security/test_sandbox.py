"""Hostile code inside of a process that reads strangers' bytes gets nowhere."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dowse.encoding.selection import MODELS_FOLDER
from dowse.errors import Failed
from dowse.keeping.encoding_worker.model_process import ModelProcess
from dowse.parsing.parser_pool import ParserPool
from dowse.parsing.parser_process import ParserRequest
from dowse.system import sandbox
from dowse.system.sandbox import SandboxSupport, caged, sandbox_support
from tests.end_to_end.security import hostile_jobs

needs_sandbox = pytest.mark.skipif(not sandbox_support().calls, reason="the system has no Landlock and seccomp")
STARTED_WITH = """import importlib.util, sys
spec = importlib.util.spec_from_file_location("dowse.hostile_jobs", {file!r})
sys.modules["dowse.hostile_jobs"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ParserPool]:
    """Parser processes that have hostile code in them, as after an overflow in a parser."""
    (tmp_path / "start").mkdir()
    text = STARTED_WITH.format(file=hostile_jobs.__file__)
    (tmp_path / "start" / "sitecustomize.py").write_text(text, encoding="utf-8")
    (tmp_path / "home" / "grammars").mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "start"))
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path / "home"))
    pool = ParserPool(max_processes=1)
    yield pool
    pool.close()


@needs_sandbox
def test_a_parser_process_that_was_taken_over_gets_nowhere(tmp_path: Path, pool: ParserPool) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (place / "secret.txt").write_text("secret", encoding="utf-8")
    fields = {"module": "dowse.hostile_jobs", "place": str(place)}
    names = pool.run(ParserRequest({**fields, "job": "list"}, b"")).fields["names"]
    assert len(names) >= 40
    replies = {name: pool.run(ParserRequest({**fields, "job": name}, b"")) for name in names}
    assert not [name for name, reply in replies.items() if not reply.problem and not reply.fields["refused"]]
    assert [entry.name for entry in place.iterdir()] == ["secret.txt"]
    assert (place / "secret.txt").read_text(encoding="utf-8") == "secret"


IN_THE_MODEL = """
import json
from dowse.encoding.minilm import MiniLM
def encode_query(self, text):
    raise ValueError(json.dumps(module.run_job(json.loads(text), b"")[0]))
MiniLM.encode_query = encode_query
"""


@needs_sandbox
def test_a_model_process_that_was_taken_over_gets_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "start").mkdir()
    text = STARTED_WITH.format(file=hostile_jobs.__file__) + IN_THE_MODEL
    (tmp_path / "start" / "sitecustomize.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "start"))
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path / "home"))
    place, models = tmp_path / "project", tmp_path / "models"
    place.mkdir()
    (place / "secret.txt").write_text("secret", encoding="utf-8")
    shutil.copytree(MODELS_FOLDER / "minilm", models)
    model = ModelProcess(models, "of a test")

    def attempt(job: str) -> dict[str, Any]:
        with pytest.raises(Failed) as failed:
            model.encode_query(json.dumps({"job": job, "place": str(place)}))
        return dict(json.loads(str(failed.value)))

    names = attempt("list")["names"]
    assert len(names) >= 40
    assert not [name for name in names if not attempt(name)["refused"]]
    assert [entry.name for entry in place.iterdir()] == ["secret.txt"]
    assert model.encode(["read a file"]).shape == (1, 384)
    model.close()


@needs_sandbox
def test_the_attempts_succeed_without_a_cage(tmp_path: Path) -> None:
    """Otherwise the test above would show nothing."""
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    program = (
        "import json, sys; from tests.end_to_end.security.hostile_jobs import run_job\n"
        "names = ['read passwd', 'read a project', 'list the root', 'write a file', 'change the mode', 'tcp', 'udp', "
        "'start a program', 'signal the parent', 'read in a child', 'make a pipe', 'change the time']\n"
        "print(json.dumps({name: run_job({'job': name, 'place': sys.argv[1]}, b'')[0]['refused'] for name in names}))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, check=True)
    assert set(json.loads(done.stdout).values()) == {""}


@needs_sandbox
def test_a_program_in_a_cage_reads_what_was_named(tmp_path: Path) -> None:
    for name in ("open", "closed", "output"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name, encoding="utf-8")

    def run(*command: str) -> tuple[int, bytes]:
        line = caged(["/bin/sh", "-c", *command], [str(tmp_path / "open")], [str(tmp_path / "output")])
        done = subprocess.run(line, capture_output=True, check=False)
        return done.returncode, done.stdout

    assert run(f"cat {tmp_path}/open/file") == (0, b"open")
    assert run(f"cat {tmp_path}/closed/file")[0]
    assert run(f"echo x > {tmp_path}/open/file")[0]
    assert run(f"echo x > {tmp_path}/output/file") == (0, b"")
    assert (tmp_path / "output" / "file").read_text(encoding="utf-8") == "x\n"


def test_the_first_file_on_a_new_machine_is_parsed(tmp_path: Path) -> None:
    """The grammars are unpacked after the parser process has begun, and it has to read them."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "basket.py").write_text(
        "class Basket:\n    def total(self):\n        return 1\n", encoding="utf-8"
    )
    environment = {name: value for name, value in os.environ.items() if name != "SEMBLE_GRAMMARS_CACHE_DIR"}
    environment["DOWSE_HOME"] = str(tmp_path / "home")
    command = [sys.executable, "-m", "dowse", "search", "total", str(tmp_path / "shop"), "--wait", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, env=environment).stdout)
    assert found["results"][0]["within"] == "Basket.total"


def test_without_landlock_everything_works_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "sandbox_support", lambda: SandboxSupport(0, calls=False))
    assert caged(["git", "log"], ["/a"], []) == ["git", "log"]
    assert not sandbox.restrict_process([os.devnull])
    assert "can read and write what you can" in SandboxSupport(0, calls=False).text()
