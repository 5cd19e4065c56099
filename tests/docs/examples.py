"""The command blocks of README and docs: run them as a reader would, and compare what they print.

A block of `console` has commands after `$ ` and the output of each. A block of `sh` has commands alone; it must
succeed. A comment `<!-- each alone -->` before a block of `sh` says that its commands are not a program but a choice:
each runs alone, beside a small project (`choices.py`). The blocks of a page run in order, in one folder with a home of
its own; a comment `<!-- set up as in PAGE -->` runs the first block of another page before them. A server whose output
ends with `^C` is interrupted when it has said where it serves.

`python -m tests.docs.examples PAGE...` writes the output of this program into pages.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests import forking
from tests.recording.starting import ONE_BATCH
from tests.repository import REPOSITORY

HOME = "/home/me"
PORT = "8321"
INTERRUPTED = "^C\n"
_BLOCK = re.compile(
    r"^(?P<choice><!-- each alone -->\n+)?(?P<fence>```(?P<language>console|sh)\n)(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SET_UP = re.compile(r"^<!-- set up as in (\S+) -->$", re.MULTILINE)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.MULTILINE)
_VARIABLE = [
    (re.compile(pattern, re.MULTILINE), shown)
    for pattern, shown in (
        (r"\bin \d+\.\d+ s\b", "in 0.12 s"),
        (r"((?:files?|documents?|tokens), )[\d.]+[KMG]?B\b", r"\g<1>84KB"),
        (r"(Z, )[\d.]+[KMG]?B in\b", r"\g<1>84KB in"),
        (r"(files: )[\d.]+[KMG]?B in\b", r"\g<1>84KB in"),
        (r"\b20\d\d-\d\d-\d\dT[\d:]+Z", "2026-01-05T09:30:00Z"),
        (r"\b[0-9a-f]{32}\b", "0" * 32),
        (r"^[0-9a-f]{10}  20\d\d-\d\d-\d\d", "1f0c5a7b3e  2026-01-05"),
    )
]
"""Parts of the output that differ from run to run, and the text that the pages show instead."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of commands."""

    language: str
    body: str
    start: int
    is_choice: bool

    @property
    def commands(self) -> list[str]:
        """The commands, each possibly of several lines."""
        if self.language == "console":
            return _COMMAND.findall(self.body)
        return [line for line in self.body.splitlines() if line and not line.startswith(("#", " "))]


def pages() -> list[Path]:
    """Return README, every page of docs, and the notes on the measurements."""
    return [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md")), REPOSITORY / "bench" / "NOTES.md"]


def read_page(text: str, folder: Path) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in a folder; return each that is run as it is, and as it would have to be."""
    reader = Reader(folder)
    for page in _SET_UP.findall(text):
        reader.read(blocks((REPOSITORY / page).read_text(encoding="utf-8"))[0])
    for block in blocks(text):
        if not block.is_choice:
            yield block, reader.read(block)


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page in their order."""
    return [
        Block(found["language"], found["body"], found.start("body"), found["choice"] is not None)
        for found in _BLOCK.finditer(text)
    ]


@dataclass
class Reader:
    """Somebody who types the commands of one page."""

    folder: Path
    cwd: Path = field(init=False)
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.cwd = self.folder / "me"
        self.cwd.mkdir(parents=True)
        home = str(self.cwd)
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        names = ("SEMBLE_GRAMMARS_CACHE_DIR", "LANG", "TMPDIR")
        self.environment = {name: os.environ[name] for name in names if name in os.environ} | {
            "HOME": home, "PATH": programs, "XDG_CONFIG_HOME": f"{home}/.config", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": f"{home}/.gitconfig", "SOURCE_DATE_EPOCH": "1767605400",
        }  # fmt: skip

    def read(self, block: Block) -> str:
        """Return a block as it would have to be: with the output of this run."""
        if block.language == "console":
            _, *parts = _COMMAND.split(block.body)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            return "".join(f"$ {command}\n{self._output(command, before)}" for command, before in pairs)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.body],
            cwd=self.cwd, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert not done.returncode, f"{block.body}\n{done.stdout}{done.stderr}"
        return block.body

    def _output(self, command: str, before: str) -> str:
        if before.endswith(INTERRUPTED):
            return self._shown(self.serve(command)) + INTERRUPTED
        return self._shown(self.run(command))

    def serve(self, command: str) -> str:
        """Start a server at a free port, return where it says that it serves, and interrupt it."""
        said = self.interrupt(*shlex.split(command)[1:])
        return re.sub(r"(127\.0\.0\.1:)\d+", rf"\g<1>{PORT}", said)

    def interrupt(self, *arguments: str) -> str:
        """Start a server at a free port, and interrupt it when it has said where it serves; return the line that says it."""
        words = [word.replace(f"127.0.0.1:{PORT}", "127.0.0.1:0") for word in arguments]
        with forking.start(
            *words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.environment, cwd=str(self.cwd)
        ) as server:
            assert server.stdout is not None
            said = next((line.decode() for line in server.stdout if b"http://127.0.0.1" in line), "")
            server.send_signal(signal.SIGINT)
            output = server.stdout.read().decode()
            assert (server.wait(), bool(said), "Traceback" in output) == (0, True, False), output
        return said

    def run(self, command: str) -> str:
        """Run one command and return what it prints; `cd` stays in force."""
        words = shlex.split(command, comments=True)
        if words[0] == "cd":
            self.cwd = (self.cwd / words[1]).resolve()
            return ""
        if words[0] == "dowse" and not re.search(r"[|<>;&$*]", re.sub(r"'[^']*'|\"[^\"$]*\"", "", command)):
            environment = self.environment | {"PWD": str(self.cwd)}
            _, out, err = forking.run(*words[1:], env=environment, cwd=str(self.cwd), constants=ONE_BATCH)
            return out.decode() + err.decode()
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.cwd, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def _shown(self, output: str) -> str:
        output = output.replace(str(Path(sys.executable).parent), f"{HOME}/.local/bin")
        return shown(output.replace(str(self.folder / "me"), HOME))


def shown(output: str) -> str:
    """Return output with what differs from run to run replaced."""
    for pattern, replacement in _VARIABLE:
        output = pattern.sub(replacement, output)
    lines = [line.rstrip() for line in output.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def write(page: Path) -> None:
    """Write the output of this program into the blocks of a page."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        edits = list(read_page(text, Path(folder).resolve()))
    for block, body in reversed(edits):
        text = text[: block.start] + body + text[block.start + len(block.body) :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with forking.forking():
        for name in sys.argv[1:]:
            write(Path(name))
