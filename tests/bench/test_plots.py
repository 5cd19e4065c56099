"""The plots show the figures of docs/benchmarks.md."""

import re

import pytest
from bench.plots import DOCS, PLOTS, Plot, draw, first_table

PAGE = (DOCS / "benchmarks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_a_plot_is_what_the_page_says(plot: Plot) -> None:
    drawn = (DOCS / "plots" / f"{plot.name}.svg").read_text(encoding="utf-8")
    assert drawn == draw(plot, PAGE), "draw it again with: python -m bench.plots"
    for row, column, _ in plot.cells:
        assert f">{first_table(PAGE, plot.heading)[row][column]}</text>" in drawn


def test_a_bar_is_as_long_as_its_figure() -> None:
    text = "## Heading\n\n| | a | b |\n|---|---:|---:|\n| x | 1,000 MB | 250 MB |\n"
    lengths = re.findall(
        r'width="([\d.]+)" height="20"',
        draw(Plot("n", "t", "Heading", (("x", "a", "dowse"), ("x", "b", "other"))), text),
    )
    assert float(lengths[0]) == 4 * float(lengths[1])


def test_every_plot_is_shown_on_a_page() -> None:
    pages = "".join(file.read_text(encoding="utf-8") for file in (DOCS.parent / "README.md", *DOCS.rglob("*.md")))
    assert [plot.name for plot in PLOTS if f"plots/{plot.name}.svg" not in pages] == []
