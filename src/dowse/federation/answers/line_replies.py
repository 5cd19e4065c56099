"""Lines as text: every occurrence of a text, every use of a name and every line that has it, by file and the definition around it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from dowse.federation.answers.place_reading import SourceText
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, find_all_now
from dowse.searching.exact_search import MAX_LITERAL, Occurrences
from dowse.searching.references.name_resolution import Confidence
from dowse.searching.references.reference_search import Place, ReferenceOptions, References
from dowse.searching.search import SearchOptions
from dowse.types import Coverage
from dowse.visible_text import pluralize

ShowPath = Callable[[str], str]
MAX_USES = 60
MAX_DEFINITIONS = 8


def occurrences_text(
    text: str,
    found: Occurrences,
    coverage: Coverage | None,
    sources: Mapping[str, SourceText],
    show: ShowPath,
    *,
    context: int = 0,
) -> str:
    """Return the lines with a text, each once, and how many matches there are in all; no line if none is asked for."""
    is_covered = coverage is None or coverage.files + coverage.direct >= coverage.expected
    is_complete = found.is_complete and is_covered
    at_least = "" if is_complete else "at least "
    if not found.total:
        where = "nowhere in" if is_complete else "not found, but not every file was read:"
        return f"'{text}': {where} {pluralize(found.looked_at, 'file' if coverage else 'item')}"
    count = f"{at_least}{found.total} {'match' if found.total == 1 else 'matches'}"
    parts = [f"'{text}': {count} in {pluralize(found.files, 'file' if coverage else 'item')}"]
    if not found.limit:
        counts = sorted(found.counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return "\n".join([*parts, *(f"  {count:>5} {show(path)}" for path, count in counts)])
    for path, group in groupby(found.found, lambda one: one.path):
        parts.append(show(path))
        parts += _grouped_lines(sources.get(path), {one.line: one.text for one in group}, context)
    if len(found.found) < found.lines:
        parts.append(f"  {found.lines - len(found.found)} more lines; raise limit, narrow path, or limit 0 for counts")
    return "\n".join(parts)


def _grouped_lines(source: SourceText | None, texts: Mapping[int, str], context: int) -> Iterator[str]:
    """Yield lines of a file with their numbers, under the names of the definitions around them."""

    def around(line: int) -> str:
        unit = source.unit_at(line) if source else None
        return ".".join(unit.names) if unit else ""

    width, shown = len(str(max(texts) + context)), set[int]()
    for name, group in groupby(texts, around):
        if name:
            yield f"  {name}"
        for line in group:
            near = range(line - context, line + context + 1) if source and context else (line,)
            for number in near:
                if number in shown or not (number in texts or (source and 1 <= number <= len(source.lines))):
                    continue
                shown.add(number)
                text = texts.get(number) if number in texts and not context else None
                yield f"  {number:>{width}} {text if text is not None or not source else source.lines[number - 1]}"


def references_text(name: str, found: References, show: ShowPath, *, unread: int = 0) -> str:
    """Return the definitions, the overrides and the uses of a name; the uses of some files may not be read yet."""
    state = f"; the uses of {unread} files are still being read, ask again in a moment" if unread else ""
    if not found.is_found:
        near = f" Similar names: {', '.join(found.suggestions)}." if found.suggestions else ""
        return f"{name}: nothing here is called that{state}.{near}"
    parts = [f"{name}: defined at"] if found.definitions else [f"{name}: not defined here"]
    parts += _places(found.definitions, found.more_definitions, show)
    if found.overrides:
        parts.append("  overridden or implemented at")
        parts += _places(found.overrides, 0, show)
    if found.owners:
        rows = [
            f"  {owner.name}  {pluralize(owner.uses, 'use')}  ({show(owner.path)}:{owner.line})"
            for owner in found.owners
        ]
        return "\n".join([*parts, f"  {len(found.owners)} things have this name; ask for one of them:", *rows])
    if set(found.confidences) == {Confidence.TEXT.word}:
        parts.append(f"  no use is known by syntax; {pluralize(found.total, 'line has', 'lines have')} the word:")
    else:
        parts.append(f"  {pluralize(found.total, 'use')} in {pluralize(found.files, 'file')}{state}")
    writes = _writes(name)
    if found.by_name_only:
        parts.append(f"  matched by name only in {', '.join(found.by_name_only)}")
    for path, uses in groupby(found.uses, lambda use: use.path):
        parts.append(show(path))
        parts += [_use(use, writes) for use in uses]
    if found.total > len(found.uses):
        parts.append(f"  {found.total - len(found.uses)} more uses; narrow path")
    return "\n".join(parts)


def _places(places: Sequence[Place], more: int, show: ShowPath) -> Iterable[str]:
    for place in places[:MAX_DEFINITIONS]:
        within = f"  ({place.within})" if place.within else ""
        yield f"  {show(place.path)}:{place.line}  {place.text.strip()}{within}"
    left = more + max(0, len(places) - MAX_DEFINITIONS)
    if left:
        yield f"  and {left} more"


def _writes(name: str) -> re.Pattern[str]:
    """Return what finds an assignment to a field of a name, as `.name = 1`, `.name += 1` and `.name++`."""
    word = re.escape(bare_name(name))
    return re.compile(rf"(?:\.|->|::|@|\$){word}(?:\s*(?:[-+*/%&|^]|\?\?|\|\||&&|<<|>>)?=(?![=>~])|\+\+|--)")


def _use(use: Place, writes: re.Pattern[str]) -> str:
    doubt = "" if use.confidence >= Confidence.LIKELY else f"  [{use.confidence.word}]"
    within = f"  in {use.within}" if use.within else ""
    written = "  [writes]" if writes.search(use.text) else ""
    return f"  {use.line} {use.text.strip()}{within}{written}{doubt}"


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
    is_short = len(word) <= MAX_LITERAL // 2  # as it may be escaped
    pattern = rf"\b{re.escape(word)}\b" if is_short else word
    found, covered = find_all_now(index, ExactQuery(pattern, wanted, TEXT_SECONDS, is_pattern=is_short))
    text = occurrences_text(word, found, covered, read({one.path for one in found.found}), show)
    return f"{text}\n  by its text: the project is being indexed, and uses are known by syntax after that"


def other_lines(
    index: ProjectIndex, name: str, known: References, options: ReferenceOptions, show: Callable[[str], str]
) -> list[str]:
    """Return the lines that have a name in their text and are no use by syntax, if few are: `"name"`, `name__gt`."""
    word = bare_name(name)
    if known.total >= FEW_USES or not known.is_found or not re.fullmatch(r"\w{3,100}", word):
        return []
    wanted = SearchOptions(MAX_USES, path_glob=options.path_glob)
    query = ExactQuery(rf"(?<![\w$]){re.escape(word)}(?:__\w+)?(?![\w$])", wanted, TEXT_SECONDS, is_pattern=True)
    found, _ = find_all_now(index, query)
    places = {(place.path, place.line) for place in (*known.definitions, *known.overrides, *known.uses)}
    others = {(one.path, one.line): one.text for one in found.found if (one.path, one.line) not in places}
    if not others:
        return []
    rows = [f"  by its text in {pluralize(len(others), 'other line')}:"]
    rows += [f"  {show(path)}:{line} {text.strip()}" for (path, line), text in list(others.items())[:MAX_TEXT_USES]]
    if len(others) > MAX_TEXT_USES:
        rows.append(f"  and {len(others) - MAX_TEXT_USES} more; find '{word}' lists all")
    return rows
