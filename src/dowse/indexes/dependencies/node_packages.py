"""The packages of a project in JavaScript or TypeScript, in the layouts of npm, yarn and pnpm."""

import os
from collections.abc import Iterator
from pathlib import Path

from dowse.indexes.dependencies.package_types import (
    FoundPackages,
    MissingPackage,
    Package,
    is_plain_name,
    list_folder,
    read_json_manifest,
    table_at,
)

DECLARING_KEYS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
STORES = (".pnpm", ".store")
"""Folders in `node_modules` that links of packages may lead into: pnpm's store, and yarn's with pnpm's layout."""
MAX_ABOVE = 4
"""Folders above a project whose `node_modules` are looked at, for workspaces."""
PLUG_AND_PLAY = "Yarn Plug'n'Play keeps packages in archives, which are not supported: nothing of them is searched."


def find_node_packages(root: Path, *, is_all: bool) -> FoundPackages:
    """Return the packages that a project declares, or all in its `node_modules`."""
    found = FoundPackages()
    manifest = read_json_manifest(root / "package.json")
    declared = [name for key in DECLARING_KEYS for name in table_at(manifest, key) if is_plain_name(name)]
    folders = list(_module_folders(root))
    if declared and not folders and any((root / name).exists() for name in (".pnp.cjs", ".pnp.js")):
        found.notes.append(PLUG_AND_PLAY)
    for name in dict.fromkeys(declared):
        place = next((place for folder in folders if (place := _package_folder(folder, name))), None)
        package = _read_package(place, name) if place else None
        if package:
            found.packages.append(package)
        else:
            is_link = any((folder / name).is_symlink() for folder in folders)
            why = "a link out of node_modules, which is not followed" if is_link else "not installed"
            found.missing.append(MissingPackage("javascript", name, why))
    if is_all and manifest:
        known = {package.root for package in found.packages}
        for folder, name in _all_names(folders):
            place = _package_folder(folder, name)
            package = _read_package(place, name, is_direct=False) if place and place not in known else None
            if package:
                known.add(package.root)
                found.packages.append(package)
    return found


def _module_folders(root: Path) -> Iterator[Path]:
    """Yield the `node_modules` of a project and, as Node looks them up, of the folders above it that have a manifest."""
    for folder in (root, *root.parents[:MAX_ABOVE]):
        modules = folder / "node_modules"
        if (folder == root or (folder / "package.json").is_file()) and modules.is_dir() and not modules.is_symlink():
            yield modules


def _package_folder(modules: Path, name: str) -> Path | None:
    """Return the folder of a package; a link counts only if it leads into a store of the same `node_modules`."""
    place, real_modules = modules / name, os.path.realpath(modules)
    if not place.is_dir():
        return None
    real = Path(os.path.realpath(place))
    if real == Path(real_modules) / name:
        return real
    return real if any(real.is_relative_to(f"{real_modules}/{store}") for store in STORES) else None


def _read_package(place: Path, name: str, *, is_direct: bool = True) -> Package | None:
    manifest = read_json_manifest(place / "package.json")
    version, own_name = manifest.get("version"), manifest.get("name")
    if not is_plain_name(version):
        return None
    shown = own_name if is_plain_name(own_name) and own_name == name else name  # an alias has the name of another
    return Package("javascript", str(shown), str(version), place, is_direct=is_direct)


def _all_names(folders: list[Path]) -> Iterator[tuple[Path, str]]:
    for modules in folders:
        stores = [modules / store / one / "node_modules" for store in STORES for one in list_folder(modules / store)]
        for folder in (modules, *stores):
            for name in list_folder(folder):
                names = [f"{name}/{one}" for one in list_folder(folder / name)] if name.startswith("@") else [name]
                yield from (
                    (folder, one) for one in names if is_plain_name(one) and not name.startswith(".")
                    and (folder == modules or not (folder / one).is_symlink())
                )  # fmt: skip
