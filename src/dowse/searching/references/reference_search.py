"""The search for references: the definitions and uses of a name, with the lines of the files as they are now."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from dowse.errors import UsageError
from dowse.globs import compile_path_filter
from dowse.parsing.source_references import CALL, KINDS, MENTION, USE_KINDS, SourceReferences, Use
from dowse.protocols import Searchable
from dowse.reading.shorten import shorten
from dowse.searching.exact_search import (
    MAX_LITERAL,
    exact_matcher,
    find_occurrences,
    line_start_characters,
    pattern_matcher,
)
from dowse.searching.found_files import IsShown, ReadBytes, verify
from dowse.searching.passages import screen_line
from dowse.searching.path_kinds import kinds_of
from dowse.searching.references.import_resolution import ImportResolver
from dowse.searching.references.name_resolution import COMMON_NAMES, Confidence, NameResolution, ResolvedUse, is_body_of
from dowse.searching.references.reference_files import DefinedName, SourceFile, SourceFiles
from dowse.searching.search import SearchOptions
from dowse.store.reference_index import ReferenceIndex, import_path, module_of
from dowse.types import TextQuery

MAX_DEFINITIONS = 20
"""The number of definitions that are listed; the rest is counted."""
MAX_OWNERS = 40
_FEW_OWNERS, _MANY_OWNERS = 2, 8
"""A common name of more than a few owners is not listed for all of them at once, nor is any name of many."""
MAX_NAME_CHARACTERS = 500
_SUGGESTIONS = 5
_SEPARATOR = re.compile(r"\.|::|#|->")
_QUALIFIED = re.compile(r"(?:(.+?)(?:\.|::|#|->))?([^.:#>\s]+|operator\S+|[^\w\s]+)(?:\(\))?")
MAX_LINE_CHARACTERS = 200
"""Of a longer line, only the part around the name is shown."""
_LOOKED_AT_LINES = 2000
"""Lines before a use in which the definition around it is looked for."""
MAX_TEXT_LINES, TEXT_SECONDS = 1000, 2.0
"""Lines that have a name without any use, and how long the files are searched for them."""
_HEADERS = (".h", ".hh", ".hpp", ".hxx")
_CONSTRUCTORS = {
    "__init__": "python", "__new__": "python", "__construct": "php", "constructor": "javascript",
    "initialize": "ruby", "init": "swift", "new": "",
}  # fmt: skip
"""Names of constructors, and the languages in which code calls them by the name of their class."""
_MEASURED = frozenset(
    "python javascript typescript tsx go c cpp java csharp kotlin php ruby rust scala swift".split()  # noqa: SIM905 - shorter
)
"""Languages of at least 90 % precision and 85 % recall in docs/how-to/references.md; in the others, names are matched by name only."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file that defines or uses a name."""

    path: str
    line: int
    text: str
    kind: str
    """How the name is used; the kind of symbol for a definition."""
    within: str = ""
    """The names of the definitions around it, joined by dots."""
    confidence: Confidence = Confidence.CERTAIN
    definition: str = ""
    """The definition that is meant, as `path:line`, if there are several."""
    masked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReferenceOptions:
    """Which references are listed, and how many."""

    kind: str | None = None
    path_glob: str | None = None
    limit: int = 50
    offset: int = 0
    masks_secrets: bool = True
    is_shown: IsShown = bool


@dataclass(frozen=True, slots=True)
class NameOwner:
    """One of the classes or modules that define a name, under the name to ask for, and the number of its uses."""

    name: str
    path: str
    line: int
    uses: int


@dataclass(slots=True)
class References:
    """The definitions of a name and a page of its uses: code before tests, the surest first."""

    name: str
    definitions: list[Place] = field(default_factory=list)
    more_definitions: int = 0
    overrides: list[Place] = field(default_factory=list)
    """Definitions of the name in classes that extend those of the definitions."""
    owners: list[NameOwner] = field(default_factory=list)
    """A definition of a name that is too common to list its uses; they are then only counted."""
    uses: list[Place] = field(default_factory=list)
    total: int = 0
    files: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    confidences: dict[str, int] = field(default_factory=dict)
    others: int = 0
    """Uses of something else that has the same name."""
    by_name_only: list[str] = field(default_factory=list)
    """Languages of the definitions in which names are matched by name only."""
    is_text_searched: bool = True
    """False if the text could not be searched for a name without uses in time."""
    outdated: list[str] = field(default_factory=list)
    """Files that are left out because they changed since they were indexed."""
    suggestions: list[str] = field(default_factory=list)
    """Similar names, if this one is unknown."""

    @property
    def is_found(self) -> bool:
        """Whether the name is defined or used, or may be."""
        return bool(self.definitions or self.total or self.others or not self.is_text_searched)


class ReferenceLines:
    """The lines of files, each file read once; `show` writes their paths."""

    def __init__(
        self, store: Searchable, read: ReadBytes, outdated: list[str], show: Callable[[str], str] = str, *, masks: bool
    ) -> None:
        self._store, self._read, self._masks = store, read, masks
        self._outdated, self._show = outdated, show
        self._texts: dict[str, tuple[str, list[int]] | None] = {}

    def place(
        self, file: SourceFile, use: Use, kind: str, confidence: Confidence = Confidence.CERTAIN, definition: str = ""
    ) -> Place | None:
        """Return the line of a use; None if the file has changed."""
        if file.path not in self._texts:
            self._texts[file.path] = self._current_text(file)
        text = self._texts[file.path]
        if text is None or use.line > len(text[1]):
            return None
        characters = text[0]
        start, end = _line_span(text, use.line)
        at = max(characters.find(use.name, start, end), start)
        shown = screen_line(characters, (start, end), at, MAX_LINE_CHARACTERS, file.path, masks=self._masks)
        within = use.within or ("" if use in file.definitions else _definition_around(file, text, use.line))
        path = self._show(file.path)
        return Place(
            path, use.line, shown.text, kind, within, confidence, definition, shown.masked_kinds, shown.flag_kinds
        )

    def _current_text(self, file: SourceFile) -> tuple[str, list[int]] | None:
        document = self._store.documents_by_id([file.id]).get(file.id)
        checked = verify(self._store, self._read, document, compares_content=True) if document else None
        if checked is None:
            self._outdated.append(file.path)
            return None
        text = checked.data.decode("utf-8", "replace")
        return text, line_start_characters(text)


def _line_span(text: tuple[str, list[int]], line: int) -> tuple[int, int]:
    """Return where the characters of a line begin and end, without the white space around them."""
    characters, starts = text
    start = starts[line - 1]
    whole = characters[start : starts[line] if line < len(starts) else len(characters)]
    return start + len(whole) - len(whole.lstrip()), start + len(whole.rstrip())


def _definition_around(file: SourceFile, text: tuple[str, list[int]], line: int) -> str:
    """Return the definition around a line by its indentation, where the syntax tree has none: in macros and errors."""
    defined = {one.line: one for one in file.definitions}
    start, _ = _line_span(text, line)
    least = start - text[1][line - 1]
    for number in range(line - 1, max(0, line - _LOOKED_AT_LINES), -1):
        if not least:
            return ""
        start, end = _line_span(text, number)
        indentation = start - text[1][number - 1]
        if start >= end or indentation >= least or text[0][start] in "#{)":
            continue
        if one := defined.get(number):
            return f"{one.within}.{one.name}" if one.within else one.name
        least = indentation
    return ""


def find_references(
    store: Searchable, references: ReferenceIndex, read: ReadBytes, name: str, options: ReferenceOptions
) -> References:
    """Find the definitions and uses of a name, which may have its class or module before it (`Client.get`)."""
    owner, bare = split_name(name)
    if options.kind is not None and options.kind not in USE_KINDS:
        raise UsageError(f"The kind has to be one of {', '.join(USE_KINDS)}.")
    sources = SourceFiles(references, options.is_shown)
    resolver = ImportResolver(sources, read)
    resolution = NameResolution(sources, resolver, bare)
    owned = (one for one in resolution.definitions if not owner or _is_owned(one, owner))
    definitions = sorted(
        owned, key=lambda one: (one.is_declaration, "test" in kinds_of(one.file.path), one.file.path, one.use.line)
    )
    found = References(name.strip())
    if owner == bare or (owner and not definitions):  # its constructor, or it inherits the name
        definitions = resolution.classes.members(_SEPARATOR.split(owner)[-1], resolution.definitions) or definitions
    if owner and resolution.definitions and not definitions:
        found.suggestions = sorted({_qualified_name(one) for one in resolution.definitions})[:_SUGGESTIONS]
        return found
    uses = resolution.uses()
    if owner and definitions and _is_constructor(definitions[0]):
        again = SourceFiles(references, options.is_shown)  # which reads of a file what is about this name
        uses += _constructions(NameResolution(again, resolver, definitions[0].owner), definitions)
    chosen = {*definitions, *_variants(resolution, definitions)}
    wanted = _wanted(uses, chosen, found, is_known=bool(resolution.definitions), is_owned=bool(owner and definitions))
    if options.path_glob:
        expression = compile_path_filter(options.path_glob)
        wanted = [use for use in wanted if expression.fullmatch(use.file.path)]
    lines = ReferenceLines(store, read, found.outdated, masks=options.masks_secrets)
    if not wanted:
        known = {(one.file.path, one.use.line) for one in resolution.definitions}
        known |= {(use.file.path, use.use.line) for use in uses if use.confidence is Confidence.CERTAIN}
        texts, found.is_text_searched = _text_uses(store, sources, read, bare, options.path_glob)
        wanted = [use for use in texts if (use.file.path, use.use.line) not in known]
    found.kinds = dict(Counter(KINDS[use.use.kind] for use in wanted).most_common())
    if options.kind is not None:
        wanted = [use for use in wanted if KINDS[use.use.kind] == options.kind]
    found.total, found.files = len(wanted), len({use.file.path for use in wanted})
    found.confidences = {
        confidence.word: count
        for confidence, count in sorted(Counter(use.confidence for use in wanted).items(), reverse=True)
    }
    targets = {(one.file.path, one.use.within) for one in definitions if not one.is_declaration}
    found.definitions = _places(lines, definitions)
    found.more_definitions = max(0, len(definitions) - MAX_DEFINITIONS)
    found.overrides = _places(lines, resolution.overrides_of(definitions))
    found.by_name_only = sorted({one.file.language for one in definitions} - _MEASURED)
    if not owner and _is_too_common(bare, definitions):
        found.owners = _owners(definitions, wanted)
        return found
    for use in wanted[options.offset : options.offset + options.limit]:
        meant = _meant(use) if len(targets) > 1 else ""
        if place := lines.place(use.file, use.use, KINDS[use.use.kind], use.confidence, meant):
            found.uses.append(place)
    if not found.is_found:
        found.suggestions = _similar_names(store, bare, options.is_shown)
    return found


def split_name(name: str) -> tuple[str, str]:
    """Return the names of what a name belongs to, and the name itself; raise UsageError for what is no name."""
    match = _QUALIFIED.fullmatch(name.strip()) if len(name) <= MAX_NAME_CHARACTERS else None
    if match is None:
        raise UsageError(f"'{shorten(name)}' is no name. Give one name, such as parse_config or Client.get.")
    return match[1] or "", match[2]


def _places(lines: ReferenceLines, definitions: Sequence[DefinedName]) -> list[Place]:
    places = (
        lines.place(one.file, one.use, f"{one.use.receiver} declaration" if one.is_declaration else one.use.receiver)
        for one in definitions[:MAX_DEFINITIONS]
    )
    return [place for place in places if place]


def _variants(resolution: NameResolution, definitions: Sequence[DefinedName]) -> list[DefinedName]:
    """Return the other bodies of what a header declares once, such as those for other systems."""
    declared = [one for one in resolution.definitions if one.is_declaration and one.file.path.endswith(_HEADERS)]
    shared = [one for one in declared if any(is_body_of(body, one) for body in definitions)]
    bodies = [one for one in resolution.definitions if one.use.receiver in ("function", "method")]
    return [body for body in bodies if any(is_body_of(body, one) for one in shared)]


def _wanted(
    uses: list[ResolvedUse], chosen: set[DefinedName], found: References, *, is_known: bool, is_owned: bool
) -> list[ResolvedUse]:
    """Return the uses that may mean a chosen definition, in the order of their files, each line and kind once."""
    kept = dict[tuple[str, int, int], ResolvedUse]()
    for use in uses if is_known else (replace(use, confidence=Confidence.POSSIBLE) for use in uses):
        if use.confidence is Confidence.NONE or (is_owned and not chosen.intersection(use.definitions)):
            found.others += 1
            continue
        is_ambiguous = is_owned and use.confidence is Confidence.LIKELY and not chosen.issuperset(use.definitions)
        one = replace(use, confidence=Confidence.POSSIBLE) if is_ambiguous else use
        key = (use.file.path, use.use.line, use.use.kind)
        if key not in kept or kept[key].confidence < one.confidence:
            kept[key] = one
    best = dict[str, Confidence]()
    for use in kept.values():
        best[use.file.path] = max(use.confidence, best.get(use.file.path, Confidence.NONE))
    return sorted(
        kept.values(),
        key=lambda use: ("test" in kinds_of(use.file.path), -best[use.file.path], use.file.path, use.use.line),
    )


def _is_constructor(defined: DefinedName) -> bool:
    is_named = _CONSTRUCTORS.get(defined.use.name) == defined.file.family
    return bool(defined.owner) and (is_named or defined.use.name == defined.owner)


def _constructions(resolution: NameResolution, definitions: Sequence[DefinedName]) -> list[ResolvedUse]:
    """Return the calls of a class, which call its constructor."""
    paths = {one.file.path for one in definitions}
    return [
        replace(use, definitions=tuple(definitions))
        for use in resolution.uses()
        if (use.use.kind == CALL or use.file.language == "ruby")
        and any(one.file.path in paths for one in use.definitions)
    ]


def _is_too_common(name: str, definitions: Sequence[DefinedName]) -> bool:
    is_common = name in COMMON_NAMES or name in _CONSTRUCTORS
    owners = {(one.file.path, one.use.within) for one in definitions if one.use.within or is_common}
    return len(owners) > (1 if name in _CONSTRUCTORS else _FEW_OWNERS if is_common else _MANY_OWNERS)


def _owners(definitions: Sequence[DefinedName], uses: Sequence[ResolvedUse]) -> list[NameOwner]:
    """Return what defines a name, with the number of uses that mean it alone, most used first."""
    counts = Counter(one for use in uses for one in use.definitions if use.confidence >= Confidence.LIKELY)
    found = dict[tuple[str, str], NameOwner]()
    for one in reversed(definitions):
        key = one.file.path, _qualified_name(one)
        uses_before = found[key].uses if key in found else 0
        found[key] = NameOwner(key[1], key[0], one.use.line, max(uses_before, counts[one]))
    return sorted(found.values(), key=lambda owner: (-owner.uses, owner.name, owner.path))[:MAX_OWNERS]


def _is_owned(defined: DefinedName, owner: str) -> bool:
    """Return whether a definition is in a class, namespace or module of this name."""
    wanted = _SEPARATOR.split(owner)
    folders = import_path(defined.file.path).split("/")
    within = [part for part in defined.use.within.split(".") if part]
    is_named_alike = within[:1] == folders[-1:]  # as in Java
    paths = [[*folders, *within], [*folders[: len(folders) - is_named_alike], *within]]
    is_in_path = any(path[-len(wanted) :] == wanted for path in paths)
    return is_in_path or owner in (module_of(defined.file.path), PurePosixPath(defined.file.path).stem)


def _qualified_name(defined: DefinedName) -> str:
    return f"{defined.owner or module_of(defined.file.path)}.{defined.use.name}"


def _meant(use: ResolvedUse) -> str:
    places = {(one.file.path, one.use.within): one for one in reversed(use.definitions)}
    if len(places) != 1:
        return ""
    [one] = places.values()
    return f"{one.file.path}:{one.use.line}"


def _similar_names(store: Searchable, name: str, is_shown: IsShown) -> list[str]:
    """Return the names of definitions that are spelled like an unknown name."""
    import difflib  # an unknown name is rare

    folded = name.lower()
    words = {word for word, _ in store.words_with_prefix(folded[:3], 1000)}
    near = difflib.get_close_matches(folded, words, _SUGGESTIONS, 0.7)
    hits = store.find_chunks(TextQuery((name, *near), {"names": 2.0, "symbols": 1.0}), 50)
    chunks = store.chunks_by_id([hit.id for hit in hits])
    paths = store.paths_by_id({chunk.document_id for chunk in chunks.values()})
    shown = {number for number, path in paths.items() if is_shown(path)}
    names = {symbol.name for chunk in chunks.values() if chunk.document_id in shown for symbol in chunk.symbols}
    by_folded = {one.lower(): one for one in sorted(names)}
    return [by_folded[one] for one in difflib.get_close_matches(folded, by_folded, _SUGGESTIONS, 0.6)]


def _text_uses(
    store: Searchable, files: SourceFiles, read: ReadBytes, name: str, path_glob: str | None
) -> tuple[list[ResolvedUse], bool]:
    """Return the lines that have a name as a word, code before tests and prose, and whether the time was enough."""
    is_word = len(name) <= MAX_LITERAL and re.fullmatch(r"[\w$]+", name)
    matcher = pattern_matcher(rf"(?<!\w){re.escape(name)}(?![\w$])") if is_word else exact_matcher(name)
    options = SearchOptions(MAX_TEXT_LINES, path_glob=path_glob, masks_secrets=False)
    answer = find_occurrences(store, read, matcher, options, seconds=TEXT_SECONDS)
    found = answer.found
    ids = {path: document_id for document_id, path in store.ids_by_path()} if found else {}
    uses = [
        ResolvedUse(
            files.at(path) or SourceFile(ids.get(path, 0), path, "", SourceReferences()),
            Use(name, MENTION, line, "", ""), Confidence.TEXT, (),
        )
        for path, line in dict.fromkeys((one.path, one.line) for one in found)
    ]  # fmt: skip
    uses.sort(key=lambda use: (not use.file.definitions, "test" in kinds_of(use.file.path)))
    return uses, answer.is_complete
