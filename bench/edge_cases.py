"""The edges between files of judged corpora: imports, uses of names, and commits that changed both."""

import itertools
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import judged, quality
from dowse.chunking.source_references import DEFINITION, Import, SourceReferences
from dowse.history.co_changes import MAX_FILES
from dowse.indexes.index import ProjectIndex
from dowse.indexes.reference_lookup import read_missing_references
from dowse.references.import_resolution import ImportResolver
from dowse.references.reference_files import SourceFile, SourceFiles
from dowse.store.reference_database import module_of

RANKED = 50
"""Files of a query that are ranked again."""
MAX_COMMITS = 40_000
MIN_NAME = 4
"""Letters of a name whose use is an edge."""
_FOLDER_FILES = re.compile(r"(^|/)(__init__\.pyi?|index\.[cm]?[jt]sx?|mod\.rs|lib\.rs)$")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]+))", re.M)
_NAMED = ("whole name in the query", "the path itself", "named in the text")

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Links:
    """Which of the found files lead to which: a row leads to columns."""

    matrix: Flags
    sources: Numbers
    """How many files of the project lead to a file."""
    targets: Numbers
    """To how many files a file leads."""


@dataclass(frozen=True)
class Case:
    """A judged query, the files that it finds, and the edges among them."""

    group: str
    answers: Mapping[str, int]
    paths: list[str]
    scores: Numbers
    """Shares of the highest."""
    factors: Numbers
    """The penalties of each file, which apply to what it gains as well."""
    named: Flags
    links: Mapping[str, Links]
    own: Numbers
    """How many names a file such as `__init__.py` defines for each that it imports; infinite for other files."""
    together: Numbers
    """The share of the commits of two files that changed both."""


@dataclass
class Graph:
    """The edges of a project by kind, and for files that stand for a folder how much they define themselves."""

    imports: dict[str, set[str]] = field(default_factory=dict)
    uses: dict[str, set[str]] = field(default_factory=dict)
    own: dict[str, float] = field(default_factory=dict)

    def add_imports(self, file: SourceFile, resolver: ImportResolver, definitions: int) -> None:
        """Add the imports of a file."""
        found = {target for one in file.references.imports for target in resolver.files_of(file, one)}
        self.imports[file.path] = found
        if _FOLDER_FILES.search(file.path) and found:
            self.own[file.path] = definitions / len(file.references.imports)

    def links(self, paths: Sequence[str]) -> dict[str, Links]:
        """Return the edges among some files."""
        return {kind: _links(edges, paths) for kind, edges in (("imports", self.imports), ("uses", self.uses)) if edges}


def _links(edges: Mapping[str, set[str]], paths: Sequence[str]) -> Links:
    sources = Counter(itertools.chain.from_iterable(edges.values()))
    matrix = np.array([other in edges.get(path, ()) for path in paths for other in paths], bool)
    return Links(
        matrix.reshape(len(paths), len(paths)),
        np.array([sources[path] for path in paths], float),
        np.array([len(edges.get(path, ())) for path in paths], float),
    )


def graph_of(project: ProjectIndex) -> Graph:
    """Return the edges of an index with references. A name that one file defines leads from its users to it."""
    read_missing_references(project)
    database, graph = project.whole.references.database, Graph()
    resolver = ImportResolver(SourceFiles(database), project.source.read_bytes)
    definers, used = defaultdict[str, set[str]](set), dict[str, set[str]]()
    for row in database.all_documents():
        references = row.unpack()
        defined = [use for use in references.uses if use.kind == DEFINITION]
        outer = sum(not use.within for use in defined)
        graph.add_imports(SourceFile(row.id, row.path, row.language, references), resolver, outer)
        for use in defined:
            definers[use.name].add(row.path)
        used[row.path] = {use.name for use in references.uses if use.kind != DEFINITION and len(use.name) >= MIN_NAME}
    only = {name: next(iter(paths)) for name, paths in definers.items() if len(paths) == 1}
    graph.uses = {path: {only[name] for name in names if name in only} - {path} for path, names in used.items()}
    return graph


class PythonFiles(SourceFiles):
    """The Python files of a folder without an index of references."""

    def __init__(self, root: Path) -> None:
        self.paths = {str(file.relative_to(root)) for file in root.rglob("*.py")}
        self._by_module: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            self._by_module.setdefault(module_of(path), []).append(path)

    def of_module(self, module: str) -> list[str]:
        """Return the paths of the files that are imported by a name."""
        return self._by_module.get(module, [])

    def exists(self, path: str) -> bool:
        """Return whether there is a file at a path."""
        return path in self.paths


def python_graph(project: ProjectIndex) -> Graph:
    """Return the imports of the Python files of a folder whose index has no references."""
    root = project.root
    files, graph = PythonFiles(root), Graph()
    resolver = ImportResolver(files, project.source.read_bytes)
    for path in sorted(files.paths):
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        file = SourceFile(0, path, "python", SourceReferences((), list(_python_imports(text))))
        graph.add_imports(file, resolver, len(re.findall(r"^(?:async )?(?:def|class) ", text, re.M)))
    return graph


def _python_imports(text: str) -> Iterator[Import]:
    for module, names, modules in _IMPORT.findall(text):
        for name in re.findall(r"([.\w*]+)(?:\s+as\s+\w+)?\s*(?:,|$|\)|\\|#)", (names or modules).strip("( \t\r")):
            yield Import(0, module, name, name) if module else Import(0, name, "", name)


class Commits:
    """The files that the commits of a clone changed. A clone that lacks a commit has none before it."""

    def __init__(self, clone: Path, tips: Iterable[str]) -> None:
        self._clone = clone
        self._of_path: dict[str, set[str]] = {}
        self._reachable: dict[str, set[str]] = {}
        limit = f"--max-count={MAX_COMMITS}"
        listed = self._git("log", limit, "--no-merges", "--no-renames", "--name-only", "--format=%x00%H", *tips)
        for entry in listed.split("\0")[1:]:
            commit, *paths = [line for line in entry.split("\n") if line]
            for path in paths if 1 < len(paths) <= MAX_FILES else ():
                self._of_path.setdefault(path, set()).add(commit)

    def together(self, tip: str, paths: Sequence[str]) -> Numbers:
        """Return for all pairs of files the share of their commits up to `tip` that changed both, at least two."""
        if tip not in self._reachable:
            self._reachable[tip] = set(self._git("rev-list", tip).split())
        own = [self._of_path.get(path, set()) & self._reachable[tip] for path in paths]
        shares = np.zeros((len(paths), len(paths)))
        for row, column in itertools.combinations(range(len(paths)), 2):
            if (both := len(own[row] & own[column])) > 1:
                shares[row, column] = shares[column, row] = both / np.sqrt(len(own[row]) * len(own[column]))
        return shares

    def _git(self, *arguments: str) -> str:
        environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
        command = ["git", "-C", str(self._clone), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, check=False).stdout.decode(
            errors="replace"
        )


def ask(
    project: ProjectIndex, query: quality.Judged, method: str, graph: Graph, together: Callable[[list[str]], Numbers]
) -> Case:
    """Return the files that a query finds by one method, and the edges among them."""
    vectors = [judged.query_vector(encoder, query.text) for encoder in judged.METHODS[method]]
    found = list(quality.ranked_files(project.store, query.text, vectors, query.kind).items())[:RANKED]
    paths, files = [path for path, _ in found], [file for _, file in found]
    scores = np.array([file.score for file in files])
    whole = [sum(value for name, value in file.signals.items() if not name.endswith(" file")) for file in files]
    return Case(
        query.category,
        query.answers,
        paths,
        scores / max(scores, default=1.0),
        scores / np.array(whole),
        np.array([any(name in file.signals for name in _NAMED) for file in files], bool),
        graph.links(paths),
        np.array([graph.own.get(path, np.inf) for path in paths]),
        together(paths),
    )
