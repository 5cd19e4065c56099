"""`python -m bench.read_references TRUTH... [--show]`: compares the references that dowse finds with names that somebody read.

TRUTH is a JSON object: `root`, and `names` with `name`, `definitions`, `uses`, `unsure`, each a list of `path:line`. A name is asked for
without its class; if the reply lists its owners, each of them is asked for. Names at even and at odd places are two halves: rules were
made with the first, and the second is the figure.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from dowse.indexes.index import ProjectIndex
from dowse.indexes.reference_lookup import read_missing_references
from dowse.searching.references.name_resolution import Confidence
from dowse.searching.references.reference_search import Place, ReferenceOptions, References, find_references

_LEAST = (Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE)


def found_lines(project: ProjectIndex, name: str) -> dict[str, Confidence]:
    """Return the lines that dowse finds for a name, each with its confidence."""

    def ask(one: str) -> References:
        references, read = project.whole.references, project.source.read_bytes
        return find_references(project.store, references, read, one, ReferenceOptions(limit=100_000))

    found = ask(name)
    uses: list[Place] = [*found.uses, *(use for owner in found.owners for use in ask(owner.name).uses)]
    lines = dict[str, Confidence]()
    for use in sorted(uses, key=lambda use: use.confidence):
        lines[f"{use.path}:{use.line}"] = use.confidence
    return lines


def compare(truth: dict[str, Any], half: int, counts: dict[Confidence, list[int]], *, shows: bool) -> int:
    """Add right, wrong and all uses of one half for each confidence; return the number of its names."""
    project = ProjectIndex(Path(truth["root"]))
    project.update()
    read_missing_references(project)
    endings = {place.rpartition(":")[0].rpartition(".")[2] for one in truth["names"] for place in one["definitions"]}
    names = truth["names"][half::2]
    for one in names:
        uses = set(one["uses"])
        lines = found_lines(project, one["name"])
        left_out = {*one["definitions"], *one.get("unsure", ())}
        left_out |= {line for line in lines if line.rpartition(":")[0].rpartition(".")[2] not in endings}
        for least in _LEAST:
            listed = {line for line, confidence in lines.items() if confidence >= least} - left_out
            for at, number in enumerate((len(listed & uses), len(listed - uses), len(uses))):
                counts[least][at] += number
            if shows and least is Confidence.LIKELY and listed != uses:
                print(one["name"], "missed", sorted(uses - listed), "extra", sorted(listed - uses), file=sys.stderr)
    project.close()
    return len(names)


def main() -> int:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("truths", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="print what differs in the first half")
    arguments = parser.parse_args()
    print("| half | names | uses | certain: precision / recall | and likely | and possible |")
    print("|---|---|---|---|---|---|")
    for half in (0, 1):
        counts = {least: [0, 0, 0] for least in _LEAST}
        names = sum(
            compare(json.loads(file.read_text(encoding="utf-8")), half, counts, shows=arguments.show and not half)
            for file in arguments.truths
        )
        cells = [
            f"{100 * right / max(1, right + wrong):.0f} % / {100 * right / max(1, total):.0f} %"
            for right, wrong, total in counts.values()
        ]
        print(f"| {half + 1} | {names} | {counts[Confidence.LIKELY][2]} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
