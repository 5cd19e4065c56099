"""The action for GitHub without GitHub: it follows its schema, and its steps publish a checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from bench.installing import REPOSITORY, Environment, clean_environment

from tests.api.publishing.shared_places import make_project
from tests.docs.test_workflows import read, schema
from tests.searching.history.repositories import git

ACTION = read(REPOSITORY / "action.yml")
PYTHON_STEP, INSTALL_STEP, PUBLISH_STEP = ACTION["runs"]["steps"]
PAGE = (REPOSITORY / "docs" / "how-to" / "shared-index.md").read_text(encoding="utf-8")
needs_bash = pytest.mark.skipif(not shutil.which("bash") or os.name == "nt", reason="the steps are scripts of bash")


def test_the_action_follows_its_schema() -> None:
    jsonschema.validate(ACTION, schema("github-actions"))
    assert re.fullmatch(r"actions/setup-python@v\d+", PYTHON_STEP["uses"])


def test_no_input_becomes_a_part_of_a_script() -> None:
    """A name with a quote in it would run as a command."""
    assert all("${{" not in step.get("run", "") for step in ACTION["runs"]["steps"])


def test_the_example_of_the_page_names_inputs_that_there_are() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    workflow = yaml.safe_load(block)
    workflow["on"] = workflow.pop(True)
    jsonschema.validate(workflow, schema("github-workflows"))
    step = workflow["jobs"]["publish"]["steps"][1]
    required = {name for name, facts in ACTION["inputs"].items() if facts.get("required")}
    assert required <= step["with"].keys() <= ACTION["inputs"].keys()
    assert all(f"`{name}`" in PAGE for name in ACTION["inputs"])


def run_step(step: dict[str, Any], at: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a step as a runner does: the script in a file, with the shell's options for errors."""
    script = at / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    assert set(step["env"]) <= environment.keys()
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(
        command, cwd=at, env=clean_environment() | environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone with one commit, as `actions/checkout` makes it."""
    animals = make_project(tmp_path / "animals")
    git(tmp_path, "clone", "-q", "--depth", "1", animals.as_uri(), str(tmp_path / "work" / "checkout"))
    return tmp_path / "work" / "checkout"


@pytest.mark.soak
@needs_bash
def test_it_publishes_a_checkout_under_the_name_of_the_repository(
    checkout: Path, installed: Environment, tmp_path: Path
) -> None:
    pytest.importorskip("lancedb", reason="needs the extra lance")
    (tmp_path / "runner").mkdir()
    (tmp_path / "runner" / "dowse").symlink_to(installed.folder)
    place = tmp_path / "place"
    facts = {"PLACE": str(place), "FOLDER": "checkout", "NAME": "the 'animals' $(touch pwned)", "MODEL": "false"}
    where = {"RUNNER_TEMP": str(tmp_path / "runner"), "HOME": str(tmp_path), "DOWSE_HOME": str(tmp_path / "storage")}
    done = run_step(PUBLISH_STEP, checkout.parent, **facts, **where)
    assert done.returncode == 0, done.stderr
    assert f"{place}: published commit {git(checkout, 'rev-parse', 'HEAD')[:12]} of {facts['NAME']} " in done.stdout
    assert not list(tmp_path.rglob("pwned"))
    again = run_step(PUBLISH_STEP, checkout.parent, **facts, **where)
    assert "is published already" in again.stdout
    wrong = run_step(PUBLISH_STEP, checkout.parent, **(facts | {"PLACE": "ftp://nowhere"}), **where)
    assert wrong.returncode != 0


@needs_bash
@pytest.mark.soak  # downloads the dependencies
@pytest.mark.timeout(400)
def test_it_installs_dowse_from_its_own_files(tmp_path: Path) -> None:
    done = run_step(
        INSTALL_STEP, tmp_path, PYTHON=sys.executable, RUNNER_TEMP=str(tmp_path), GITHUB_ACTION_PATH=str(REPOSITORY)
    )
    if done.returncode and "Failed to establish a new connection" in done.stderr:
        pytest.skip("NO REGISTRY: the installation of the action was not tested")
    assert done.returncode == 0, done.stderr
    command = [str(Environment(tmp_path / "dowse").dowse), "publish", "--help"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
