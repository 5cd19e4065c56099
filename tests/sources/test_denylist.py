"""The deny list covers every spelling of a denied path, and nothing else."""

import base64
import random
import unicodedata
import zipfile
from pathlib import Path

import pytest

from dowse.errors import PathRefused
from dowse.parsing.document_parsing import parse
from dowse.settings import Settings
from dowse.sources import denylist
from dowse.sources.denylist import DenyList, categories, find_private_key
from dowse.sources.document_files import DocumentFiles
from dowse.types import Entry, Reason, Rule, Verdict
from tests.reading.test_office_files import WORD
from tests.sample_data import write_tree
from tests.sources.repositories import decisions, source

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


BODY = base64.encodebytes(random.Random(7).randbytes(1200)).decode()  # not a real key


def block(label: str, body: str = BODY) -> str:
    return f"-----BEGIN {label}-----\n{body}-----END {label}-----\n"


KEY = block("OPENSSH PRIVATE KEY")

KEYS = {
    "OpenSSH": KEY,
    "RSA": block("RSA PRIVATE KEY"),
    "PKCS 8, one line": block("PRIVATE KEY", "MC4CAQAwBQYDK2VwBCIEIGZha2VmYWtlZmFrZWZha2VmYWtlZmFrZWZha2VmYWtl\n"),
    "with a passphrase": block("RSA PRIVATE KEY", f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,5C1A\n\n{BODY}"),
    "PGP": block("PGP PRIVATE KEY BLOCK", f"Version: GnuPG v2\n\n{BODY}=nW0h\n"),
    "SSH2": f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: me\n{BODY}---- END SSH2 ENCRYPTED PRIVATE KEY ----\n",
    "below its certificates": block("CERTIFICATE") * 9 + block("PRIVATE KEY"),
    "below its parameters": block("EC PARAMETERS", "BggqhkjOPQMBBw==\n") + block("EC PRIVATE KEY"),
    "below attributes": f"Bag Attributes\n    friendlyName: me\nKey Attributes: <No Attributes>\n{block('PRIVATE KEY')}",
    "below comments": "# the key of the build machine, do not share\n" * 200 + KEY,
    "in notes": f"key for the build machine:\n\n{KEY}\nask bob's team for another\n",
    "in a VPN's settings": f"client\nremote example.org\n<key>\n{block('PRIVATE KEY')}</key>\n",
    "cut short": KEY[:900],
    "Windows lines": KEY.replace("\n", "\r\n"),
    "trailing spaces": KEY.replace("\n", "  \n"),
    "below blank lines and spaces": f"\n\n \t\n   {KEY}",
    "indented": f"\n    {KEY}".replace("\n", "\n    "),
    "only its first line indented": f"\t{KEY}",
    "below other comments": "// the key of the build machine\n; do not share\n" * 200 + KEY,
    "below comments in another script": "# ключ сервера\n" * 200 + KEY,
    "behind invisible characters": f"\ufeff\u200b\u00a0{KEY}",
    "behind other line breaks": f"\x0b\u2028{KEY}",
    "old line breaks": KEY.replace("\n", "\r"),
    "quoted in a mail": f"> {KEY}".replace("\n", "\n> "),
    "in a list": f"- {KEY}".replace("\n", "\n- "),
    "in an element": f"<key>{KEY}</key>",
    "on one line": KEY.replace("\n", ""),
    "after a word in code": f"The key of `server`:\n\n{KEY}",
}
OTHER_KEYS = {
    "age": (f"# created: 2026\n# public key: age1abc\nAGE-SECRET-KEY-1{'Q' * 58}\n", "AGE-SECRET-KEY-1…"),
    "PuTTY": (f"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\n{BODY}", "PuTTY-User-Key-File-…"),
    "PuTTY, in notes": (
        f"my key:\n\n  PuTTY-User-Key-File-2: ssh-rsa\nComment: me\nPrivate-Lines: 26\n{BODY}\nsee bob\n",
        "PuTTY-User-Key-File-…",
    ),
    "PKCS 12": (block("PKCS12"), "-----BEGIN PKCS12-----"),
    "OpenVPN": (
        f"#\n# 2048 bit OpenVPN static key\n#\n{block('OpenVPN Static key V1', BODY.lower().replace('+', 'f'))}",
        "-----BEGIN OpenVPN Static key V1-----",
    ),
}

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]

FIXTURE = f'''"""Signing."""

import signing

PRIVATE_KEY = """
{block("RSA PRIVATE KEY")}"""
OTHER = """\\
{block("RSA PRIVATE KEY")}"""


def test_a_signature_is_valid():
    assert signing.verify(signing.sign("x", PRIVATE_KEY))
'''
GUIDE = f"""# Deploy keys

Paste the key as it is:

```pem
{KEY}```

or

~~~
{KEY}~~~
"""
GO = f"""package testdata

// PEMBytes holds keys for tests.
var PEMBytes = map[string][]byte{{
	"rsa": []byte(`{block("RSA PRIVATE KEY")}`),
	"dsa": []byte(`
{block("DSA PRIVATE KEY")}`),
}}
"""
SHOWN = {
    "test_signing.py": FIXTURE,
    "docs/deploy.md": GUIDE,
    "testdata/keys.go": GO,
    "keys.ts": f"export const key = `\n{KEY}`;\n",
    "keys.rs": f'const KEY: &str = r#"\n{KEY}"#;\n',
    "setup.sh": f"cat > key <<EOF\n{KEY}EOF\n",
    "key.adoc": f"----\n{KEY}----\n",
    "key.html": f"<pre>\n{KEY}</pre>\n",
    "format.txt": "A file begins with\n-----BEGIN OPENSSH PRIVATE KEY-----\nand ends with\n-----END OPENSSH PRIVATE KEY-----\n",
    "short.txt": "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
    "long.md": f"{'A guide of many words. ' * 200}\n\n{KEY}\n",
    "chain.txt": block("CERTIFICATE") * 3,
    "id.pub.txt": block("PUBLIC KEY"),
    "dedent.py": f'KEY = dedent("""\\n    {KEY}""")\n'.replace("\n", "\n    "),
    "string.java": f'String key = "{KEY}";'.replace("\n", ""),
    "lines.js": "const key = [\n" + "".join(f'  "{line}",\n' for line in KEY.splitlines()) + "];\n",
    "age.md": "Your key looks like AGE-SECRET-KEY-1QQQ and is secret.\n",
}


def test_the_keys_of_other_programs_are_known_and_the_rule_shows_nothing_of_them() -> None:
    for encoding in ENCODINGS:
        for kind, (text, marker) in OTHER_KEYS.items():
            assert find_private_key(text.encode(encoding)) == marker, kind


@pytest.mark.parametrize("kind", KEYS)
def test_no_form_of_a_private_key_is_read(tmp_path: Path, kind: str) -> None:
    """A key in UTF-16, or below blank lines and spaces, was read whole."""
    write_tree(tmp_path, {"notes.txt": KEYS[kind]})
    sources = source(tmp_path), DocumentFiles(tmp_path, Settings())
    for encoding in ENCODINGS:
        (tmp_path / "notes.txt").write_bytes(KEYS[kind].encode(encoding))
        for files in sources:
            assert isinstance(files.read_path("notes.txt"), Verdict)
            with pytest.raises(PathRefused, match="is never read"):
                files.read_bytes("notes.txt")


def test_a_word_file_that_holds_a_private_key_is_not_read(tmp_path: Path) -> None:
    paragraphs = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in KEY.splitlines())
    with zipfile.ZipFile(tmp_path / "key.docx", "w") as package:
        package.writestr(
            "word/document.xml", f'<w:document xmlns:w="{WORD}"><w:body>{paragraphs}</w:body></w:document>'
        )
    files = DocumentFiles(tmp_path, Settings())
    content = files.read_path("key.docx")
    assert isinstance(content, list)
    found = parse(files, content[0])
    assert isinstance(found, Verdict)
    assert found.reason is Reason.DENIED


@pytest.mark.parametrize("name", SHOWN)
def test_what_only_shows_a_key_is_read(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {name: SHOWN[name]})
    project = source(tmp_path)
    assert project.verdict(name).is_allowed
    assert isinstance(project.read_path(name), list)


@pytest.mark.parametrize("name", ["id_rsa_github", "id_ed25519_work", "deploy_key", "notes.txt", "key.py"])
def test_a_private_key_is_denied_under_any_name_and_why_shows_the_rule(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {name: KEY})
    project = source(tmp_path)
    item = decisions(project)[name]
    assert isinstance(item, Entry)
    rule = Rule("-----BEGIN OPENSSH PRIVATE KEY-----", "built-in deny list (secrets)")
    denied = Verdict(name, Reason.DENIED, rule, "the file is a private key")
    assert project.verdict(name) == project.read(item) == project.read_path(name) == denied
    with pytest.raises(PathRefused, match="is never read"):
        project.read_bytes(name)


def test_no_content_makes_the_search_for_a_key_slow() -> None:
    for line in (
        b"-----BEGIN PRIVATE KEY-----\n",
        b"-----BEGIN " + b"A" * 300_000,
        b"'(" * 150_000,
        b"A: " * 100_000,
        b"----- BEGIN " * 25_000,
        b"-" * 300_000,
        b"\n",
        b"-----BEGIN A-----",
    ):
        find_private_key(b"-----BEGIN PRIVATE KEY-----\n" + line * (300_000 // len(line)))
