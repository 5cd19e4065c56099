"""Selection of definitions: the functions, classes and sections of all files found that answer a query, best first.

The definitions of all files are compared with each other, by their words, their chunks, their names, their kind and
their file. The best ones are shown whole and once, in as many as the evidence allows; others by their first line.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, fsum, log

from dowse.protocols import ScoreTexts
from dowse.searching import ranking_constants
from dowse.searching.document_lines import DocumentLines
from dowse.searching.found_files import scores_above_mean
from dowse.searching.passages import Passage, comparable_lines
from dowse.searching.query_terms import SearchQuery
from dowse.searching.ranking_constants import QUESTION_ROOM, DefinitionRoom
from dowse.searching.term_positions import terms_of_word
from dowse.searching.units import Unit
from dowse.types import Symbol

MAX_WHOLE_LINES = 130
"""A longer definition is shown with its signature and the stretch that matters."""
STRETCH_LINES, OTHER_STRETCH_LINES = 80, 40
"""Lines of that stretch, for the best definition and for others."""
ALIKE_SHARE = 0.7
"""A definition with this share of its lines in one that is shown is named and not shown."""

CALLEE_LINES, MAX_CALLEES = 12, 4
"""A function that a shown definition calls is shown too, if it has at most so many lines."""
CONTEXT_CHARACTERS = 300
"""The characters of the callers, calls and constants below a definition that does not only fill a reply."""
WHOLE_COVERAGE = 0.99
"""For a query that is a name, other definitions are named if they have the whole name, and not a part such as `cents`; for
other queries if they have a word of it, unless nothing has. For 32 questions, every place that decides is shown or named
for 84 % instead of 81."""

COMPARED_LINES = 60
"""Lines of a definition that are compared with a query by meaning. With 25, two of 120 answers are lost."""
LINE_CHARACTERS = 5
"""The characters of a line number."""
ACCESSOR_LINES = 5
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__construct", "constructor", "initialize", "init", "new"})
_KEYWORDS = (
    "class|struct|enum|trait|interface|object|module|type|fn|func|fun|def|defp|function|macro|const|static|let|var|val"
)
_CALL = re.compile(r"\b([A-Za-z_]\w{3,})\s*\(")
_DOCSTRINGS = ('"""', "'''", 'r"""')
_PRIVATE = re.compile(r"\s*(?:(?:static|final|abstract|async)\s+){0,2}(?:private|protected|internal)\b")
_ACCESSORS = ("get", "set", "is_", "has")

Compare = Callable[[Sequence[str]], Sequence[float]]
"""Returns how near each of some texts is to the query in meaning, from 0 to 1."""
ChunkScores = Mapping[tuple[int, int], float]
"""The scores of chunks, by their first and last line."""


@dataclass(slots=True, eq=False)
class FileDefinitions:
    """A file that was found, and its definitions that are chosen."""

    rank: int
    document: DocumentLines
    chunks: ChunkScores
    share: float
    """Its share of the best file's score."""
    is_aside: bool
    """Whether it is of a kind that is rarely meant, such as a test, and was not asked for."""
    defined: frozenset[int] = frozenset()
    """The lines that define a name, counted from 0, for a query that is this name."""
    whole: list[Passage] = field(default_factory=list)
    """The definitions that are shown whole."""
    named: list[Passage] = field(default_factory=list)
    """Those that are named by their first line."""


@dataclass(frozen=True, slots=True)
class UnitEvidence:
    """The evidence for a unit of a file, on scales that the units of all files share."""

    file: FileDefinitions
    unit: Unit
    signals: Mapping[str, float]
    """Those that `ranking_constants` has weights for; words and chunks are not compared with those of other units yet."""
    defined: int | None
    """The line that defines the name that the query is; None if it has none. A class has it rather than its constructor."""


def find_defined_lines(
    documents: Sequence[DocumentLines], symbols: Sequence[Iterable[Symbol]], name: str
) -> list[frozenset[int]]:
    """Return for each document the lines that define a name; if none does, those that define it in other capitals."""
    pairs = list(zip(documents, symbols, strict=True))
    found = [_defined_lines(document, known, name) for document, known in pairs]
    if any(found):
        return found
    folded = name.lower()
    return [
        frozenset(symbol.line - document.first for symbol in known if symbol.name.lower() == folded)
        for document, known in pairs
    ]


def _defined_lines(document: DocumentLines, symbols: Iterable[Symbol], name: str) -> frozenset[int]:
    """Return the lines that define a name, counted from 0: by syntax, or as it is written, as in the calls of a macro."""
    found = {symbol.line - document.first for symbol in symbols if symbol.name == name}
    if not found:
        written = re.compile(rf"\b(?:{_KEYWORDS})\s+{re.escape(name)}\b")
        found = {number for number, line in enumerate(document.lines) if name in line and written.search(line)}
    return frozenset(found)


def room_for(query: SearchQuery) -> DefinitionRoom:
    """Return the room of a reply: a pasted issue has more."""
    is_issue = query.pasted is not None and len(query.pasted.words) >= ranking_constants.ISSUE_WORDS
    return ranking_constants.ISSUE_ROOM if is_issue else QUESTION_ROOM


def choose_definitions(
    files: Sequence[FileDefinitions],
    limit: int,
    room: DefinitionRoom = QUESTION_ROOM,
    compare: Compare | None = None,
    score_texts: ScoreTexts | None = None,
) -> None:
    """Choose the definitions of files that are shown whole, up to a limit, and those shown by their first line.

    Definitions are shown whole until one of them is likely the one that is meant: few if the evidence is clear. A short
    reply shows some more.
    """
    limit = int(limit * room.share)
    most = max(limit, int(limit * room.filled_share))
    ranked = rank_definitions(files, compare, score_texts)
    is_name = any(one.defined is not None for _, one in ranked)
    has_words = any(one.signals["words"] for _, one in ranked)
    used, likely, whole, named = 0, 0.0, 0, 0
    said = list[frozenset[str]]()
    for chance, one in ranked:
        is_wanted = whole < limit and (likely < room.enough_chance or one.defined is not None)
        is_filling = whole < most and used < room.filled_characters and likely < ranking_constants.CERTAIN_CHANCE
        if is_wanted or is_filling:
            passage = _shown(one, is_best=not whole)
            size = _size(passage)
            text = frozenset(comparable_lines(passage).split("\n"))
            fits = used + size <= (room.characters if is_wanted else room.filled_characters)
            if not whole or (fits and not any(_are_alike(text, other) for other in said)):
                said.append(text)
                used, likely, whole = used + size + is_wanted * CONTEXT_CHARACTERS, likely + chance, whole + 1
                one.file.whole.append(replace(passage, rank=whole, is_spare=not is_wanted))
                continue
        coverage, words = one.signals["coverage"], one.signals["words"]
        is_weak = coverage < WHOLE_COVERAGE if is_name else has_words and not words
        if named < ranking_constants.NAMED_DEFINITIONS and not is_weak:
            named += 1
            line = one.file.document.first_line(one.unit)
            one.file.named.append(replace(line, rank=most + MAX_CALLEES + named))
    _add_callees(files, room.callee_characters - used, whole)


def _size(passage: Passage) -> int:
    """Return how many characters a passage takes with its line numbers."""
    return len(passage.text) + LINE_CHARACTERS * passage.text.count("\n")


def _add_callees(files: Sequence[FileDefinitions], characters: int, whole: int) -> None:
    """Show short functions that the shown definitions call, if they are in the files that were found and fit."""
    shown = sorted((passage for file in files for passage in file.whole), key=lambda passage: passage.rank)
    names = [name for passage in shown for name in _CALL.findall(passage.text) if name not in passage.symbols]
    wanted = dict.fromkeys(names) if characters > 0 else {}
    found: dict[str, list[tuple[FileDefinitions, Unit]]] = {name: [] for name in wanted}
    for file in files if wanted else ():
        for unit in file.document.units:
            if unit.kind == "function" and unit.name in found:
                found[unit.name].append((file, unit))
    added = 0
    for places in found.values():
        if len(places) != 1 or places[0][1].size > CALLEE_LINES or added == MAX_CALLEES:
            continue
        [(file, unit)] = places
        passage = file.document.passage(unit, list(range(unit.start, unit.end + 1)))
        size = _size(passage)
        if size <= characters and not any(one.start_line <= passage.start_line <= one.end_line for one in file.whole):
            characters, added = characters - size, added + 1
            file.whole.append(replace(passage, rank=whole + added, is_spare=True))
            file.named = [one for one in file.named if (one.whole or (one.start_line,))[0] != passage.start_line]


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two definitions have most of their lines in common."""
    return len(one) > 1 and len(one & other) >= ALIKE_SHARE * max(len(one), len(other))


def rank_definitions(
    files: Sequence[FileDefinitions], compare: Compare | None = None, score_texts: ScoreTexts | None = None
) -> list[tuple[float, UnitEvidence]]:
    """Return the definitions that have words of the query or were found by meaning, best first, with their chances.

    Those of packages are compared with the query by meaning too, and those that others can use count more. Of others, the
    scores of the texts of the best ones count too, if they come in time.
    """
    weights, kinds = ranking_constants.DEFINITION_WEIGHTS, ranking_constants.DEFINITION_KINDS
    if compare:
        weights, kinds = ranking_constants.PACKAGE_DEFINITION_WEIGHTS, ranking_constants.PACKAGE_DEFINITION_KINDS
    found = [one for file in files for one in _evidence(file)]
    highest = {name: max((one.signals[name] for one in found), default=0.0) or 1.0 for name in ("words", "chunk")}

    def score(one: UnitEvidence) -> float:
        values = (weight * one.signals[name] / highest.get(name, 1.0) for name, weight in weights.items())
        return sum(values) + kinds[one.unit.kind]

    ranked, certainty = _in_order((score(one), one) for one in found), ranking_constants.DEFINITION_CERTAINTY
    if compare:
        first = ranked[: ranking_constants.COMPARED_DEFINITIONS]
        near = compare([_text_of(one.file.document, one.unit) for _, one in first])
        nearer = (
            (value + ranking_constants.PACKAGE_NEARNESS * share, one)
            for (value, one), share in zip(first, near, strict=True)
        )
        ranked = _in_order((*nearer, *ranked[len(first) :]))
    elif score_texts:
        best, length = ranked[: ranking_constants.SCORED_DEFINITIONS], ranking_constants.SCORED_CHARACTERS
        texts = [one.file.document.scored_text(one.unit, length) for _, one in best]
        if added := scores_above_mean(texts, score_texts, ranking_constants.SCORED_WEIGHT):
            scored = ((value + more, one) for more, (value, one) in zip(added, best, strict=True))
            ranked, certainty = _in_order((*scored, *ranked[len(best) :])), ranking_constants.SCORED_CERTAINTY
    chances = [exp(certainty * (value - ranked[0][0])) for value, _ in ranked]
    total = sum(chances)
    return [(chance / total, one) for chance, (_, one) in zip(chances, ranked, strict=True)]


def _in_order(scored: Iterable[tuple[float, UnitEvidence]]) -> list[tuple[float, UnitEvidence]]:
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].file.rank, pair[1].unit.start))


def _text_of(document: DocumentLines, unit: Unit) -> str:
    return "\n".join(document.lines[unit.start : min(unit.end + 1, unit.start + COMPARED_LINES)])


def _is_documented(document: DocumentLines, unit: Unit) -> bool:
    """Return whether a definition has a comment above it, or a docstring."""
    if unit.kind not in ("function", "class"):
        return False
    below = document.lines[unit.body] if unit.body <= unit.end else ""
    return unit.definition > unit.start or below.lstrip().startswith(_DOCSTRINGS)


def _is_private(document: DocumentLines, unit: Unit) -> bool:
    """Return whether a definition is not for users of its package, by its name or the words before it."""
    if unit.kind not in ("function", "class"):
        return False
    if unit.name.startswith("_") and unit.name not in ("__init__", "__call__", "__construct", "__invoke"):
        return True
    is_small_in_go = document.language == "go" and unit.name[:1].islower()
    return is_small_in_go or _PRIVATE.match(document.lines[unit.definition]) is not None


def _is_constructor(unit: Unit) -> bool:
    is_named_like_class = len(unit.names) > 1 and unit.names[-1] == unit.names[-2]
    return unit.kind == "function" and (is_named_like_class or unit.name in _CONSTRUCTORS)


def _evidence(file: FileDefinitions) -> list[UnitEvidence]:
    """Return the evidence for the units of a file with words of the query or in a chunk with a score."""
    document, wanted = file.document, file.document.wanted
    weights = wanted.definition_terms
    counts = document.term_counts()
    for number_of_unit in counts:
        unit = document.units[number_of_unit]
        if unit.kind == "block" and unit.size > MAX_WHOLE_LINES:  # a list of data has every word somewhere
            counts[number_of_unit] = document.count_terms(document.stretch(unit, STRETCH_LINES))
    by_words = dict(zip(counts, document.weights_of(counts, weights), strict=True))
    highest = max(file.chunks.values(), default=0.0)
    by_chunk = document.chunk_shares(file.chunks)
    total = sum(weights.values()) or 1.0
    defining = {at: line for line in sorted(file.defined) if (at := document.unit_at(line)) is not None}
    framed, found = document.framed_units(), []
    for at in sorted({*by_words, *by_chunk, *defining, *framed}):
        unit = document.units[at]
        if unit.kind == "block" and at not in defining and document.is_boilerplate(at):
            continue
        terms = {term for name in unit.names for term in terms_of_word(name)}
        defined = None if _is_constructor(unit) else defining.get(at)
        is_short = unit.kind == "function" and unit.size <= ACCESSOR_LINES
        signals = {
            "file": float(file.share**ranking_constants.FILE_SHARE_POWER),
            "words": by_words.get(at, 0.0),
            "chunk": by_chunk.get(at, 0.0) * highest,
            "coverage": fsum(weights.get(term, 0.0) for term in counts.get(at, ())) / total,
            "names": fsum(weight for term, weight in weights.items() if term in terms) / total,
            "length": log(min(unit.size, MAX_WHOLE_LINES)),
            "aside": file.is_aside,
            "constructor": _is_constructor(unit),
            "accessor": is_short and unit.name.lower().startswith(_ACCESSORS),
            "symbol": defined is not None,
            "framed": at in framed,
            "mentioned": bool(wanted.title_terms) and unit.kind == "function" and unit.name in wanted.words,
            "documented": _is_documented(document, unit),
            "private": _is_private(document, unit),
        }
        found.append(UnitEvidence(file, unit, signals, defined))
    return found


def _shown(one: UnitEvidence, *, is_best: bool) -> Passage:
    """Return a unit whole, or the stretch of a long one that matters."""
    document, unit = one.file.document, one.unit
    lines = list(range(unit.start, unit.end + 1))
    if unit.size <= MAX_WHOLE_LINES:
        return document.passage(unit, lines)
    length = STRETCH_LINES if is_best else OTHER_STRETCH_LINES
    shown = document.stretch(unit, length)
    if one.defined is not None:
        start = min(max(one.defined - unit.start - length // 4, 0), len(lines) - length)
        shown = lines[start : start + length]
    return document.passage(unit, [*(line for line in document.signature(unit) if line < shown[0]), *shown])
