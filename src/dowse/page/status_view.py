"""The view of the status: what is indexed, how far and how fresh, what it costs; and the changes that a person may make."""

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from dowse.errors import ItemNotFound, TooManyFiles
from dowse.federation.federation_types import SourceStatus
from dowse.federation.source_list import SourceList
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import last_errors
from dowse.indexes.index_status import format_size
from dowse.indexes.remaining_time import format_seconds_left
from dowse.keeping.indexing_run import REBUILD, IndexingRun
from dowse.keeping.served_index import ServedIndex
from dowse.mcp.replies import without_storage_root
from dowse.page.item_links import read_address, root_name
from dowse.page.markup import Html, about, counted, html, link, tag, time_view
from dowse.parsing.parser_limits import kept_bytes
from dowse.surfaces.project.index_tools import CREATE_QUESTION, DELETE_QUESTION, REBUILD_QUESTION, forget
from dowse.surfaces.project.project_replies import status_reply
from dowse.types import Coverage, View
from dowse.visible_text import pluralize

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
    lines = [
        tag("p", progress_bar(coverage), f" {root_name(name)}: {progress_text(coverage)}", class_="note")
        for name, coverage in growing.items()
    ]
    return html(
        '<div class="growth"{live} data-done="{done}" data-expected="{expected}">{lines}</div>',
        live=Html(" data-live") if any(one is None or one.is_indexing for one in growing.values()) else None,
        done=sum(coverage.files for coverage in known),
        expected=sum(coverage.expected for coverage in known),
        lines=dict.fromkeys(lines),
    )


def progress_bar(coverage: Coverage | None) -> Html:
    """Return a bar with the share of the files that are indexed; one without an end if it is not known."""
    if coverage is None or not coverage.expected:
        return Html('<progress aria-label="Indexed files"></progress>')
    return html(
        '<progress aria-label="Indexed files" value="{done}" max="{expected}"></progress>',
        done=coverage.files, expected=coverage.expected,
    )  # fmt: skip


def progress_text(coverage: Coverage | None) -> str:
    """Return how far an index is, and what happens to the files that it lacks."""
    if coverage is None:
        return "being updated"
    if not coverage.expected:
        return "being indexed, counting files"
    if coverage.pending and not coverage.is_indexing:
        return f"{pluralize(coverage.pending, 'changed file')} {'waits' if coverage.pending == 1 else 'wait'} to be indexed"
    left = format_seconds_left(coverage.seconds_left)
    others = "; the others were searched as they are" if coverage.direct else ""
    return f"being indexed, {coverage.files:,} of {pluralize(coverage.expected, 'file')}{left}{others}"


ACTIONS = {"index": "Index", "reindex": "Re-index", "forget": "Forget"}
LISTED_ERRORS = 5
LISTED = 20
"""Files that a list of problems names."""
_FORM = """<form method="post" action="/change"><input type="hidden" name="form_token" value="{form_token}">
<input type="hidden" name="action" value="{action}"><input type="hidden" name="source" value="{source}">
{confirm}<button data-name="{source} {label}"{danger}>{label}</button></form>
"""
_QUESTION = """<section class="message"><h1>{label} {source}</h1><p>{question}</p>
<div class="box">{yes}<a class="button" href="/status">No</a></div></section>
"""


async def status_view(
    sources: SourceList, statuses: Sequence[SourceStatus], form_token: str | None, *, is_public: bool
) -> Html:
    """Return every source with its state; with buttons if a form token is given, and nothing of this machine in public."""
    roots = {} if is_public else {root.name: root for root in sources.roots()}
    cards = []
    for status in statuses:
        if status.name not in roots:
            cards.append(card_view(status))
            continue
        served = roots[status.name].served
        facts = await served.ask(partial(_folder_facts, served=served), roots[status.name].main_view)
        cards.append(card_view(status, facts, served.run, form_token))
    memory = 0 if is_public else kept_bytes()
    paid = tag("p", f"This server holds {format_size(memory)} of memory." if memory else "", class_="about")
    return html("<h1>Status</h1>{paid}{cards}", paid=paid, cards=cards)


def _folder_facts(index: ProjectIndex, served: ServedIndex) -> Mapping[str, Any]:
    errors = [without_storage_root(line) for line in last_errors(index.folder, LISTED_ERRORS)]
    return {**status_reply(index, served), "errors": errors}


def card_view(
    status: SourceStatus,
    facts: Mapping[str, Any] = MappingProxyType({}),
    run: IndexingRun | None = None,
    form_token: str | None = None,
) -> Html:
    """Return one source; a folder of files has facts, its last indexing run, and buttons if a form token is given."""
    is_indexed_now = status.state == "indexing"
    progress = [progress_bar(status.growth), " ", progress_text(status.growth)] if is_indexed_now else None
    problem = "" if is_indexed_now else str(run.error) if run and run.error else status.problem
    told = [(name, value) for name, value in _facts(status, facts) if value and value != problem]
    name = link(read_address(f"{status.name}/"), root_name(status.name))
    return tag(
        "section",
        tag("h2", name, " ", about(STATE_NAMES.get(status.state, status.state))),
        tag("p", progress),
        tag("p", problem, class_="warning"),
        tag("dl", [(tag("dt", name), tag("dd", value)) for name, value in told]),
        _lists(status.name, facts),
        _buttons(status, form_token) if form_token else None,
        class_="source-card",
        data_live=is_indexed_now or (facts.get("encoding") or {}).get("state") == "working",
    )


def _facts(status: SourceStatus, facts: Mapping[str, Any]) -> list[tuple[str, str | Html | None]]:
    waiting = facts.get("pendingFiles", 0)
    changes = f"{pluralize(waiting, 'file')} {'waits' if waiting == 1 else 'wait'} to be indexed" if waiting else ""
    skipped = [f"{pluralize(count, 'file')} {why}" for why, count in facts.get("skipped", {}).items()]
    return [
        ("Has", counted(status.counts)),
        ("Indexed", time_view(status.last_updated or "")),
        ("Changes", changes),
        ("Kept fresh", _watching(str(facts.get("watcher", "")))),
        ("By meaning", _encoding(facts.get("encoding") or {})),
        ("On disk", str(facts.get("storageSize", "")) if facts.get("totalFiles") else ""),
        ("Folder", str(facts.get("projectPath", ""))),
        ("Left out", ", ".join(skipped)),
        ("Last error", str(facts.get("lastError", ""))),
        ("Memory", str(facts.get("memory", ""))),
    ]


_WATCHING = {
    "watching": "yes, changes are noticed at once",
    "elsewhere": "yes, by another server",
    "polling": "yes, by looking at all files from time to time",
    "off": "no",
}


def _watching(watcher: str) -> str:
    mode, _, why = watcher.partition(" ")
    return f"{_WATCHING.get(mode, mode)} {why}".strip()


def _encoding(encoding: Mapping[str, Any]) -> str:
    """Return how far the vectors are, by which a search finds what has other words."""
    done, total = encoding.get("done", 0), encoding.get("total", 0)
    if not total or done >= total:
        return "ready" if total else ""
    working = "computed now" if encoding.get("state") == "working" else str(encoding.get("state", ""))
    return f"{100 * done // total} % ready, the rest is {working}" if working else f"{100 * done // total} % ready"


def _lists(source: str, facts: Mapping[str, Any]) -> list[Html]:
    lists = {
        "Last errors": facts.get("errors", ()),
        "Files that were read as plain text": facts.get("unparsedFiles", ()),
        "Warnings": facts.get("warnings", ()),
        "Files that changed": [*facts.get("staleFiles", ()), *facts.get("newFiles", ())],
    }
    return [
        tag(
            "details",
            tag("summary", f"{name} ({len(items)})"),
            tag("ul", [tag("li", item) for item in items[:LISTED]]),
            data_name=f"{source} {name}",
        )
        for name, items in lists.items()
        if items
    ]


def _buttons(status: SourceStatus, form_token: str) -> list[Html]:
    actions = ["index"] if status.state == "not_found" else ["index", "reindex", "forget"]
    return [_form(action, status.name, ACTIONS[action], form_token) for action in actions]


def _form(action: str, source: str, label: str, form_token: str, *, is_confirmed: bool = False) -> Html:
    return html(
        _FORM, form_token=form_token, action=action, source=source, label=label,
        confirm=Html('<input type="hidden" name="confirm" value="yes">') if is_confirmed else None,
        danger=Html(' class="danger"') if is_confirmed and action != "index" else None,
    )  # fmt: skip


async def question_view(sources: SourceList, action: str, source: str, form_token: str) -> Html:
    """Return the question before a change."""
    served, view = _folder(sources, action, source)
    question = {"reindex": REBUILD_QUESTION, "forget": DELETE_QUESTION}.get(action)
    if question is None:
        count = await served.ask(lambda index: index.count_files(), view)
        question = CREATE_QUESTION.format(count=f"{count:,}", name=served.name).replace(" 1 files", " 1 file")
    return html(
        _QUESTION, label=ACTIONS[action], source=root_name(source), question=question,
        yes=_form(action, source, f"Yes, {ACTIONS[action].lower()}", form_token, is_confirmed=True),
    )  # fmt: skip


async def make_change(sources: SourceList, action: str, source: str) -> None:
    """Start a change that was confirmed. Indexing goes on in its own process."""
    served, view = _folder(sources, action, source)
    if action == "forget":
        await served.leave_alone()
        await served.ask(forget, view)
        return
    with contextlib.suppress(TooManyFiles):  # the question named the number of files
        await served.ask(lambda index: index.require_size(), view)
    served.keep_fresh()
    served.start_run(REBUILD if action == "reindex" else None, view)


def _folder(sources: SourceList, action: str, source: str) -> tuple[ServedIndex, View]:
    root = sources.root(source)
    if root is None or action not in ACTIONS:
        raise ItemNotFound("there is no such source or action")
    return root.served, root.main_view
