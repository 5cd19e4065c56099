"""`python -m bench.references LANGUAGE ROOT... [--jedi PYTHON] [--node NODE --typescript DIR] [--intelephense FILE] [--truth FILE]`.

It compares the references that dowse finds with those of jedi, the TypeScript compiler, Go's type checker, clangd (C, C++), javac,
or intelephense (PHP), for definitions drawn at random. A use is a line of a file. Overloads count as one name.
`--truth FILE` compares with a hand-checked sample instead, as for Rust, C#, Kotlin, Ruby, Swift and Scala: a JSON list of names with their places.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.indexes.reference_lookup import read_missing_references
from dowse.parsing.source_references import DECLARATION, DEFINITION
from dowse.searching.path_kinds import kinds_of
from dowse.searching.references.name_resolution import Confidence
from dowse.searching.references.reference_search import ReferenceOptions, find_references

_INSIDE = Path(__file__).with_name("inside")
_KINDS = frozenset({"function", "class", "method", "interface", "type", "struct", "enum", "constant"})
_LANGUAGES = {
    "python": {"python"}, "typescript": {"typescript", "tsx"}, "go": {"go"}, "c": {"c"}, "cpp": {"cpp", "c"}, "java": {"java"},
    "php": {"php"}, "rust": {"rust"}, "scala": {"scala"}, "csharp": {"csharp"}, "kotlin": {"kotlin"}, "ruby": {"ruby"}, "swift": {"swift"},
}  # fmt: skip

_PROGRAMS = {
    "python": "jedi_references.py", "go": "go_references.go", "typescript": "tsserver_references.mjs", "java": "JavaReferences.java",
    "c": "lsp_references.py",
}  # fmt: skip

Place = tuple[str, int]
Wanted = tuple[str, str, tuple[tuple[int, int], ...]]
"""The qualified name of a definition, its path, and the lines and columns of its overloads."""


@dataclass
class Score:
    """Uses that both find, that only dowse finds, and that only the other finds, down to each confidence."""

    both: dict[Confidence, int] = field(default_factory=dict)
    extra: dict[Confidence, int] = field(default_factory=dict)
    total: int = 0
    names: int = 0

    def add(self, found: dict[Place, Confidence], truth: set[Place]) -> None:
        """Count the uses of one name."""
        self.names += 1
        self.total += len(truth)
        for least in (Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE):
            places = {place for place, confidence in found.items() if confidence >= least}
            self.both[least] = self.both.get(least, 0) + len(places & truth)
            self.extra[least] = self.extra.get(least, 0) + len(places - truth)

    def row(self, name: str) -> str:
        """Return the precision and recall as a row of a table."""
        cells = []
        for least in (Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE):
            shown = self.both[least] + self.extra[least]
            precision = self.both[least] / shown if shown else 1.0
            recall = self.both[least] / self.total if self.total else 1.0
            cells.append(f"{100 * precision:.0f} % / {100 * recall:.0f} %")
        return f"| {name} | {self.names} | {self.total} | {' | '.join(cells)} |"


def draw_definitions(project: ProjectIndex, language: str, count: int) -> list[Wanted]:
    """Return definitions of a project, drawn at random but always the same."""
    found = dict[tuple[str, str], list[tuple[int, int]]]()
    for row in project.whole.references.all_documents():
        if row.language not in _LANGUAGES[language] or "test" in kinds_of(row.path):
            continue
        lines = (project.root / row.path).read_text(encoding="utf-8", errors="replace").split("\n")
        for use in row.unpack().uses:
            if (
                use.kind == DEFINITION
                and use.receiver in _KINDS
                and len(use.name) > 2
                and not use.name.startswith("__")
            ):
                word = re.search(rf"(?<!\w){re.escape(use.name)}(?!\w)", lines[use.line - 1])
                column = word.start() if word else -1
                around = [one for one in use.within.split(".") if one != use.name]  # a constructor counts as its class
                owner = around[-1] if around else ""
                is_override = language == "cpp" and "override" in " ".join(lines[use.line - 1 : use.line + 2])
                if column >= 0 and not is_override:  # clangd lists the uses of the overridden method too
                    name = f"{owner}.{use.name}" if owner else use.name
                    found.setdefault((name, row.path), []).append((use.line, column))
    drawn = sorted(found)
    random.Random(27).shuffle(drawn)  # noqa: S311 - a sample
    return [(*key, tuple(found[key])) for key in drawn[:count]]


def defined_lines(project: ProjectIndex) -> dict[str, set[Place]]:
    """Return the lines that define or declare each name: some servers count a constructor as a use of its class."""
    found = dict[str, set[Place]]()
    for row in project.whole.references.all_documents():
        for use in row.unpack().uses:
            if use.kind in (DEFINITION, DECLARATION):
                found.setdefault(use.name, set()).add((row.path, use.line))
    return found


def our_places(project: ProjectIndex, wanted: Wanted) -> dict[Place, Confidence]:
    """Return the uses that dowse finds for one definition, each with its confidence."""
    name, path, _ = wanted
    references, options = project.whole.references, ReferenceOptions(limit=100_000)
    found = find_references(project.store, references, project.source.read_bytes, name, options)
    if (
        len({(one.path, one.within) for one in found.definitions}) > 1
    ):  # ask for the one in its module, as the reply proposes
        module = re.sub(r"(/__init__|/index|/mod)?\.\w+$", "", path).replace("/", ".")
        qualified = find_references(project.store, references, project.source.read_bytes, f"{module}.{name}", options)
        found = qualified if qualified.definitions else found
    places = dict[Place, Confidence]()
    for use in found.uses:
        if not use.definition or use.definition.startswith(f"{path}:"):
            key = (use.path, use.line)
            places[key] = max(use.confidence, places.get(key, Confidence.NONE))
    return places


def true_places(arguments: argparse.Namespace, root: Path, wanted: Sequence[Wanted]) -> list[set[Place] | None]:
    """Ask a compiler or language server."""
    inside = {name: str(_INSIDE / file) for name, file in _PROGRAMS.items()}
    commands = {
        "python": [arguments.jedi, inside["python"], str(root)],
        "go": [arguments.go, "run", inside["go"], str(root)],
        "typescript": [arguments.node, inside["typescript"], arguments.typescript, str(root)],
        "java": ["java", inside["java"], str(root)],
        "c": [sys.executable, inside["c"], str(root), "clangd"],
        "php": [sys.executable, inside["c"], str(root), arguments.node, arguments.intelephense, "--stdio"],
    }
    command = commands["c" if arguments.language == "cpp" else arguments.language]
    places = [(path, line, column) for _, path, variants in wanted for line, column in variants]
    done = subprocess.run(command, input=json.dumps(places), capture_output=True, text=True, check=True)
    answers = iter(json.loads(done.stdout))
    truths = list[set[Place] | None]()
    for _, path, variants in wanted:
        known = [one for one in [next(answers) for _ in variants] if one is not None]
        defined = {(path, line) for line, _ in variants}
        truths.append({(path, line) for one in known for path, line in one} - defined if known else None)
    return truths


def main() -> int:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=sorted(_LANGUAGES))
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--names", type=int, default=60)
    parser.add_argument("--jedi", default=sys.executable)
    parser.add_argument("--node", default="node")
    parser.add_argument("--go", default="go")
    parser.add_argument("--typescript", default=".")
    parser.add_argument("--intelephense", default="intelephense.js")
    parser.add_argument("--truth", type=Path, help="a hand-checked sample instead")
    parser.add_argument("--save", type=Path, help="write what the compiler says in the form of --truth")
    parser.add_argument("--show", action="store_true", help="print what differs")
    arguments = parser.parse_args()
    print("| project | names | uses | certain: precision / recall | and likely | and possible |")
    print("|---|---|---|---|---|---|")
    whole = Score()
    for root in arguments.roots:
        project = ProjectIndex(root.resolve())
        project.update()
        read_missing_references(project)
        if arguments.truth:
            checked = json.loads(arguments.truth.read_text(encoding="utf-8"))
            wanted: list[Wanted] = [(one["name"], one["path"], ((one["line"], 0),)) for one in checked]
            truths: list[set[Place] | None] = [{(path, line) for path, line in one["uses"]} for one in checked]
        else:
            wanted = draw_definitions(project, arguments.language, arguments.names)
            truths = true_places(arguments, project.root, wanted)
        if arguments.save:
            rows = [
                {"name": name, "path": path, "line": variants[0][0], "uses": sorted(truth)}
                for (name, path, variants), truth in zip(wanted, truths, strict=True) if truth is not None
            ]  # fmt: skip
            arguments.save.write_text(json.dumps(rows, indent=0), encoding="utf-8")
        score, defined = Score(), defined_lines(project)
        for one, truth in zip(wanted, truths, strict=True):
            if truth is not None:
                found = our_places(project, one)
                uses = truth - defined.get(one[0].rpartition(".")[2], set())
                score.add(found, uses)
                whole.add(found, uses)
                likely = {place for place, confidence in found.items() if confidence >= Confidence.LIKELY}
                if arguments.show and likely != uses:
                    print(*one[:2], "missed", sorted(uses - likely), "extra", sorted(likely - uses), file=sys.stderr)
        print(score.row(root.name))
        project.close()
    print(whole.row("all"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
