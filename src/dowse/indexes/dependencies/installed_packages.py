"""The packages that a project uses, found in the environments and caches of this machine without running anything."""

import os
from collections.abc import Callable
from pathlib import Path

from dowse.indexes.dependencies.locked_packages import (
    find_go_packages,
    find_java_packages,
    find_php_packages,
    find_ruby_packages,
    find_rust_packages,
)
from dowse.indexes.dependencies.node_packages import find_node_packages
from dowse.indexes.dependencies.package_types import FoundPackages, Package, list_folder
from dowse.indexes.dependencies.python_packages import find_python_packages

MAX_PARTS = 30
"""Folders of a project that are looked through beside its root: its parts may have manifests of their own."""
MANIFESTS = (
    "pyproject.toml", "requirements.txt", "package.json", "Cargo.toml", "go.mod", "Gemfile.lock", "composer.json", "pom.xml",
    "build.gradle", "build.gradle.kts",
)  # fmt: skip
_SKIPPED = ("node_modules", "vendor", "venv", "env", "target", "dist", "build")


_FINDERS: tuple[Callable[..., FoundPackages], ...] = (
    find_python_packages, find_node_packages, find_rust_packages, find_go_packages, find_ruby_packages, find_php_packages,
    find_java_packages,
)  # fmt: skip


def find_packages(root: Path, *, is_all: bool = False) -> FoundPackages:
    """Return the packages of a project, direct ones first, each version once."""
    found = FoundPackages()
    for folder in (root, *_parts(root)):
        for find in _FINDERS:
            found.add(find(folder, is_all=is_all))
    unique: dict[tuple[str, str, str], Package] = {}
    for package in sorted(found.packages, key=lambda one: (not one.is_direct, one.ecosystem, one.name.lower())):
        unique.setdefault((package.ecosystem, package.name, package.version), package)
    names = {(package.ecosystem, package.name) for package in unique.values()}
    missing = [one for one in dict.fromkeys(found.missing) if (one.ecosystem, one.name) not in names]
    return FoundPackages(list(unique.values()), missing, list(dict.fromkeys(found.notes)))


def _parts(root: Path) -> list[Path]:
    """Return the folders directly below a root that have a manifest."""
    names = [name for name in list_folder(root) if not name.startswith(".") and name not in _SKIPPED]
    folders = [root / name for name in names if not os.path.islink(root / name)]  # noqa: PTH114 - a third of the time
    return [folder for folder in folders if any(os.path.isfile(folder / one) for one in MANIFESTS)][:MAX_PARTS]  # noqa: PTH113
