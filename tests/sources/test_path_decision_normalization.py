"""Every spelling of a path leads to the file that is meant, or to a refusal."""

import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from dowse.types import Reason
from tests.sample_data import write_tree
from tests.sources.repositories import can_make, source


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path, {"secret.txt": "", "rootbeer/a.py": ""})
    return write_tree(
        tmp_path / "root", {"src/main.py": "", ".env": "", "src/größe.py": "", "my file.md": "", "sub/.env": ""}
    )


@pytest.mark.parametrize(
    "spelling",
    [
        "src/main.py", "./src/main.py", "src//main.py", "src/./main.py", "src/../src/main.py", "../root/src/main.py",
        "src\\main.py", "src/%6dain.py", "src%2Fmain.py", "src%5Cmain.py", "s\u200brc/main.py", "src/main.py/",
        "src%252fmain.py",
    ],
)  # fmt: skip
def test_other_spellings_of_a_file_mean_the_file(root: Path, spelling: str) -> None:
    verdict = source(root).verdict(spelling)
    assert (verdict.path, verdict.reason) == ("src/main.py", None)


@pytest.mark.parametrize("spelling", ["my file.md", "my%20file.md"])
def test_a_space_may_be_encoded(root: Path, spelling: str) -> None:
    assert source(root).verdict(spelling).path == "my file.md"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_names_mean_the_same_file(root: Path, form: Literal["NFC", "NFD"]) -> None:
    spelling = "src/" + unicodedata.normalize(form, "größe.py")
    assert source(root).verdict(spelling).is_allowed


def test_an_absolute_path_below_the_root_is_taken_from_there(root: Path) -> None:
    assert source(root).verdict(str(root / "src" / "main.py")).path == "src/main.py"


def test_an_absolute_path_may_name_the_root_through_a_symlink(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("root")
    for named in (root, tmp_path / "link"):
        verdict = source(named).verdict(str(tmp_path / "link" / "src" / "main.py"))
        assert (verdict.path, verdict.reason) == ("src/main.py", None)


@pytest.mark.parametrize(
    "spelling",
    [
        "../secret.txt", "src/../../secret.txt", "..", "/", "/etc/passwd", "//etc/passwd", "..\\secret.txt",
        "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "..%5csecret.txt", "%252e%252e%252fsecret.txt",
        ".\u200b./secret.txt", "\\\\server\\share", "%2Fetc%2Fpasswd", "../rootbeer/a.py",
        "src/%2e%2e/%2e%2e/secret.txt",
    ],
)  # fmt: skip
def test_no_spelling_leads_outside(root: Path, spelling: str) -> None:
    assert source(root).verdict(spelling).reason is Reason.OUTSIDE


def test_an_absolute_path_outside_is_outside_even_when_its_name_begins_alike(root: Path, tmp_path: Path) -> None:
    assert source(root).verdict(str(tmp_path / "rootbeer" / "a.py")).reason is Reason.OUTSIDE


@pytest.mark.parametrize(
    "spelling",
    [
        ".env", "./.env", "src/../.env", "sub/.env", ".ENV", "%2eenv", "%2Eenv", ".e\u200bnv", "sub\\.env",
        "sub%2f.env", ".env/", "\u202e.env", "nowhere/.env", ".env/nothing", "%252eenv", ".git/config", "a/.ssh/x",
        "src/.e%E2%80%8Bnv",
    ],
)  # fmt: skip
def test_no_spelling_reaches_what_is_denied(root: Path, spelling: str) -> None:
    assert source(root).verdict(spelling).reason is Reason.DENIED


def test_an_absolute_spelling_does_not_reach_what_is_denied(root: Path) -> None:
    assert source(root).verdict(str(root / ".env")).reason is Reason.DENIED


@pytest.mark.parametrize(
    "spelling", ["a\0b", "src/main.py\0.txt", "x" * 5000, "a/" * 3000 + "b", "src/main.py/below", "gone.py", "gone/"]
)
def test_what_does_not_exist_has_vanished(root: Path, spelling: str) -> None:
    assert source(root).verdict(spelling).reason in (Reason.VANISHED, Reason.TOO_DEEP)


@pytest.mark.parametrize("spelling", ["", ".", "./", "src/.."])
def test_the_root_itself_is_a_folder_that_nothing_speaks_against(root: Path, spelling: str) -> None:
    verdict = source(root).verdict(spelling)
    assert (verdict.path, verdict.reason, verdict.detail) == ("", None, "a folder")


@pytest.mark.parametrize("name", ["%2e%2e", "a\\b", "%2e%2e%2fx", "..\\..\\x", "e\u0301", "z\u200bw", "100%25"])
def test_a_file_that_exists_as_written_is_that_file(root: Path, name: str) -> None:
    if not can_make(root, name):
        pytest.skip("this file system does not take the name")
    verdict = source(root).verdict(name)
    assert (verdict.path, verdict.reason) == (name, None)
