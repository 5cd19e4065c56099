"""The tables of the figures: for each corpus, and against the goals."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.figures import Figures, Result

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A heading and rows; the first row names the columns."""

    heading: str
    rows: list[Row]

    def as_text(self) -> str:
        """Return aligned columns, with numbers to the right."""
        widths = [max(len(cell) for cell in column) for column in zip(*self.rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
            for row in self.rows
        ]
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([self.heading, "", *(line.rstrip() for line in lines), ""])

    def as_markdown(self) -> str:
        """Return a Markdown table under a heading."""
        lines = [f"| {' | '.join(row)} |" for row in self.rows]
        lines.insert(1, "|---|" + "---:|" * (len(self.rows[0]) - 1))
        return "\n".join([f"### {self.heading}", "", *lines, ""])


def corpus_table(result: Result) -> Table:
    """Return all figures of one corpus; the last column says how many times better dowse is in the same run."""
    medians = result.medians()
    tools = list(medians.values())
    corpus = result.corpus
    rows = [("", *medians)]
    for label, read, show in _MEASURES:
        rows.append((label, *(_format(read(figures), show) for figures in tools)))
    rows.append(("index ÷ text", *(f"{figures.index_bytes / corpus.text_bytes:.2f}" for figures in tools)))
    if len(tools) == 2:
        rows = [(*row, _advantage(row[0], *tools)) for row in rows]
        rows[0] = (*rows[0][:-1], "dowse is better ×")
    heading = f"{corpus.name}: {len(corpus.paths):,} text files, {_megabytes(corpus.text_bytes)}"
    return Table(heading, rows)


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal, and the corpus on which it was measured."""

    what: str
    bound: str
    value: float | None
    show: Callable[[float], str]
    is_reached: Callable[[float], bool]
    where: str

    def row(self) -> Row:
        """Return the row of the goal."""
        if self.value is None:
            return (self.what, self.bound, "not measured", "", self.where)
        return (
            self.what,
            self.bound,
            self.show(self.value),
            "yes" if self.is_reached(self.value) else "NO",
            self.where,
        )


def goals_table(results: list[Result]) -> Table:
    """Return the goals with the measured figures."""
    heading = "What is to be reached (on the worst corpus, or the one nearest to 10,000 files)"
    names = ("", "to reach", "measured", "reached", "on")
    return Table(heading, [names, *(goal.row() for goal in _goals(results))])


def _goals(results: list[Result]) -> list[Goal]:
    measured = {f"{result.corpus.name}": list(result.medians().values()) for result in results}
    ours = {name: tools[0] for name, tools in measured.items()}
    ratios = {name: tools[0].files_a_second / tools[1].files_a_second for name, tools in measured.items() if tools[1:]}
    slowest = min(ours, key=lambda name: ours[name].files_a_second)
    latest = max(ours, key=lambda name: ours[name].change_seconds or 0)
    near = min(ours, key=lambda name: abs(ours[name].files - 10_000))
    goals = [Goal("files/s", "≥ 100", ours[slowest].files_a_second, _count, lambda x: x >= 100, slowest)]
    if ratios:
        least = min(ratios, key=lambda name: ratios[name])
        goals.append(Goal("files/s ÷ semble's", "> 1", ratios[least], _times, lambda x: x > 1, least))
    return [
        *goals,
        Goal("no-change run, 10,000 files", "≤ 2 s", ours[near].unchanged_seconds, _seconds, lambda x: x <= 2, near),
        Goal("one changed file", "≤ 100 ms", ours[latest].change_seconds, _seconds, lambda x: x <= 0.1, latest),
        Goal("peak memory, 10,000 files", "≤ 300 MB", ours[near].own_bytes, _megabytes, lambda x: x <= 300e6, near),
    ]


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def _megabytes(value: float) -> str:
    return f"{value / 1e6:,.0f} MB" if value >= 1e7 else f"{value / 1e6:.1f} MB"


def _times(value: float) -> str:
    return f"{value:.2f}"


def _format(value: float | None, show: Callable[[float], str]) -> str:
    return "" if value is None else show(value)


_MEASURES: list[tuple[str, Callable[[Figures], float | None], Callable[[float], str]]] = [
    ("files indexed", lambda figures: figures.files, _count),
    ("chunks", lambda figures: figures.chunks, _count),
    ("full index", lambda figures: figures.full_seconds, _seconds),
    ("full index, processor time", lambda figures: figures.full_cpu_seconds, _seconds),
    ("full index, files/s", lambda figures: figures.files_a_second, _count),
    ("no change", lambda figures: figures.unchanged_seconds, _seconds),
    ("one changed file, whole command", lambda figures: figures.changed_seconds, _seconds),
    ("one changed file, index open", lambda figures: figures.change_seconds, _seconds),
    ("the slowest of 20 such files", lambda figures: figures.change_worst_seconds, _seconds),
    ("peak memory, not file-backed", lambda figures: figures.own_bytes, _megabytes),
    ("peak memory, resident", lambda figures: figures.rss_bytes, _megabytes),
    ("index on disk", lambda figures: figures.index_bytes, _megabytes),
]


def _advantage(label: str, ours: Figures, theirs: Figures) -> str:
    """Return how many times faster or smaller dowse is; empty for figures that are neither good nor bad."""
    if label == "full index, files/s":
        return _times(ours.files_a_second / theirs.files_a_second)
    for name, read, show in _MEASURES:
        if name == label and show is not _count:
            mine, other = read(ours), read(theirs)
            return _times(other / mine) if mine and other else ""
    return ""
