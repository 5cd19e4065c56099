"""A page of the documentation whose tables are renewed between two lines."""

from pathlib import Path


def lines(name: str) -> tuple[str, str]:
    """The lines that what is generated stands between."""
    return f"<!-- {name}: start -->", f"<!-- {name}: end -->"


def has_place(page: Path, name: str) -> bool:
    """Whether a page has the lines; a run of many minutes should not end with the news that it has not."""
    start, end = lines(name)
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    return start in text and end in text.partition(start)[2]


def put(page: Path, name: str, text: str) -> None:
    """Replace what stands between the lines."""
    start, end = lines(name)
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{start}\n\n{text}\n{end}{after}", encoding="utf-8")
