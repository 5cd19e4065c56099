"""The packages whose versions a lock file or a manifest fixes: of Rust, Go, Ruby, PHP and Java."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from dowse.indexes.dependencies.package_types import (
    Ecosystem,
    FoundPackages,
    MissingPackage,
    Package,
    existing,
    folder_below,
    home_folder,
    is_plain_name,
    list_folder,
    path_below,
    read_json_manifest,
    read_manifest,
    read_toml_manifest,
    table_at,
)

_LOCKED = re.compile(r'^(name|version|source) = "([^"\n]*)"$|^ "([^"\n]*)",?$', re.MULTILINE)
_REQUIRED = re.compile(r"^(?:require\s+)?([^\s()]+) +(v[^\s()]+)( *// *indirect)?", re.MULTILINE)
_REPLACED = re.compile(
    r"^(?:replace\s+)?([^\s()]+)(?:\s+v[^\s()]+)?\s+=>\s+([^\s()]+)(?:\s+(v[^\s()]+))?", re.MULTILINE
)
_GEM = re.compile(r"^ {4}([^\s()]+) \(([^\s()]+)\)$", re.MULTILINE)
Place = Callable[[str, str], Path | None]
"""Returns the folder of a package of a name and a version."""
_NAMED_GEM = re.compile(r"^ {2}([^\s()!]+)", re.MULTILINE)
_COORDINATES = re.compile(r"""["']([\w.-]+):([\w.-]+)(?::([\w.-]+))?["']""", re.ASCII)
_LOCKED_ARTIFACT = re.compile(r"^([\w.-]+):([\w.-]+):([\w.-]+)=", re.MULTILINE | re.ASCII)
_ELEMENT = re.compile(r"<([\w.-]+)>([^<>]*)</", re.ASCII)
NO_SOURCES = "its sources are not on this machine; Maven's dependency:sources and IDEs download them"
NO_VERSION = "its version is not in the build file"


def find_rust_packages(root: Path, *, is_all: bool) -> FoundPackages:
    """Return the crates of `Cargo.lock` in cargo's registry, or in a folder of vendored crates."""
    manifest = read_toml_manifest(root / "Cargo.toml")
    tables = [manifest, table_at(manifest, "workspace"), *table_at(manifest, "target").values()]
    keys = ("dependencies", "dev-dependencies", "build-dependencies")
    declared = {
        str(table_at(table, key, name).get("package", name)) for table in tables for key in keys for name in table_at(table, key)
    }  # fmt: skip
    locked, chosen = _locked_crates(next((text for one in (root, *root.parents[:2]) if (text := read_manifest(one / "Cargo.lock"))), ""))  # fmt: skip
    sources = home_folder("CARGO_HOME", ".cargo")
    registries = (
        [sources / "registry" / "src" / name for name in list_folder(sources / "registry" / "src")] if sources else []
    )

    def place(name: str, version: str) -> Path | None:
        folders = (folder_below(registry, f"{name}-{version}") for registry in registries)
        vendored = [folder_below(root, f"vendor/{name}-{version}"), folder_below(root, f"vendor/{name}")]
        return next((one for one in (*folders, *vendored) if one and _crate_version(one) == version), None)

    wanted = [(name, version, name in declared and chosen.get(name, version) == version) for name, version in locked]
    found = _place("rust", wanted, place, is_all=is_all)
    known = {name for name, _ in locked}
    found.missing += [
        MissingPackage("rust", name, "not in Cargo.lock") for name in sorted(declared - known) if is_plain_name(name)
    ]
    return found


def _crate_version(folder: Path) -> str:
    return str(table_at(read_toml_manifest(folder / "Cargo.toml"), "package").get("version", ""))


def _locked_crates(text: str) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return the crates of a lock file that come from elsewhere, and the versions that the project's own crates choose."""
    locked, chosen = list[tuple[str, str]](), dict[str, str]()
    for block in text.split("[[package]]")[1:]:
        fields, names = dict[str, str](), list[str]()
        for key, value, dependency in _LOCKED.findall(block):
            if key:
                fields[key] = value
            else:
                names.append(dependency)
        if "source" in fields:
            locked.append((fields.get("name", ""), fields.get("version", "")))
        else:
            chosen |= {name: rest.split(" ")[0] for name, _, rest in (one.partition(" ") for one in names) if rest}
    return locked, chosen


def find_go_packages(root: Path, *, is_all: bool) -> FoundPackages:
    """Return the modules of `go.mod` in the module cache, or in the folder of vendored modules."""
    text = "\n".join(line.strip() for line in read_manifest(root / "go.mod").split("\n"))
    replaced = {name: (other, version) for name, other, version in _REPLACED.findall(text)}
    path = home_folder("GOPATH", "go")
    folders = [home_folder("GOMODCACHE", "go", "pkg", "mod"), path / "pkg" / "mod" if path else None]
    known = list(existing(folders))

    def place(name: str, version: str) -> Path | None:
        name, version = _replacement(replaced, name, version)
        escaped = re.sub("[A-Z]", lambda letter: f"!{letter[0].lower()}", f"{name}@{version}")
        cached = (folder_below(folder, escaped) for folder in known)
        vendored = folder_below(root, f"vendor/{name}")
        return next((one for one in (*cached, vendored) if one), None)

    lines = "\n".join(line for line in text.split("\n") if "=>" not in line and not line.startswith("exclude"))
    wanted = [(name, version, not indirect) for name, version, indirect in _REQUIRED.findall(lines)]
    return _place("go", wanted, place, is_all=is_all)


def _replacement(replaced: dict[str, tuple[str, str]], name: str, version: str) -> tuple[str, str]:
    other = replaced.get(name)
    return other if other and other[1] else ("", "") if other else (name, version)


def find_ruby_packages(root: Path, *, is_all: bool) -> FoundPackages:
    """Return the gems of `Gemfile.lock` in the bundle, or in the folders of gems of this machine."""
    text = read_manifest(root / "Gemfile.lock")
    declared = set(_NAMED_GEM.findall(text.partition("\nDEPENDENCIES\n")[2].partition("\n\n")[0]))
    folders = list(_gem_folders(root))

    def place(name: str, version: str) -> Path | None:
        return next((one for folder in folders if (one := folder_below(folder, f"{name}-{version}"))), None)

    wanted = [(name, version, name in declared) for name, version in _GEM.findall(text)]
    return _place("ruby", wanted, place, is_all=is_all)


def _gem_folders(root: Path) -> Iterator[Path]:
    bundle = root / "vendor" / "bundle" / "ruby"
    local, shared = home_folder("", ".gem", "ruby"), home_folder("", ".local", "share", "gem", "ruby")
    rbenv = home_folder("RBENV_ROOT", ".rbenv")
    versions = (
        [rbenv / "versions" / name / "lib/ruby/gems" for name in list_folder(rbenv / "versions")] if rbenv else []
    )
    bases = [bundle, local, shared, *versions, Path("/usr/lib/ruby/gems"), Path("/var/lib/gems")]
    named = [Path(value) for name in ("GEM_HOME", "BUNDLE_PATH") if (value := os.environ.get(name))]
    homes = [*named, *(base / name for base in bases if base for name in list_folder(base))]
    return existing(home / "gems" for home in homes)


def find_php_packages(root: Path, *, is_all: bool) -> FoundPackages:
    """Return the packages that Composer installed below `vendor`."""
    manifest = read_json_manifest(root / "composer.json")
    declared = [name for key in ("require", "require-dev") for name in table_at(manifest, key) if "/" in name]
    installed = read_json_manifest(root / "vendor" / "composer" / "installed.json").get("packages")
    packages = [one for one in installed if isinstance(one, dict)] if isinstance(installed, list) else []
    names = [(str(one.get("name", "")), str(one.get("version", "")).removeprefix("v")) for one in packages]
    wanted = [(name, version, name in declared) for name, version in names]
    wanted += [(name, "", True) for name in declared if name not in dict(names)]
    return _place("php", wanted, lambda name, _: folder_below(root, f"vendor/{name}"), is_all=is_all)


def find_java_packages(root: Path, *, is_all: bool) -> FoundPackages:
    """Return the source jars of the artifacts that a build file names, or of all that a lock file of Gradle names."""
    locked = {
        f"{group}:{artifact}": version
        for group, artifact, version in _LOCKED_ARTIFACT.findall(read_manifest(root / "gradle.lockfile"))
    }
    declared = dict(_declared_artifacts(root))
    wanted = [(name, locked.get(name) or declared.get(name, ""), name in declared) for name in {**declared, **locked}]
    found = _place("java", wanted, _source_jar, is_all=is_all)
    versions = {name: version for name, version, _ in wanted}
    found.missing = [
        replace(one, why=NO_SOURCES if is_plain_name(versions[one.name]) else NO_VERSION) for one in found.missing
    ]
    return found


def _source_jar(name: str, version: str) -> Path | None:
    group, _, artifact = name.partition(":")
    file = f"{artifact}-{version}-sources.jar"
    maven, gradle = home_folder("MAVEN_REPOSITORY", ".m2", "repository"), home_folder("GRADLE_USER_HOME", ".gradle")
    if maven and (jar := path_below(maven, f"{group.replace('.', '/')}/{artifact}/{version}/{file}")):
        return jar
    kept = gradle and path_below(gradle, f"caches/modules-2/files-2.1/{group}/{artifact}/{version}")
    jars = (path_below(kept, f"{folder}/{file}") for folder in list_folder(kept)) if kept else ()
    return next(filter(None, jars), None)


def _declared_artifacts(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the artifacts that build files name, each with its version if it is written there."""
    text = read_manifest(root / "pom.xml")
    properties = dict(_ELEMENT.findall(text.partition("<properties>")[2].partition("</properties>")[0]))
    for block in text.split("<dependency>")[1:]:
        fields = dict(_ELEMENT.findall(block.partition("</dependency>")[0]))
        version = fields.get("version", "").strip()
        if version.startswith("${"):
            version = properties.get(version[2:-1], "")
        yield f"{fields.get('groupId', '').strip()}:{fields.get('artifactId', '').strip()}", version.strip()
    for name in ("build.gradle", "build.gradle.kts"):
        for group, artifact, version in _COORDINATES.findall(read_manifest(root / name)):
            yield f"{group}:{artifact}", version
    catalog = read_toml_manifest(root / "gradle" / "libs.versions.toml")
    for library in table_at(catalog, "libraries").values():
        if isinstance(library, str):
            name, _, version = library.rpartition(":")
            yield name, version
            continue
        fields = table_at(library)
        version = fields.get("version", "")
        if isinstance(version, dict):
            version = table_at(catalog, "versions").get(str(version.get("ref", "")), "")
        name = fields.get("module") or f"{fields.get('group', '')}:{fields.get('name', '')}"
        yield str(name), version if isinstance(version, str) else ""


def _place(
    ecosystem: Ecosystem, wanted: Iterable[tuple[str, str, bool]], place: Place, *, is_all: bool
) -> FoundPackages:
    """Return those of the packages that are on this disk; of indirect ones only if all are asked for."""
    found = FoundPackages()
    for name, version, is_direct in dict.fromkeys(wanted):
        if not is_plain_name(name.replace(":", "/", 1)) or not (is_direct or is_all):
            continue
        root = place(name, version) if is_plain_name(version) else None
        if root:
            found.packages.append(Package(ecosystem, name, version, root, is_direct=is_direct))
        elif is_direct:
            found.missing.append(MissingPackage(ecosystem, name))
    return found
