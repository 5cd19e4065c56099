"""What the project tools reply: relative paths, nothing twice, no more than the budget."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dowse.errors import DowseError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_status import IndexStatus, as_size
from dowse.indexes.project_search import Coverage
from dowse.keeping.indexing_run import IndexingRun
from dowse.keeping.service import HowKept
from dowse.keeping.watch_status import WatchStatus
from dowse.mcp.tools import wire_characters
from dowse.searching.passages import Passage, matches_in
from dowse.searching.search import Answer
from dowse.store.storage_layout import Project

NAMED_FILES = 20
"""Of pending files so many are named."""
LINE_CHARACTERS = 400
"""Of a longer line only the part around its first match is shown."""
SPARE_CHARACTERS = 1000
"""What the protocol adds to a reply, and what is said of a cut."""
NOTES_SHARE = 8
"""Notes beside the hits, of each sort, take at most this part of the budget."""


Fitting = TypeVar("Fitting")


@dataclass(frozen=True, slots=True)
class ProjectAnswer:
    """What one project answered."""

    answer: Answer
    coverage: Coverage
    shown: Callable[[str], str]
    warnings: Sequence[str] = ()
    pending: Sequence[str] = ()
    """Paths that changed and are not indexed yet; a dot stands for all."""


def hits(
    pages: list[ProjectAnswer], offset: int, limit: int, budget: int, warnings: Iterable[str] = ()
) -> dict[str, Any]:
    """The hits of every project in one order, from an offset on, as many as fit."""
    found = [(page, hit) for page in pages for hit in page.answer.hits]
    found.sort(key=lambda one: -one[1].relevance)
    wanted = found[offset : offset + limit]
    stale = [page.shown(path) for page in pages for path in page.answer.outdated]
    pending = [page.shown(path) for page in pages for path in page.pending if path not in page.answer.outdated]
    said = dict.fromkeys([*warnings, *(warning for page in pages for warning in page.warnings)])
    beside = {"coverage": _coverage([page.coverage for page in pages])} | _present(
        searchedBy=_ways(pages),
        without=next((page.answer.lacks for page in pages if page.answer.lacks), ""),
        corrected={word: near for page in pages for word, near in page.answer.corrected.items()},
        notFound=sorted(set.intersection(*(set(page.answer.unknown) for page in pages))) if pages else [],
        stale=_fitting(stale[:NAMED_FILES], budget // NOTES_SHARE),
        pending=_fitting(pending[:NAMED_FILES], budget // NOTES_SHARE),
        warnings=_fitting(said, budget // NOTES_SHARE),
    )
    left = budget - SPARE_CHARACTERS - wire_characters(beside)
    results = _fitting((_hit(page, hit) for page, hit in wanted), left)
    if wanted and not results:
        results = [_shortened(_hit(*wanted[0]), left)]
    following = offset + len(results)
    cut = f"The budget is spent. More with offset: {following}." if len(results) < len(wanted) else ""
    more = _present(nextOffset=following if following < len(found) else 0, truncated=cut)
    return {"results": results, "totalResults": len(results), **more, **beside}


def _ways(pages: list[ProjectAnswer]) -> dict[str, float]:
    """How all projects were searched, and what share of the chunks each way could find, at least."""
    ways = dict.fromkeys(way for page in pages for way in page.answer.ways)
    return {way: min(page.answer.ways.get(way, 0.0) for page in pages) for way in ways}


def known(each: list[Coverage], pending: list[str]) -> dict[str, Any]:
    """How much of the project a list of paths is about, where that is not all."""
    if all(one.is_complete for one in each):
        return {}
    return {"coverage": _coverage(each)} | _present(pending=pending[:NAMED_FILES])


def hint(text: str) -> dict[str, Any]:
    """What might have been meant."""
    return _present(hint=text)


def paths(every: list[str], offset: int, limit: int, budget: int, warnings: Iterable[str] = ()) -> dict[str, Any]:
    """A page of paths."""
    beside = _present(warnings=_fitting(dict.fromkeys(warnings), budget // NOTES_SHARE))
    wanted = every[offset : offset + limit]
    shown = _fitting(wanted, budget - SPARE_CHARACTERS - wire_characters(beside)) or wanted[:1]
    following = offset + len(shown)
    cut = f"The budget is spent. More with offset: {following}." if len(shown) < len(wanted) else ""
    more = _present(nextOffset=following if following < len(every) else 0, truncated=cut)
    return {"matches": shown, "totalMatches": len(every), **more, **beside}


def status(project: ProjectIndex, run: IndexingRun | None, how_kept: HowKept) -> dict[str, Any]:
    """The truth about an index, with a look at the files."""
    found, watch = project.status(), how_kept(project)
    reply = {
        "status": found.state,
        "projectPath": str(found.root),
        "totalFiles": found.files,
        "totalChunks": found.chunks,
        "lastUpdated": found.last_updated,
        "storageSize": as_size(found.size_bytes),
        "watcherActive": watch.mode in ("watching", "elsewhere"),
    }
    if found.state == "not_found":
        return reply | _present(message="Call create_index first.", warnings=list(found.warnings))
    ours = str(run.error) if run and run.error and found.state != "ready" else None
    error = ours or watch.last_error or found.last_error
    return {
        **reply,
        "code": _kind(found, "code"),
        "docs": _kind(found, "docs"),
        "coverage": {
            "indexedFiles": found.files,
            "expectedFiles": found.files if found.state == "ready" else max(found.expected_files, found.files),
        },
        "strategy": watch.strategy,
        "watcher": watch.mode + (f" ({watch.why})" if watch.why else ""),
        "lastCheck": found.last_check,
        **_present(encoding=found.encoding.as_json if found.encoding else None),
        **_pending(project, found, watch),
        "skipped": found.skipped,
        **_present(problem=_for_assistants(found.problem), lastError=error, warnings=list(found.warnings)),
    }


def indexed(project: ProjectIndex, run: IndexingRun | None) -> dict[str, Any]:
    """What came of indexing."""
    if run and run.error:
        raise run.error
    found = project.status()
    is_going_on = found.state == "indexing" or (run is not None and run.is_going_on)
    is_whole = run is None or run.is_complete
    reply = {
        "status": "indexing" if is_going_on else "success" if is_whole else "incomplete",
        "projectPath": str(found.root),
        "filesIndexed": found.files,
        "chunksCreated": found.chunks,
    }
    if is_going_on:
        of = run.total if run else found.expected_files
        message = f"Indexing goes on in the background ({found.files} of {max(of, found.files)} files). Search works meanwhile."
        return reply | {"message": message}
    warnings = [*found.warnings, *(run.warnings if run else ())]
    return {
        **reply,
        "duration": _duration(run.seconds if run else 0.0),
        **_present(skipped=found.skipped, problem=found.problem, warnings=list(dict.fromkeys(warnings))),
    }


def of_all(each: list[dict[str, Any]], warnings: Iterable[str] = (), size_bytes: int = 0) -> dict[str, Any]:
    """One reply for one project; for several their sum, and each. The size is that of all together."""
    said = list(warnings)
    if len(each) == 1:
        return {**each[0], **_present(warnings=[*said, *each[0].get("warnings", ())])}
    numbers = ("totalFiles", "totalChunks", "filesIndexed", "chunksCreated")
    sums = {name: sum(one.get(name, 0) for one in each) for name in numbers if name in each[0]}
    states = [one["status"] for one in each]
    worst = next(state for state in (*_WORST_FIRST, states[0]) if state in states)
    return {
        "status": worst,
        "projectPath": ", ".join(one["projectPath"] for one in each),
        **sums,
        **{name: of(one.get(name) for one in each) for name, of in _OVER_ALL.items() if name in each[0]},
        **({"storageSize": as_size(size_bytes)} if "storageSize" in each[0] else {}),
        "projects": each,
        **_present(warnings=said),
    }


_OVER_ALL: dict[str, Callable[[Iterable[Any]], Any]] = {
    "lastUpdated": lambda times: max((time for time in times if time), default=None),
    "watcherActive": all,
    "duration": lambda durations: max(durations, key=lambda text: float((text or "0s").removesuffix("s"))),
}
_WORST_FIRST = ("failed", "indexing", "incomplete", "not_found", "ready", "success")


def projects(found: list[Project], budget: int) -> dict[str, Any]:
    """Every project, as many as fit."""
    each = (
        {
            "projectPath": str(project.root),
            "totalFiles": project.files,
            "totalChunks": project.chunks,
            "storageSize": as_size(project.size_bytes),
            "lastUpdated": project.metadata.get("lastIncrementalUpdate"),
            "exists": project.exists,
        }
        for project in found
    )
    shown = _fitting(each, budget - SPARE_CHARACTERS)
    cut = "" if len(shown) == len(found) else "The budget is spent. dowse projects lists all."
    return {"projects": shown, "totalProjects": len(found), **_present(truncated=cut)}


def _fitting(values: Iterable[Fitting], characters: int) -> list[Fitting]:
    """The first values that take no more than so many characters of a reply."""
    taken = list[Fitting]()
    for value in values:
        characters -= wire_characters(value) + len(", , ")
        if characters < 0:
            break
        taken.append(value)
    return taken


def _shortened(result: dict[str, Any], characters: int) -> dict[str, Any]:
    """A hit that alone is too long, with the beginning of its text."""
    result = {name: value for name, value in result.items() if name != "more"}
    while result["text"] and wire_characters(result) > characters:
        result["text"] = result["text"][: len(result["text"]) // 2]
    return {**result, "text": result["text"] + "…"}


def _hit(page: ProjectAnswer, hit: Any) -> dict[str, Any]:
    first, *others = hit.passages or (Passage(1, 1, ""),)
    terms = page.answer.terms
    result = {
        "path": page.shown(hit.path),
        "text": _text(first, terms),
        "score": hit.relevance,
        "startLine": first.start_line,
        "endLine": first.end_line,
    }
    within = " > ".join(first.headings) if hit.kind == "docs" else ".".join(first.symbols[:1])
    more = [
        {"startLine": other.start_line, "endLine": other.end_line, "text": _text(other, terms), **screening(other)}
        for other in others
    ]
    return result | _present(within=within) | screening(first) | _present(more=more)


def screening(passage: Passage) -> dict[str, Any]:
    """What was masked in a passage, and what it is to be read with care for."""
    flagged = list(passage.flagged_lines)
    return _present(masked=list(passage.masked), flags=list(passage.flags), flaggedLines=flagged)


def _text(passage: Passage, terms: Any) -> str:
    """The lines of a passage, none longer than what fits around its first match."""
    return "\n".join(_line(line, terms) for line in passage.text.split("\n"))


def _line(line: str, terms: Any) -> str:
    if len(line) <= LINE_CHARACTERS:
        return line
    spans = matches_in(line, terms)
    start = max(0, spans[0][0] - LINE_CHARACTERS // 4) if spans else 0
    end = start + LINE_CHARACTERS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _coverage(each: list[Coverage]) -> dict[str, Any]:
    pending = sum(one.pending for one in each)
    return {
        "indexedFiles": sum(one.files for one in each),
        "expectedFiles": sum(max(one.files, one.expected) for one in each),
        "complete": all(one.is_complete for one in each),
    } | _present(pending=pending, indexing=any(one.is_indexing for one in each))


def _kind(found: IndexStatus, kind: Any) -> dict[str, int]:
    totals = found.totals.get(kind)
    return {"files": totals.documents, "chunks": totals.chunks} if totals else {"files": 0, "chunks": 0}


def _pending(project: ProjectIndex, found: IndexStatus, watch: WatchStatus) -> dict[str, Any]:
    """The files that differ from the index: those that wait, where it is watched; else a look finds them."""
    if found.state not in ("ready", "incomplete"):
        return {}
    if watch.mode != "off":
        return {"pendingFiles": len(watch.pending)} | _present(staleFiles=list(watch.pending[:NAMED_FILES]))
    try:
        drift = project.drift()
    except DowseError:
        return {}
    stale = sorted([*(entry.path for entry in drift.changed), *drift.gone])
    new = sorted(entry.path for entry in drift.new)
    return {"pendingFiles": drift.pending} | _present(staleFiles=stale[:NAMED_FILES], newFiles=new[:NAMED_FILES])


def _duration(seconds: float) -> str:
    return f"{seconds:.0f}s" if seconds >= 10 else f"{seconds:.1f}s"


def _present(**values: Any) -> dict[str, Any]:
    """Only what says something."""
    return {name: value for name, value in values.items() if value}


def _for_assistants(problem: str | None) -> str | None:
    """A problem with the remedy that a tool has instead of a command's."""
    return problem and problem.replace("run dowse index", "call create_index")
