"""The check of an index for problems, without loading it for search."""

from dataclasses import dataclass

from dowse.errors import Failed, NotASiteIndex
from dowse.sites.index_check import Problem, check_index
from dowse.sites.index_model import MAX_INDEX_BYTES
from dowse.sites.index_parsing import parse_index
from dowse.sites.index_sources import open_index_source


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of a check."""

    version: str
    pages: int
    problems: tuple[Problem, ...]


def inspect(location: str) -> Inspection:
    """Return the problems of the index at a location; raise Failed if it cannot be read."""
    fetched = open_index_source(location).fetch(None)
    if fetched is None:
        raise Failed(f"{location} could not be read.")
    return inspect_bytes(fetched.data)


def inspect_bytes(data: bytes | bytearray) -> Inspection:
    """Return the problems of an index."""
    if len(data) > MAX_INDEX_BYTES:
        problem = Problem("", f"it is larger than {MAX_INDEX_BYTES >> 20} MB", "Split the site, or shorten the bodies")
        return Inspection("", 0, (problem,))
    try:
        root = parse_index(data)
    except NotASiteIndex as error:
        what, _, remedy = str(error).partition(". ")
        return Inspection("", 0, (Problem("", what[0].lower() + what[1:], remedy.rstrip(".") or "Write an object"),))
    header, problems = check_index(root, lambda _page: None)
    pages = root.get("pages")
    return Inspection(header.version, len(pages) if isinstance(pages, list) else 0, tuple(problems))
