"""The search for references: the definitions and uses of a name, with the lines of the files as they are now."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dowse.chunking.source_references import KINDS, USE_KINDS, Use
from dowse.errors import UsageError
from dowse.globs import compile_glob
from dowse.line_numbers import line_starts
from dowse.protocols import Searchable
from dowse.references.import_resolution import ImportResolver
from dowse.references.name_resolution import Confidence, DefinedName, NameResolution, ResolvedUse
from dowse.references.reference_files import SourceFile, SourceFiles
from dowse.searching.passage_screening import screen_line
from dowse.searching.verification import Current, ReadBytes, verify
from dowse.store.reference_database import ReferenceDatabase, module_of
from dowse.types import TextQuery

__all__ = ["USE_KINDS", "Place", "ReferenceOptions", "References", "find_references"]

MAX_LINE_CHARACTERS = 200
"""Of a longer line, only the part around the name is shown."""
MAX_DEFINITIONS = 20
"""The number of definitions that are listed; the rest is counted."""
_SUGGESTIONS = 5
_QUALIFIED = re.compile(r"(?:(.+?)(?:\.|::|#|->))?([^.:#>\s]+)(?:\(\))?")


@dataclass(frozen=True, slots=True)
class ReferenceOptions:
    """Which references are listed, and how many."""

    kind: str | None = None
    path_glob: str | None = None
    limit: int = 50
    offset: int = 0
    masks_secrets: bool = True


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


@dataclass(slots=True)
class References:
    """The definitions of a name and a page of its uses, the surest first."""

    name: str
    definitions: list[Place] = field(default_factory=list)
    more_definitions: int = 0
    uses: list[Place] = field(default_factory=list)
    total: int = 0
    files: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    confidences: dict[str, int] = field(default_factory=dict)
    others: int = 0
    """Uses of something else that has the same name."""
    outdated: list[str] = field(default_factory=list)
    """Files that are left out because they changed since they were indexed."""
    suggestions: list[str] = field(default_factory=list)
    """Similar names, if this one is unknown."""

    @property
    def is_found(self) -> bool:
        """Whether the name is defined or used."""
        return bool(self.definitions or self.total or self.others)


def find_references(
    store: Searchable, database: ReferenceDatabase, read: ReadBytes, name: str, options: ReferenceOptions
) -> References:
    """Find the definitions and uses of a name, which may have its class or module before it (`Client.get`)."""
    match = _QUALIFIED.fullmatch(name.strip())
    if match is None:
        raise UsageError(f"'{name}' is no name. Give one name, such as parse_config or Client.get.")
    if options.kind is not None and options.kind not in USE_KINDS:
        raise UsageError(f"The kind has to be one of {', '.join(USE_KINDS)}.")
    owner, bare = match[1], match[2]
    sources = SourceFiles(database)
    resolution = NameResolution(sources, ImportResolver(sources, read), bare)
    definitions = [one for one in resolution.definitions if not owner or _is_owned(one, owner)]
    found = References(name.strip())
    if owner and not definitions:
        found.suggestions = sorted({_qualified_name(one) for one in resolution.definitions})[:_SUGGESTIONS]
        found.suggestions = found.suggestions or _similar_names(store, bare)
        return found
    uses = _wanted(resolution.uses(), definitions, found, is_known=bool(resolution.definitions), is_owned=bool(owner))
    if options.path_glob:
        expression = compile_glob(options.path_glob)
        uses = [use for use in uses if expression.fullmatch(use.file.path)]
    found.kinds = dict(Counter(KINDS[use.use.kind] for use in uses).most_common())
    if options.kind is not None:
        uses = [use for use in uses if KINDS[use.use.kind] == options.kind]
    found.total, found.files = len(uses), len({use.file.path for use in uses})
    found.confidences = {
        confidence.word: count
        for confidence, count in sorted(Counter(use.confidence for use in uses).items(), reverse=True)
    }
    lines = _Lines(store, read, bare, found.outdated, masks=options.masks_secrets)
    has_several = len({(one.file.path, one.use.within) for one in definitions}) > 1
    found.definitions = [place for one in definitions[:MAX_DEFINITIONS] if (place := _definition(lines, one))]
    found.more_definitions = max(0, len(definitions) - MAX_DEFINITIONS)
    for use in uses[options.offset : options.offset + options.limit]:
        meant = _meant(use) if has_several else ""
        if place := lines.place(use.file, use.use, KINDS[use.use.kind], use.confidence, meant):
            found.uses.append(place)
    if not found.is_found:
        found.suggestions = _similar_names(store, bare)
    return found


def _wanted(
    uses: list[ResolvedUse], definitions: Sequence[DefinedName], found: References, *, is_known: bool, is_owned: bool
) -> list[ResolvedUse]:
    """Return the uses that may mean one of the definitions, the surest first, each line and kind once."""
    chosen = set(map(id, definitions))
    kept = dict[tuple[str, int, int], ResolvedUse]()
    for use in uses if is_known else (replace(use, confidence=Confidence.POSSIBLE) for use in uses):
        is_meant = any(id(one) in chosen for one in use.definitions)
        if use.confidence is Confidence.NONE or (is_owned and not is_meant):
            found.others += 1
            continue
        key = (use.file.path, use.use.line, use.use.kind)
        if key not in kept or kept[key].confidence < use.confidence:
            kept[key] = use
    best = dict[str, Confidence]()
    for use in kept.values():
        best[use.file.path] = max(use.confidence, best.get(use.file.path, Confidence.NONE))
    return sorted(kept.values(), key=lambda use: (-best[use.file.path], use.file.path, use.use.line))


def _is_owned(defined: DefinedName, owner: str) -> bool:
    """Return whether a definition is in a class, namespace or module of this name."""
    wanted = re.split(r"\.|::|#|->", owner)
    path = [
        *re.sub(r"(/__init__|/index|/mod)?\.\w+$", "", defined.file.path).split("/"),
        *filter(None, defined.use.within.split(".")),
    ]
    return path[-len(wanted) :] == wanted or (len(wanted) == 1 and module_of(defined.file.path) == owner)


def _qualified_name(defined: DefinedName) -> str:
    return f"{defined.owner or module_of(defined.file.path)}.{defined.use.name}"


def _definition(lines: "_Lines", defined: DefinedName) -> Place | None:
    return lines.place(defined.file, defined.use, defined.use.receiver, Confidence.CERTAIN)


def _meant(use: ResolvedUse) -> str:
    places = {(one.file.path, one.use.within): one for one in reversed(use.definitions)}
    if len(places) != 1:
        return ""
    [one] = places.values()
    return f"{one.file.path}:{one.use.line}"


class _Lines:
    """The lines of files, which are compared with the index before one is shown."""

    def __init__(self, store: Searchable, read: ReadBytes, name: str, outdated: list[str], *, masks: bool) -> None:
        self._store, self._read, self._name, self._masks = store, read, name, masks
        self._outdated = outdated
        self._texts: dict[str, tuple[str, list[int]] | None] = {}

    def place(
        self, file: SourceFile, use: Use, kind: str, confidence: Confidence, definition: str = ""
    ) -> Place | None:
        """Return the line of a use; None if the file has changed."""
        if file.path not in self._texts:
            self._texts[file.path] = self._current_text(file)
        text = self._texts[file.path]
        if text is None:
            return None
        characters, starts = text
        if use.line > len(starts):
            return None
        start = starts[use.line - 1]
        end = starts[use.line] if use.line < len(starts) else len(characters)
        end = start + len(characters[start:end].rstrip())
        start += len(characters[start:end]) - len(characters[start:end].lstrip())
        first, last = start, end
        if end - start > MAX_LINE_CHARACTERS:
            at = max(characters.find(use.name, start, end), start)
            first = max(start, at - MAX_LINE_CHARACTERS // 4)
            last = min(end, first + MAX_LINE_CHARACTERS)
        shown = screen_line(characters, first, last, file.path, masks=self._masks)
        marked = ("…" if first > start else "") + shown.text + ("…" if last < end else "")
        return Place(
            file.path, use.line, marked, kind, use.within, confidence, definition,
            tuple(sorted({mask.kind for mask in shown.masked})), tuple(sorted({flag.kind for flag in shown.flags})),
        )  # fmt: skip

    def _current_text(self, file: SourceFile) -> tuple[str, list[int]] | None:
        document = self._store.documents_by_id([file.id]).get(file.id)
        checked = verify(self._store, self._read, document, compares_content=True) if document else None
        if not isinstance(checked, Current):
            self._outdated.append(file.path)
            return None
        data = checked.data
        text = data.decode("utf-8", "replace")
        starts = line_starts(data)
        if len(text) != len(data):
            positions, previous, characters = [], 0, 0
            for at in starts:
                characters += len(data[previous:at].decode("utf-8", "replace"))
                positions.append(characters)
                previous = at
            starts = positions
        return text, starts


def _similar_names(store: Searchable, name: str) -> list[str]:
    """Return the names of definitions that are spelled like an unknown name."""
    import difflib  # an unknown name is rare

    folded = name.lower()
    words = {word for word, _ in store.words_with_prefix(folded[:3], 1000)}
    near = difflib.get_close_matches(folded, words, _SUGGESTIONS, 0.7)
    hits = store.find_chunks(TextQuery((name, *near), {"names": 2.0, "symbols": 1.0}), 50)
    chunks = store.chunks_by_id([hit.id for hit in hits])
    names = {symbol.name for chunk in chunks.values() for symbol in chunk.symbols}
    by_folded = {one.lower(): one for one in sorted(names)}
    return [by_folded[one] for one in difflib.get_close_matches(folded, by_folded, _SUGGESTIONS, 0.6)]
