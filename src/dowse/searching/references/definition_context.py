"""The context of a definition: who calls it, what overrides it, and the constants that it uses, with their values."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from dowse.parsing.source_references import IMPORT, MENTION, SourceReferences, Use
from dowse.protocols import Searchable
from dowse.searching.found_files import IsShown, ReadBytes
from dowse.searching.path_kinds import kinds_of
from dowse.searching.references.import_resolution import ImportResolver
from dowse.searching.references.name_resolution import Confidence, NameResolution, ResolvedUse
from dowse.searching.references.reference_files import DefinedName, SourceFile, SourceFiles
from dowse.searching.references.reference_search import Place, ReferenceLines
from dowse.store.reference_index import ReferenceIndex
from dowse.types import TextQuery

MAX_CALLERS, MAX_OVERRIDES, MAX_CONSTANTS, MAX_CALLEES = 4, 4, 5, 8
MAX_LOOKED_UP, MAX_CHUNKS = 40, 120
"""Names of a definition that are looked up, and chunks that may define them: the rarest names come first."""
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[A-Z]{4,}\b")
_HAS_VALUE = re.compile(r"[=:]\s*[^\s{(\[;,]|#\s*define\s+\w+\s+\S")
"""A line that gives a name its value."""
_CALL = re.compile(r"\b([A-Za-z_]\w{3,})\s*\(")
_FUNCTION_KINDS = frozenset({"function", "method", "macro"})
_VALUE_KINDS = frozenset({"constant", "variable", "field", "property", "macro", "enum"})
_TYPE_KINDS = frozenset({"class", "struct", "interface", "trait", "enum", "type", "module", "namespace"})


@dataclass(frozen=True, slots=True)
class DefinitionContext:
    """The places around a definition, each list as long as it is shown, and how many callers there are."""

    callers: tuple[Place, ...] = ()
    caller_count: int = 0
    test_count: int = 0
    """Tests that call it; they are not shown."""
    overrides: tuple[Place, ...] = ()
    override_count: int = 0
    constants: tuple[Place, ...] = ()
    callees: tuple[tuple[str, str], ...] = ()
    """The functions of the project that it calls, and their places."""


class ContextFinder:
    """Finds the context of definitions of one index; files are read once for all of them, and `show` writes their paths."""

    def __init__(
        self, store: Searchable, references: ReferenceIndex, read: ReadBytes, show: Callable[[str], str] = str,
        is_shown: IsShown = bool, *, masks: bool,
    ) -> None:  # fmt: skip
        self._store, self._references, self._read, self._show = store, references, read, show
        self._is_shown = is_shown
        self._lines = ReferenceLines(store, read, [], show, masks=masks)

    def context(
        self, path: str, name: str, lines: range, text: str, *, has_references: bool = True
    ) -> DefinitionContext:
        """Return the context of the definition of a name in some lines of a file, whose text is given.

        Callers are left out unless the index has all references to the name.
        """
        constants, callees = tuple(self._constants(path, lines, text)), tuple(self._callees(path, lines, text))
        if not has_references:
            return DefinitionContext(constants=constants, callees=callees)
        sources = SourceFiles(self._references, self._is_shown)  # which reads of a file what is about this name
        resolution = NameResolution(sources, ImportResolver(sources, self._read), name)
        own = [one for one in resolution.definitions if one.file.path == path and one.use.line in lines]
        if not own or own[0].use.receiver in _TYPE_KINDS:
            return DefinitionContext(constants=constants, callees=callees)
        callers, count, tests = self._callers(resolution, own, path, lines)
        overrides = resolution.overrides_of(own)
        places = (self._lines.place(one.file, one.use, one.use.receiver) for one in overrides[:MAX_OVERRIDES])
        return DefinitionContext(callers, count, tests, tuple(filter(None, places)), len(overrides), constants, callees)

    def _callers(
        self, resolution: NameResolution, own: Collection[DefinedName], path: str, lines: range
    ) -> tuple[tuple[Place, ...], int, int]:
        """Return one use in each definition that uses the name, how many such definitions there are, and how many tests."""
        mine, found = set(own), dict[tuple[str, str], ResolvedUse]()
        for use in resolution.uses():
            is_inside = use.file.path == path and use.use.line in lines
            is_sure = use.confidence >= Confidence.LIKELY and use.use.kind != IMPORT
            if is_sure and not is_inside and mine.intersection(use.definitions):
                found.setdefault((use.file.path, use.use.within), use)
        tests = {key for key in found if "test" in kinds_of(key[0])}
        ordered = sorted((use for key, use in found.items() if key not in tests), key=lambda use: use.file.path != path)
        places = (self._lines.place(use.file, use.use, "call", use.confidence) for use in ordered[:MAX_CALLERS])
        return tuple(filter(None, places)), len(ordered), len(tests)

    def _defined(self, names: Iterable[str], kinds: Collection[str]) -> dict[str, tuple[int, str, int]]:
        """Return the document, the path and the line of each name that the project defines once, apart from tests."""
        wanted = list(dict.fromkeys(names))[:MAX_LOOKED_UP]
        if not wanted:
            return {}
        hits = self._store.find_chunks(TextQuery(tuple(wanted), {"names": 1.0}, "code"), MAX_CHUNKS)
        chunks = self._store.chunks_by_id(hit.id for hit in hits)
        paths = self._store.paths_by_id({chunk.document_id for chunk in chunks.values()})
        found: dict[str, set[tuple[int, str, int]]] = {name: set() for name in wanted}
        for chunk in chunks.values():
            path = paths.get(chunk.document_id, "")
            if path and "test" not in kinds_of(path) and self._is_shown(path):
                for symbol in chunk.symbols:
                    if symbol.name in found and symbol.kind in kinds:
                        found[symbol.name].add((chunk.document_id, path, symbol.line))
        return {name: next(iter(places)) for name, places in found.items() if len(places) == 1}

    def _constants(self, path: str, lines: range, text: str) -> Iterable[Place]:
        """Yield the lines that give the constants of a text their values."""
        found = 0
        for name, (number, other, line) in self._defined(_CONSTANT.findall(text), _VALUE_KINDS).items():
            if found == MAX_CONSTANTS or (other == path and line in lines):
                continue
            file = SourceFile(number, other, "", SourceReferences())
            place = self._lines.place(file, Use(name, MENTION, line, "", ""), "constant")
            if place and _HAS_VALUE.search(place.text):
                found += 1
                yield place

    def _callees(self, path: str, lines: range, text: str) -> list[tuple[str, str]]:
        """Return the functions that a text calls and the project defines once, each with its place."""
        found = self._defined(_CALL.findall(text), _FUNCTION_KINDS).items()
        places = [
            (name, self._show(f"{other}:{line}"))
            for name, (_, other, line) in found
            if other != path or line not in lines
        ]
        return places[:MAX_CALLEES]
