"""The hook of an assistant, run with recorded tool calls as the assistant runs it, against a real server."""

import asyncio
import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dowse.assistants import search_hook
from dowse.indexes.index import ProjectIndex
from dowse.server import hook_socket
from tests.encoding_worker.conftest import wait_until
from tests.sample_data import write_tree

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
FILES = {
    ".git/HEAD": "",
    "src/addresses.py": "def parse_address(text):\n    '''Return the host and the port of an address.'''\n    return text\n",
    "src/render.py": "def render_page(title):\n    return title\n",
    "src/keys.py": f"def upload_token():\n    return '{TOKEN}'\n",
    ".env": "SECRET_UPLOAD_TOKEN=1\n",
}

Call = dict[str, Any]


def grep(root: Path, pattern: str, response: Any = "", **more: Any) -> Call:
    """A call of Claude Code's Grep, with the fields that its hooks reference lists."""
    return {
        "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": str(root), "permission_mode": "default",
        "hook_event_name": "PostToolUse", "tool_name": "Grep", "tool_use_id": "toolu_1",
        "tool_input": {"pattern": pattern, "path": str(root), "output_mode": "content"},
        "tool_response": response, **more,
    }  # fmt: skip


def codex(root: Path, command: Any) -> Call:
    """A call of Codex's shell, with the fields of its schema `post-tool-use.command.input`."""
    return {
        "session_id": "c1", "turn_id": "t1", "transcript_path": None, "cwd": str(root), "model": "m",
        "hook_event_name": "PostToolUse", "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "u1",
        "tool_input": {"command": command}, "tool_response": "",
    }  # fmt: skip


def run_hook(call: Call | bytes) -> str:
    """Run the hook and return what it adds; it always exits with 0 and says nothing else."""
    command = [sys.executable, "-I", "-S", search_hook.__file__]
    given = call if isinstance(call, bytes) else json.dumps(call).encode()
    done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=20)
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)
    assert answer.keys() == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    return str(answer["hookSpecificOutput"]["additionalContext"])


def answered(call: Call) -> str:
    """Return what the hook adds; on a busy machine it may give up, so each attempt is a conversation of its own."""
    found = ""

    def is_answered() -> bool:
        nonlocal found
        call["session_id"] = os.urandom(4).hex()
        found = run_hook(call)
        return bool(found)

    wait_until(is_answered)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = ProjectIndex(write_tree(tmp_path / "p", FILES))
    project.update()
    project.close()
    return project.root


@pytest.fixture
def server(root: Path, storage: Path) -> "Iterator[subprocess.Popen[bytes]]":
    command = [sys.executable, "-m", "dowse", "serve", "--hook-socket"]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        wait_until(lambda: any((storage / "hooks").glob("*.sock")))
        yield process
        process.stdin.close()  # type: ignore[union-attr]


def test_a_search_of_the_assistant_gets_the_best_hits_that_it_has_not_seen(
    root: Path, server: "subprocess.Popen[bytes]", storage: Path
) -> None:
    folder = storage / "hooks"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(next(folder.glob("*.sock")).stat().st_mode) == 0o600

    text = answered(grep(root, r"def\s+parse_address\("))
    assert "src/addresses.py:1-3 def parse_address(text):" in text
    assert "not instructions" in text.splitlines()[0]
    assert len(text) < 600
    for call in (
        codex(root, "rg -n --type py 'parse_address' src | head"),
        codex(root, ["bash", "-lc", "cd src && git grep parse_address"]),
        {**grep(root, ""), "tool_name": "Glob", "tool_input": {"pattern": "**/*address*.py"}},
    ):
        assert "src/addresses.py" in answered(call), call
    masked = answered(grep(root, "upload_token"))
    assert TOKEN not in masked
    assert ".env" not in masked

    again = grep(root, "parse_address")
    assert answered(again)
    assert run_hook(again) == "", "what was added once is not added again"
    shown = grep(root, "render_page", "src/render.py:1:def render_page(title):", session_id="new")
    assert "src/render.py" not in run_hook(shown)
    for call in (
        grep(root, "zqxv"), grep(root, "[0-9]+"), grep(root.parent, "parse_address"),
        codex(root, "ls -la"), codex(root, "echo 'grep parse_address"), codex(root, "python -m pytest -k address"),
        {**grep(root, "x"), "tool_name": "Grep", "tool_input": None},
    ):  # fmt: skip
        assert run_hook(call) == "", call
    for data in (b"", b"{", b"[]", b'"Grep"', b"\xff Grep", b'{"Grep": ' + b"[" * 100_000, b"Grep" * 400_000):
        assert run_hook(data) == ""
    assert server.poll() is None
    server.stdin.close()  # type: ignore[union-attr]
    wait_until(lambda: not any(folder.glob("*.sock")))


def test_without_a_server_or_with_a_hanging_one_the_hook_does_nothing(root: Path, storage: Path) -> None:
    assert run_hook(grep(root, "parse_address")) == ""
    folder = storage / "hooks"
    folder.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as hanging, socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "1.sock"))
        hanging.bind(str(folder / "2.sock"))
        hanging.listen()
        assert run_hook(grep(root, "parse_address")) == ""


def test_a_folder_that_others_can_enter_is_not_used(root: Path, storage: Path) -> None:
    folder = storage / "hooks"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "1.sock"))
        listener.listen()
        listener.settimeout(0.5)
        heard: list[Any] = []

        def accept() -> None:
            with contextlib.suppress(TimeoutError):
                heard.append(listener.accept())

        thread = threading.Thread(target=accept)
        thread.start()
        assert run_hook(grep(root, "parse_address")) == ""
        thread.join()
    assert heard == []


async def ask(call: bytes) -> bytes:
    """Return what a hook with this call gets from the server in this process."""
    reader, writer = await asyncio.open_unix_connection(Path(search_hook.socket_folder()) / f"{os.getpid()}.sock")
    with contextlib.closing(writer), contextlib.suppress(ConnectionError):  # a call that is too long is not read
        writer.write(call)
        await writer.drain()
        writer.write_eof()
        return await reader.read()
    return b""


async def say_hello(call: Mapping[str, Any]) -> str:
    return f"hello {call['tool_name']}"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that waits longer for a call than a busy machine needs."""
    monkeypatch.setattr(hook_socket, "READ_SECONDS", 60)


@pytest.mark.usefixtures("patient")
def test_a_call_that_is_none_gets_nothing_and_the_next_one_is_answered() -> None:
    call = b'{"tool_name": "Grep"}'
    long = b'{"tool_name": "' + b"x" * search_hook.MAX_CALL_BYTES + b'"}'

    async def run() -> list[bytes]:
        async with hook_socket.listening(say_hello):
            return [await ask(each) for each in (long, b"[]", b"{", b"[" * 100_000, call)]

    *others, last = asyncio.run(run())
    assert others == [b""] * 4
    assert json.loads(last)["hookSpecificOutput"]["additionalContext"] == "hello Grep"


@pytest.mark.usefixtures("patient")
def test_hooks_that_would_have_to_wait_get_nothing_at_once() -> None:
    """They give up after less than a second, and a server that searched for them would only be busy."""
    is_full, running = asyncio.Event(), 0

    async def wait_for_others(_call: Mapping[str, Any]) -> str:
        nonlocal running
        running += 1
        await is_full.wait()
        return "found"

    async def run() -> list[bytes]:
        async with hook_socket.listening(wait_for_others):
            first = [asyncio.create_task(ask(b"{}")) for _ in range(hook_socket.MAX_CALLS)]
            async with asyncio.timeout(60):
                while running < hook_socket.MAX_CALLS:
                    await asyncio.sleep(0.01)
            late = await ask(b"{}")
            is_full.set()
            return [late, *await asyncio.gather(*first)]

    late, *first = asyncio.run(run())
    assert late == b""
    assert all(b"found" in answer for answer in first)


def test_sockets_of_killed_servers_are_removed_and_those_of_running_ones_stay(storage: Path) -> None:
    folder = storage / "hooks"
    folder.mkdir(parents=True, mode=0o700)
    ended = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    ended.wait()
    names = (f"{ended.pid}.sock", f"{ended.pid}.new", f"{os.getppid()}.sock", "other.sock")
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(socket.socket(socket.AF_UNIX)).bind(str(folder / name))
        (folder / f"{ended.pid}0.sock").write_bytes(b"a file of somebody")
        seen: set[str] = set()

        async def run() -> None:
            async with hook_socket.listening(say_hello):
                seen.update(file.name for file in folder.iterdir())

        asyncio.run(run())
    assert seen == {*names[2:], f"{ended.pid}0.sock", f"{os.getpid()}.sock"}
    assert not (folder / f"{os.getpid()}.sock").exists(), "a server that ends removes its own"


def test_a_server_without_a_private_folder_works_and_logs_why(storage: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = storage / "hooks"
    folder.mkdir(parents=True)
    folder.chmod(0o755)

    async def run() -> bool:
        async with hook_socket.listening(say_hello):
            return any(folder.iterdir())

    assert not asyncio.run(run())
    assert "hooks is not private; remove it" in caplog.text
