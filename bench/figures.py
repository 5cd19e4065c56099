"""The figures of one tool on one corpus, and their medians over all rounds."""

import statistics
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from bench.corpora import Corpus


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one round; None if a tool or a machine has no such figure."""

    files: int
    chunks: int
    full_seconds: float
    full_cpu_seconds: float | None
    unchanged_seconds: float
    changed_seconds: float
    """One changed file, the whole command."""
    change_seconds: float | None
    """One changed file, the work alone in a process that has the index open; the median of several."""
    change_worst_seconds: float | None
    """The slowest of them."""
    own_bytes: int | None
    rss_bytes: int | None
    index_bytes: int

    @property
    def files_a_second(self) -> float:
        """Files indexed for each second of the whole command."""
        return self.files / self.full_seconds


class Contestant(Protocol):
    """A tool that is measured."""

    @property
    def name(self) -> str: ...

    def round(self, corpus: Corpus) -> Figures:
        """Index a corpus from scratch, again without a change, and again with one changed file."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """All figures of one corpus: the rounds of each contestant, dowse first."""

    corpus: Corpus
    rounds: dict[str, list[Figures]]

    def medians(self) -> dict[str, Figures]:
        """Return the medians of each contestant."""
        return {name: median(rounds) for name, rounds in self.rounds.items()}

    def as_json(self) -> dict[str, object]:
        """Return all figures of all rounds."""
        return {
            "corpus": self.corpus.name,
            "files": len(self.corpus.paths),
            "textBytes": self.corpus.text_bytes,
            "rounds": {name: [asdict(figures) for figures in rounds] for name, rounds in self.rounds.items()},
        }


def median(rounds: list[Figures]) -> Figures:
    """Return the median of each figure; for memory, the highest peak."""
    columns: dict[str, list[Any]] = {name: [getattr(figures, name) for figures in rounds] for name in asdict(rounds[0])}
    return Figures(**{name: _combine(name, values) for name, values in columns.items()})


def _combine(name: str, values: list[Any]) -> Any:
    if None in values:
        return None
    return max(values) if name in ("own_bytes", "rss_bytes") else statistics.median(values)
