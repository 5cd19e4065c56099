"""The contents of the wheel and of the source distribution."""

import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import BytesParser
from functools import cache
from pathlib import Path, PurePosixPath

from bench.installing import REPOSITORY, build

import dowse

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGE = REPOSITORY / "src"
NEEDED = {
    "dowse/py.typed", "dowse/screening/secret_rules.json", "dowse/searching/stopwords.txt",
    "dowse/sources/deny.toml", "dowse/parsing/languages.toml", "dowse/parsing/queries/python.scm",
    "dowse/archives/graph_page.html",
}  # fmt: skip
"""Some of the data files that the package needs."""
GENERATED = {"dowse/screening/secret_rules.json"}
TOP_OF_SDIST = {
    "src", "docs", "hatch_build.py", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO",
    ".gitignore",
}  # fmt: skip


def package_files() -> set[str]:
    """Return every file of the package in the source tree."""
    found = (path for path in (PACKAGE / "dowse").rglob("*") if path.is_file())
    return {str(PurePosixPath(path.relative_to(PACKAGE))) for path in found if "__pycache__" not in path.parts}


@cache
def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def metadata(wheel: Path) -> Message:
    (name,) = (name for name in contents(wheel) if name.endswith(".dist-info/METADATA"))
    return BytesParser().parsebytes(contents(wheel)[name])


@cache
def sdist_contents(sdist: Path) -> dict[str, bytes]:
    """Return the files of the archive by their path below its only folder."""
    with tarfile.open(sdist) as archive:
        found = {}
        for member in archive.getmembers():
            assert member.isfile(), member
            content = archive.extractfile(member)
            assert content is not None
            found[member.name.partition("/")[2]] = content.read()
        return found


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(contents(wheel))
    about = {name for name in names if name.startswith(f"dowse-{dowse.__version__}.dist-info/")}
    assert names - about == package_files()
    assert names >= NEEDED


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    about = metadata(wheel)
    assert (about["Name"], about["Version"]) == ("dowse", dowse.__version__)
    assert about["License-Expression"] == PROJECT["license"]
    assert about["Requires-Python"] == PROJECT["requires-python"]
    assert about["Summary"] == PROJECT["description"]
    assert about["Description-Content-Type"] == "text/markdown"
    assert set(about.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])
    assert "Typing :: Typed" in about.get_all("Classifier", [])
    needed = [line for line in about.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert len(needed) == len(PROJECT["dependencies"])


def test_the_licences_travel_with_the_wheel(wheel: Path) -> None:
    found = contents(wheel)
    for name in PROJECT["license-files"]:
        inside = f"dowse-{dowse.__version__}.dist-info/licenses/{name}"
        assert found[inside] == (REPOSITORY / name).read_bytes()
    assert metadata(wheel).get_all("License-File") == PROJECT["license-files"]


def test_one_program_is_installed(wheel: Path) -> None:
    (entry,) = (text for name, text in contents(wheel).items() if name.endswith("entry_points.txt"))
    assert entry.decode().split() == ["[console_scripts]", "dowse", "=", "dowse.cli:main"]


def test_the_sdist_has_what_builds_the_package_and_its_documentation_and_nothing_else(sdist: Path) -> None:
    names = set(sdist_contents(sdist))
    allowed = TOP_OF_SDIST | set(PROJECT["license-files"])
    assert {name.split("/")[0] for name in names} <= allowed
    assert {name.removeprefix("src/") for name in names if name.startswith("src/")} == package_files() - GENERATED
    assert {"docs/tools.md", "README.md", "LICENSE", "NOTICE", "pyproject.toml"} <= names


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_tree(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "tree", filter="data")
    (tree,) = (tmp_path / "tree").iterdir()
    assert contents(build("wheel", tree, tmp_path / "again")) == contents(wheel)
