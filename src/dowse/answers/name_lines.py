"""Lines that have a name in their text, beside the uses that are known by syntax: string keys, suffixed keywords."""

import re
from collections.abc import Callable, Iterable

from dowse.answers.definition_replies import counted
from dowse.answers.line_replies import MAX_USES, occurrences_text
from dowse.answers.source_text import SourceText
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, find_all_now
from dowse.references.reference_search import ReferenceOptions, References
from dowse.searching.search import SearchOptions

FEW_USES = 5
"""With fewer uses that are known by syntax, the text is searched as well."""
MAX_TEXT_USES = 15
TEXT_SECONDS = 2.0
"""How long the files are searched for a name."""

ReadSources = Callable[[Iterable[str]], dict[str, SourceText]]


def bare_name(name: str) -> str:
    """Return a name without the names of what it belongs to."""
    return re.split(r"\.|::|#|->", name.strip().removesuffix("()"))[-1]


def lines_with_word(
    index: ProjectIndex, name: str, options: ReferenceOptions, read: ReadSources, show: Callable[[str], str]
) -> str:
    """Return the lines that have a name, before the project is indexed."""
    word = bare_name(name)
    wanted = SearchOptions(MAX_USES, path_glob=options.path_glob)
    found, covered = find_all_now(index, ExactQuery(rf"\b{re.escape(word)}\b", wanted, TEXT_SECONDS, is_pattern=True))
    text = occurrences_text(word, found, covered, read({one.path for one in found.found}), show)
    return f"{text}\n  by its text: the project is being indexed, and uses are known by syntax after that"


def other_lines(
    index: ProjectIndex, name: str, known: References, options: ReferenceOptions, show: Callable[[str], str]
) -> list[str]:
    """Return the lines that have a name in their text and are no use by syntax, if few are: `"name"`, `name__gt`."""
    word = bare_name(name)
    if known.total >= FEW_USES or not known.is_found or not re.fullmatch(r"\w{3,}", word):
        return []
    wanted = SearchOptions(MAX_USES, path_glob=options.path_glob)
    query = ExactQuery(rf"(?<![\w$]){re.escape(word)}(?:__\w+)?(?![\w$])", wanted, TEXT_SECONDS, is_pattern=True)
    found, _ = find_all_now(index, query)
    places = {(place.path, place.line) for place in (*known.definitions, *known.overrides, *known.uses)}
    others = {(one.path, one.line): one.text for one in found.found if (one.path, one.line) not in places}
    if not others:
        return []
    rows = [f"  by its text in {counted(len(others), 'other line')}:"]
    rows += [f"  {show(path)}:{line} {text.strip()}" for (path, line), text in list(others.items())[:MAX_TEXT_USES]]
    if len(others) > MAX_TEXT_USES:
        rows.append(f"  and {len(others) - MAX_TEXT_USES} more; find '{word}' lists all")
    return rows
