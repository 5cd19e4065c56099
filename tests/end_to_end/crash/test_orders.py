"""The order of results depends on the files alone: not on the updates, and not on the kills that led to the index."""

import itertools
import os
import random
import re
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

import dowse
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search
from dowse.searching import ranking_constants
from dowse.searching.candidates import Mode
from dowse.searching.search import SearchOptions
from tests.end_to_end.crash.project import start_index
from tests.end_to_end.storm.index_comparison import new_index
from tests.examples import KILLS
from tests.sample_data import open_indexed

PACKAGES = ("searching", "store", "page", "cli")
"""Real files: their words have every frequency, and many chunks have equal scores."""
MODES: tuple[Mode, ...] = get_args(Mode)
QUERIES, UPDATES = (60, 20) if os.environ.get("SOAK") else (24, 10)

Orders = dict[tuple[str, str], list[str]]


class ChangingProject:
    """Files that are cut, shuffled, removed and restored at random."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root, self._dice = root, dice
        for name in PACKAGES:
            skipped = shutil.ignore_patterns("__pycache__", "*.toml")
            shutil.copytree(Path(dowse.__file__).parent / name, root / name, ignore=skipped)
        self._texts = {file: file.read_text(encoding="utf-8") for file in sorted(root.rglob("*.*")) if file.is_file()}

    def change(self) -> None:
        """Change some files."""
        for file in self._dice.sample(list(self._texts), self._dice.choice([1, 3, 10, 40])):
            lines = self._texts[file].splitlines(keepends=True)
            what = self._dice.random()
            if what < 0.4:
                self._dice.shuffle(lines)
                file.write_text("".join(lines[: self._dice.randint(0, len(lines))]), encoding="utf-8")
            elif what < 0.6:
                file.unlink(missing_ok=True)
            else:
                file.write_text("".join(lines), encoding="utf-8")

    def queries(self) -> list[str]:
        """Return names, and rare words with frequent ones, which hundreds of chunks have."""
        counts = Counter(word for text in self._texts.values() for word in set(re.findall(r"[A-Za-z_]{4,}", text)))
        rare = sorted(word for word, files in counts.items() if files <= 2)
        frequent = sorted(word for word, files in counts.items() if 12 <= files <= 40)
        choose = self._dice.choice
        pairs = [f"{choose(rare)} {choose(frequent)}" for _ in range(QUERIES * 2 // 3)]
        return [*pairs, *(choose([*rare, *frequent]) for _ in range(QUERIES // 3))]


def orders(project: ProjectIndex, texts: list[str]) -> Orders:
    found: Orders = {}
    for text, mode in itertools.product(texts, MODES):
        answer, _ = search(project, text, SearchOptions(limit=50, mode=mode, keeps_weak=True))
        found[text, mode] = [hit.path for hit in answer.hits]
    return found


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 2 + KILLS // 20))]
)
@pytest.mark.parametrize("candidates", [20, pytest.param(ranking_constants.CHUNK_CANDIDATES, marks=pytest.mark.soak)])
def test_updates_and_kills_leave_the_order_of_a_new_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, candidates: int
) -> None:
    """With few candidates, most searches cut off some of those that have equal scores."""
    for name in ("CHUNK_CANDIDATES", "DOCUMENT_CANDIDATES"):
        monkeypatch.setattr(ranking_constants, name, min(candidates, getattr(ranking_constants, name)))
    dice = random.Random(seed)
    changing = ChangingProject(tmp_path / "project", dice)
    project = open_indexed(changing.root)
    for age in range(1, UPDATES + 1):
        changing.change()
        if age % (5 if seed == 1 else 2):  # the soak kills ten runs of each project
            project.update()
            continue
        with start_index(changing.root) as child:
            try:
                child.wait(dice.uniform(0.5, 2.0))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
            child.communicate()
    project.update()
    texts = changing.queries()
    found = orders(project, texts)
    project.close()
    with new_index(changing.root, tmp_path / "scratch") as fresh:
        expected = orders(fresh, texts)
    assert {query: paths for query, paths in found.items() if paths != expected[query]} == {}
