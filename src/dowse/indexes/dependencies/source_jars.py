"""The source jars of a project in Java or Kotlin, in the local caches of Maven and Gradle."""

import re
from collections.abc import Iterator
from pathlib import Path

from dowse.indexes.dependencies.package_types import (
    FoundPackages,
    MissingPackage,
    Package,
    home_folder,
    is_plain_name,
    list_folder,
    path_below,
    read_manifest,
    read_toml_manifest,
    table_at,
)

_COORDINATES = re.compile(r"""["']([\w.-]+):([\w.-]+)(?::([\w.-]+))?["']""", re.ASCII)
_LOCKED = re.compile(r"^([\w.-]+):([\w.-]+):([\w.-]+)=", re.MULTILINE | re.ASCII)
_ELEMENT = re.compile(r"<([\w.-]+)>([^<>]*)</", re.ASCII)
NO_SOURCES = "its sources are not on this machine; Maven's dependency:sources and IDEs download them"
NO_VERSION = "its version is not in the build file"


def find_source_jars(root: Path, *, is_all: bool) -> FoundPackages:
    """Return the source jars of the artifacts that a build file names, or of all that a lock file of Gradle names."""
    found, versions = FoundPackages(), dict[str, str]()
    declared = dict(_declared(root))
    for group, artifact, version in _LOCKED.findall(read_manifest(root / "gradle.lockfile")):
        versions[f"{group}:{artifact}"] = version
    names = dict.fromkeys((*declared, *(versions if is_all else ())))
    for name in names:
        version = versions.get(name) or declared.get(name, "")
        group, _, artifact = name.partition(":")
        if not is_plain_name(group) or not is_plain_name(artifact):
            continue
        if not is_plain_name(version):
            found.missing.append(MissingPackage("java", name, NO_VERSION))
        elif jar := _source_jar(group, artifact, version):
            found.packages.append(Package("java", name, version, jar, is_direct=name in declared))
        elif name in declared:
            found.missing.append(MissingPackage("java", name, NO_SOURCES))
    return found


def _source_jar(group: str, artifact: str, version: str) -> Path | None:
    file = f"{artifact}-{version}-sources.jar"
    maven = home_folder("MAVEN_REPOSITORY", ".m2", "repository")
    if maven and (jar := path_below(maven, f"{group.replace('.', '/')}/{artifact}/{version}/{file}")):
        return jar
    gradle = home_folder("GRADLE_USER_HOME", ".gradle")
    kept = f"caches/modules-2/files-2.1/{group}/{artifact}/{version}"
    folder = path_below(gradle, kept) if gradle else None
    return next((jar for name in list_folder(folder) if (jar := path_below(folder, f"{name}/{file}"))), None) if folder else None  # fmt: skip


def _declared(root: Path) -> Iterator[tuple[str, str]]:
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
