"""The lines that have a name as a word, for a name of which no use is known: a zero is said only if the text agrees."""

import re

from dowse.chunking.source_references import MENTION, SourceReferences, Use
from dowse.protocols import Searchable
from dowse.references.name_resolution import Confidence, ResolvedUse
from dowse.references.reference_files import SourceFile, SourceFiles
from dowse.searching.exact_search import exact_matcher, find_occurrences, pattern_matcher
from dowse.searching.path_kinds import kinds_of
from dowse.searching.search import SearchOptions
from dowse.searching.verification import ReadBytes

MAX_LINES = 1000
SECONDS = 2.0
"""How long the files are searched."""


def text_uses(
    store: Searchable, files: SourceFiles, read: ReadBytes, name: str, path_glob: str | None
) -> tuple[list[ResolvedUse], bool]:
    """Return the lines that have a name as a word, code before tests and prose, and whether the time was enough."""
    is_word = re.fullmatch(r"[\w$]+", name)
    matcher = pattern_matcher(rf"(?<!\w){re.escape(name)}(?![\w$])") if is_word else exact_matcher(name)
    options = SearchOptions(MAX_LINES, path_glob=path_glob, masks_secrets=False)
    answer = find_occurrences(store, read, matcher, options, seconds=SECONDS)
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
