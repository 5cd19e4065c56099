"""The Dockerfile without Docker: what it copies is there, and its commands work. `make container` builds and runs the image."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from bench.installing import REPOSITORY, Environment, build, clean_environment

from tests.end_to_end.packaging.test_contents import contents
from tests.mcp.http.http_server import HttpServer

TOKEN = "a-token-of-the-tests"
TEXT = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
BUILD, IMAGE = (stage for stage in re.split(r"^FROM ", TEXT, flags=re.MULTILINE)[1:])


def instructions(stage: str) -> dict[str, list[str]]:
    found = defaultdict(list)
    for name, rest in re.findall(r"^([A-Z]+) (.*)$", stage, flags=re.MULTILINE):
        found[name].append(rest)
    return found


def words(instruction: str) -> list[str]:
    """Return the words of an instruction that is written as a list."""
    return list(json.loads(instruction[instruction.index("[") :]))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The files that the Dockerfile copies into the stage that builds."""
    for copy in instructions(BUILD)["COPY"]:
        *sources, target = shlex.split(copy)
        for source in sources:
            if (REPOSITORY / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "secret_rules.json")  # the build makes the rules
                shutil.copytree(REPOSITORY / source, tmp_path / "source" / target, ignore=ignored)
            else:
                (tmp_path / "source").mkdir(exist_ok=True)
                shutil.copy(REPOSITORY / source, tmp_path / "source" / target)
    return tmp_path / "source"


def test_the_files_that_it_copies_make_the_same_package(copied: Path, wheel: Path, tmp_path: Path) -> None:
    assert contents(build("wheel", copied, tmp_path / "built")).keys() == contents(wheel).keys()


def test_docker_is_shown_what_it_copies_and_nothing_else() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    shown = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert shown == {source for copy in instructions(BUILD)["COPY"] for source in shlex.split(copy)[:-1]}


def test_both_stages_have_the_same_python_and_one_that_dowse_supports() -> None:
    images = [stage.split()[0] for stage in (BUILD, IMAGE)]
    assert images[0] == images[1]
    workflow = (REPOSITORY / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert f'"{re.findall(r"python:([0-9.]+)-slim", images[0])[0]}"' in workflow


@pytest.mark.soak  # downloads the dependencies
@pytest.mark.timeout(400)
def test_its_commands_install_a_dowse_that_runs(copied: Path, tmp_path: Path) -> None:
    place = tmp_path / "opt"
    for command in instructions(BUILD)["RUN"]:
        here = command.replace("/opt/dowse", str(place)).replace("python -m", f"{sys.executable} -m", 1)
        done = subprocess.run(
            ["sh", "-c", here], cwd=copied, env=clean_environment(), capture_output=True, text=True, check=False
        )
        if "pip install" in here and done.returncode and "Failed to establish a new connection" in done.stderr:
            pytest.skip("NO REGISTRY: the installation in the container was not tested")
        assert done.returncode == 0, done.stderr
    done = subprocess.run([str(Environment(place).dowse), "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_its_command_serves_and_its_check_of_health_succeeds(tmp_path: Path) -> None:
    image = instructions(IMAGE)
    assert words(image["ENTRYPOINT"][0]) == ["dowse"]
    serve, folder, *options = words(image["CMD"][0])
    assert (serve, folder) == ("serve", "/project")
    port = image["EXPOSE"][0]
    anywhere = tuple(option.replace(f":{port}", ":0") for option in options)
    (tmp_path / "project").mkdir()
    check = words(image["HEALTHCHECK"][0])
    assert check[0] == "python"
    with HttpServer(tmp_path / "project", options=anywhere, home=tmp_path, token=TOKEN) as server:
        for address, code in ((str(server.port), 0), ("1", 1)):
            command = [sys.executable, *(word.replace(f":{port}/", f":{address}/") for word in check[1:])]
            assert subprocess.run(command, check=False, capture_output=True).returncode == code


def test_its_user_can_write_the_index() -> None:
    image = instructions(IMAGE)
    (folder,) = words(image["VOLUME"][0])
    assert f"DOWSE_HOME={folder}" in image["ENV"][0]
    (user,) = image["USER"]
    assert f"install --directory --owner={user} --group={user} {folder}" in image["RUN"][0]
    assert "/opt/dowse/bin:" in image["ENV"][0]
    assert image["COPY"] == ["--from=build /opt/dowse /opt/dowse"]


@pytest.mark.skipif(os.name == "nt", reason="a script of bash")
def test_the_script_that_tries_the_image_is_valid() -> None:
    subprocess.run(["bash", "-n", str(REPOSITORY / "scripts" / "container")], check=True)
