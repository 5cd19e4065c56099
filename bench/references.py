"""`python -m bench.references python ROOT... --jedi PYTHON`, `typescript ROOT... --node NODE --typescript DIR` or `go ROOT...`.

It compares the references that dowse finds with those of jedi, the TypeScript compiler or Go's type checker, for definitions
drawn at random. A use is a line of a file. `--truth FILE` compares with a hand-checked sample instead: a JSON list of names with their
places.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.indexes.reference_lookup import read_missing_references
from dowse.references.name_resolution import Confidence
from dowse.references.reference_search import ReferenceOptions, find_references

_INSIDE = Path(__file__).with_name("inside")
_KINDS = frozenset({"function", "class", "method", "interface", "type", "struct", "enum", "constant"})
_LANGUAGES = {"python": {"python"}, "typescript": {"typescript", "tsx"}, "go": {"go"}}

Place = tuple[str, int]
Wanted = tuple[str, str, int, int]
"""The qualified name of a definition, its path, line and column."""


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
    found = list[Wanted]()
    for row in project.whole.references.database.all_documents():
        if row.language not in _LANGUAGES[language]:
            continue
        lines = (project.root / row.path).read_text(encoding="utf-8", errors="replace").split("\n")
        for use in row.unpack().uses:
            if use.kind == 1 and use.receiver in _KINDS and len(use.name) > 2 and not use.name.startswith("__"):
                column = lines[use.line - 1].find(use.name)
                owner = use.within.rpartition(".")[2]
                if column >= 0:
                    name = f"{owner}.{use.name}" if owner else use.name
                    found.append((name, row.path, use.line, column))
    random.Random(27).shuffle(found)  # noqa: S311 - a sample
    return found[:count]


def our_places(project: ProjectIndex, wanted: Wanted) -> dict[Place, Confidence]:
    """Return the uses that dowse finds for one definition, each with its confidence."""
    name, path, line, _ = wanted
    database = project.whole.references.database
    found = find_references(project.store, database, project.source.read_bytes, name, ReferenceOptions(limit=100_000))
    several = len(found.definitions) > 1
    places = dict[Place, Confidence]()
    for use in found.uses:
        is_other = several and use.definition and use.definition != f"{path}:{line}"
        is_same_file = use.definition.startswith(f"{path}:")
        if not is_other or is_same_file:
            key = (use.path, use.line)
            places[key] = max(use.confidence, places.get(key, Confidence.NONE))
    return places


def true_places(arguments: argparse.Namespace, root: Path, wanted: Sequence[Wanted]) -> list[set[Place] | None]:
    """Ask jedi, the TypeScript compiler or Go's type checker."""
    if arguments.language == "python":
        command = [arguments.jedi, str(_INSIDE / "jedi_references.py"), str(root)]
    elif arguments.language == "go":
        command = [arguments.go, "run", str(_INSIDE / "go_references.go"), str(root)]
    else:
        command = [arguments.node, str(_INSIDE / "tsserver_references.mjs"), arguments.typescript, str(root)]
    places = [(path, line, column) for _, path, line, column in wanted]
    done = subprocess.run(command, input=json.dumps(places), capture_output=True, text=True, check=True)
    return [None if one is None else {(path, line) for path, line in one} for one in json.loads(done.stdout)]


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
    parser.add_argument("--truth", type=Path, help="a hand-checked sample instead")
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
            wanted = [(one["name"], one["path"], one["line"], 0) for one in checked]
            truths: list[set[Place] | None] = [{(path, line) for path, line in one["uses"]} for one in checked]
        else:
            wanted = draw_definitions(project, arguments.language, arguments.names)
            truths = true_places(arguments, project.root, wanted)
        score = Score()
        for one, truth in zip(wanted, truths, strict=True):
            if truth is not None:
                found = our_places(project, one)
                score.add(found, truth)
                whole.add(found, truth)
                if arguments.show and (set(found) ^ truth):
                    print(
                        one,
                        "missed",
                        sorted(truth - set(found)),
                        "extra",
                        [(p, found[p].word) for p in sorted(set(found) - truth)],
                        file=sys.stderr,
                    )
        print(score.row(root.name))
        project.close()
    print(whole.row("all"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
