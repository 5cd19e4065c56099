"""What was found in documents, as it is told: a few words around it, on one line, quoted."""

import re
import time
from collections.abc import Mapping
from typing import Any

from dowse.indexes.project_search import Coverage
from dowse.mcp.tools import ProseReply
from dowse.searching.document_ranking import RankedDocument
from dowse.searching.passages import Passage, first_match
from dowse.surfaces.project.project_replies import screening

CHARACTERS = 150
TITLE_CHARACTERS = 200
"""Of a title so much is told; a text's first line is its title, however long."""

_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""What nobody sees and some obey: marks of direction, and letters without a shape; joiners shape real words."""
_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)(?s:.*?)(?:(?:\r\n|\r|\n)\1[ \t]*(?=[\r\n]|\Z)|\Z)")


def on_one_line(text: str, most: int) -> str:
    """A text from a file where only a line of it has room: no line break or control character is left."""
    line = _plain(text[: 4 * most])
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _plain(text: str) -> str:
    return _SPACE.sub(" ", _UNSEEN.sub("", text)).strip()


def excerpt(text: str, terms: Mapping[str, float], most: int = CHARACTERS) -> str:
    """The part of a passage around its first match, cut at words, with dots where it was cut."""
    line = _plain(text)
    if len(line) <= most:
        return line
    match = first_match(line, terms)
    start = max(0, min(match - most // 3, len(line) - most)) if match is not None else 0
    end = start + most
    if start:
        start = line.find(" ", start, start + 20) + 1 or start
    if end < len(line):
        end = max(line.rfind(" ", end - 20, end), 0) or end
    return ("..." if start else "") + line[start:end] + ("..." if end < len(line) else "")


def result_of(uri: str, found: RankedDocument, terms: Mapping[str, float]) -> dict[str, Any]:
    """A document that was found, as structured content."""
    passage = found.passage if found.place != "title" else None
    said = excerpt(_without_front_matter(passage), terms) if passage else ""
    result: dict[str, Any] = {
        "uri": uri,
        "title": on_one_line(found.document.title, TITLE_CHARACTERS),
        "relevance": found.relevance,
        "excerpt": said or on_one_line(found.document.description, CHARACTERS + 10),
        "matchLocation": found.place,
    }
    if passage:
        headings = [on_one_line(heading, TITLE_CHARACTERS) for heading in passage.headings]
        result |= {"startLine": passage.start_line, "endLine": passage.end_line, "headings": headings}
        result |= screening(passage)
    return result


def _without_front_matter(passage: Passage) -> str:
    """A passage without what a file states of itself before its text."""
    return _FRONT_MATTER.sub("", passage.text, count=1) if passage.start_line == 1 else passage.text


def told(
    results: list[dict[str, Any]], total: int, each: list[Coverage], characters: int, started: float
) -> ProseReply:
    """Results in the words of the specification, and the same facts as structured content; within the budget."""
    notes = _notes(each)
    lines = [_lines(number, one) for number, one in enumerate(results, 1)]
    left = characters - 600 - sum(len(note) for note in notes)
    kept = 0
    for one, text in zip(results, lines, strict=True):
        left -= len(text) + len(str(one)) + 40
        if left < 0:
            break
        kept += 1
    is_cut = kept < len(results)
    if is_cut:
        notes.append(f"Only {kept} are shown, for the reply would be too long. Ask for something more specific.")
    shown = f" (showing {kept})" if total > kept and total else ""
    text = "\n\n".join([f"Search results: {total} matches{shown}", *lines[:kept], *notes])
    content: dict[str, Any] = {"totalMatches": total, "results": results[:kept]}
    if each:
        content["coverage"] = _covered(each)
    if is_cut:
        content["truncated"] = notes[-1]
    return ProseReply({**content, "searchTimeMs": round((time.perf_counter() - started) * 1000, 1)}, text)


def _lines(number: int, one: Mapping[str, Any]) -> str:
    title = one["title"].replace('"', '\\"')  # so that it ends where its quotes do
    return (
        f'{number}. {one["uri"]} - "{title}" (relevance: {one["relevance"]:.2f})\n'
        f"   Excerpt: {one['excerpt']}\n"
        f"   Match location: {one['matchLocation']}"
    )


def _notes(each: list[Coverage]) -> list[str]:
    covered = _covered(each)
    if covered["complete"]:
        return []
    if covered["indexedFiles"] < covered["expectedFiles"]:
        count, expected = covered["indexedFiles"], covered["expectedFiles"]
        return [f"Searched {count} of {expected} documents so far; the rest is being indexed."]
    if any(one.is_indexing for one in each):
        return ["The documents are being indexed; there may be more in a moment."]
    return ["Some documents have changed a moment ago and are being indexed."]


def _covered(each: list[Coverage]) -> dict[str, Any]:
    return {
        "indexedFiles": sum(one.files for one in each),
        "expectedFiles": sum(max(one.files, one.expected) for one in each),
        "complete": all(one.is_complete for one in each),
    }
