"""Draw the figures of docs/benchmarks.md as bars: `python -m bench.plots` writes docs/plots/*.svg."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, LEFT, RIGHT, BAR, GAP = 760, 260, 90, 20, 10
OURS, OTHERS = "#4c6ef5", "#adb5bd"

Table = dict[str, dict[str, str]]
"""The cells of a table, by the first cell of the row and the head of the column."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: cells of the first table below a heading."""

    name: str
    title: str
    heading: str
    cells: tuple[tuple[str, str, str], ...]
    """The row, the column and the label of each bar."""


def _assistants(column: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((name, column, name) for name in ("dowse", "semble", "grep and read"))


PLOTS = (
    Plot(
        "tokens", "Tokens that a scripted assistant reads, median of 106 issues (50,000 is the limit)", "Tokens that an assistant reads, measured",
        _assistants("tokens, median"),
    ),
    Plot(
        "solved", "Issues whose changed lines it has seen within 50,000 tokens, of 106", "Tokens that an assistant reads, measured",
        _assistants("succeeds"),
    ),
    Plot(
        "memory", "Peak memory of the full index of 10,000 files", "10,000 files: 10,000 text files, 49 MB",
        (
            ("peak memory, not file-backed", "dowse 0.1.0", "dowse"),
            ("peak memory, not file-backed", "semble 0.7.0", "semble 0.7"),
        ),
    ),
    Plot(
        "indexing", "Full index of 10,000 files, by words", "10,000 files: 10,000 text files, 49 MB",
        (("full index", "dowse 0.1.0", "dowse"), ("full index", "semble 0.7.0", "semble 0.7 (with vectors)")),
    ),
    Plot(
        "quality", "Code search, nDCG@10 of 413 judged queries", "nDCG@10 of judged queries, by what has a say",
        (
            ("by words alone", "code", "dowse by words"),
            ("with the table, as when `create_index` returns", "code", "dowse with the table"),
            ("with the model, as when the worker is done", "code", "dowse with the model"),
        ),
    ),
)  # fmt: skip


def first_table(text: str, heading: str) -> Table:
    """Return the first table below a heading."""
    below = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    found = re.search(r"^\|.*\n\|[-:| ]+\n((?:\|.*\n)+)", below, re.MULTILINE)
    if found is None:
        raise ValueError(f"there is no table below {heading}")
    head = _cells(found[0].splitlines()[0])
    rows = [_cells(line) for line in found[1].splitlines()]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def draw(plot: Plot, text: str) -> str:
    """Return the picture of a plot, from the text of docs/benchmarks.md."""
    table = first_table(text, plot.heading)
    bars = [(label, table[row][column]) for row, column, label in plot.cells]
    height = 50 + len(bars) * (BAR + GAP)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="13" role="img">',
            f"<title>{escape(plot.title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
            f'<text x="12" y="26" font-size="15">{escape(plot.title)}</text>',
            *_bars(bars),
            "</svg>",
            "",
        ]
    )


def _bars(bars: list[tuple[str, str]]) -> Iterator[str]:
    longest = max(_number(value) for _, value in bars)
    for place, (label, value) in enumerate(bars):
        y = 44 + place * (BAR + GAP)
        length = round(_number(value) / longest * (WIDTH - LEFT - RIGHT), 1)
        colour = OURS if label.startswith("dowse") else OTHERS
        yield f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(label)}</text>'
        yield f'<rect x="{LEFT}" y="{y}" width="{length}" height="{BAR}" fill="{colour}"/>'
        yield f'<text x="{LEFT + length + 6}" y="{y + 14}">{escape(value)}</text>'


def _number(value: str) -> float:
    found = re.match(r"[\d,.]+", value)
    if found is None:
        raise ValueError(f"{value} is not a figure")
    return float(found[0].replace(",", ""))


def main() -> None:
    """Draw every plot."""
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    (DOCS / "plots").mkdir(exist_ok=True)
    for plot in PLOTS:
        (DOCS / "plots" / f"{plot.name}.svg").write_text(draw(plot, text), encoding="utf-8")


if __name__ == "__main__":
    main()
