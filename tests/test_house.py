"""The layout of the package: which package may import which, and rules for every module."""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.repository import REPOSITORY

PACKAGE = REPOSITORY / "src" / "dowse"
TESTS = Path(__file__).parent
MAX_LINES = 400
"""A longer module has a second subject."""

GROUND: dict[str, set[str]] = {
    "visible_text": set(),
    "error_catalog": {"visible_text"},
    "errors": {"error_catalog"},
    "types": set(),
    "protocols": {"types"},
    "system": {"errors", "types"},
    "column_types": set(),
    "sqlite_connection": {"errors", "system"},
    "sqlite_database": {"column_types", "errors", "sqlite_connection", "system"},
    "globs": {"errors"},
    "settings": {"errors", "globs", "system"},
    "memory_plan": {"settings", "system"},
}
"""The package `system` and the modules beside the packages: every package may import them, and they import each other as
stated here."""

KNOWS: dict[str, set[str]] = {
    "text": set(),
    "screening": set(),
    "reading": {"text"},
    "encoding": set(),
    "sources": {"reading"},
    "parsing": {"sources", "reading", "encoding", "text"},
    "store": {"parsing", "encoding", "text"},
    "searching": {"parsing", "reading", "store", "screening", "sources", "text"},
    "sites": {"parsing", "reading", "searching", "screening", "sources", "text"},
    "notes": {"store", "text"},
    "places": {"encoding", "searching", "store", "text"},
    "indexes": {"places", "searching", "screening", "store", "sources", "parsing", "reading", "encoding", "text"},
    "archives": {"indexes", "sources", "parsing", "reading", "store", "searching", "screening", "text"},
    "keeping": {"store", "indexes", "sources", "encoding"},
    "mcp": {"screening"},
    "surfaces": {
        "places", "encoding", "indexes", "keeping", "mcp", "archives", "notes", "sites",
        "searching", "screening", "store", "sources", "parsing", "reading", "text",
    },
    "federation": {
        "places", "surfaces", "indexes", "keeping", "mcp", "archives", "notes", "sites", "searching", "screening",
        "store", "text", "parsing", "reading",
    },
    "page": {
        "places", "federation", "surfaces", "indexes", "keeping", "mcp", "archives", "parsing",
        "reading", "searching", "screening", "sources", "text",
    },
    "api": {
        "archives", "federation", "indexes", "keeping", "mcp", "notes", "page", "parsing", "places", "searching",
        "surfaces", "text", "store", "screening", "encoding", "sources",
    },
    "cli": {
        "api", "places", "store", "page", "federation", "surfaces", "mcp", "keeping", "indexes",
        "archives", "notes", "sites", "searching", "text",
    },
}  # fmt: skip
"""The packages, each after those that it may import."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def relative(file: Path) -> str:
    return str(file.relative_to(PACKAGE))


def package_of(file: Path) -> str:
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def module_name(file: Path) -> str:
    parts = ("dowse", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def known_modules() -> frozenset[str]:
    return frozenset(module_name(file) for file in modules())


@cache
def imported_modules(file: Path) -> frozenset[str]:
    """Return the modules of dowse that a module imports, at its top, inside a function or for its types alone."""
    known = known_modules()
    found: set[str] = set()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("dowse.")}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: imports are absolute"
            module = node.module or ""
            if module == "dowse" or module.startswith("dowse."):
                names = {f"{module}.{name.name}" for name in node.names}
                found |= {name if name in known else module for name in names}
    return frozenset(found - {"dowse", module_name(file)})


def test_a_module_imports_only_what_its_package_may_know() -> None:
    strays = {}
    for file in modules():
        here = package_of(file)
        if here not in ("__init__", "__main__"):
            allowed = {here} | (KNOWS[here] | set(GROUND) if here in KNOWS else GROUND[here])
            strays[relative(file)] = {name.split(".")[1] for name in imported_modules(file)} - allowed
    assert {file: names for file, names in strays.items() if names} == {}


def test_every_package_has_its_rule() -> None:
    packages = {package_of(file) for file in modules()} - {"__init__", "__main__"}
    assert packages == set(KNOWS) | set(GROUND)


def test_no_arrow_between_packages_runs_back() -> None:
    seen: set[str] = set()
    for package, knows in (GROUND | KNOWS).items():
        assert knows <= seen, f"{package} imports packages that come after it: {knows - seen}"
        seen.add(package)


def import_cycles() -> Iterator[list[str]]:
    """Yield the import cycles, once for each module that closes one."""
    arrows = {module_name(file): imported_modules(file) for file in modules()}
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> Iterator[list[str]]:
        if module in path:
            yield [*path[path.index(module) :], module]
        elif module not in done:
            for other in sorted(arrows.get(module, ())):
                yield from walk(other, [*path, module])
            done.add(module)

    for module in arrows:
        yield from walk(module, [])


def test_no_imports_run_in_a_circle() -> None:
    assert list(import_cycles()) == []


def test_a_module_name_stands_for_one_subject() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file in modules():
        if file.name == "__init__.py":
            places[file.parent.name].append(relative(file))
        elif file.name != "__main__.py":
            places[file.stem].append(relative(file))
    shared = {name: found for name, found in places.items() if len(found) > 1}
    nested = {name for name, found in shared.items() if {Path(one).name for one in found} == {"__init__.py"}}
    assert set(shared) == nested, shared


def test_a_public_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file in modules():
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(relative(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_every_error_stands_in_the_one_tree() -> None:
    strays = [
        f"{relative(file)}: {node.name}"
        for file in modules()
        if file.name != "errors.py"
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ClassDef) and any(_is_error(base) for base in node.bases)
    ]
    assert strays == []


def _is_error(base: ast.expr) -> bool:
    import dowse.errors

    known = {name for name, value in vars(dowse.errors).items() if isinstance(value, type)}
    return isinstance(base, ast.Name) and base.id in known | {
        "Exception",
        "BaseException",
        "ValueError",
        "RuntimeError",
    }


def test_the_picture_of_the_errors_is_complete() -> None:
    import dowse.errors

    picture = dowse.errors.__doc__ or ""
    classes = [
        name
        for name, value in vars(dowse.errors).items()
        if isinstance(value, type) and value.__module__ == "dowse.errors"
    ]
    assert [name for name in classes if name not in picture] == []


def test_a_module_fits_in_the_head() -> None:
    lines = {relative(file): len(file.read_text(encoding="utf-8").splitlines()) for file in modules()}
    assert {file: count for file, count in lines.items() if count > MAX_LINES} == {}


def test_a_module_says_in_a_line_what_it_is() -> None:
    assert [relative(file) for file in modules() if not ast.get_docstring(tree_of(file))] == []


OTHER_TESTS = {
    "bench": "the programs that measure, in bench/",
    "docs": "the documentation",
    "end_to_end": "the product as a whole: crashes, random file changes, other clients, packaging, security",
    "fuzzing": "every parser, with damaged inputs and with inputs that explode",
    "node": "the lock files of the MCP inspector and of other clients",
    "recording": "the recording of the behaviour that users see",
    "training": "the programs that train, in training/",
}
"""Folders of tests that have no counterpart in the package."""


def test_every_folder_of_tests_has_its_counterpart() -> None:
    folders = {folder for folder in TESTS.rglob("*") if any(folder.glob("test_*.py"))}
    strays = [
        str(folder.relative_to(TESTS))
        for folder in folders
        if folder.relative_to(TESTS).parts[0] not in OTHER_TESTS
        and not (PACKAGE / folder.relative_to(TESTS)).is_dir()
        and not (PACKAGE / folder.relative_to(TESTS)).with_suffix(".py").is_file()
    ]
    assert strays == []


def test_every_file_of_tests_is_named_after_what_it_tests() -> None:
    strays = []
    for file in TESTS.rglob("test_*.py"):
        folder = file.parent.relative_to(TESTS)
        if folder.parts and folder.parts[0] not in OTHER_TESTS:
            place = PACKAGE / folder
            place = place if place.is_dir() else place.parent
            names = {one.stem if one.suffix == ".py" else one.name for one in place.iterdir()}
            subject = file.stem.removeprefix("test_")
            if not any(subject == name or subject.startswith(f"{name}_") for name in names):
                strays.append(str(file.relative_to(TESTS)))
    assert strays == []


@pytest.mark.parametrize("command", ["status", "projects"])
def test_a_command_imports_nothing_heavy_that_it_does_not_need(command: str) -> None:
    program = (
        f"import sys; from dowse.cli import main; code = main([{command!r}]); "
        "heavy = {'numpy', 'yaml', 'tree_sitter', 'charset_normalizer', 'pyromark', 'onnxruntime', 'tokenizers'}; "
        "print(sorted(heavy & set(sys.modules))); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


SYSTEM_MODULES = {
    "system/platform.py": {"fcntl", "msvcrt", "sys.platform"},
    "system/signals.py": {"signal"},
    "cli/__init__.py": {"signal"},
    "indexes/freshness/folder_watcher.py": {"fcntl"},
    "searching/history/git_objects.py": {"resource"},
    "mcp/http/app.py": {"resource"},
    "keeping/indexing_worker.py": {"signal"},
    "parsing/parser_limits.py": {"resource", "signal"},
    "parsing/parser_process.py": {"signal"},
    "system/child_process.py": {"signal"},
    "reading/pdf.py": {"signal"},
    "system/sandbox.py": {"sys.platform"},
    "system/mapped_files.py": {"signal"},
}
"""The modules that know what only some systems have; docs/platforms.md says of each what differs."""


def _system_names(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names} & {"fcntl", "msvcrt", "resource", "signal", "winreg"}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {f"{node.value.id}.{node.attr}"} & {"sys.platform", "os.name"}
    return found


def test_the_systems_differ_only_in_listed_modules() -> None:
    found = {relative(file): names for file in modules() if (names := _system_names(file))}
    assert found == SYSTEM_MODULES
    listed = (REPOSITORY / "docs" / "platforms.md").read_text(encoding="utf-8")
    assert [name for name in SYSTEM_MODULES if f"`{name}`" not in listed] == []


def test_nothing_is_pickled_and_no_shell_is_started() -> None:
    for file in modules():
        text = file.read_text(encoding="utf-8")
        for word in ("import pickle", "import marshal", "import shelve", "os.system", "shell=True"):
            assert word not in text, file
