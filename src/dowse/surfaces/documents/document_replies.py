"""The replies about documents: of a search, the specification's prose and the same facts as structured content; of one
document, its lines."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from dowse.errors import UsageError
from dowse.mcp.replies import (
    ENVELOPE_CHARACTERS,
    Reply,
    coverage_reply,
    coverage_warnings,
    fit_items,
    largest,
    present,
    wire_characters,
)
from dowse.mcp.tools import ProseReply
from dowse.parsing.document_parsing import ParsedOutline, outline
from dowse.screening.masking import Screened, find_flags
from dowse.searching.document_ranking import RankedDocument
from dowse.searching.passages import content_warnings, found_terms, without_front_matter
from dowse.text.excerpts import PASSAGE_CHARACTERS, FoundWord, add_marks, best_window, window_around
from dowse.text.line_numbers import split_lines
from dowse.types import Coverage, Document
from dowse.visible_text import join_lines, one_line

DESCRIPTION_CHARACTERS = 160
TITLE_CHARACTERS = 200
"""A longer title is cut; a text's first line is its title, however long."""


def excerpt(text: str, terms: Mapping[str, float]) -> str:
    """Return the part of a passage with the most words of the query, on one line, with dots where it was cut."""
    text = text.strip()
    if len(text) <= PASSAGE_CHARACTERS:
        return join_lines(text)
    numbers = {term: number for number, term in enumerate(terms)}
    weights = {number: terms[term] for term, number in numbers.items()}
    places = [FoundWord(start, end, numbers[term]) for start, end, term in found_terms(text, terms)]
    start, end = best_window(text, places, weights) or window_around(text, FoundWord(0, 0, 0), 0, PASSAGE_CHARACTERS)
    return add_marks(join_lines(text[start:end]), "...", is_cut_before=start > 0, is_cut_after=end < len(text))


def document_result(uri: str, found: RankedDocument, terms: Mapping[str, float]) -> Reply:
    """Return a document that was found, as structured content."""
    passage = found.passage if found.place != "title" else None
    shown = excerpt(without_front_matter(passage), terms) if passage else ""
    result: Reply = {
        "uri": uri,
        "title": one_line(found.document.title, TITLE_CHARACTERS),
        "relevance": found.relevance,
        "excerpt": shown or one_line(found.document.description, DESCRIPTION_CHARACTERS),
        "matchLocation": found.place,
    }
    if passage:
        headings = [one_line(heading, TITLE_CHARACTERS) for heading in passage.headings]
        result |= {"startLine": passage.start_line, "endLine": passage.end_line, "headings": headings}
        result |= content_warnings(passage)
    return result


def documents_reply(
    results: list[Reply],
    total: int,
    coverages: list[Coverage],
    budget: int,
    started: float,
    *,
    without_filters: int = 0,
) -> ProseReply:
    """Return the results in the words of the specification and as structured content, as many as fit."""
    notes = _coverage_notes(coverages)
    if without_filters:
        notes.insert(0, f"Without the filters of the query: {without_filters} matches")
    numbered = list(enumerate(results, 1))
    room = budget - ENVELOPE_CHARACTERS - sum(map(len, notes))
    shown = fit_items(numbered, room, lambda pair: len(_lines(*pair)) + len(str(pair[1])) + 40)
    content: dict[str, Any] = {"totalMatches": total, "results": [result for _, result in shown]}
    content |= present(withoutFilters=without_filters)
    if coverages:
        content["coverage"] = coverage_reply(coverages)
        if warnings := _warnings(coverages):
            content["warnings"] = warnings
    if len(shown) < len(results):
        cut = f"Only {len(shown)} are shown, for the reply would be too long. Ask for something more specific."
        content["truncated"] = cut
        notes.append(cut)
    least = at_least(total, coverages)
    showing = f" (showing {len(shown)})" if total > len(shown) else ""
    if shown and not total:
        showing = f" ({len(shown)} near in meaning)"
    text = "\n\n".join(
        [
            f"Search results: {least}{total} matches{showing}",
            *(_lines(number, result) for number, result in shown),
            *notes,
        ]
    )
    return ProseReply({**content, "searchTimeMs": round((time.perf_counter() - started) * 1000, 1)}, text)


def at_least(total: int, coverages: Iterable[Coverage]) -> str:
    """Return the words before a number of matches that is a lower bound, because documents are not indexed yet."""
    return "at least " if total and any(one.files < one.expected for one in coverages) else ""


def _lines(number: int, result: Reply) -> str:
    title = result["title"].replace('"', '\\"')  # so that it ends where its quotes do
    return (
        f'{number}. {result["uri"]} - "{title}" (relevance: {result["relevance"]:.2f})\n'
        f"   Excerpt: {result['excerpt']}\n"
        f"   Match location: {result['matchLocation']}"
    )


def _warnings(coverages: list[Coverage]) -> list[str]:
    return list(dict.fromkeys(warning for coverage in coverages for warning in coverage_warnings(coverage)))


def _coverage_notes(coverages: list[Coverage]) -> list[str]:
    covered = coverage_reply(coverages)
    if covered["complete"]:
        return []
    if warnings := _warnings(coverages):
        return warnings
    count, expected = covered["indexedFiles"] + covered.get("searchedDirectly", 0), covered["expectedFiles"]
    if count < expected:
        return [f"Searched {count} of {expected} documents so far; the rest is being indexed."]
    if "indexing" in covered:
        return ["The documents are being indexed; there may be more in a moment."]
    return ["Some documents have changed a moment ago and are being indexed."]


def about_document(document: Document, uri: str, lines: int) -> Reply:
    """Return what every reply about one document says of it."""
    return {"uri": uri, "title": one_line(document.reading.title, TITLE_CHARACTERS), "totalLines": lines}


def document_reply(
    document: Document, uri: str, section: str, lines: tuple[int | None, int | None], budget: int
) -> Reply:
    """Return some lines of a document, or a section of it, as many lines as fit."""
    every = split_lines(document.reading.text)
    found = outline(document.reading.text, [section], document.language) if section else ParsedOutline()
    start, end = _line_range(found, section, *lines)
    end = min(end or len(every), len(every))
    if start > len(every) and every:
        raise UsageError(f"startLine: {start} is beyond the end; the document has {len(every)} lines.")
    reply: Reply = {**about_document(document, uri, len(every)), "startLine": start}
    room = budget - wire_characters(reply) - ENVELOPE_CHARACTERS
    count = largest(
        end - start + 1, lambda count: wire_characters("".join(every[start - 1 : start - 1 + count])) <= room
    )
    text, last = "".join(every[start - 1 : start - 1 + count]), start + count - 1
    if last < start <= len(every):
        text = every[start - 1][: budget // 4]
        reply["truncated"] = f"Line {start} is longer than a reply. resources/read gives the whole document."
    elif last < end:
        reply["truncated"] = f"Cut at line {last} for the length of the reply. Go on with startLine: {last + 1}."
    return {
        **reply,
        "endLine": max(last, start),
        "text": text,
        **Screened(text, flags=find_flags(text)).warning_fields(start),
    }


def _line_range(
    outline: ParsedOutline, section: str | None, start: int | None, end: int | None
) -> tuple[int, int | None]:
    """Return the first and the last line that a call asks for; no last line means the end of the document."""
    if not section:
        if start is not None and end is not None and end < start:
            raise UsageError(f"endLine: {end} comes before startLine {start}.")
        return start or 1, end
    if start is not None or end is not None:
        raise UsageError("section: give a section or lines, not both.")
    found = outline.section(section)
    if found is None:
        raise UsageError(f"section: the document has none called '{section}'. get_document_outline lists them.")
    return found.start_line, found.end_line
