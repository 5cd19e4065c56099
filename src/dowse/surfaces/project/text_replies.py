"""Replies about the text of files: every occurrence of a text, and the explanation of a file's place."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from dowse.indexes.index import PathDecision
from dowse.mcp.replies import (
    ENVELOPE_CHARACTERS,
    Reply,
    coverage_reply,
    fit_items,
    fit_notes,
    next_page,
    present,
    wire_characters,
)
from dowse.searching.exact_search import Occurrence, Occurrences
from dowse.types import Coverage

if TYPE_CHECKING:
    from dowse.searching.explain import RankExplanation

ShowPath = Callable[[str], str]


def occurrences_reply(
    found: Sequence[tuple[ShowPath, Occurrences, Coverage]],
    offset: int,
    limit: int,
    budget: int,
    warnings: Iterable[str],
) -> Reply:
    """Return a page of the lines with a text in one or several projects, and how many matches, lines and files there are."""
    every = [_as_json(shown_path, one) for shown_path, occurrences, _ in found for one in occurrences.found]
    total, lines, files = (
        sum(getattr(occurrences, name) for _, occurrences, _ in found) for name in ("total", "lines", "files")
    )
    is_complete = all(occurrences.is_complete and coverage.is_complete for _, occurrences, coverage in found)
    notes = present(warnings=fit_notes(dict.fromkeys(warnings), budget))
    if not is_complete:
        notes["coverage"] = coverage_reply([coverage for _, _, coverage in found])
    room = budget - ENVELOPE_CHARACTERS - wire_characters(notes)
    skipped = sum(occurrences.offset for _, occurrences, _ in found)
    page = every[offset - skipped :][:limit]
    shown = fit_items(page, room) or page[:1]
    return {
        "matches": shown,
        "totalMatches": total,
        "totalLines": lines,
        "totalFiles": files,
        "complete": is_complete,
        **(next_page(offset, shown, page, lines) if shown else {}),
        **notes,
    }


def _as_json(shown_path: ShowPath, one: Occurrence) -> Reply:
    place = {"path": shown_path(one.path), "line": one.line, "text": one.text}
    return place | present(count=one.count if one.count > 1 else 0, masked=list(one.masked), flags=list(one.flags))


def explanation_reply(found: PathDecision, ranked: "RankExplanation | None", shown_path: ShowPath = str) -> Reply:
    """Return the rule that includes or excludes a file and, with a query, its rank and the signals that led to it."""
    verdict = found.verdict
    rule = verdict.rule
    reply = {
        "path": shown_path(verdict.path),
        "allowed": verdict.is_allowed,
        "indexed": found.stored is not None,
        **present(
            reason=str(verdict.reason or ""),
            detail=verdict.detail,
            rule={"pattern": rule.pattern, "origin": rule.origin, "line": rule.line} if rule else None,
        ),
    }
    if ranked is None:
        return reply
    return reply | {
        "rank": ranked.rank or 0,
        "of": ranked.of,
        "score": round(ranked.score, 4),
        "signals": {name: round(value, 4) for name, value in ranked.signals.items()},
        **present(best=shown_path(ranked.best_path) if ranked.best_path and ranked.rank != 1 else None),
    }
