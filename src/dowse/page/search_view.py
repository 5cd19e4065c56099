"""The view of a search: the filters, and the hits with their texts: code with colours, documents as people read them, matches marked."""

import asyncio
import re
import time
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from dowse.page.colouring import CodeText, Runs, join_runs, paint
from dowse.page.facets import facets_view
from dowse.page.item_links import item_address, root_name
from dowse.page.markdown_view import FindMarks, ParsedMarkdown, Writing, write_markdown
from dowse.page.markup import Html, html, time_view
from dowse.page.page_search import MAX_LIMIT, PageHit, PageQuery, PageResults
from dowse.page.page_texts import PageTexts
from dowse.page.status_view import progress_view
from dowse.reading.languages import detect_language
from dowse.searching.passages import found_terms
from dowse.text.line_numbers import split_lines
from dowse.visible_text import one_line, pluralize

PATTERN_SECONDS = 0.05
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_TABLE_LINE = re.compile(r"\s*\|")


async def show_texts(query: PageQuery, found: PageResults, texts: PageTexts, seconds: float) -> tuple[list[Html], bool]:
    """Return the text of each hit, with colours and tags as far as they are there in time, and whether all are."""
    started = time.monotonic()
    marks = marks_of(query, found)
    code = [
        None if is_document(hit) else CodeText(hit.passages, _language(hit), hit.path, hit.file) for hit in found.hits
    ]
    markdown = [_whole_markdown(hit) if is_document(hit) else "" for hit in found.hits]
    colouring = asyncio.ensure_future(texts.colours([one for one in code if one], seconds))
    try:
        parsed = await texts.markdown([text for text in markdown if text], seconds)
        pages = iter(parsed)
        by_hit = [next(pages) if text else None for text in markdown]
        blocks = [one.code_blocks() if one else [] for one in by_hit]
        left = max(0.0, seconds - (time.monotonic() - started))
        fences = iter(await texts.colours([block for group in blocks for block in group], left))
        runs = iter(await colouring)
    finally:
        colouring.cancel()
    shown, is_finished = [], all(one is not None for one in parsed)
    for hit, text, page, group in zip(found.hits, code, by_hit, blocks, strict=True):
        if text is not None:
            of_hit = next(runs)
            is_finished = is_finished and (all(of_hit) or text.language in ("", "text"))
            shown.append(code_view(hit, text, of_hit, marks))
        else:
            shown.append(_document_view(hit, page, [next(fences)[0] for _ in group], marks))
    return shown, is_finished


def is_document(hit: PageHit) -> bool:
    """Return whether a hit is rendered: Markdown, or a document that was converted to it."""
    language = detect_language(hit.path, b"")
    return bool(hit.passages) and (
        language == "markdown" or (hit.is_converted and language not in ("text", "rst", "asciidoc"))
    )


def _language(hit: PageHit) -> str:
    return detect_language(hit.path, b"") if hit.source.startswith("project/") and not hit.is_converted else "text"


def code_view(hit: PageHit, code: CodeText, runs: Sequence[Runs], marks: FindMarks) -> Html:
    """Return the lines of a hit, with their numbers where they have some."""
    painted = paint(hit.text, join_runs(code.passages, runs), marks(hit.text))
    if not painted.strip():
        return Html()
    numbers = "\n".join(map(str, hit.line_numbers))
    more = (
        html('<p class="about">{more} in this file</p>', more=pluralize(hit.more_lines, "more line"))
        if hit.more_lines
        else None
    )
    if not numbers:
        return html('<div class="prose">{text}</div>{more}', text=painted, more=more)
    return html(
        '<div class="passage" tabindex="0"><pre class="nums" aria-hidden="true">{numbers}</pre>'
        '<pre class="text"><code>{text}</code></pre></div>{more}',
        numbers=numbers, text=painted, more=more,
    )  # fmt: skip


def _document_view(hit: PageHit, page: ParsedMarkdown | None, colours: Sequence[Runs], marks: FindMarks) -> Html:
    if page is None:
        return html('<div class="prose">{text}</div>', text=paint(hit.text, (), marks(hit.text)))
    writing = Writing(lambda target: item_address(hit.source, hit.locator, target), colours=colours, marks=marks)
    return html('<div class="rendered" tabindex="0">{body}</div>', body=write_markdown(page, writing))


def _whole_markdown(hit: PageHit) -> str:
    """Return the passage of a document so that it reads as in its place: inside of a block of code, or of a table."""
    first, text = hit.passages[0][0], hit.text
    if not hit.file or first < 2:
        return text
    before = [line.rstrip("\r\n") for line in split_lines(hit.file.decode("utf-8", "replace"))[: first - 1]]
    fence = ""
    for line in before:
        if found := _FENCE.match(line):
            fence = "" if fence and found[1].startswith(fence.strip()[:3]) else fence or line
    if fence:
        return f"{fence}\n{text}"
    if _TABLE_LINE.match(text):
        top = len(before)
        while top and _TABLE_LINE.match(before[top - 1]):
            top -= 1
        return "\n".join([*before[top : min(top + 2, len(before))], text])
    return text


def document_title(hit: PageHit) -> str:
    """Return the title of a hit: of a document without one its first heading, of any other file nothing."""
    name = hit.path.rpartition("/")[2]
    if hit.title not in (hit.path, name, name.rpartition(".")[0]):
        return hit.title
    if not is_document(hit) or not hit.file:
        return ""
    headings = re.search(rb"^#{1,6}+[ \t]++([^\r\n]++)", hit.file[:20_000], re.MULTILINE)
    return headings[1].decode("utf-8", "replace").rstrip(" \t#") if headings else ""


def marks_of(query: PageQuery, found: PageResults) -> FindMarks:
    """Return what finds the places of a text that match the query."""
    weights = dict.fromkeys(found.terms, 1.0)
    if query.mode == "words":
        return lambda text: [(start, end) for start, end, _ in found_terms(text, weights)]
    if query.mode == "exact":
        return lambda text: [match.span() for match in re.finditer(re.escape(query.q), text)] if query.q else []
    import regex  # for this mode alone

    def find(text: str) -> list[tuple[int, int]]:
        try:
            return [match.span() for match in regex.finditer(query.q, text, regex.MULTILINE, timeout=PATTERN_SECONDS)]
        except (regex.error, TimeoutError):
            return []

    return find


COLOUR_SECONDS, RELOAD_SECONDS = 0.08, 0.25
"""How long colours and tags of passages are waited for while somebody types, and for a whole page."""
PATH_CHARACTERS = 300
FLAG_NOTES = {"instructions": "speaks to an assistant", "hidden-characters": "has hidden characters"}

_FILTERS = """<details class="filters"{open}><summary>Filters{active}</summary>
<div class="fields">
<label>Source <select name="source" form="search-form">{sources}</select></label>
<label>Kind <select name="kind" form="search-form">{kinds}</select></label>
<label>Language <input name="language" form="search-form" value="{language}" placeholder="python" size="10"></label>
<label>Path <input name="path" form="search-form" value="{path}" placeholder="src" size="18"></label>
<label>Since <input name="since" form="search-form" type="date" value="{since}"></label>
<label>Until <input name="until" form="search-form" type="date" value="{until}"></label>
<a href="{cleared}" id="clear">Clear filters</a>
<p class="about">Or type them: <code>lang:py</code> <code>path:src/</code> <code>-path:tests</code> <code>kind:docs</code></p>
</div></details>
"""
_HIT = """<li class="hit" id="{anchor}">
<div class="hit-head"><h2><a href="{address}" title="{path}">{name}</a></h2>{folder}
<p class="about">{facts}{why}</p></div>
{warnings}{around}{text}<div class="reason" hidden></div></li>
"""


def filters_view(query: PageQuery, roots: Iterable[str]) -> Html:
    """Return the filters beside the box, filled in from a query."""
    kinds = (("", "all"), ("code", "code"), ("docs", "documents"))
    return html(
        _FILTERS,
        open=Html(" open") if query.has_filters else None,
        active=html(' <span class="active">on</span>') if query.has_filters else html(' <span class="active" hidden>on</span>'),
        sources=source_options(roots, query.source),
        kinds=[_option(value, label, query.kind) for value, label in kinds],
        language=query.language, path=query.path, since=query.since, until=query.until,
        cleared=PageQuery(query.q, query.mode).address(),
    )  # fmt: skip


def source_options(roots: Iterable[str], chosen: str = "") -> list[Html]:
    """Return the choice of sources: all, or each one."""
    names = dict.fromkeys(["", *roots, *([chosen] if chosen else ())])
    return [_option(name, name or "all", chosen) for name in names]


def _option(value: str, label: str, chosen: str) -> Html:
    selected = Html(" selected") if value == chosen else None
    return html('<option value="{value}"{selected}>{label}</option>', value=value, label=label, selected=selected)


async def results_view(query: PageQuery, found: PageResults, texts: PageTexts, seconds: float = COLOUR_SECONDS) -> Html:
    """Return the hits of a query, with colours and tags as far as they are there in time."""
    shown, is_finished = await show_texts(query, found, texts, seconds)
    several = len({root_name(hit.source) for hit in found.hits}) > 1
    hits = [
        _hit(query, number, hit, text, names_root=several)
        for number, (hit, text) in enumerate(zip(found.hits, shown, strict=True), start=1)
    ]
    when = "" if found.is_complete and not found.growing else " so far"
    summary = html(
        '<p class="summary" role="status">{summary} <span class="about">{milliseconds} ms</span>{history}</p>{progress}',
        summary=f"{found.summary}{when}" if found.hits else f"Nothing found{when} for “{one_line(query.q, 100)}”",
        milliseconds=round(found.seconds * 1000),
        history=html(' <a class="about" href="/history?{query}">Search the commits</a>', query=urlencode({"q": query.q}, errors="replace")),
        progress=progress_view(found.growing) if found.growing else None,
    )  # fmt: skip
    notes = [html('<p class="note">{note}</p>', note=note) for note in found.notes]
    more = None
    if found.has_more and query.limit < MAX_LIMIT:
        more = html(
            '<p><a class="more button" href="{address}">More results</a></p>', address=query.address(limit=MAX_LIMIT)
        )
    elif not found.hits and not when:
        more = _advice(query)
    return html(
        '{facets}<div class="found"{late}>{summary}{notes}<ol class="hits">{hits}</ol>{more}</div>',
        facets=facets_view(query, found.matched), late=None if is_finished else Html(" data-late"),
        summary=summary, notes=notes, hits=hits, more=more,
    )  # fmt: skip


def _advice(query: PageQuery) -> Html:
    bare = " ".join(query.q.split())
    for name in ("lang", "kind", "path", "-path"):
        for value in query.values(name):
            bare = query.toggled(name, value).q
    tips = []
    if query.has_filters or bare != " ".join(query.q.split()):
        tips.append(
            html('<a href="{address}">Search without filters</a>', address=PageQuery(bare, query.mode).address())
        )
    if query.mode != "words":
        tips.append(html('<a href="{address}">Search for the words</a>', address=query.address(mode="words")))
    else:
        tips.append(html('<a href="{address}">Search for exactly this text</a>', address=query.address(mode="exact")))
    tips.append(
        html(
            '<a href="/find?{query}">Find files and symbols by name</a>', query=urlencode({"q": bare}, errors="replace")
        )
    )
    tips.append(html('<a href="/status">See what is indexed, and what was left out</a>'))
    return html('<ul class="plain tips">{tips}</ul>', tips=[html("<li>{tip}</li>", tip=tip) for tip in tips])


def _hit(query: PageQuery, number: int, hit: PageHit, text: Html, *, names_root: bool) -> Html:
    warnings = []
    if hit.masked:
        warnings.append(html('<p class="warning">{note}</p>', note=f"Secrets are masked: {', '.join(hit.masked)}"))
    if hit.flags:
        said = ", ".join(FLAG_NOTES.get(flag, flag) for flag in hit.flags)
        warnings.append(html('<p class="warning">Read with care: the text {said}.</p>', said=said))
    title = document_title(hit)
    language = detect_language(hit.path, b"") if hit.line_numbers else ""
    root = root_name(hit.source) if names_root and not hit.path.startswith(f"{root_name(hit.source)}/") else ""
    facts: list[str | Html | None] = [root, language if language != "text" else ""]
    facts += [time_view(hit.day), *(f"also {root_name('/'.join(one.split('/')[:2]))}" for one in hit.also)]
    path = one_line(hit.path, PATH_CHARACTERS)
    return html(
        _HIT,
        anchor=f"hit-{number}",
        address=hit.address,
        path=path,
        name=html("<bdi>{title}</bdi>", title=title) if title else _path_view(path),
        folder=html('<p class="mono in">{path}</p>', path=_path_view(path)) if title and title != path else None,
        facts=[html('<span class="fact">{fact}</span>', fact=fact) for fact in facts if fact],
        why=html(
            '<a class="why" href="/why?{given}">why?</a>',
            given=urlencode({"id": hit.id, "q": query.q}, errors="replace"),
        )
        if query.mode == "words"
        else None,
        warnings=warnings,
        around=_around_view(hit),
        text=text,
    )


def _around_view(hit: PageHit) -> Html | None:
    """Return the way to the passage: the headings or definitions around it."""
    names = [
        html("<bdi>{name}</bdi>", name=one_line(name.replace("`", ""), PATH_CHARACTERS))
        for name in hit.around
        if name and name != hit.title
    ]
    return html('<p class="within">{names}</p>', names=Html(" › ".join(names))) if names else None


def _path_view(path: str) -> Html:
    """Return a path with the name of the file in bold."""
    folder, slash, name = path.rpartition("/")
    return html("<bdi>{folder}<b>{name}</b></bdi>", folder=folder + slash, name=name)
