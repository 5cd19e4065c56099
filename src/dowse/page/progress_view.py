"""How far the indexes are that a search asks."""

from collections.abc import Mapping

from dowse.indexes.remaining_time import format_seconds_left
from dowse.page.markup import Html, html
from dowse.page.plain_words import plural
from dowse.page.served_roots import root_name
from dowse.types import Coverage

STATE_NAMES = {
    "ready": "ready",
    "indexing": "being indexed",
    "incomplete": "not complete",
    "failed": "failed",
    "not_found": "not indexed",
}


def progress_view(growing: Mapping[str, Coverage | None]) -> Html:
    """Return how far some indexes are, None for one that has all files; the script renews it while one is written."""
    known = [coverage for coverage in growing.values() if coverage]
    is_live = any(coverage is None or coverage.is_indexing for coverage in growing.values())
    lines = {
        html("{bar} {name}: {text}", bar=progress_bar(coverage), name=root_name(name), text=progress_text(coverage)): 0
        for name, coverage in growing.items()
    }
    return html(
        '<div class="growth"{live} data-done="{done}" data-expected="{expected}">{lines}</div>',
        live=Html(" data-live") if is_live else None,
        done=sum(coverage.files for coverage in known),
        expected=sum(coverage.expected for coverage in known),
        lines=[html('<p class="note">{line}</p>', line=line) for line in lines],
    )


def progress_bar(coverage: Coverage | None) -> Html:
    """Return a bar with the share of the files that are indexed; one without an end if it is not known."""
    values = None
    if coverage and coverage.expected:
        values = html(' value="{done}" max="{expected}"', done=coverage.files, expected=coverage.expected)
    return html('<progress aria-label="Indexed files"{values}></progress>', values=values)


def progress_text(coverage: Coverage | None) -> str:
    """Return how far an index is, and what happens to the files that it lacks."""
    if coverage is None:
        return "being updated"
    if not coverage.expected:
        return "being indexed, counting files"
    if coverage.pending and not coverage.is_indexing:
        return (
            f"{plural(coverage.pending, 'changed file')} {'waits' if coverage.pending == 1 else 'wait'} to be indexed"
        )
    left = format_seconds_left(coverage.seconds_left)
    others = "; the others were searched as they are" if coverage.direct else ""
    return f"being indexed, {coverage.files:,} of {plural(coverage.expected, 'file')}{left}{others}"
