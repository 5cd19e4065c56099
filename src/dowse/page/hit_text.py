"""The texts of hits: code with colours and numbers, documents as people read them, and what matches marked."""

import asyncio
import re
import time
from collections.abc import Sequence
from typing import NamedTuple

from dowse.page.colouring import CodeText, Colours, Runs, join_runs, paint
from dowse.page.item_links import item_address
from dowse.page.markdown_view import FindMarks, MarkdownTexts, ParsedMarkdown, Writing, write_markdown
from dowse.page.markup import Html, html
from dowse.page.page_query import PageQuery
from dowse.page.page_search import PageHit, PageResults
from dowse.page.plain_words import plural
from dowse.reading.languages import detect_language
from dowse.searching.passages import found_terms
from dowse.text.line_numbers import split_lines

PATTERN_SECONDS = 0.05
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_TABLE_LINE = re.compile(r"\s*\|")


class HitTexts(NamedTuple):
    """The texts of hits, and whether all of them have their colours and tags."""

    texts: list[Html]
    is_finished: bool


async def show_texts(
    query: PageQuery, found: PageResults, colours: Colours, documents: MarkdownTexts, seconds: float
) -> HitTexts:
    """Return the text of each hit, with colours and tags as far as they are there in time."""
    started = time.monotonic()
    marks = marks_of(query, found)
    code = [
        None if is_document(hit) else CodeText(hit.passages, _language(hit), hit.path, hit.file) for hit in found.hits
    ]
    texts = [_whole_markdown(hit) if is_document(hit) else "" for hit in found.hits]
    colouring = asyncio.ensure_future(colours.find([one for one in code if one], seconds))
    try:
        parsed = await documents.parse([text for text in texts if text], seconds)
        pages = iter(parsed)
        by_hit = [next(pages) if text else None for text in texts]
        blocks = [one.code_blocks() if one else [] for one in by_hit]
        left = max(0.0, seconds - (time.monotonic() - started))
        fences = iter(await colours.find([block for group in blocks for block in group], left))
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
    return HitTexts(shown, is_finished)


def is_document(hit: PageHit) -> bool:
    """Return whether a hit is rendered: Markdown, or a document that was converted to it."""
    language = detect_language(hit.path, b"")
    return bool(hit.lines) and (
        language == "markdown" or (hit.is_converted and language not in ("text", "rst", "asciidoc"))
    )


def _language(hit: PageHit) -> str:
    return detect_language(hit.path, b"") if hit.source.startswith("project/") and not hit.is_converted else "text"


def code_view(hit: PageHit, code: CodeText, runs: Sequence[Runs], marks: FindMarks) -> Html:
    """Return the lines of a hit, with their numbers where they have some."""
    text = "\n".join(passage for _, passage in code.passages)
    painted = paint(text, join_runs(code.passages, runs), marks(text))
    if not painted.strip():
        return Html()
    numbers = "\n".join(str(line.number) for line in hit.lines) if hit.lines[0].number else ""
    more = (
        html('<p class="about">{more} in this file</p>', more=plural(hit.more_lines, "more line"))
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
        text = "\n".join(line.text for line in hit.lines)
        return html('<div class="prose">{text}</div>', text=paint(text, (), marks(text)))
    writing = Writing(lambda target: item_address(hit.source, hit.locator, target), colours=colours, marks=marks)
    return html('<div class="rendered" tabindex="0">{body}</div>', body=write_markdown(page, writing))


def _whole_markdown(hit: PageHit) -> str:
    """Return the passage of a document so that it reads as in its place: inside of a block of code, or of a table."""
    text = "\n".join(line.text for line in hit.lines)
    first = hit.lines[0].number
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
