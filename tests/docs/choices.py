"""The commands that pages offer for a choice: run each alone, in a small project with a home of its own."""

import importlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bench import program
from tests import forking
from tests.docs.examples import Block, Reader
from tests.recording.starting import ONE_BATCH
from tests.repository import REPOSITORY
from tests.sample_data import write_tree

FOREIGN = {"claude plugin", "docker build", "docker run", "git clone", "pip install", "pipx install"}
"""Commands of other programs alone, which need Claude Code, a registry, a repository or Docker."""
_SHOP = {
    ".claude.json": "{}",
    ".claude/settings.json": "{}",
    ".cursor/mcp.json": "{}",
    "notes/list.md": "# List\n\nBuy apples.\n",
    "shop/pyproject.toml": "[project]\nname = 'shop'\n",
    "shop/cart.py": '"""Everything about the cart."""\n\n\ndef add_to_cart(item):\n    """Put an item into the cart of a customer."""\n',
    "shop/guide.md": "# How to renew a certificate\n\n## Install\n\nCopy it.\n",
    "shop/public/robots.txt": "",
    "shop/pages/index.md": "---\ntitle: Home\n---\nAbout the shop.\n",
}
_FILLED_IN = {
    "--site FILE": "--site public/index.json",
    "~/": "HOME/",
    " DIR DIR": " . ../notes",
    " DIR": " .",
}
"""Placeholders of the pages, and what they stand for in the small project."""


def choices(block: Block) -> Iterator[list[str]]:
    """Return the commands of a block as words: of `claude mcp add dowse -- dowse serve` what is behind the dashes."""
    for command in block.commands:
        line = command
        for placeholder, real in _FILLED_IN.items():
            line = line.replace(placeholder, real)
        words = shlex.split(re.sub(r"\s# .*", "", line))
        if words[0] in ("claude", "codex") and "--" in words:
            words = words[words.index("--") + 1 :]
        yield words[words.index("dowse") :] if words[0] == "uvx" or words[:2] == ["pipx", "run"] else words


class Chooser(Reader):
    """Somebody who tries every command of a page in a small project."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.home = write_tree(self.cwd, _SHOP)
        self.cwd = self.home / "shop"
        self.environment["BROWSER"] = "true"
        self.dowse("site", "build", "pages", "-o", "public/index.json", "--name", "Shop", "--domain", "shop.example")
        if shutil.which("git"):
            self._git("init", "-q")
            self._commit("Start the shop")
            with (self.cwd / "cart.py").open("a", encoding="utf-8") as file:
                file.write("    cart.append(item)\n")
            self._commit("Put items into the cart of a customer")

    def _commit(self, message: str) -> None:
        self._git("add", ".")
        self._git("-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-qm", message)

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.cwd, env=self.environment, check=True)

    def choose(self, words: list[str]) -> None:
        """Run a command; it has to succeed."""
        words = [word.replace("HOME", str(self.home)) for word in words]
        if words[0] == "dowse" and ("--http" in words or words[1] == "open"):
            self.interrupt(*words[1:])
        elif words[:2] == ["dowse", "install"] and len(words) > 2:  # the first one writes, and tries the server: 1.4 s
            self.dowse(*words[1:], "--dry-run")
        elif words[0] == "dowse":
            self.dowse(*words[1:], *(["--yes"] if words[1] in ("install", "uninstall") else []))
        elif words[0] == "make":
            done = subprocess.run(["make", "--dry-run", *words[1:]], cwd=REPOSITORY, capture_output=True, check=False)
            assert not done.returncode, done.stderr
        elif words[1:2] == ["-m"]:
            assert_accepted(words[2], words[3:])
        else:
            assert " ".join(words[:2]) in FOREIGN

    def dowse(self, *arguments: str) -> None:
        """Run dowse without any input: a server on stdin and stdout ends at once."""
        code, _, messages = forking.run(*arguments, env=self.environment, cwd=str(self.cwd), constants=ONE_BATCH)
        assert code == 0, (arguments, messages.decode())


def assert_accepted(module: str, arguments: list[str]) -> None:
    """The program of a benchmark takes the arguments; nothing is measured."""
    main = importlib.import_module("bench.__main__" if module == "bench" else module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [module, *arguments])
        patch.setattr(program, "run", lambda *_: 0)
        patch.setattr(main, "_roots", lambda *_: [], raising=False)
        patch.setattr(main, "_choose_corpora", lambda *_: [], raising=False)
        assert main.main() in (0, 2)
