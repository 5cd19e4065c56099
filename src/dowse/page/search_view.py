"""The view of a search: the filters, and the hits with their texts: code with colours, documents as people read them, matches
marked; and why a hit is where it is."""

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from posixpath import commonpath
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlencode

from dowse.federation.source_list import SourceList
from dowse.indexes.project_search import explain_file
from dowse.page.item_links import find_item, item_address, root_name
from dowse.page.markdown_view import FindMarks, write_markdown
from dowse.page.markup import Html, facts, html, link, tag, time_view
from dowse.page.page_search import MAX_LIMIT, PageHit, PageQuery, PageResults
from dowse.page.page_texts import CodeText, PageTexts, Runs, paint
from dowse.page.status_view import progress_view
from dowse.reading.languages import detect_language
from dowse.searching.passages import found_terms
from dowse.searching.path_kinds import kinds_of
from dowse.surfaces.project.project_replies import explanation_reply
from dowse.text.line_numbers import split_lines
from dowse.visible_text import one_line, pluralize

PATTERN_SECONDS = 0.05
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_TABLE_LINE = re.compile(r"\s*\|")
_PASSAGE = """<div class="passage" tabindex="0"><pre class="nums" aria-hidden="true">{numbers}</pre>\
<pre class="text"><code>{text}</code></pre></div>{more}"""


async def _text_view(hit: PageHit, marks: FindMarks, texts: PageTexts, seconds: float) -> tuple[Html, bool]:
    """Return the text of a hit, with colours and tags as far as they are there in time, and whether all are."""
    if is_document(hit):
        page = await texts.markdown(_whole_markdown(hit), seconds)
        if page is None:
            return tag("div", paint(hit.text, (), marks(hit.text)), class_="prose"), False
        body = write_markdown(page, lambda target: item_address(hit.source, hit.locator, target), marks=marks)
        return tag("div", body, class_="rendered", tabindex=0), True
    is_code = hit.source.startswith("project/") and not hit.is_converted
    code = CodeText(hit.passages, detect_language(hit.path, b"") if is_code else "text", hit.path, hit.file)
    runs = await texts.colours(code, seconds)
    return code_view(hit, runs, marks), all(runs) or code.language in ("", "text")


def is_document(hit: PageHit) -> bool:
    """Return whether a hit is rendered: Markdown, or a document that was converted to it."""
    language = detect_language(hit.path, b"")
    return bool(hit.passages) and (
        language == "markdown" or (hit.is_converted and language not in ("text", "rst", "asciidoc"))
    )


def code_view(hit: PageHit, colours: Sequence[Runs], marks: FindMarks) -> Html:
    """Return the lines of a hit, with their numbers where they have some."""
    lines = [paint(text, runs, marks(text)) for (_, text), runs in zip(hit.passages, colours, strict=True)]
    painted = Html("\n".join(lines))
    if not painted.strip():
        return Html()
    more = tag("p", f"{pluralize(hit.more_lines, 'more line')} in this file" if hit.more_lines else "", class_="about")
    if not hit.line_numbers:
        return html("{text}{more}", text=tag("div", painted, class_="prose"), more=more)
    return html(_PASSAGE, numbers="\n".join(map(str, hit.line_numbers)), text=painted, more=more)


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

_FILTERS = """<details class="filters"{open}><summary>Filters <span class="active"{hidden}>on</span></summary>
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
_ADVICE = """<p class="about">Try other words or {fewer}, <a href="/find?{query}">find files and symbols by name</a>,
or <a href="/status">see what is indexed, and what was left out</a>.</p>"""
_RESULTS = """{facets}<div class="found"{late}>
<p class="summary" role="status">{summary} <span class="about">{milliseconds} ms</span>
<a class="about" href="/history?{query}">Search the commits</a></p>
{progress}{notes}<ol class="hits">{hits}</ol>{more}</div>
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
        hidden=None if query.has_filters else Html(" hidden"),
        sources=source_options(roots, query.source),
        kinds=[_option(value, label, query.kind) for value, label in kinds],
        language=query.language,
        path=query.path,
        since=query.since,
        until=query.until,
        cleared=PageQuery(query.q, query.mode).address(),
    )


def source_options(roots: Iterable[str], chosen: str = "") -> list[Html]:
    """Return the choice of sources: all, or each one."""
    names = dict.fromkeys(["", *roots, *([chosen] if chosen else ())])
    return [_option(name, name or "all", chosen) for name in names]


def _option(value: str, label: str, chosen: str) -> Html:
    return tag("option", label, value=value, selected=value == chosen)


async def results_view(query: PageQuery, found: PageResults, texts: PageTexts, seconds: float = COLOUR_SECONDS) -> Html:
    """Return the hits of a query, with colours and tags as far as they are there in time."""
    marks = marks_of(query, found)
    shown = await asyncio.gather(*(_text_view(hit, marks, texts, seconds) for hit in found.hits))
    several = len({root_name(hit.source) for hit in found.hits}) > 1
    when = "" if found.is_complete and not found.growing else " so far"
    more = None
    if found.has_more and query.limit < MAX_LIMIT:
        more = tag("p", link(query.address(limit=MAX_LIMIT), "More results", class_="more button"))
    elif not found.hits and not when:
        bare = query.without_filters()
        fewer = link(bare.address(), "search without filters") if bare != query else "fewer of them"
        more = html(_ADVICE, fewer=fewer, query=urlencode({"q": bare.q}, errors="replace"))
    return html(
        _RESULTS,
        facets=facets_view(query, found.matched),
        late=None if all(is_finished for _, is_finished in shown) else Html(" data-late"),
        summary=f"{found.summary}{when}" if found.hits else f"Nothing found{when} for “{one_line(query.q, 100)}”",
        milliseconds=round(found.seconds * 1000),
        query=urlencode({"q": query.q}, errors="replace"),
        progress=progress_view(found.growing) if found.growing else None,
        notes=[tag("p", note, class_="note") for note in found.notes],
        hits=[
            _hit(query, f"hit-{number}", hit, text, names_root=several)
            for number, (hit, (text, _)) in enumerate(zip(found.hits, shown, strict=True), start=1)
        ],
        more=more,
    )


def flag_warning(flags: Iterable[str]) -> Html:
    """Return the warning that a text has content warnings; nothing if it has none."""
    said = ", ".join(FLAG_NOTES.get(flag, flag) for flag in sorted(set(flags)))
    return tag("p", f"Read with care: the text {said}." if said else "", class_="warning")


def _hit(query: PageQuery, anchor: str, hit: PageHit, text: Html, *, names_root: bool) -> Html:
    title, path = document_title(hit), one_line(hit.path, PATH_CHARACTERS)
    language = detect_language(hit.path, b"") if hit.line_numbers else ""
    root = root_name(hit.source) if names_root and not hit.path.startswith(f"{root_name(hit.source)}/") else ""
    also = [f"also {root_name('/'.join(one.split('/')[:2]))}" for one in hit.also]
    masked = f"Secrets are masked: {', '.join(hit.masked)}" if hit.masked else ""
    why = f"/why?{urlencode({'id': hit.id, 'q': query.q}, errors='replace')}"
    return html(
        _HIT,
        anchor=anchor,
        address=hit.address,
        path=path,
        name=tag("bdi", title) or _path_view(path),
        folder=tag("p", _path_view(path), class_="mono in") if title and title != path else None,
        facts=facts([root, language if language != "text" else "", time_view(hit.day), *also]),
        why=link(why, "why?", class_="why") if query.mode == "words" else None,
        warnings=[tag("p", masked, class_="warning"), flag_warning(hit.flags)],
        around=_around_view(hit),
        text=text,
    )


def _around_view(hit: PageHit) -> Html:
    """Return the way to the passage: the headings or definitions around it."""
    names = [one_line(name.replace("`", ""), PATH_CHARACTERS) for name in hit.around if name != hit.title]
    return tag("p", Html(" › ".join(filter(None, (tag("bdi", name) for name in names)))), class_="within")


def _path_view(path: str) -> Html:
    """Return a path with the name of the file in bold."""
    folder, slash, name = path.rpartition("/")
    return tag("bdi", folder + slash, tag("b", name))


_NOT_A_FILE = (
    "The order of this source is its own, by the words in titles and texts; between sources, half of the score is the "
    "share of the query that the title and the passage show."
)


async def why_view(sources: SourceList, item_id: str, query: str) -> Html:
    """Return why a hit is where it is: rank and signals of a file, the rule of a source for anything else."""
    source, path = await find_item(sources, item_id)
    root = sources.root(source.name)
    if root is None:
        return tag("p", _NOT_A_FILE, class_="about")
    served = root.served
    found = await served.ask_fresh(lambda index, _: explain_file(index, path, query, served.encoder), root.main_view)
    reply = explanation_reply(*found)
    if "signals" not in reply:
        return tag("p", f"The file {reply.get('reason') or 'is not ranked by this search'}.", class_="about")
    files = pluralize(reply["of"], "file")
    place = f"Place {reply['rank']} of {files} of {root_name(source.name)}, score {reply['score']}."
    if not reply["rank"]:
        place = f"Words alone do not find this file among those of {root_name(source.name)}."
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", f"{value:.4g}"))
        for name, value in sorted(reply["signals"].items(), key=lambda pair: -pair[1])
    ]
    table = tag("table", tag("caption", "Signals"), rows, class_="signals")
    return html("{place}{table}", place=tag("p", place, class_="about"), table=table)


SHOWN_CHOICES = 8
_DOCUMENT_ENDINGS = (".md", ".txt")
_KIND_LABELS = {"code": "Code", "docs": "Documents"}


class Choice(NamedTuple):
    """A value that limits the results, how many files have it, and the address of the search with it or without."""

    label: str
    files: int
    address: str
    is_chosen: bool


def facets_view(query: PageQuery, matched: Collection[tuple[str, str]]) -> Html:
    """Return what the matching files can be limited to; nothing where that would not help."""
    paths = [path for _, path in matched]
    kinds = Counter("docs" if path.lower().endswith(_DOCUMENT_ENDINGS) else "code" for path in paths)
    languages = Counter(language for path in paths if (language := detect_language(path, b"")))
    groups = {
        "Root": _roots(query, matched),
        "Kind": _choices(query, "kind", kinds, _KIND_LABELS),
        "Language": _choices(query, "lang", languages),
        "Folder": _folders(query, matched),
        "Tests": _tests(query, paths),
    }
    shown = [_group(name, choices) for name, choices in groups.items() if _helps(name, choices)]
    return tag("aside", shown, class_="facets", aria_label="Narrow the results")


def _helps(name: str, choices: list[Choice]) -> bool:
    return len(choices) > (name != "Tests") or any(choice.is_chosen for choice in choices)


def _group(name: str, choices: list[Choice]) -> Html:
    rows = []
    for choice in choices[:SHOWN_CHOICES]:
        count = tag("span", f"{choice.files:,}", class_="count")
        chosen = {"class_": "chosen", "aria_current": "true", "title": "Remove this filter"} if choice.is_chosen else {}
        rows.append(tag("li", link(choice.address, tag("span", choice.label), " ", count, **chosen)))
    return tag("section", tag("h2", name), tag("ul", rows))


def _roots(query: PageQuery, matched: Iterable[tuple[str, str]]) -> list[Choice]:
    counts = Counter(root for root, _ in matched)
    return [
        Choice(root, count, query.address(source="" if query.source == root else root), query.source == root)
        for root, count in counts.most_common()
    ]


def _folders(query: PageQuery, matched: Collection[tuple[str, str]]) -> list[Choice]:
    """Return the folders below the one that has all matching files, and those that were chosen."""
    chosen = _choices(query, "path", dict.fromkeys(query.values("path"), len(matched)))
    folders = [path.rpartition("/")[0] for _, path in matched]
    shared = commonpath(folders) if folders and all(folders) else ""
    lead = f"{shared}/" if shared else ""
    names = ((path, path[len(lead) :].partition("/")) for _, path in matched)
    counts = Counter(f"{lead}{name}/" for _, (name, slash, _) in names if slash)
    return [*chosen, *(one for one in _choices(query, "path", counts) if not one.is_chosen)]


def _tests(query: PageQuery, paths: Iterable[str]) -> list[Choice]:
    """Return a choice that leaves out tests, if some of the matching files are tests and others are not."""
    if query.mode != "words":
        return []
    counts = Counter(part for path in paths for part in path.split("/")[:-1] if "test" in kinds_of(f"{part}/x"))
    folder = next(iter(query.values("-path")), None) or next((name for name, _ in counts.most_common(1)), "")
    if not folder:
        return []
    outside = sum(folder not in path.split("/") for path in paths)
    return _choices(query, "-path", {folder: outside}, {folder: f"Without {folder}"})


def _choices(
    query: PageQuery, name: str, counts: Mapping[str, int], labels: Mapping[str, str] = MappingProxyType({})
) -> list[Choice]:
    """Return the values of a filter with how many files have each, the most frequent first."""
    return [
        Choice(labels.get(value, value), count, query.toggled(name, value).address(), value in query.values(name))
        for value, count in sorted(counts.items(), key=lambda pair: -pair[1])
    ]
