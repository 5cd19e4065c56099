"""The distributions of a project's Python environment, found by the names of their metadata folders."""

import base64
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from dowse.indexes.dependencies.package_types import (
    FoundPackages,
    MissingPackage,
    Package,
    existing,
    folder_below,
    home_folder,
    is_plain_name,
    list_folder,
    read_manifest,
    read_toml_manifest,
    table_at,
    texts_in,
)
from dowse.indexes.user_settings import reads_dependencies

_METADATA = re.compile(r"(?P<name>[A-Za-z0-9._]+)-(?P<version>[A-Za-z0-9.!+_]+)(?:-py[0-9.]+)?\.(?:dist|egg)-info")
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
MANIFESTS = ("pyproject.toml", "requirements.txt", "setup.cfg", "Pipfile", "requirements")
NAMESPACE_DEPTH = 3
"""The folders of a namespace that several distributions share, such as `google/cloud/storage`."""


def find_python_packages(root: Path, *, is_all: bool) -> FoundPackages:
    """Return the distributions that a project declares, or all in its environment."""
    declared = _declared(root)
    environment = next((folder for folder in _environments(root) if _site_packages(folder)), None)
    is_own = environment and (environment.is_relative_to(root) or environment in map(_linked_environment, _own(root)))
    if declared is None and not is_own:
        return FoundPackages()  # an activated environment says nothing about a folder without Python
    installed = _installed(environment) if environment else {}
    wanted = declared if declared is not None else dict.fromkeys(installed, "")
    found = FoundPackages()
    for key, package in installed.items():
        if key in wanted:
            found.packages.append(package)
        elif is_all:
            found.packages.append(replace(package, is_direct=False))
    why = "not installed" if environment else "no environment was found: .venv, venv, or an activated one"
    if not environment and any(own.is_symlink() for own in _own(root)) and not reads_dependencies(root):
        why = "the environment is a link, which is followed after: dowse deps --enable"
    found.missing = [MissingPackage("python", name, why) for key, name in wanted.items() if key not in installed]
    return found


def owned_paths(package: Package) -> tuple[str, ...]:
    """Return the files and folders of a distribution in its environment, as its list of files names them.

    Names that lead elsewhere are left out.
    """
    folder = package.root / package.metadata
    listed = [line.rsplit(",", 2)[0].strip('"') for line in read_manifest(folder / "RECORD").split("\n")]
    if not any(listed):
        tops = read_manifest(folder / "top_level.txt").split()
        listed = [path for top in tops for path in (f"{top}/__init__.py", f"{top}.py")]
    files = {path for path in listed if path and not path.startswith("/") and ".." not in path.split("/")}
    owned = {package.metadata, *(_top_of(path, files) for path in files)}
    return tuple(sorted(path for path in owned if not path.endswith((".pth", ".data", "__pycache__"))))


def is_importable(folder: Path, name: str) -> bool:
    """Return whether a folder has a module or package of a name."""
    places = (f"{folder}/{name}", f"{folder}/{name}.py")
    return name.isidentifier() and any(os.path.exists(place) for place in places)  # noqa: PTH110 - a third of the time


def is_imported_as(package: Package, name: str) -> bool:
    """Return whether a distribution is imported by a name, as PyYAML is by `yaml`."""
    if not package.metadata or not is_importable(package.root, name):
        return False
    return not _owned(package).isdisjoint((name, f"{name}.py"))


@lru_cache(maxsize=500)
def _owned(package: Package) -> frozenset[str]:
    return frozenset(owned_paths(package))


def _top_of(path: str, files: set[str]) -> str:
    parts = path.split("/")
    for depth in range(1, NAMESPACE_DEPTH):
        top = "/".join(parts[:depth])
        if len(parts) <= depth or top.endswith("-info") or {f"{top}/__init__.py", f"{top}/__init__.pyi"} & files:
            return top
    return "/".join(parts[:NAMESPACE_DEPTH])


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _declared(root: Path) -> dict[str, str] | None:
    """Return the names that a project declares, by their normalized form; None if it has no manifest."""
    project = read_toml_manifest(root / "pyproject.toml")
    lines = list(_requirement_lines(root))
    lines += texts_in(table_at(project, "project").get("dependencies"))
    groups = (table_at(project, "project", "optional-dependencies"), table_at(project, "dependency-groups"))
    lines += [line for group in groups for some in group.values() for line in texts_in(some)]
    poetry = table_at(project, "tool", "poetry")
    tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
    tables += [table_at(group).get("dependencies") for group in table_at(poetry, "group").values()]
    pipfile = read_toml_manifest(root / "Pipfile")
    tables += [pipfile.get("packages"), pipfile.get("dev-packages")]
    lines += [name for table in tables for name in table_at(table) if name != "python"]
    if not lines and not any((root / name).exists() for name in MANIFESTS):
        return None
    names = [match[0] for line in lines if (match := _REQUIREMENT.match(line.strip()))]
    return {_normalized(name): name for name in names if is_plain_name(name)}


def _requirement_lines(root: Path) -> Iterator[str]:
    names = [name for name in list_folder(root) if name.startswith("requirements") and name.endswith((".txt", ".in"))]
    folder = root / "requirements"
    for file in [*(root / name for name in names), *(folder / name for name in list_folder(folder)[:20])]:
        yield from (
            line for line in read_manifest(file).split("\n") if not line.lstrip().startswith(("-", "#", "git+"))
        )
    is_required = False
    for line in read_manifest(root / "setup.cfg").split("\n"):
        key, _, rest = line.partition("=")
        if line.strip() and not line[0].isspace():
            is_required = key.strip() == "install_requires"
            yield from [rest] if is_required else []
        elif is_required:
            yield line


def _environments(root: Path) -> Iterator[Path]:
    """Yield the folders that may be the environment of a project: its own first, then the activated one."""
    if value := os.environ.get("UV_PROJECT_ENVIRONMENT"):
        yield from existing([root / value])
    # A path in a file of the project could lead anywhere.
    yield from existing(_linked_environment(own) or folder_below(root, own.name) for own in _own(root))
    python, pdm = read_manifest(root / ".pdm-python").strip(), home_folder("", ".local", "share", "pdm", "venvs")
    if pdm and python.startswith(f"{pdm}/"):
        yield from existing([folder_below(pdm, python[len(f"{pdm}/") :].partition("/")[0])])
    digest = hashlib.sha256(os.path.normcase(os.path.realpath(root)).encode("utf-8", "surrogateescape")).digest()
    poetry = home_folder("POETRY_CACHE_DIR", ".cache", "pypoetry")
    if poetry:
        key = base64.urlsafe_b64encode(digest).decode()[:8]
        kept = poetry / "virtualenvs"
        yield from existing(kept / name for name in list_folder(kept) if f"-{key}-py" in name)
    yield from existing(Path(value) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if (value := os.environ.get(name)))


def _own(root: Path) -> list[Path]:
    return [root / name for name in (".venv", "venv", "env")]


def _linked_environment(place: Path) -> Path | None:
    """Return the environment that a link of a project leads to; None unless the user lets dependencies be read."""
    if not place.is_symlink() or not reads_dependencies(place.parent):
        return None
    real = Path(os.path.realpath(place))
    return real if (real / "pyvenv.cfg").is_file() or (real / "conda-meta").is_dir() else None


def _site_packages(environment: Path) -> list[Path]:
    versions = [environment / "lib" / name for name in list_folder(environment / "lib") if name.startswith("python3")]
    folders = [*(folder / "site-packages" for folder in versions), environment / "Lib" / "site-packages"]
    return list(existing(folders))


def _installed(environment: Path) -> dict[str, Package]:
    found: dict[str, Package] = {}
    for folder in _site_packages(environment):
        for name in list_folder(folder):
            match = _METADATA.fullmatch(name)
            if match and is_plain_name(name) and not (folder / name).is_symlink() and (folder / name).is_dir():
                package = Package("python", match["name"].replace("_", "-"), match["version"], folder, name)
                found.setdefault(_normalized(match["name"]), package)
    return found
