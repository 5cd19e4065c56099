"""The first view: what is here, once each, with its size, its languages and what changed last."""

from collections.abc import Mapping, Sequence

from dowse.federation.federation_types import SourceStatus
from dowse.federation.result_ids import id_of
from dowse.federation.source_list import SourceList
from dowse.indexes.index_status import format_size
from dowse.indexes.root_overview import RootOverview, root_overview
from dowse.page.markup import Html, html
from dowse.page.page_search import read_address
from dowse.page.plain_words import counted, time_of, time_view
from dowse.page.progress_view import STATE_NAMES, progress_bar, progress_text
from dowse.page.search_view import source_options
from dowse.page.served_roots import root_name

SHOWN_LANGUAGES, SHOWN_FILES = 5, 5
GROWING_ADVICE = "You can search and read already: files that are not indexed yet are searched as they are."
_ROOT = """<li class="root"><h2><a href="{address}" data-name="{name}">{name}</a>{kind}</h2>
<p class="about">{bar}{facts}</p>{problem}{languages}{newest}</li>
"""
_KINDS = {"documents": "documents", "site": "site", "archive": "", "index": "named index", "dependencies": "packages"}
_EMPTY = """<li class="root"><p>Nothing is served yet. Name a folder: <code>dowse open DIR</code></p></li>"""


async def find_overviews(sources: SourceList, statuses: Sequence[SourceStatus]) -> dict[str, RootOverview]:
    """Return what the index of each root has, by the name of its source."""
    indexed = {status.name for status in statuses if status.counts}
    return {
        root.name: await root.served.ask(root_overview, root.main_view)
        for root in sources.roots()
        if root.name in indexed
    }


def home_view(statuses: Sequence[SourceStatus], overviews: Mapping[str, RootOverview]) -> Html:
    """Return the list of all roots, which stands where results will be."""
    is_live = any(status.state == "indexing" for status in statuses)
    return html(
        '<section class="overview"{live}><h1>What is here</h1><ul class="plain roots">{items}</ul>{advice}'
        '<section id="searches" hidden><h2>Recent searches</h2><ul class="plain"></ul></section>'
        '<p class="about keys"><kbd>/</kbd> search <kbd>t</kbd> go to a file or symbol <kbd>↑</kbd> <kbd>↓</kbd> choose '
        "<kbd>Enter</kbd> open <kbd>Esc</kbd> back to the box</p><template>{options}</template></section>",
        live=Html(" data-live") if is_live else None,
        advice=html('<p class="note">{text}</p>', text=GROWING_ADVICE) if is_live else None,
        options=source_options(dict.fromkeys(root_name(status.name) for status in statuses)),
        items=[_root_view(status, overviews.get(status.name, RootOverview())) for status in statuses] or Html(_EMPTY),
    )  # fmt: skip


def _root_view(status: SourceStatus, overview: RootOverview) -> Html:
    is_growing = status.state == "indexing"
    facts: list[str | Html | None] = []
    if is_growing:
        facts.append(progress_text(status.growth))
    else:
        facts.append(counted({name: count for name, count in status.counts.items() if name != "chunks"}))
        facts.append(format_size(overview.size_bytes) if overview.size_bytes else "")
        facts.append(STATE_NAMES.get(status.state, status.state) if status.state not in ("", "ready") else "")
        updated = time_view(status.last_updated) if status.last_updated else None
        facts.append(html("indexed {updated}", updated=updated) if updated else None)
    kind = _KINDS.get(status.kind, "")
    return html(
        _ROOT,
        address=read_address(f"{status.name}/"),
        name=root_name(status.name),
        kind=html(' <span class="about">{kind}</span>', kind=kind) if kind else None,
        bar=html("{bar} ", bar=progress_bar(status.growth)) if is_growing else None,
        facts=[html('<span class="fact">{fact}</span>', fact=fact) for fact in facts if fact],
        problem=html('<p class="note">{text}</p>', text=status.problem) if status.problem else None,
        languages=languages_view(overview),
        newest=_newest(status.name, overview),
    )


def languages_view(overview: RootOverview) -> Html | None:
    """Return the languages of a folder with their shares."""
    size = max(1, overview.size_bytes)
    shares = [(one.language, round(100 * one.size / size)) for one in overview.languages if one.language != "text"]
    shown = [(name, share) for name, share in shares[:SHOWN_LANGUAGES] if share]
    if not shown:
        return None
    items = [html("<li>{name} <span>{share} %</span></li>", name=name, share=share) for name, share in shown]
    return html('<ul class="languages" aria-label="Languages">{items}</ul>', items=items)


def _newest(source: str, overview: RootOverview) -> Html | None:
    rows = [
        html('<li><a href="{address}"><bdi>{path}</bdi></a> <span class="about">{time}</span></li>',
             address=read_address(id_of(source, one.path)), path=one.path, time=time_of(one.mtime_ns))
        for one in overview.newest[:SHOWN_FILES]
    ]  # fmt: skip
    return html('<h3>Changed last</h3><ul class="plain newest">{rows}</ul>', rows=rows) if rows else None
