"""`python -m bench.packaging`: measure the size of the installed package, and the start-up time of the program."""

import argparse
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path

from bench import program
from bench.installing import REPOSITORY, Environment, build, clean_environment, install_whole, make_environment
from bench.report import Row, Table

MARKER = "bench packaging"
ROUNDS = 7
LISTED_PACKAGES = 12
"""Number of packages that are listed by name."""
IMPORT = "import mcp.server"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of each installed distribution, of its bytecode, and of the wheel."""

    wheel: int
    by_name: Counter[str]
    compiled: int

    @property
    def installed(self) -> int:
        """The size of all files of the packages, as uv installs them; pip makes bytecode of them."""
        return self.by_name.total()


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.packaging", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"starts to measure (default: {ROUNDS})")
    parser.add_argument(
        "--with", dest="more", action="append", default=[], metavar="PACKAGE", help="also install this package"
    )
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    wheel = build("wheel", REPOSITORY, work / "wheel")
    environment = make_environment(work / "environment")
    install_whole(environment, wheel, *options.more)
    sizes = _sizes(environment, wheel)
    programs = {
        f'`python -c "{IMPORT}"`': ["-c", IMPORT],
        '`python -c "pass"`': ["-c", "pass"],
        '`python -c "import dowse.cli"`': ["-c", "import dowse.cli"],
        "`dowse --version`": ["-m", "dowse", "--version"],
        "`dowse --help`": ["-m", "dowse", "--help"],
    }
    for words in programs.values():
        _time_start(environment, words, work)  # reads the files once
    times: dict[str, list[float]] = {title: [] for title in programs}
    for _ in range(options.rounds):  # in turns, so that other load on the machine affects all
        for title, words in programs.items():
            times[title].append(_time_start(environment, words, work))
    return [_size_table(sizes), _largest_table(sizes), _time_table(times)]


def _time_start(environment: Environment, words: list[str], work: Path) -> float:
    began = time.perf_counter()
    command = [str(environment.python), *words]
    subprocess.run(command, cwd=work, check=True, capture_output=True, env=clean_environment())
    return time.perf_counter() - began


def _sizes(environment: Environment, wheel: Path) -> Sizes:
    by_name: Counter[str] = Counter()
    compiled = 0
    for folder in environment.packages.glob("*.dist-info"):
        distribution = PathDistribution(folder)
        for file in distribution.files or ():
            path = Path(str(distribution.locate_file(file)))
            if path.suffix != ".pyc" and path.is_file():
                by_name[distribution.name] += path.stat().st_size
    for path in environment.packages.rglob("*.pyc"):
        compiled += path.stat().st_size
    return Sizes(wheel.stat().st_size, by_name, compiled)


def _size_table(sizes: Sizes) -> Table:
    rows: list[Row] = [
        ("", "measured", "to reach"),
        ("the wheel", _megabytes(sizes.wheel), ""),
        (f"installed with all it needs ({len(sizes.by_name)} packages)", _megabytes(sizes.installed), "≤ 230 MB"),
        ("of that dowse itself", _megabytes(sizes.by_name["dowse"]), ""),
        ("and the bytecode, which pip makes and uv does not", _megabytes(sizes.compiled), ""),
    ]
    return Table("Installed without extras", rows)


def _largest_table(sizes: Sizes) -> Table:
    rows: list[Row] = [("package", "size")]
    largest = sizes.by_name.most_common(LISTED_PACKAGES)
    rows += [(name, _megabytes(size)) for name, size in largest]
    rest = sizes.by_name.total() - sum(size for _, size in largest)
    rows.append((f"{len(sizes.by_name) - len(largest)} others", _megabytes(rest)))
    return Table("The largest packages, without bytecode", rows)


def _time_table(times: dict[str, list[float]]) -> Table:
    medians = {title: statistics.median(each) for title, each in times.items()}
    alone = next(iter(medians.values()))
    rows: list[Row] = [("command", "median", f"÷ {IMPORT}")]
    rows += [(title, f"{value * 1000:.0f} ms", f"{value / alone:.2f}") for title, value in medians.items()]
    return Table(f"Starts of the installed program, median of {len(next(iter(times.values())))}", rows)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    sys.exit(main())
