"""`.dowseignore` has the syntax of `.gitignore` and takes precedence over it."""

from pathlib import Path

import pytest

from dowse.types import Reason, Rule, Verdict
from tests.sample_data import write_tree
from tests.sources.repositories import make_repository, refusal, source, visible_files


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path)


def files_seen(root: Path) -> list[str]:
    """Return the visible files without the rule files."""
    return [path for path in visible_files(source(root)) if not path.endswith("ignore")]


def test_it_ignores_what_git_does_not(repository: Path) -> None:
    write_tree(repository, {"sub/.dowseignore": "# big\n*.csv\n", "sub/a.csv": "", "a.csv": ""})
    assert files_seen(repository) == ["a.csv"]
    verdict = refusal(source(repository), "sub/a.csv")
    assert (verdict.reason, verdict.rule) == (Reason.DOWSEIGNORED, Rule("*.csv", "sub/.dowseignore", 2))


def test_it_takes_back_a_file_that_git_ignores(repository: Path) -> None:
    write_tree(repository, {".gitignore": "*.gen\n", ".dowseignore": "!keep.gen\n", "keep.gen": "", "other.gen": ""})
    assert files_seen(repository) == ["keep.gen"]


def test_it_takes_back_a_whole_folder_that_git_ignores(repository: Path) -> None:
    write_tree(
        repository,
        {".gitignore": "generated/\n", ".dowseignore": "!generated/\n", "generated/a/b.py": "", "generated/c": ""},
    )
    assert files_seen(repository) == ["generated/a/b.py", "generated/c"]


def test_it_takes_back_one_file_of_a_folder_that_git_ignores(repository: Path) -> None:
    write_tree(repository, {".gitignore": "generated/\n", ".dowseignore": "!generated/deep/api.py\n"})
    write_tree(repository / "generated", {"deep/api.py": "", "deep/other.py": "", "api.py": "", "far/api.py": ""})
    assert files_seen(repository) == ["generated/deep/api.py"]
    project = source(repository)
    assert refusal(project, "generated/far/").rule == Rule("generated/", ".gitignore", 1)
    verdict = project.verdict("generated/deep/other.py")
    assert (verdict.reason, verdict.detail) == (Reason.GITIGNORED, "because of its folder generated/")


def test_it_takes_back_a_folder_deep_in_one_that_git_ignores(repository: Path) -> None:
    write_tree(repository, {".gitignore": "generated\n", ".dowseignore": "!generated/**/api/\n"})
    write_tree(repository / "generated", {"x/y/api/a.py": "", "x/y/api/sub/b.py": "", "x/y/other.py": ""})
    assert files_seen(repository) == ["generated/x/y/api/a.py", "generated/x/y/api/sub/b.py"]


@pytest.mark.parametrize("rule", ["!api.py", "!**/api.py", "!other/api.py", "/generated/api.py"])
def test_only_a_negation_that_leads_into_the_folder_opens_it(repository: Path, rule: str) -> None:
    write_tree(repository, {".gitignore": "generated/\n", ".dowseignore": f"{rule}\n", "generated/api.py": ""})
    assert files_seen(repository) == []
    assert refusal(source(repository), "generated/").reason is Reason.GITIGNORED


def test_a_folder_that_it_ignores_itself_is_not_entered_again(repository: Path) -> None:
    write_tree(repository, {".dowseignore": "data/\n!data/keep.txt\n", "data/keep.txt": ""})
    assert refusal(source(repository), "data/").reason is Reason.DOWSEIGNORED


def test_it_cannot_take_back_what_is_denied(repository: Path) -> None:
    write_tree(repository, {".dowseignore": "!.env\n!*.pem\n!node_modules/\n!node_modules/x.js\n!*\n"})
    write_tree(repository, {".env": "", "a.pem": "", "node_modules/x.js": "", ".git/x": ""})
    assert files_seen(repository) == []
    assert {refusal(source(repository), path).reason for path in (".env", "a.pem", "node_modules/", ".git/")} == {
        Reason.DENIED
    }


def test_it_cannot_take_back_what_the_user_excludes(repository: Path) -> None:
    write_tree(repository, {".dowseignore": "!a.py\n", "a.py": ""})
    assert refusal(source(repository, exclude=("a.py",)), "a.py").reason is Reason.EXCLUDED


def test_it_holds_inside_a_nested_repository_and_for_a_root_below_it(tmp_path: Path) -> None:
    make_repository(tmp_path / "one")
    write_tree(tmp_path, {".dowseignore": "*.csv\n", "one/a.csv": "", "one/.dowseignore": "*.tsv", "one/sub/a.tsv": ""})
    assert files_seen(tmp_path) == []
    assert refusal(source(tmp_path / "one" / "sub"), "a.tsv").rule == Rule("*.tsv", "../.dowseignore", 1)


@pytest.mark.parametrize(
    ("git_rules", "own_rules", "path", "rule", "detail"),
    [
        ("*.gen.py\n", "!a.*\n", "a.gen.py", Rule("!a.*", ".dowseignore", 1), "*.gen.py (.gitignore, line 1)"),
        ("ig/\n", "!ig/x.py\n", "ig/x.py", Rule("!ig/x.py", ".dowseignore", 1), "ig/ (.gitignore, line 1)"),
        ("ig/\n", "!ig/\n", "ig/deep/y.py", Rule("!ig/", ".dowseignore", 1), "ig/ (.gitignore, line 1)"),
    ],
)
def test_why_names_the_rule_that_took_a_file_back(
    repository: Path, git_rules: str, own_rules: str, path: str, rule: Rule, detail: str
) -> None:
    write_tree(repository, {".gitignore": git_rules, ".dowseignore": own_rules, path: ""})
    assert source(repository).verdict(path) == Verdict(path, None, rule, f"re-included; ignored by {detail}")


def test_a_negation_that_takes_nothing_back_is_not_named(repository: Path) -> None:
    write_tree(repository, {".gitignore": "!a.py\n*.txt\n", "a.py": "", "b.py": ""})
    project = source(repository)
    assert [project.verdict(path) for path in ("a.py", "b.py")] == [Verdict("a.py", None), Verdict("b.py", None)]
