"""Pages of the documentation whose tables are replaced between two marker lines."""

from pathlib import Path


def marker_lines(name: str) -> tuple[str, str]:
    """Return the marker lines around a generated part."""
    return f"<!-- {name}: start -->", f"<!-- {name}: end -->"


def has_markers(page: Path, name: str) -> bool:
    """Return whether a page has the markers; checked before a run of many minutes."""
    start, end = marker_lines(name)
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    return start in text and end in text.partition(start)[2]


def replace_between(page: Path, name: str, text: str) -> None:
    """Replace the text between the markers."""
    start, end = marker_lines(name)
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{start}\n\n{text}\n{end}{after}", encoding="utf-8")
