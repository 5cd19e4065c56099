"""The lines that have a name as a word, for a name of which no use is known: a zero is said only if the text agrees."""

import re
from collections.abc import Iterator

from dowse.chunking.source_references import MENTION, SourceReferences, Use
from dowse.protocols import ChunkReader
from dowse.references.name_resolution import Confidence, ResolvedUse
from dowse.references.reference_files import SourceFile, SourceFiles
from dowse.searching.exact_search import FindMatches, exact_matcher, find_occurrences
from dowse.searching.path_kinds import kinds_of
from dowse.searching.search import SearchOptions
from dowse.searching.verification import ReadBytes

MAX_LINES = 1000
SECONDS = 2.0
"""How long the files are searched."""
_WORD = re.compile(r"[\w$]")


def _word_matcher(name: str) -> FindMatches:
    find = exact_matcher(name)

    def find_words(text: str, deadline: float) -> Iterator[tuple[int, int]]:
        for start, end in find(text, deadline):
            before, after = text[start - 1 : start], text[end : end + 1]
            if not (_WORD.match(name) and before and _WORD.match(before)) and not (
                after and _WORD.match(name[-1]) and _WORD.match(after)
            ):
                yield start, end

    return find_words


def text_uses(
    store: ChunkReader, files: SourceFiles, read: ReadBytes, name: str, path_glob: str | None
) -> list[ResolvedUse]:
    """Return the lines that have a name as a word: code first, then tests, then prose."""
    options = SearchOptions(MAX_LINES, path_glob=path_glob, masks_secrets=False)
    found = find_occurrences(store, read, _word_matcher(name), options, seconds=SECONDS).found
    ids = {path: document_id for document_id, path in store.ids_by_path()} if found else {}
    uses = [
        ResolvedUse(
            files.at(path) or SourceFile(ids.get(path, 0), path, "", SourceReferences()),
            Use(name, MENTION, line, "", ""),
            Confidence.TEXT,
            (),
        )
        for path, line in dict.fromkeys((one.path, one.line) for one in found)
    ]
    return sorted(uses, key=lambda use: (*_weight(use.file), use.file.path, use.use.line))


def _weight(file: SourceFile) -> tuple[bool, bool]:
    return not file.definitions, "test" in kinds_of(file.path)
