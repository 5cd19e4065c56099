"""Small environments of every ecosystem, as their package managers lay them out."""

import json
import zipfile
from pathlib import Path

from dowse.store.storage_layout import global_settings_file
from tests.sample_data import write_tree

SITE = ".venv/lib/python3.12/site-packages"
HTTP = (
    '"""An HTTP client."""\n\n\n'
    "class RetryPolicy:\n"
    '    """How often a request is sent again."""\n\n'
    "    def __init__(self, attempts: int = 3) -> None:\n"
    "        self.attempts = attempts\n\n\n"
    "def send_request(url: str, policy: RetryPolicy) -> bytes:\n"
    '    """Send a request, and again as the retry policy says."""\n'
    "    return b''\n"
)


def enable_dependencies() -> None:
    """Write the user's settings that let dowse read dependencies."""
    file = global_settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"dependencies": True}), encoding="utf-8")


def python_project(root: Path, version: str = "1.2.0") -> Path:
    """Make a project with an environment that has a package, one that it needs, and one that is nowhere."""
    return write_tree(
        root,
        {
            "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["tinyhttp>=1", "ghost"]\n',
            "shop.py": "import tinyhttp\n",
            f"{SITE}/tinyhttp/__init__.py": HTTP,
            f"{SITE}/tinyhttp/_vendor/retry.py": "class RetryPolicyCopy:\n    def retry_policy(self): ...\n",
            f"{SITE}/tinyhttp-{version}.dist-info/METADATA": f"Name: tinyhttp\nVersion: {version}\n\nA tiny HTTP client.\n",
            f"{SITE}/tinyhttp-{version}.dist-info/RECORD": (
                "tinyhttp/__init__.py,sha256=x,1\ntinyhttp/_vendor/retry.py,,\n../../../bin/tinyhttp,,\n/etc/passwd,,\n"
                f"tinyhttp-{version}.dist-info/METADATA,,\n"
            ),
            f"{SITE}/six.py": "def ensure_text(value): ...\n",
            f"{SITE}/six-1.17.0.dist-info/RECORD": "six.py,,\n",
        },
    )


def node_project(root: Path) -> Path:
    """Make a project with a package of npm, one behind a link of pnpm, one behind a link to elsewhere, and one nowhere."""
    store = "node_modules/.pnpm/left@2.0.1/node_modules/left"
    write_tree(
        root,
        {
            "package.json": json.dumps(
                {"dependencies": {"@tools/queue": "1", "left": "2", "own": "*"}, "devDependencies": {"ghost": "1"}}
            ),
            "node_modules/@tools/queue/package.json": '{"name": "@tools/queue", "version": "1.4.0"}',
            "node_modules/@tools/queue/dist/index.d.ts": "export declare function drainQueue(limit: number): void;\n",
            f"{store}/package.json": '{"name": "left", "version": "2.0.1"}',
            f"{store}/index.js": "exports.padLeft = function padLeft(text) { return text; };\n",
            "elsewhere/package.json": '{"name": "own", "version": "0.0.1"}',
        },
    )
    (root / "node_modules/left").symlink_to(root / store)
    (root / "node_modules/own").symlink_to(root / "elsewhere")
    return root


def rust_project(root: Path, home: Path) -> Path:
    """Make a project whose lock file has two versions of a crate, of which it uses the newer one."""
    registry = ".cargo/registry/src/index.crates.io-6f17d22bba15001f"
    for version in ("1.0.0", "2.1.0"):
        crate = f"{registry}/ringbuf-{version}"
        write_tree(
            home,
            {
                f"{crate}/Cargo.toml": f'[package]\nname = "ringbuf"\nversion = "{version}"\n',
                f"{crate}/src/lib.rs": "/// Overwrite the oldest element.\npub fn push_overwrite() {}\n",
            },
        )
    locked = "".join(
        f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = "registry+x"\n\n'
        for name, version in (("ringbuf", "1.0.0"), ("ringbuf", "2.1.0"), ("other", "0.1.0"))
    )
    own = '[[package]]\nname = "shop"\nversion = "0.1.0"\ndependencies = [\n "ringbuf 2.1.0",\n]\n\n'
    return write_tree(
        root,
        {"Cargo.toml": '[dependencies]\nringbuf = "2"\nghost = "1"\n', "Cargo.lock": f"version = 4\n\n{own}{locked}"},
    )


def go_project(root: Path, home: Path) -> Path:
    """Make a project with a module whose name has a capital, one that is replaced by a folder, and an indirect one."""
    write_tree(
        home,
        {
            "go/pkg/mod/github.com/!acme/router@v1.5.0/router.go": "package router\n\nfunc Mount(path string) {}\n",
            "go/pkg/mod/github.com/acme/deep@v0.1.0/deep.go": "package deep\n",
        },
    )
    text = (
        "module example.org/shop\n\ngo 1.22\n\nrequire (\n\tgithub.com/Acme/router v1.5.0\n\tgithub.com/acme/local v1.0.0\n"
        "\tgithub.com/acme/deep v0.1.0 // indirect\n)\n\nreplace github.com/acme/local => ../../../etc\n"
    )
    return write_tree(root, {"go.mod": text})


def ruby_project(root: Path) -> Path:
    """Make a project with a bundle."""
    lock = (
        "GEM\n  remote: https://rubygems.org/\n  specs:\n    tilt (2.4.0)\n    rackish (3.1.0)\n      tilt (>= 2)\n\n"
        "PLATFORMS\n  ruby\n\nDEPENDENCIES\n  rackish (~> 3)\n\nBUNDLED WITH\n   2.5\n"
    )
    gems = "vendor/bundle/ruby/3.3.0/gems"
    return write_tree(
        root,
        {
            "Gemfile.lock": lock,
            f"{gems}/rackish-3.1.0/lib/rackish.rb": "module Rackish\n  def self.parse_cookies(header)\n  end\nend\n",
            f"{gems}/tilt-2.4.0/lib/tilt.rb": "module Tilt\nend\n",
        },
    )


def php_project(root: Path) -> Path:
    """Make a project with a package of Composer, whose metadata names a folder elsewhere."""
    installed = {"packages": [{"name": "acme/log", "version": "v3.2.0", "install-path": "../../../../etc"}]}
    return write_tree(
        root,
        {
            "composer.json": '{"require": {"php": ">=8", "acme/log": "^3", "acme/ghost": "1"}}',
            "vendor/composer/installed.json": json.dumps(installed),
            "vendor/acme/log/src/Logger.php": "<?php\nclass Logger {\n  public function pushHandler($handler) {}\n}\n",
        },
    )


def java_project(root: Path, home: Path) -> Path:
    """Make a project with a source jar in Maven's cache, one in Gradle's, and an artifact without sources."""
    pom = (
        "<project><properties><json.version>2.9.0</json.version></properties><dependencies>"
        "<dependency><groupId>org.acme</groupId><artifactId>json</artifactId><version>${json.version}</version></dependency>"
        "<dependency><groupId>org.acme</groupId><artifactId>ghost</artifactId><version>1</version></dependency>"
        "</dependencies></project>"
    )
    write_tree(root, {"pom.xml": pom, "build.gradle": "dependencies { implementation 'org.acme:text:1.1' }\n"})
    source = (
        "package org.acme;\n\n/** Reads JSON. */\npublic class Json {\n  public Json lenient() { return this; }\n}\n"
    )
    write_jar(home / ".m2/repository/org/acme/json/2.9.0/json-2.9.0-sources.jar", {"org/acme/Json.java": source})
    gradle = home / ".gradle/caches/modules-2/files-2.1/org.acme/text/1.1/abc123/text-1.1-sources.jar"
    write_jar(gradle, {"org/acme/Text.kt": "fun wrapLines(text: String) = text\n"})
    return root


def write_jar(file: Path, members: dict[str, str]) -> Path:
    """Write a jar."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, text in members.items():
            jar.writestr(name, text)
    return file
