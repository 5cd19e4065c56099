"""The view of a search: the box, the filters, the hits."""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlencode

from dowse.federation.federated_search import find_source
from dowse.federation.federation_types import SOURCE_KINDS, SearchSource, SourceStatus
from dowse.federation.source_list import NoClient, SourceList
from dowse.indexes.remaining_time import format_seconds_left
from dowse.page.colouring import CodeText, Colours, Runs, join_runs, paint
from dowse.page.markup import Html, html
from dowse.page.page_search import MAX_LIMIT, PageHit, PageQuery, PageResults, file_folders, read_address
from dowse.reading.languages import detect_language
from dowse.searching.passages import found_terms
from dowse.surfaces.project.text_replies import explain_file
from dowse.types import Coverage
from dowse.visible_text import one_line

COLOUR_SECONDS, RELOAD_SECONDS = 0.08, 0.25
"""How long the colours of passages are waited for while somebody types, and for a whole page."""
PATTERN_SECONDS = 0.05
PATH_CHARACTERS = 300
KIND_NAMES = {
    "project": "Projects",
    "documents": "Documents",
    "site": "Sites",
    "archive": "Archives",
    "index": "Named indexes",
}
STATE_NAMES = {
    "ready": "ready",
    "indexing": "being indexed",
    "incomplete": "not complete",
    "failed": "failed",
    "not_found": "not indexed",
}
GROWING_ADVICE = "You can search and read already: files that are not indexed yet are searched as they are."
FLAG_NOTES = {"instructions": "speaks to an assistant", "hidden-characters": "has hidden characters"}

_FORM = """<form id="search-form" role="search" action="/" method="get">
<div class="box">
<label class="hidden" for="q">Search</label>
<input id="q" name="q" type="search" value="{q}" placeholder="Search everything" autocomplete="off" autocapitalize="off" spellcheck="false" autofocus maxlength="10000">
<fieldset class="modes"><legend class="hidden">How to search</legend>{modes}</fieldset>
<button class="go">Search</button>
</div>
<details class="filters"{open}><summary>Filters{active}</summary>
<div class="fields">
<label>Source <select name="source">{sources}</select></label>
<label>Kind <select name="kind">{kinds}</select></label>
<label>Language <input name="language" value="{language}" placeholder="python" size="10"></label>
<label>Path <input name="path" value="{path}" placeholder="src/**/*.py" size="18"></label>
<label>Since <input name="since" type="date" value="{since}"></label>
<label>Until <input name="until" type="date" value="{until}"></label>
<a href="{cleared}" id="clear">Clear filters</a>
</div></details>
</form>
"""
_HIT = """<li class="hit" id="{anchor}">
<h2><a href="{address}" title="{path}">{name}</a>{within}</h2>
<p class="about"><span class="source">{source}</span>{facts}{why}</p>
{warnings}{passage}<div class="reason" hidden></div></li>
"""


def search_form(query: PageQuery, sources: Sequence[SearchSource]) -> Html:
    """Return the box and the filters, filled in from a query."""
    modes = [
        html('<label><input type="radio" name="mode" value="{mode}"{checked}><span>{mode}</span></label>',
             mode=mode, checked=Html(" checked") if query.mode == mode else None)
        for mode in ("words", "exact", "regex")
    ]  # fmt: skip
    return html(
        _FORM, q=query.q, modes=modes,
        open=Html(" open") if query.has_filters else None,
        active=html(' <span class="active">on</span>') if query.has_filters else None,
        sources=source_options(sources, query.source),
        kinds=[_option(value, label, query.kind) for value, label in (("", "all"), ("code", "code"), ("docs", "documents"))],
        language=query.language, path=query.path, since=query.since, until=query.until,
        cleared=PageQuery(query.q, query.mode).address(),
    )  # fmt: skip


def source_options(sources: Sequence[SearchSource | SourceStatus], chosen: str = "") -> list[Html]:
    """Return the choice of sources: all, all of a kind, each one."""
    kinds = [kind for kind in SOURCE_KINDS if sum(source.kind == kind for source in sources) > 1]
    names: dict[str, str] = {"": "all", **{kind: f"all {KIND_NAMES[kind].lower()}" for kind in kinds}}
    names |= {name: unquote(name) for name in [*(source.name for source in sources), *([chosen] if chosen else ())]}
    return [_option(value, label, chosen) for value, label in names.items()]


def _option(value: str, label: str, chosen: str) -> Html:
    selected = Html(" selected") if value == chosen else None
    return html('<option value="{value}"{selected}>{label}</option>', value=value, label=label, selected=selected)


def progress_view(growing: Mapping[str, Coverage | None]) -> Html:
    """Return how far some indexes are, None for one that has all files; the script renews it while one is written."""
    known = [coverage for coverage in growing.values() if coverage]
    is_live = any(coverage is None or coverage.is_indexing for coverage in growing.values())
    return html(
        '<div class="growth"{live} data-done="{done}" data-expected="{expected}">{lines}</div>',
        live=Html(" data-live") if is_live else None,
        done=sum(coverage.files for coverage in known),
        expected=sum(coverage.expected for coverage in known),
        lines=[
            html('<p class="note">{bar} {name}: {text}</p>', bar=progress_bar(coverage), name=unquote(name), text=progress_text(coverage))
            for name, coverage in growing.items()
        ],
    )  # fmt: skip


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
        return f"{coverage.pending:,} changed file{' waits' if coverage.pending == 1 else 's wait'} to be indexed"
    left = format_seconds_left(coverage.seconds_left)
    others = "; the others were searched as they are" if coverage.direct else ""
    return f"being indexed, {coverage.files:,} of {coverage.expected:,} files{left}{others}"


def source_overview(statuses: Sequence[SourceStatus]) -> Html:
    """Return the list of sources, which stands where results will be."""
    items = [
        html(
            '<li><a href="{address}" data-name="{name}">{name}</a> <span class="about">{bar}{counts}</span>{problem}</li>',
            address=read_address(f"{status.name}/"),
            name=unquote(status.name),
            bar=html("{bar} ", bar=progress_bar(status.growth)) if status.state == "indexing" else None,
            counts=_counts(status),
            problem=html('<p class="note">{text}</p>', text=status.problem) if status.problem else None,
        )
        for status in statuses
    ]
    is_live = any(status.state == "indexing" for status in statuses)
    return html(
        '<section class="overview"{live}><h1>What is here</h1><ul class="plain">{items}</ul>{advice}'
        '<p class="about keys"><kbd>/</kbd> search <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> open '
        "<kbd>Esc</kbd> back to the box</p><template>{options}</template></section>",
        live=Html(" data-live") if is_live else None,
        advice=html('<p class="note">{text}</p>', text=GROWING_ADVICE) if is_live else None,
        options=source_options(statuses),
        items=items or html("<li>Nothing is served yet.</li>"),
    )


def _counts(status: SourceStatus) -> str:
    if status.state == "indexing":
        return progress_text(status.growth)
    counts = [f"{count:,} {name}" for name, count in status.counts.items()]
    return ", ".join(
        [*counts, *([STATE_NAMES.get(status.state, status.state)] if status.state not in ("", "ready") else ())]
    )


async def results_view(query: PageQuery, found: PageResults, colours: Colours, seconds: float = COLOUR_SECONDS) -> Html:
    """Return the hits of a query, with colours as far as they are there in time."""
    texts = [CodeText(hit.passages, _language(hit), hit.path, hit.file) for hit in found.hits]
    runs = await colours.find(texts, seconds) if texts else []
    hits = [
        _hit(query, number, hit, _paint_hit(query, found, text, run))
        for number, (hit, text, run) in enumerate(zip(found.hits, texts, runs, strict=True), start=1)
    ]
    when = "" if found.is_complete and not found.growing else " so far"
    summary = html(
        '<p class="summary" role="status">{summary} <span class="about">{milliseconds} ms</span></p>{progress}',
        summary=f"{found.summary}{when}" if found.hits else f"Nothing found{when} for “{one_line(query.q, 100)}”",
        milliseconds=round(found.seconds * 1000),
        progress=progress_view(found.growing) if found.growing else None,
    )
    notes = [html('<p class="note">{note}</p>', note=note) for note in found.notes]
    more = None
    if found.has_more and query.limit < MAX_LIMIT:
        more = html('<p><a class="more" href="{address}">More results</a></p>', address=query.address(limit=MAX_LIMIT))
    elif not found.hits and not when:
        more = _advice(query)
    return html(
        '{summary}{notes}<ol class="hits">{hits}</ol>{more}', summary=summary, notes=notes, hits=hits, more=more
    )


def _advice(query: PageQuery) -> Html:
    tips = []
    if query.has_filters:
        tips.append(
            html('<a href="{address}">Search without filters</a>', address=PageQuery(query.q, query.mode).address())
        )
    if query.mode != "words":
        tips.append(html('<a href="{address}">Search for the words</a>', address=query.address(mode="words")))
    else:
        tips.append(html('<a href="{address}">Search for exactly this text</a>', address=query.address(mode="exact")))
    return html('<ul class="plain tips">{tips}</ul>', tips=[html("<li>{tip}</li>", tip=tip) for tip in tips])


def _hit(query: PageQuery, number: int, hit: PageHit, passage: Html) -> Html:
    warnings = []
    if hit.masked:
        warnings.append(html('<p class="warning">{note}</p>', note=f"Secrets are masked: {', '.join(hit.masked)}"))
    if hit.flags:
        said = ", ".join(FLAG_NOTES.get(flag, flag) for flag in hit.flags)
        warnings.append(html('<p class="warning">Read with care: the text {said}.</p>', said=said))
    facts = [f"{hit.score:.2f}" if hit.score is not None else "", hit.day, hit.path if hit.title != hit.path else ""]
    facts += [f"also {name}" for name in hit.also]
    return html(
        _HIT,
        anchor=f"hit-{number}",
        address=hit.address,
        path=one_line(hit.path, PATH_CHARACTERS),
        name=_shown_name(hit),
        within=html(' <span class="within">{within}</span>', within=hit.within) if hit.within else None,
        source=unquote(hit.source),
        facts=[
            html('<span class="fact">{fact}</span>', fact=one_line(fact, PATH_CHARACTERS)) for fact in facts if fact
        ],
        why=_why(query, hit) if query.mode == "words" else None,
        warnings=warnings,
        passage=passage_view(hit, passage) if passage.strip() else None,
    )


def _why(query: PageQuery, hit: PageHit) -> Html:
    address = f"/why?{urlencode({'id': hit.id, 'q': query.q})}"
    return html('<a class="why" href="{address}">why?</a>', address=address)


def _shown_name(hit: PageHit) -> Html:
    """Return a title as it is, and a path with the name of the file in bold."""
    if hit.title != hit.path:
        return html("<bdi>{title}</bdi>", title=hit.title)
    folder, slash, name = one_line(hit.path, PATH_CHARACTERS).rpartition("/")
    return html("<bdi>{folder}<b>{name}</b></bdi>", folder=folder + slash, name=name)


def passage_view(hit: PageHit, text: Html) -> Html:
    """Return the lines of a passage, with their numbers where they have some."""
    numbers = "\n".join(str(line.number) for line in hit.lines) if hit.lines[0].number else ""
    more = html('<p class="about">{count} more in this file</p>', count=hit.more_lines) if hit.more_lines else None
    if not numbers:
        return html('<div class="prose">{text}</div>{more}', text=text, more=more)
    return html(
        '<div class="passage" tabindex="0"><pre class="nums" aria-hidden="true">{numbers}</pre>'
        '<pre class="text"><code>{text}</code></pre></div>{more}',
        numbers=numbers, text=text, more=more,
    )  # fmt: skip


def _paint_hit(query: PageQuery, found: PageResults, code: CodeText, runs: Sequence[Runs]) -> Html:
    text = "\n".join(passage for _, passage in code.passages)
    return paint(text, join_runs(code.passages, runs), _marks(query, found, text))


def _language(hit: PageHit) -> str:
    return detect_language(hit.path, b"") if hit.source.startswith("project/") else "text"


def _marks(query: PageQuery, found: PageResults, text: str) -> list[tuple[int, int]]:
    """Return the places that match the query."""
    if query.mode == "words":
        return [(start, end) for start, end, _ in found_terms(text, dict.fromkeys(found.terms, 1.0))]
    if query.mode == "exact":
        places, at = [], text.find(query.q)
        while at >= 0:
            places.append((at, at + len(query.q)))
            at = text.find(query.q, at + len(query.q))
        return places
    import regex  # for this mode alone

    try:
        return [match.span() for match in regex.finditer(query.q, text, regex.MULTILINE, timeout=PATTERN_SECONDS)]
    except (regex.error, TimeoutError):
        return []


_NOT_A_FILE = (
    "The order of this source is its own, by the words in titles and texts; between sources, half of the score is the "
    "share of the query that the title and the passage show."
)


async def explain_hit(sources: SourceList, item_id: str, query: str) -> Html:
    """Return why a hit is where it is: rank and signals of a file, the rule of a source for anything else."""
    source, path = await find_source(sources, NoClient(), item_id)
    by_root = {name.partition("/")[2]: (served, view) for name, served, view in file_folders(sources)}
    folder = by_root.get(source.name.partition("/")[2]) if source.kind in ("project", "documents") else None
    if folder is None:
        return html('<p class="about">{text}</p>', text=_NOT_A_FILE)
    served, view = folder
    reply = await served.ask_fresh(lambda index, _: explain_file(index, path, query, served.encoder), view)
    if "signals" not in reply:
        reason = reply.get("reason") or "is not ranked by this search"
        return html('<p class="about">The file {reason}.</p>', reason=reason)
    place = f"Place {reply['rank']} of {reply['of']} files of {source.name}, score {reply['score']}."
    if not reply["rank"]:
        place = f"Words alone do not find this file among those of {source.name}."
    return html('<p class="about">{place}</p>{signals}', place=place, signals=_table(reply["signals"]))


def _table(signals: Mapping[str, float]) -> Html:
    rows = [
        html('<tr><th scope="row">{name}</th><td>{value}</td></tr>', name=name, value=f"{value:.4g}")
        for name, value in sorted(signals.items(), key=lambda pair: -pair[1])
    ]
    return html('<table class="signals"><caption>Signals</caption>{rows}</table>', rows=rows)
