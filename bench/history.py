"""`python bench/history.py FOLDER …` measures the search of histories: how good and how fast.

Each folder is a checkout of a repository that bench/history_questions.json has questions for: the last part of its name
is the repository's. It prints how many questions are answered by the first, by one of five and by one of ten commits,
the time to read the history, and the time of a search. `--commits N` measures a synthetic history instead.
"""

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dowse.searching.history.history_search import HistoryOptions, search_history
from dowse.searching.history.project_history import History, open_history
from dowse.settings import Settings

WORDS = [
    "retry",
    "cache",
    "parse",
    "token",
    "index",
    "query",
    "shard",
    "lease",
    "vote",
    "proxy",
    "timer",
    "watch",
    "merge",
    "split",
    "route",
    "cookie",
    "header",
]


def main() -> None:
    """Measure each folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--commits", type=int)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        if chosen.commits:
            measure(make_history(Path(work) / "synthetic", chosen.commits), Path(work), [])
        questions = json.loads(Path(__file__).with_name("history_questions.json").read_text(encoding="utf-8"))
        for folder in chosen.folders:
            asked = next(pairs for name, pairs in questions.items() if name.endswith(f"/{folder.name}"))
            measure(folder, Path(work), asked)


def measure(root: Path, work: Path, questions: list[list[str]]) -> None:
    """Print the figures of one repository."""
    storage = work / f"storage-{root.name}"
    storage.mkdir()
    with open_history(root, storage, Settings()) as history:
        began, busy = time.monotonic(), _cpu_seconds()
        first = history.update(1.5)
        print(f"{root.name}: {first.read:,} of {first.total:,} commits after {time.monotonic() - began:.1f} s")
        whole = history.update(3600)
        size = sum(file.stat().st_size for file in storage.iterdir()) / 1e6
        print(
            f"  all: {time.monotonic() - began:.1f} s, {_cpu_seconds() - busy:.1f} s of processor, {size:.1f} MB, "
            f"peak {_peak_mb():.0f} MB, symbols of {whole.with_symbols:,}"
        )
        ranks = [_rank(history, question, answer) for question, answer in questions]
        if ranks:
            shares = (f"hit@{depth} {sum(rank <= depth for rank in ranks) / len(ranks):.2f}" for depth in (1, 5, 10))
            print(f"  {len(ranks)} questions: {', '.join(shares)}")
            for (question, answer), rank in zip(questions, ranks, strict=True):
                if rank > 1:
                    print(f"    {rank if rank < 99 else '-'}: {question} ({answer})")
        asked = [question for question, _ in questions] or list(_pairs())
        times = [_seconds(history, question) for question in asked for _ in range(3)]
        print(
            f"  search: p50 {statistics.median(times) * 1000:.1f} ms, longest {max(times) * 1000:.1f} ms of processor"
        )


def _rank(history: History, question: str, answer: str) -> int:
    hits = search_history(history, question, HistoryOptions(limit=20)).hits
    return next((rank for rank, hit in enumerate(hits, 1) if hit.name.startswith(answer)), 99)


def _seconds(history: History, question: str) -> float:
    began = time.process_time()
    search_history(history, question, HistoryOptions())
    return time.process_time() - began


def _pairs() -> Iterator[str]:
    return (f"when did the {one} of the {other} change" for one, other in zip(WORDS, WORDS[5:], strict=False))


def make_history(root: Path, count: int) -> Path:
    """Make a repository of 100 files with this many commits, each of which changes two."""
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    with subprocess.Popen(["git", "-C", root, "fast-import", "--quiet"], stdin=subprocess.PIPE) as importing:
        for number in range(count):
            one, other = WORDS[number % len(WORDS)], WORDS[number * 7 // 3 % len(WORDS)]
            message = f"Change the {one} of the {other} ({number})\n\nThe {other} waits for {number % 97} {one}s."
            commit = f"commit refs/heads/main\ncommitter A <a@b> {1_000_000_000 + number * 600} +0000\n{_data(message)}"
            for file in (number % 100, number * 31 % 100):
                body = f"def {one}_{other}_{file}():\n    return {number}\n"
                commit += f"M 100644 inline src/{file % 10}/{file}.py\n{_data(body)}"
            if importing.stdin:
                importing.stdin.write(commit.encode())
    return root


def _data(text: str) -> str:
    return f"data {len(text)}\n{text}\n"


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_mb() -> float:
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


if __name__ == "__main__":
    main()
