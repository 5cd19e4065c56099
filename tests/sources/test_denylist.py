"""The deny list covers every spelling of a denied path, and nothing else."""

import unicodedata

import pytest

from dowse.sources import denylist
from dowse.sources.denylist import DenyList, categories

SEED = {
    "dependencies": ["node_modules/", "jspm_packages/", "bower_components/", "vendor/", ".venv/", "venv/"],
    "version control": [".git", ".hg/", ".svn/"],
    "build artifacts": ["dist/", "build/", "out/", "target/", "__pycache__/", ".next/", ".nuxt/"],
    "secrets": [".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx"],
    "logs and locks": [
        "*.log", "*.lock", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "Gemfile.lock", "poetry.lock",
    ],
    "IDE config": [".idea/", ".vscode/", ".DS_Store", "*.swp", "*.swo"],
    "testing": ["coverage/", ".nyc_output/", ".pytest_cache/"],
}  # fmt: skip


def denied(path: str, deny: DenyList | None = None) -> str | None:
    """Return the pattern that denies a path; the path of a folder ends in a slash."""
    rule = (deny or DenyList()).rule_against(path.removesuffix("/"), is_folder=path.endswith("/"))
    return rule.pattern if rule else None


def test_the_seeds_list_is_whole() -> None:
    listed = {entry.name: entry.patterns for entry in categories()}
    for category, patterns in SEED.items():
        assert set(patterns) <= set(listed[category])


def test_every_pattern_denies_at_every_depth() -> None:
    for pattern in [pattern for entry in categories() for pattern in entry.patterns]:
        path = pattern.replace("*", "some")
        inside = f"{path.removesuffix('/')}/inside.txt"
        assert all(denied(f"{above}{what}") for above in ("", "a/", "a/b/c/") for what in (path, inside))


def test_a_denied_path_is_denied_in_every_spelling() -> None:
    for path, pattern in (
        (".env", ".env"),
        (".env.example", ".env.*"),
        ("deploy/.ENV", ".env"),
        ("certs/Server.PEM", "*.pem"),
        (".env/settings", ".env"),
        ("home/.ssh/known_hosts", ".ssh/"),
        ("id_ed25519", "id_ed25519"),
        (".AWS/Credentials", ".aws/credentials"),
        ("a/.kube/config", ".kube/config"),
        (".GIT/config", ".git"),
        ("worktree/.git", ".git"),
        ("a/node_modules/b.js", "node_modules/"),
        ("node_modules/", "node_modules/"),
        (".e\u200bnv", ".env"),
        ("\u202e.env", ".env"),
        (".\ufe0fenv", ".env"),
        ("\ufeffid_rsa", "id_rsa"),
        (unicodedata.normalize("NFD", "schlüssel.key"), "*.key"),
        ("new\nline.pem", "*.pem"),
        (".env-prod", ".env-*"),
        (".env_local", ".env_*"),
        (".envrc.local", ".envrc.*"),
        (".yarnrc.yml", ".yarnrc.yml"),
        (".composer/auth.json", ".composer/auth.json"),
        ("deploy/kubeconfig", "kubeconfig"),
        (".databrickscfg", ".databrickscfg"),
        (".renviron", ".Renviron"),
        ("prod.tfvars", "*.tfvars"),
        (".vault_pass.txt", ".vault_pass*"),
        ("etc/ssh_host_rsa_key", "ssh_host_*_key"),
        (".aws/sso/cache/token.json", ".aws/sso/"),
    ):
        assert denied(path) == pattern


def test_what_only_looks_alike_is_not_denied() -> None:
    for path in (
        "build", "src/out", "environment.py", ".environment", "key.py", "id_rsa.pub", "rebuild/x", "builds/x",
        "aws/credentials", "config", "docker/config.json", ".gitignore", ".github/workflows/ci.yml", "lock.py",
        "a.locks", "distribution/x", "pkg/kubeconfig/load.go", "notes.bak", "build.bak/x", "~", ".bak", "##",
        "environment.py~",
    ):  # fmt: skip
        assert denied(path) is None


def test_a_backup_of_a_secret_is_denied_as_the_secret() -> None:
    for path, pattern in (
        ("id_rsa~", "id_rsa"), ("id_rsa.bak", "id_rsa"), ("keys/id_rsa.BAK", "id_rsa"), ("id_rsa.old~", "id_rsa"),
        (".env~", ".env"), ("#.env#", ".env"), (".npmrc.bak", ".npmrc"), (".netrc~", ".netrc"),
        ("server.key.orig", "*.key"), ("secrets.yml.save", "secrets.yml"),
        (".aws/credentials.bak", ".aws/credentials"), (".ssh.old/config", ".ssh/"),
    ):  # fmt: skip
        assert denied(path) == pattern


def test_what_an_editor_leaves_behind_of_a_secret_is_denied_in_every_source() -> None:
    assert [denied(path, DenyList(())) for path in (".id_rsa.swp", "..pgpass.swo", "a.swp")] == [
        "id_rsa",
        ".pgpass",
        None,
    ]


def test_the_rule_names_its_category() -> None:
    rule = DenyList().rule_against(".npmrc")
    assert rule is not None
    assert rule.origin == "built-in deny list (secrets)"


def test_letter_case_of_other_categories_counts_where_the_file_system_minds_it() -> None:
    assert denied("Build/x", DenyList(folds_case=False)) is None
    assert denied("Build/x", DenyList(folds_case=True)) == "build/"


def test_a_source_can_switch_off_all_but_secrets_and_version_control() -> None:
    deny = DenyList(())
    assert [denied(path, deny) for path in ("dist/index.html", "app.log", ".env", ".git/config")] == [
        None,
        None,
        ".env",
        ".git",
    ]


@pytest.mark.parametrize(
    "path", [".env.", ".env ", ".env::$DATA", ".env:stream", ".git. /config", "a/.git::$INDEX_ALLOCATION/x"]
)
def test_windows_other_ways_to_open_a_file_are_denied_there(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(denylist, "IS_WINDOWS", True)
    assert denied(path) in (".env", ".git")
