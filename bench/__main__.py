"""`python -m bench CORPORA`: measure indexing on every corpus, dowse and semble in turns."""

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path

from bench import corpora, machine, ours, page, program, report, semble
from bench.corpora import Corpus
from bench.figures import Contestant, Result
from bench.meter import CommandFailed

CACHE_FOLDER = Path(__file__).parents[1] / ".bench"
MARKER = "bench"


def main() -> int:
    """Measure and print the tables."""
    options = _options()
    facts = machine.description()
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        work = Path(temporary).resolve()
        roots = _roots(options.corpora, work)
        chosen = _choose_corpora(options, roots, work)
        if not chosen:
            _log(f"There is nothing to measure: no corpus or size is called {', '.join(options.only) or 'anything'}.")
            return 2
        contestants = _contestants(options, roots, chosen, work)
        results = [_measure(corpus, contestants, options.rounds) for corpus in chosen]
    tables = [*(report.corpus_table(result) for result in results), report.goals_table(results)]
    print("\n".join([*facts, "", *(table.as_text() for table in tables)]))
    if options.json:
        figures = {"machine": facts, "command": _command(options), "results": [result.as_json() for result in results]}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    if options.markdown:
        lines = [
            f"`{_command(options)}`",
            "",
            *(f"- {fact}" for fact in facts),
            "",
            *(table.as_markdown() for table in tables),
        ]
        page.replace_between(options.markdown, MARKER, "\n".join(lines))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a corpus or a size; repeatable")
    parser.add_argument("--sizes", type=_sizes, default=(100, 1_000, 10_000), help="how many files to draw from all")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; medians are over all of them (default: 3)")
    parser.add_argument("--no-semble", action="store_true", help="measure dowse alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure of every round")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _sizes(value: str) -> tuple[int, ...]:
    return tuple(int(size) for size in value.split(",") if size)


def _roots(folder: Path, work: Path) -> list[Path]:
    roots = corpora.find(folder)
    if not roots:
        _log(corpora.MISSING.format(folder=folder))
        roots = [corpora.installed_packages(work / "origin")]
    return roots


def _choose_corpora(options: argparse.Namespace, roots: list[Path], work: Path) -> list[Corpus]:
    """Return samples of all corpora together, smallest first, then each corpus whole."""
    copies = work / "corpora"
    made: dict[str, Corpus] = {}
    for size in sorted(options.sizes):
        if not options.only or str(size) in options.only:
            _log(f"Copying {size:,} files ...")
            corpus = corpora.sample(roots, size, copies)
            if len(corpus.paths) < size:
                _log(f"There are only {len(corpus.paths):,} files.")
            made[corpus.name] = corpus
    for root in roots:
        if not options.only or root.name in options.only:
            _log(f"Copying {root.name} ...")
            made[root.name] = corpora.copy_corpus(root, copies)
    return list(made.values())


def _contestants(options: argparse.Namespace, roots: list[Path], chosen: list[Corpus], work: Path) -> list[Contestant]:
    """Return dowse, and semble if it can be installed. Each has run once, so that its files are unpacked."""
    each_type = corpora.one_of_each_type(chosen, work)
    first = ours.Dowse(work)
    first.index(each_type)
    if options.no_semble:
        return [first]
    _log("Preparing semble ...")
    try:
        second = semble.prepare(CACHE_FOLDER, work, roots)
        second.index(each_type)
    except (OSError, CommandFailed) as error:
        _log(f"semble cannot be measured here, so dowse is measured alone: {error}")
        return [first]
    return [first, second]


def _measure(corpus: Corpus, contestants: list[Contestant], rounds: int) -> Result:
    corpora.read_all(corpus)
    result = Result(corpus, {contestant.name: [] for contestant in contestants})
    for number in range(1, rounds + 1):
        for contestant in contestants:
            figures = contestant.round(corpus)
            result.rounds[contestant.name].append(figures)
            _log(f"{corpus.name}, round {number}: {contestant.name}, {figures.files_a_second:,.0f} files/s")
    return result


def _command(options: argparse.Namespace) -> str:
    """Return the command as it was typed, without the folders of this machine."""
    shown = ("CORPORA" if Path(word) == options.corpora else _without_folder(word) for word in sys.argv[1:])
    return shlex.join(["python", "-m", "bench", *shown])


def _without_folder(word: str) -> str:
    return Path(word).name if Path(word).is_absolute() else word


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
