"""What a server or the command line answers at one moment of an index's life, and how true that is."""

import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from statistics import mean, median, quantiles
from typing import Any

from bench import quality
from bench.quality import Judged
from bench.report import Row
from dowse.errors import DowseError
from dowse.indexes.growing_index import missing_files
from dowse.indexes.index import ProjectIndex
from dowse.text.analysis import restore_underscores, whole_terms_of
from dowse.types import Entry
from mcp import Client

COLUMNS = ("", "nDCG@10", "÷ finished", "by name", "p50 s", "p95 s", "false words", "false counts", "words not indexed", "texts that differ")  # fmt: skip
NAMES = 5
"""Files that are asked for by their names in each round."""
TEXTS = 12
"""Texts that are compared with `git grep` in each round."""
CHECKED_FILES = 10
"""Files counted as indexed whose words are looked up in each round."""
_SEED = 1
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Round:
    """The answers at one moment."""

    ndcg: list[float] = field(default_factory=list)
    finished: list[float] = field(default_factory=list)
    """The nDCG of the finished index by words for the same questions."""
    seconds: list[float] = field(default_factory=list)
    named: list[bool] = field(default_factory=list)
    """Whether each file that was asked for by its name is among the first ten."""
    false_words: int = 0
    """Words that are called not found although a file has them."""
    false_coverage: int = 0
    """Answers whose counts are not those of the files."""
    looked_up: int = 0
    not_indexed: int = 0
    """Words of files that count as indexed, and those of them that the index does not find."""
    compared: int = 0
    differences: int = 0
    """Texts whose matches are not those of `git grep`."""

    def row(self, name: str) -> Row:
        """Return the row of a table."""
        p95 = quantiles(self.seconds * 2, n=20, method="inclusive")[-1]  # one answer is enough
        return (
            name, f"{mean(self.ndcg):.3f}", f"{mean(self.ndcg) / mean(self.finished):.2f}", f"{sum(self.named)} of {len(self.named)}",
            f"{median(self.seconds):.2f}", f"{p95:.2f}", str(self.false_words), str(self.false_coverage),
            f"{self.not_indexed} of {self.looked_up}", f"{self.differences} of {self.compared}",
        )  # fmt: skip


class Corpus:
    """A project, its questions, and the words of its files."""

    def __init__(self, root: Path, questions: Sequence[Judged]) -> None:
        self.root, self.questions = root, questions
        self.words: dict[str, frozenset[str]] = {}
        self.finished: dict[str, float] = {}
        """The nDCG of each question in the finished index by words."""
        self.read()
        texts = random.Random(_SEED)  # noqa: S311 - not a secret
        asked = [max(one.text.split(), key=len) for one in questions[: TEXTS // 2]]
        self.texts = [*asked, *(self._any_text(texts) for _ in range(TEXTS - len(asked)))]
        stems = Counter(PurePosixPath(path).stem for path in self.words)
        alone = [path for path in sorted(self.words) if stems[stem := PurePosixPath(path).stem] == 1 and len(stem) > 5]
        self.names = texts.sample(alone, NAMES)

    def read(self) -> None:
        """Read all files that the policy allows."""
        project = ProjectIndex(self.root)
        entries = [one for one in project.source.entries() if isinstance(one, Entry)]
        data = {one.path: one for one in entries if isinstance(project.source.read(one), list)}
        self.words = {path: frozenset(map(str.lower, _WORD.findall(self.text(path)))) for path in data}
        self._lower = "\n".join(map(self.text, self.words)).lower()
        self._grep = cache(self._grep_once)

    def has_word(self, word: str) -> bool:
        """Return whether a file has a word."""
        return word.lower() in self._lower

    def grep(self, text: str) -> Counter[tuple[str, int]]:
        """Return how often each line has a text, by path and number, as `git grep` finds it."""
        return self._grep(text)

    def _grep_once(self, text: str) -> Counter[tuple[str, int]]:
        command = ["git", "grep", "--no-index", "--no-color", "-F", "-a", "-o", "-n", "-z", "-e", text, "--", "."]
        found = subprocess.run(command, cwd=self.root, capture_output=True, check=False).stdout
        parts = (line.split(b"\0", 2) for line in found.splitlines() if line.count(b"\0") > 1)
        lines = ((path.decode("utf-8", "replace"), int(number)) for path, number, _ in parts)
        return Counter(line for line in lines if line[0] in self.words)

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def _any_text(self, numbers: random.Random) -> str:
        """Return a piece of a line of any file."""
        while True:
            line = numbers.choice(self.text(numbers.choice(sorted(self.words))).splitlines() or [""]).strip()
            if len(line) > 8 and line.isascii() and "\\" not in line:  # `git grep -F` stumbles over `\\E`
                start = numbers.randrange(len(line) - 8)
                if piece := line[start : start + numbers.randint(6, 24)].strip():
                    return piece


async def ask_all(client: Client, corpus: Corpus, *, moves: bool = False) -> Round:
    """Ask a server all questions; the index `moves` if it may grow meanwhile."""
    found = Round()
    for question in corpus.questions:
        reply, seconds = await _call(client, "search_code", {"query": question.text})
        _count(found, corpus, question, reply, seconds)
        indexed = reply.get("coverage", {}).get("indexedFiles", 0)
    for path in corpus.names:
        reply, _ = await _call(client, "search_code", {"query": PurePosixPath(path).stem})
        found.named.append(path in [hit["path"] for hit in reply.get("results", ())])
    for text in corpus.texts:
        reply, _ = await _call(client, "find_text", {"text": text})
        _compare(found, corpus, text, reply.get("totalMatches"), _lines_of(reply))
    counted = _look_up(found, corpus)
    found.false_coverage += not moves and counted is not None and indexed != counted
    return found


def ask_commands(corpus: Corpus) -> Round:
    """Ask the command line some questions, each in a new process."""
    found = Round()
    for question in corpus.questions[::3]:
        began = time.perf_counter()
        reply = _command(question.text, corpus)
        _count(found, corpus, question, reply, time.perf_counter() - began)
    for path in corpus.names[:2]:
        reply = _command(PurePosixPath(path).stem, corpus)
        found.named.append(path in [hit["path"] for hit in reply.get("results", ())])
    for text in corpus.texts[:: len(corpus.texts) // 3]:
        reply = _command(text, corpus, "--exact")
        _compare(found, corpus, text, reply.get("totalMatches"), _lines_of(reply))
    return found


def _command(query: str, corpus: Corpus, *options: str) -> dict[str, Any]:
    line = [sys.executable, "-m", "dowse", "search", "--json", *options, "--", query, str(corpus.root)]
    found = subprocess.run(line, env=dict(os.environ), stdout=subprocess.PIPE, check=False).stdout
    return dict(json.loads(found or "{}"))


def _count(found: Round, corpus: Corpus, question: Judged, reply: dict[str, Any], seconds: float) -> None:
    found.seconds.append(seconds)
    found.finished.append(corpus.finished[question.text])
    found.ndcg.append(quality.ndcg([hit["path"] for hit in reply.get("results", ())], question.answers))
    found.false_words += sum(map(corpus.has_word, reply.get("notFound", ())))
    coverage = reply.get("coverage", {})
    searched = coverage.get("indexedFiles", 0) + coverage.get("searchedDirectly", 0)
    found.false_coverage += searched != len(corpus.words) and coverage.get("complete", True)


def _compare(found: Round, corpus: Corpus, text: str, total: int | None, lines: Iterable[tuple[str, int]]) -> None:
    expected = corpus.grep(text)
    found.compared += 1
    is_other = total != expected.total() or (len(set(lines)) == 0) != (not expected) or not set(lines) <= set(expected)
    found.differences += is_other


def _lines_of(reply: dict[str, Any]) -> list[tuple[str, int]]:
    return [(hit["path"], hit["line"]) for hit in reply.get("matches", ())]


def _look_up(found: Round, corpus: Corpus) -> int | None:
    """Look up all words of some files that count as indexed; return how many files do, or None without an index."""
    project = ProjectIndex(corpus.root)
    try:
        if not project.exists:
            return None
        project.store.refresh()
        known = project.store.ids_by_path()  # before the files that it lacks: it may grow in between
        lacking = {entry.path for entry in missing_files(project)[1]}.union(project.store.unsearchable_paths())
        stored = {path: number for number, path in known if path not in lacking}
        for path in random.Random(_SEED).sample(sorted(stored), min(CHECKED_FILES, len(stored))):  # noqa: S311
            for term in set(whole_terms_of(corpus.text(path))):
                found.looked_up += 1
                found.not_indexed += stored[path] not in project.store.documents_with_word(restore_underscores(term))
        return len(stored)
    except DowseError:
        return None
    finally:
        project.close()


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], float]:
    began = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    return dict(result.structured_content or {}), time.perf_counter() - began
