"""The replies of the project tools: relative paths, nothing twice, no more than the budget."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.indexes.index import PathDecision, ProjectIndex
from dowse.indexes.index_status import IndexStatus, format_size
from dowse.indexes.remaining_time import format_seconds_left
from dowse.mcp.replies import (
    ENVELOPE_CHARACTERS,
    NAMED_FILES,
    Reply,
    coverage_reply,
    fit_items,
    fit_notes,
    fit_page,
    fit_results,
    next_page,
    overall_state,
    present,
    wire_characters,
    without_storage_root,
)
from dowse.searching.exact_search import Occurrence, Occurrences
from dowse.searching.explain import RankExplanation, strongest_signals
from dowse.searching.passages import Passage, content_warnings, passage_text
from dowse.searching.ranking import count_relevant
from dowse.searching.search import SHOWN_COPIES, Answer, Detail, SearchHit
from dowse.store.storage_layout import Project
from dowse.types import Coverage, Kind

if TYPE_CHECKING:  # a command that prints a reply starts 40 ms sooner
    from dowse.keeping.indexing_run import IndexingRun
    from dowse.keeping.served_index import ServedIndex
    from dowse.keeping.watch_status import WatchStatus

ShowPath = Callable[[str], str]

MAX_LINE_CHARACTERS = 400
"""A longer line of a passage is cut around its first match."""


@dataclass(frozen=True, slots=True)
class ProjectAnswer:
    """The answer of one project to a search."""

    answer: Answer
    coverage: Coverage
    shown_path: ShowPath
    warnings: Sequence[str] = ()
    pending: Sequence[str] = ()
    """Paths that changed and are not indexed yet; a dot stands for all."""
    detail: Detail = "passages"


def search_reply(
    answers: list[ProjectAnswer], offset: int, limit: int, budget: int, warnings: Iterable[str] = ()
) -> Reply:
    """Return the hits of every project in one order, from an offset on, as many as fit."""
    found = [(answer, hit) for answer in answers for hit in answer.answer.hits]
    found.sort(key=lambda pair: -pair[1].score)
    words = max((len(answer.answer.terms) for answer in answers), default=0)
    relevant = count_relevant([hit.score for _, hit in found], words)
    page = [_hit(answer, hit) for answer, hit in found[:relevant][offset : offset + limit]]
    total = relevant + (relevant == len(found) and any(answer.answer.has_more for answer in answers))
    stale = [answer.shown_path(path) for answer in answers for path in answer.answer.outdated]
    pending = [
        answer.shown_path(path) for answer in answers for path in answer.pending if path not in answer.answer.outdated
    ]
    all_warnings = dict.fromkeys([*warnings, *(warning for answer in answers for warning in answer.warnings)])
    notes = {"coverage": coverage_reply([answer.coverage for answer in answers])} | present(
        searchedBy=_search_methods(answers),
        without=next((answer.answer.skipped_method for answer in answers if answer.answer.skipped_method), ""),
        corrected={word: near for answer in answers for word, near in answer.answer.corrected.items()},
        notFound=sorted(set.intersection(*(set(answer.answer.unknown) for answer in answers))) if answers else [],
        withoutFilters=0 if found else min(limit, sum(answer.answer.hits_without_filters for answer in answers)),
        stale=fit_notes(stale[:NAMED_FILES], budget),
        pending=fit_notes(pending[:NAMED_FILES], budget),
        warnings=fit_notes(all_warnings, budget),
    )
    room = budget - ENVELOPE_CHARACTERS - wire_characters(notes)
    results = fit_results(page, room)
    return {
        "results": results,
        "totalResults": len(results),
        **present(weakerMatches=sum(answer.answer.weaker for answer in answers) + len(found) - relevant),
        **next_page(offset, results, page, total),
        **notes,
    }


def _search_methods(answers: list[ProjectAnswer]) -> dict[str, float]:
    """Return the search methods that were used, with the least share of the chunks that each could find."""
    methods = dict.fromkeys(method for answer in answers for method in answer.answer.methods)
    return {method: min(answer.answer.methods.get(method, 0.0) for answer in answers) for method in methods}


def _hit(answer: ProjectAnswer, hit: SearchHit) -> Reply:
    first = hit.passages[0] if hit.passages else Passage(1, 1, "")
    result = {
        "path": answer.shown_path(hit.path),
        "text": passage_text(first, answer.answer.terms, MAX_LINE_CHARACTERS),
        "score": hit.score,
        "startLine": first.start_line,
        "endLine": first.end_line,
    }
    names = (*first.headings, *first.symbols[:1])
    return (
        result
        | present(
            within=(" > " if hit.kind == "docs" else ".").join(names),
            partOf="-".join(map(str, first.whole or ())),
            signature=first.signature,
        )
        | content_warnings(first)
        | present(
            sameIn=[answer.shown_path(path) for path in hit.same_in[:SHOWN_COPIES]],
            moreSame=max(0, len(hit.same_in) - SHOWN_COPIES),
            why="" if answer.detail == "passages" else strongest_signals(hit.signals),
            direct=hit.is_direct,
        )
    )


def paths_reply(paths: list[str], offset: int, limit: int, budget: int, warnings: Iterable[str] = ()) -> Reply:
    """Return a page of paths."""
    notes = present(warnings=fit_notes(dict.fromkeys(warnings), budget))
    shown, more = fit_page(paths, offset, limit, budget - ENVELOPE_CHARACTERS - wire_characters(notes))
    return {"matches": shown, "totalMatches": len(paths), **more, **notes}


def incomplete_notes(coverages: list[Coverage], pending: list[str]) -> Reply:
    """Return how much of the projects a list of paths is about, if that is not everything."""
    if all(coverage.is_complete for coverage in coverages):
        return {}
    return {"coverage": coverage_reply(coverages)} | present(pending=pending[:NAMED_FILES])


def status_reply(project: ProjectIndex, served: "ServedIndex") -> Reply:
    """Return the status of an index; where nothing watches its files, they are looked at now."""
    status, run, watch = project.status(), served.run, served.watch_status(project)
    reply = {
        "status": status.state,
        "projectPath": str(status.root),
        "totalFiles": status.files,
        "totalChunks": status.chunks,
        "lastUpdated": status.last_updated,
        "storageSize": format_size(status.size_bytes),
        "watcherActive": watch.mode in ("watching", "elsewhere"),
    }
    if status.state == "not_found":
        return reply | present(message="Call create_index first.", warnings=list(status.warnings))
    run_error = str(run.error) if run and run.error and status.state != "ready" else None
    return {
        **reply,
        "code": _totals(status, "code"),
        "docs": _totals(status, "docs"),
        "coverage": {
            "indexedFiles": status.files,
            "expectedFiles": status.files if status.state == "ready" else max(status.expected_files, status.files),
            **present(secondsLeft=status.seconds_left),
        },
        "strategy": watch.strategy,
        "watcher": watch.mode + (f" ({watch.why})" if watch.why else ""),
        "lastCheck": status.last_check,
        **present(
            encoding=status.encoding.as_json if status.encoding else None,
            memory=f"small, without the model: {status.memory}" if status.memory else None,
        ),
        **_pending(project, status, watch),
        "skipped": status.skipped,
        **present(
            unparsedFiles=[f"{path} {problem}" for path, problem in status.unparsed.items()][:NAMED_FILES],
            problem=_tool_remedy(status.problem),
            lastError=without_storage_root(run_error or watch.last_error or status.last_error or ""),
            warnings=list(status.warnings),
        ),
    }


def _totals(status: IndexStatus, kind: Kind) -> dict[str, int]:
    totals = status.totals.get(kind)
    return {"files": totals.documents, "chunks": totals.chunks} if totals else {"files": 0, "chunks": 0}


def _pending(project: ProjectIndex, status: IndexStatus, watch: "WatchStatus") -> Reply:
    """Return the files that differ from the index, from the watcher or, where it does not name them, by comparing the files."""
    if status.state not in ("ready", "incomplete"):
        return {}
    if watch.mode != "off" and "." not in watch.pending:
        return {"pendingFiles": len(watch.pending)} | present(staleFiles=list(watch.pending[:NAMED_FILES]))
    try:
        drift = project.drift()
    except DowseError:
        return {}
    gone = project.named(sorted(drift.gone)[:NAMED_FILES])
    stale, new = sorted([*(entry.path for entry in drift.changed), *gone]), sorted(entry.path for entry in drift.new)
    return {"pendingFiles": drift.pending} | present(staleFiles=stale[:NAMED_FILES], newFiles=new[:NAMED_FILES])


def _tool_remedy(problem: str | None) -> str | None:
    """Return a problem with the tool that solves it in place of the command."""
    return problem and without_storage_root(problem.replace("run dowse index", "call create_index"))


def indexing_reply(project: ProjectIndex, run: "IndexingRun | None") -> Reply:
    """Return the outcome of a run, or how far it is."""
    if run and run.error:
        raise run.error
    status = project.status()
    if status.state == "indexing" or (run is not None and run.is_running):
        expected = max(run.total if run else status.expected_files, status.files)
        progress = f"({status.files} of {expected} files{format_seconds_left(status.seconds_left)})"
        message = f"Indexing goes on in the background {progress}. Search works meanwhile."
        return {"status": "indexing", **_indexed_totals(status), "message": message}
    seconds, warnings = (run.seconds, run.warnings) if run else (0.0, ())
    return indexed_reply(status, seconds, warnings, is_complete=run is None or run.is_complete)


def indexed_reply(status: IndexStatus, seconds: float, warnings: Iterable[str], *, is_complete: bool) -> Reply:
    """Return the outcome of indexing that has ended."""
    return {
        "status": "success" if is_complete else "incomplete",
        **_indexed_totals(status),
        "duration": _duration(seconds),
        **present(
            skipped=status.skipped,
            problem=status.problem,
            warnings=list(dict.fromkeys([*status.warnings, *warnings])),
        ),
    }


def _indexed_totals(status: IndexStatus) -> Reply:
    return {"projectPath": str(status.root), "filesIndexed": status.files, "chunksCreated": status.chunks}


def _duration(seconds: float) -> str:
    return f"{seconds:.0f}s" if seconds >= 10 else f"{seconds:.1f}s"


_COMBINED: dict[str, Callable[[Iterable[Any]], Any]] = {
    "lastUpdated": lambda times: max((time for time in times if time), default=None),
    "watcherActive": all,
    "duration": lambda durations: max(durations, key=lambda text: float((text or "0s").removesuffix("s"))),
}
_SUMMED = ("totalFiles", "totalChunks", "filesIndexed", "chunksCreated")


def combined_reply(replies: list[Reply], warnings: Iterable[str] = (), size_bytes: int = 0) -> Reply:
    """Return the reply of one project as it is; of several their sum, and each. The size is that of all together."""
    said = list(warnings)
    if len(replies) == 1:
        return {**replies[0], **present(warnings=[*said, *replies[0].get("warnings", ())])}
    first = replies[0]
    return {
        "status": overall_state(reply["status"] for reply in replies),
        "projectPath": ", ".join(reply["projectPath"] for reply in replies),
        **{name: sum(reply.get(name, 0) for reply in replies) for name in _SUMMED if name in first},
        **{name: combine(reply.get(name) for reply in replies) for name, combine in _COMBINED.items() if name in first},
        **({"storageSize": format_size(size_bytes)} if "storageSize" in first else {}),
        "projects": replies,
        **present(warnings=said),
    }


def projects_reply(projects: list[Project], budget: int) -> Reply:
    """Return every indexed project of this machine, as many as fit; archives have tools of their own."""
    projects = [project for project in projects if not project.is_archive]
    listed = (
        {
            "projectPath": str(project.root),
            "totalFiles": project.files,
            "totalChunks": project.chunks,
            "storageSize": format_size(project.size_bytes),
            "lastUpdated": project.metadata.get("lastIncrementalUpdate"),
            "exists": project.exists,
            "rootState": project.root_state,
        }
        for project in projects
    )
    shown = fit_items(listed, budget - ENVELOPE_CHARACTERS)
    cut = "" if len(shown) == len(projects) else "The budget is spent. dowse projects lists all."
    return {"projects": shown, "totalProjects": len(projects), **present(truncated=cut)}


def occurrences_reply(
    found: Sequence[tuple[ShowPath, Occurrences, Coverage]],
    offset: int,
    limit: int,
    budget: int,
    warnings: Iterable[str],
) -> Reply:
    """Return a page of the lines with a text in one or several projects, and how many matches, lines and files there are."""
    every = [_occurrence(shown_path, one) for shown_path, occurrences, _ in found for one in occurrences.found]
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


def _occurrence(shown_path: ShowPath, one: Occurrence) -> Reply:
    place = {"path": shown_path(one.path), "line": one.line, "text": one.text}
    return place | present(count=one.count if one.count > 1 else 0, masked=list(one.masked), flags=list(one.flags))


def explanation_reply(found: PathDecision, ranked: RankExplanation | None, shown_path: ShowPath = str) -> Reply:
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
