"""All lines of a file that have words of a query, for a reader who wants more than the best passage."""

import asyncio

from dowse.page.colouring import CodeText, Colours
from dowse.page.hit_text import code_view, marks_of
from dowse.page.markup import Html, html
from dowse.page.page_query import PageQuery
from dowse.page.page_search import PageHit, PageLine, PageResults, read_address
from dowse.page.plain_words import plural
from dowse.page.reading_view import OpenItem
from dowse.screening.masking import screen_text
from dowse.searching.query_terms import parse_search_query
from dowse.text.analysis import terms_of

LISTED_LINES = 40
COLOUR_SECONDS = 0.25


async def matches_view(opened: OpenItem, query: PageQuery, colours: Colours) -> Html:
    """Return the lines of a file that have words of a query, with secrets masked."""
    words = parse_search_query(query.q).positive
    found = PageResults(terms=frozenset(term for word in words for term in terms_of(word)))
    marks = marks_of(query, found)

    def find() -> tuple[str, list[PageLine]]:
        text = screen_text(opened.item.text, path=opened.path, masks=True).text.replace("\r\n", "\n")
        lines = [PageLine(number, line) for number, line in enumerate(text.split("\n"), start=1) if marks(line)]
        return text, lines

    text, lines = await asyncio.to_thread(find)
    if not lines:
        return html('<p class="about">No line has these words: the file was found by its name or meaning.</p>')
    hit = PageHit(
        opened.id, opened.source.name, opened.path, opened.path, tuple(lines[:LISTED_LINES]),
        more_lines=max(0, len(lines) - LISTED_LINES),
    )  # fmt: skip
    code = CodeText(hit.passages, opened.language, opened.path, text.encode("utf-8", "surrogatepass"))
    runs = (await colours.find([code], COLOUR_SECONDS))[0]
    return html(
        '<p class="about">{count} in <a href="{address}">this file</a></p>{lines}',
        count=plural(len(lines), "matching line"), address=read_address(opened.id), lines=code_view(hit, code, runs, marks),
    )  # fmt: skip
