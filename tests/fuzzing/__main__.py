"""Run campaigns: `python -m tests.fuzzing [TARGET…] --inputs N --seconds S --seed N [--keep]`."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzzing.campaign import keep, minimise, run_campaign
from tests.fuzzing.targets import FOLDER, TARGETS
from tests.grammar_files import unpack_grammars


def main() -> int:
    """Run each target, print what was found, and write it to the seeds if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=[])
    parser.add_argument("--inputs", type=int, default=int(os.environ.get("FUZZ_INPUTS", "1000")))
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "600")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("FUZZ_SEED", "1")))
    parser.add_argument("--keep", action="store_true", help="write the shortest failing inputs to tests/fuzzing/seeds")
    options = parser.parse_args()
    found = 0
    home = tempfile.mkdtemp(prefix="fuzz-home", dir=FOLDER)
    os.environ |= {"DOWSE_HOME": home, "HOME": home, "SEMBLE_GRAMMARS_CACHE_DIR": home}
    unpack_grammars(Path(home))
    for name in options.targets or TARGETS:
        started = time.monotonic()
        result = run_campaign(name, options.inputs, options.seconds, options.seed)
        seconds = time.monotonic() - started
        print(f"{name}: {result.inputs:,} inputs in {seconds:.0f} s, {len(result.failures)} failures", flush=True)
        for failure in map(minimise, result.failures):
            found += 1
            print(f"  {failure.problem}\n    {failure.data[:200]!r}", flush=True)
            if options.keep:
                print(f"    {keep(failure)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
