"""A day of a server in twenty minutes: searches, edits, branches, pauses and waking, and its memory stays level.

`LIFE_SECONDS` is the length of the run in `make soak`, and `LIFE_SEED` another day.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.end_to_end.conditions.test_suspended import suspend
from tests.end_to_end.storm.file_operations import GIT_USER
from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index
from tests.end_to_end.storm.servers import Server, eventually
from tests.fuzzing.parser_costs import descendants
from tests.sample_data import index, write_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, to measure processes")

LIFE_SECONDS = float(os.environ.get("LIFE_SECONDS", "1200"))
SEED = os.environ.get("LIFE_SEED", "1")
MAX_GROWTH = 1.10
FILES = 400
WARM_UP_SHARE = 0.25
"""The part of the run after which the memory counts as its level."""
WORDS = ("apple", "banana", "cherry", "date", "elder", "fig", "grape")


class Life:
    """A server, its project, and what a day does to them."""

    def __init__(self, root: Path, seed: str) -> None:
        self.root, self._dice, self._age = root, random.Random(seed), 0
        write_tree(root, {f"src/m{n % 20}/f{n}.py": self._code(n) for n in range(FILES)})
        write_tree(root, {f"docs/d{n}.md": f"# Page {n}\n\n{WORDS[n % 7]}\n" for n in range(FILES // 8)})
        self._git("init", "--quiet", "--initial-branch", "main")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", "first")
        for branch in ("left", "right"):
            self._git("checkout", "--quiet", "-b", branch)
            self._edit(60)
            self._git("commit", "--quiet", "--all", "--message", branch)

    def hour(self, server: Server) -> None:
        """Live an hour: a few of everything, then wait until the server has taken it in."""
        for _ in range(self._dice.randrange(3, 12)):
            work = self._dice.choice((self._search, self._search, self._search, self._save, self._switch, self._sleep))
            work(server)
        eventually(server.is_settled, server.status)

    def _search(self, server: Server) -> None:
        word = self._dice.choice(WORDS)
        reply = server.call_tool(self._dice.choice(("search_code", "search_docs")), query=f"{word} {self._age % 9}")
        assert "results" in reply, reply

    def _save(self, server: Server) -> None:
        self._edit(self._dice.choice((1, 1, 5, 40)))
        word = f"new{self._age}word"
        (self.root / "src" / "last.py").write_text(f"def {word}(): ...\n", encoding="utf-8")
        eventually(lambda: server.find(word) == ["src/last.py"], server.status)

    def _switch(self, _server: Server) -> None:
        self._git("checkout", "--quiet", "--force", self._dice.choice(("main", "left", "right")))

    def _sleep(self, server: Server) -> None:
        """Close the laptop, and open it again."""
        suspend([server.process.pid, *descendants(server.process.pid)], self._dice.uniform(0.0, 3.0))

    def _edit(self, count: int) -> None:
        for number in self._dice.sample(range(FILES), count):
            self._age += 1
            write_tree(self.root, {f"src/m{number % 20}/f{number}.py": self._code(number)})

    def _code(self, number: int) -> str:
        word = WORDS[(number + self._age) % 7]
        return (
            "\n\n".join(f"def {word}_{number}_{part}():\n    return '{word} {self._age}'" for part in range(6)) + "\n"
        )

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, env=os.environ | GIT_USER, capture_output=True, check=True)


def memory_of(server: Server) -> int:
    """Return the memory of a server and of the processes that it has started, without files; what they share counts once.

    Otherwise a process that is just being started would count 83 MB, all of them those of the one that it is a copy of.
    """
    return sum(map(_share_of_memory, (server.process.pid, *descendants(server.process.pid))))


def _share_of_memory(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    except OSError:  # it has ended
        return 0
    found = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)}
    return (found["Pss"] - found["Pss_File"]) * 1024


def live(tmp_path: Path, seconds: float) -> list[int]:
    """Live for a time; return the memory after each hour."""
    life = Life(tmp_path / "project", SEED)
    index(life.root)
    measured: list[int] = []
    with Server(life.root) as server:
        eventually(server.is_watching, server.status)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            life.hour(server)
            measured.append(memory_of(server))
    assert "Traceback" not in server.final_stderr
    assert_equal_to_a_new_index(life.root, tmp_path / "scratch")
    return measured


@pytest.mark.soak
@pytest.mark.timeout(LIFE_SECONDS * 2 + 600)
def test_a_day_of_a_server_leaves_its_memory_level(tmp_path: Path) -> None:
    """The peaks are compared, because memory goes up and down with the work and the idle processes that end."""
    measured = live(tmp_path, LIFE_SECONDS)
    warm = max(2, round(len(measured) * WARM_UP_SHARE))
    middle = warm + (len(measured) - warm) // 2
    level, later = max(measured[warm:middle]), max(measured[middle:])
    print(f"{len(measured)} hours; {level / 1e6:.0f} MB, later {later / 1e6:.0f} MB")
    assert later <= MAX_GROWTH * level, [round(one / 1e6) for one in measured]
