"""The life of a storage root on a small disk that becomes read-only, foreign or full, and is well again.

This runs in a mount namespace of its own, so that nothing stays mounted.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests import forking
from tests.sample_data import write_tree

WAIT_SECONDS = 60.0
SOMEONE = 54321
"""A user who is not us."""
WITHOUT_POWERS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]
"""Runs a command as a root user who has no more rights than any other user."""

SEARCHES = {
    "search lantern": "def lantern",
    "search --exact lantern": "def lantern",
    "docs search lantern .": "Lantern guide",
    "docs list .": "Lantern guide",
    "archive search lantern": "Lantern study",
    "notes search n1 lantern": "lantern note",
    "notes list": "n1",
    "status": "ready",
    "projects": "files and",
    "doctor": "complete",
}
WRITES = ("index", "notes create n2 ", "notes add n1 d2 lanterns", "archive index")
TOOL_SEARCHES: dict[str, dict[str, Any]] = {
    "search_code": {},
    "search_docs": {},
    "search_documents": {},
    "search": {},
    "searchLocalArchives": {},
    "search_index": {"index_name": "n1"},
}
TOOL_WRITES: dict[str, dict[str, Any]] = {
    "create_index": {},
    "reindex_file": {"path": "changed.py"},
    "reindex_project": {"confirm": True},
    "search_create_index": {"index_name": "n3", "backend": "disk"},
    "search_add_document": {"index_name": "n1", "doc_id": "d3", "content": "lantern"},
}


class Scenario:
    """A project, and the disk of its storage root."""

    def __init__(self, folder: Path) -> None:
        mount("tmpfs", folder, "size=64m")
        self.project, self.disk = folder / "project", folder / "disk"
        self.disk.mkdir()
        mount("tmpfs", self.disk, "size=8m,nr_inodes=500")
        files = {"lantern.py": "def lantern(x):\n    return x\n", "guide.md": "# Lantern guide\n\nIt shines.\n"}
        write_tree(self.project, {".git/HEAD": "", "changed.py": "def before(x):\n    return x\n", **files})
        write_tree(folder / "archive", {"study.md": "# Lantern study\n\nLanterns are bright.\n"})
        self.environment = {
            **os.environ,
            "DOWSE_HOME": str(self.disk / "storage"),
            "RESEARCH_ARCHIVE_PATH": str(folder / "archive"),
            "SEARCH_DB_PATH": str(self.disk / "archive.db"),
        }
        self.prefix: list[str] = []
        self.run("index", "docs list .", "archive index", "notes create n1", "notes add n1 d1 lantern-note")

    def run(self, *commands: str, may_fail: bool = False) -> list[tuple[int, str, str]]:
        """Run commands: each in a process of its own, or all in one new process that has fewer rights."""
        words = [[word.replace("-note", " note") for word in command.split()] for command in commands]
        results = self._run_without_powers(words) if self.prefix else [self._run(arguments) for arguments in words]
        for command, (code, output, messages) in zip(commands, results, strict=True):
            assert may_fail or code == 0, (command, code, output, messages)
            assert "Errno" not in messages
            assert "Unexpected" not in messages, (command, messages)
        return results

    def _run(self, arguments: list[str]) -> tuple[int, str, str]:
        code, output, messages = forking.run(*arguments, env=self.environment, cwd=str(self.project))
        return code, output.decode(), messages.decode()

    def _run_without_powers(self, words: list[list[str]]) -> list[tuple[int, str, str]]:
        program = [*self.prefix, sys.executable, "-m", "tests.end_to_end.unwritable.run_commands", json.dumps(words)]
        path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
        environment = {**self.environment, "PYTHONPATH": path}
        done = subprocess.run(program, cwd=self.project, env=environment, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        results: list[tuple[int, str, str]] = json.loads(done.stdout)
        return results

    def change(self, number: int) -> None:
        """Change one file and add two others."""
        (self.project / "changed.py").write_text(f"def after_{number}(x):\n    return x\n", encoding="utf-8")
        (self.project / f"new_{number}.py").write_text("def lantern_new(x):\n    return x\n", encoding="utf-8")
        (self.project / f"new_{number}.md").write_text("# Another page\n", encoding="utf-8")

    def check_commands(self, refusal: str) -> None:
        """Check that all searches answer, and that all writes are refused for a reason."""
        results = self.run(*SEARCHES, *WRITES, may_fail=True)
        for command, (_, output, messages) in zip(SEARCHES, results, strict=False):
            assert SEARCHES[command] in output, (command, output)
            assert "not searched" not in messages
        for command, (code, _, messages) in zip(WRITES, results[len(SEARCHES) :], strict=True):
            assert code == 3, command
            assert refusal in messages, (command, messages)

    def check_changes(self, refusal: str) -> None:
        """Check that changed files are searched directly, and that searches by words say why they are not indexed."""
        plain, exact, as_json = self.run("search lantern", "search --exact lantern", "search --json lantern")
        for _, output, _ in (plain, exact):
            assert "def lantern(" in output
            assert "lantern_new" in output
        assert refusal in plain[2]
        assert "by words alone, because they cannot be indexed" in plain[2]
        assert "not searched" not in exact[2]
        assert "complete: yes" in exact[2]
        reply = json.loads(as_json[1])
        assert not reply["coverage"]["complete"]
        assert reply["coverage"]["pending"]
        assert refusal in reply["warnings"][-1]

    @contextlib.contextmanager
    def read_only(self) -> Iterator[None]:
        mount("tmpfs", self.disk, "remount,ro")
        yield
        mount("tmpfs", self.disk, "remount,rw")

    @contextlib.contextmanager
    def foreign(self) -> Iterator[None]:
        """Give all files to someone who lets us read them."""
        self.prefix = WITHOUT_POWERS
        for path in (self.disk, *self.disk.rglob("*")):
            os.chown(path, SOMEONE, SOMEONE)
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield
        self.prefix = []
        for path in (self.disk, *self.disk.rglob("*")):
            os.chown(path, 0, 0)

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """Use up the last byte and the last inode."""
        fillers = [self.disk / "filler"]
        with contextlib.suppress(OSError), fillers[0].open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        with contextlib.suppress(OSError):
            while True:
                fillers.append(self.disk / f"filler-{len(fillers)}")
                fillers[-1].touch()
        yield
        for filler in fillers:
            filler.unlink(missing_ok=True)

    @contextlib.asynccontextmanager
    async def server(self) -> Any:
        """Yield a function that calls a tool of a server."""
        program = [*self.prefix, sys.executable, "-m", "dowse", "serve", str(self.project)]
        parameters = StdioServerParameters(command=program[0], args=program[1:], env=self.environment)
        with Path(os.devnull).open("w", encoding="utf-8") as log:
            async with stdio_client(parameters, errlog=log) as streams, ClientSession(*streams) as session:
                await session.initialize()

                async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
                    result = await session.call_tool(name, arguments)
                    return result.is_error, json.dumps(result.structured_content)

                yield call

    async def check_server(self, call: Any, code: str) -> None:
        """Check that a server answers, names what it leaves out, and refuses to write."""
        for name, arguments in TOOL_SEARCHES.items():
            is_error, reply = await call(name, {"query": "lantern", **arguments})
            deadline = time.monotonic() + WAIT_SECONDS
            while not code and is_provisional(reply) and time.monotonic() < deadline:
                await asyncio.sleep(0.1)  # the server has just started, or has not noticed yet that it can write again
                is_error, reply = await call(name, {"query": "lantern", **arguments})
            assert not is_error, (name, reply)
            assert "lantern" in reply.split('"metadata"')[0].lower(), (name, reply)
            if name != "search_index":
                assert ("warnings" in reply) == (code != ""), (name, reply)
                assert str(self.disk) not in reply, "a reply names no place of the storage"
            if name in ("search_code", "search_docs", "search_documents"):
                assert f'"complete": {"false" if code else "true"}' in reply, (name, reply)
        if code:
            for name, arguments in TOOL_WRITES.items():
                is_error, reply = await call(name, arguments)
                assert is_error, name
                assert code in reply or "Make it writable" in reply or "Free some" in reply, (name, reply)
                assert str(self.disk) not in reply.split("developerMessage")[0], reply


def is_provisional(reply: str) -> bool:
    """Return whether a reply says that files are not indexed yet."""
    return '"complete": false' in reply or "are being indexed" in reply


def mount(kind: str, target: Path, options: str) -> None:
    """Mount or remount; a process that is about to end may still write to a disk that is to become read-only."""
    deadline = time.monotonic() + WAIT_SECONDS
    while subprocess.run(["mount", "-t", kind, "-o", options, "none", target], check=False).returncode:
        assert time.monotonic() < deadline, f"{target} cannot be mounted with {options}"
        time.sleep(0.1)


async def check_servers(scenario: Scenario) -> None:
    with scenario.read_only():
        scenario.change(1)
        async with scenario.server() as call:
            await scenario.check_server(call, "NOT_WRITABLE")
    async with scenario.server() as call:
        await scenario.check_server(call, "")
        with scenario.full():
            scenario.change(2)
            await scenario.check_server(call, "DISK_FULL")
        await scenario.check_server(call, "")
        for name, arguments in TOOL_WRITES.items():
            is_error, reply = await call(name, arguments)
            assert not is_error, (name, reply)


def main() -> None:
    scenario = Scenario(Path(sys.argv[1]))
    with scenario.read_only():
        scenario.check_commands("its file system is read-only. Make it writable")
        scenario.change(0)
        scenario.check_changes("its file system is read-only")
    scenario.run("search lantern_new", "index", "docs list .")
    if sys.argv[2] == "root":
        with scenario.foreign():
            scenario.check_commands("permission denied. Make it writable")
    with scenario.full():
        scenario.check_commands("No space left on the disk")
    scenario.run("index", "docs list .", "notes add n1 d2 lanterns")
    asyncio.run(check_servers(scenario))
    scenario.run("doctor")


if __name__ == "__main__":
    with forking.forking():
        main()
