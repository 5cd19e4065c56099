"""A changing project, and assertions on its index after crashes."""

import os
import random
import subprocess
import sys
from pathlib import Path

from dowse.indexes.index import ProjectIndex
from tests.end_to_end.storm import index_comparison
from tests.sample_data import find, write_tree

WORDS = ("apple", "banana", "cherry", "date", "elder", "fig", "grape")

INDEX = """
import sys
from dowse.indexes.freshness import indexer
indexer.FIRST_BATCH_FILES = indexer.BATCH_FILES = 12  # many batches, so that there are many states to interrupt
from dowse.cli import main
sys.exit(main(["index", sys.argv[1]]))
"""


def make_project(root: Path, files: int = 120) -> Path:
    """Write a project with code and documentation."""
    write_tree(root, {f"src/m{number}/f{number}.py": _code(number, 0) for number in range(files)})
    write_tree(
        root, {f"docs/d{number}.md": f"# Page {number}\n\n{WORDS[number % 7]}\n" for number in range(files // 6)}
    )
    return root


def change_project(root: Path, dice: random.Random, age: int) -> None:
    """Write, add and delete files, so that an indexing run has work."""
    files = sorted(root.rglob("*.py"))
    for file in dice.sample(files, min(40, len(files))):
        file.write_text(_code(int(file.stem[1:]), age), encoding="utf-8")
    for file in dice.sample(files, 4):
        file.unlink()
    write_tree(root, {f"src/new{age}/f{1000 + 10 * age + n}.py": _code(1000 + 10 * age + n, age) for n in range(4)})


def start_index(root: Path, **environment: str) -> "subprocess.Popen[str]":
    """Start `dowse index` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", INDEX, str(root)],
        env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def assert_consistent(project: ProjectIndex) -> None:
    """Assert that each document is complete and every hit exists, even after an interruption."""
    if not project.exists:
        return
    store = project.store
    findings = [finding for finding in store.check() if finding.part == "catalog"]
    assert findings == []
    for document in store.documents():
        assert len(store.chunks(document.id)) == document.chunk_count
    for word in WORDS:
        hits = find(store, word, limit=1000)
        assert len(store.chunks_by_id([hit.id for hit in hits])) == len(hits)
    assert store.check() == []


def assert_equal_to_a_new_index(project: ProjectIndex, scratch: Path) -> None:
    """Assert that the index equals one built from scratch of the same files, and that all of its parts agree."""
    index_comparison.assert_equal_to_a_new_index(project.root, scratch)
    assert project.check() == []


def _code(number: int, age: int) -> str:
    word = WORDS[(number + age) % len(WORDS)]
    functions = (f"def {word}_{number}_{part}():\n    return '{word} {age}'\n" for part in range(6))
    return "\n\n".join(functions)
