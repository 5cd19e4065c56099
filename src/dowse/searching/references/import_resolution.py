"""The files that an import statement means, as far as its syntax and the paths of the project tell."""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import PurePosixPath
from posixpath import commonprefix, dirname, normpath

from dowse.errors import PathRefused
from dowse.parsing.source_references import Import
from dowse.searching.found_files import ReadBytes
from dowse.searching.references.reference_files import SourceFile, SourceFiles
from dowse.store.reference_index import import_path, module_of

_SCRIPT_ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte")
_SCRIPTS = ("", *_SCRIPT_ENDINGS, *(f"/index{ending}" for ending in _SCRIPT_ENDINGS))
_SOURCE_FOLDERS = frozenset({"", "src/", "lib/"})
"""Where the modules of a project are that are imported by their own name alone."""
_MAX_MANIFEST_BYTES = 100_000


class ImportResolver:
    """Finds the files of a project that imports mean."""

    def __init__(self, files: SourceFiles, read: ReadBytes) -> None:
        self._files, self._read = files, read
        self._known: dict[tuple[str, str, str, str], list[str]] = {}

    def files_of(self, file: SourceFile, imported: Import) -> list[str]:
        """Return the paths of the files that an import means; none if it is not of this project."""
        key = (file.family, file.folder, imported.module, imported.name)
        if key not in self._known:
            find = _FINDERS.get(file.family)
            self._known[key] = find(self, file, imported) if find else []
        return [path for path in self._known[key] if path != file.path]

    def is_module(self, file: SourceFile, imported: Import) -> bool:
        """Return whether an import binds a module, and not a name in one."""
        if not imported.name:
            return True
        if file.family == "rust":
            return any(module_of(path) == imported.name for path in self.files_of(file, imported))
        return file.family == "python" and bool(self._python_module(file, _below(imported.module, imported.name)))

    def _existing(self, paths: Iterable[str]) -> list[str]:
        return [path for path in paths if self._files.exists(path)][:1]

    def _ending_in(self, suffix: str, family: str) -> list[str]:
        """Return the paths of a language whose module has this path at its end."""
        found = ((path, import_path(path)) for path in self._files.of_module(_last_name(suffix), family))
        return [path for path, name in found if name == suffix or name.endswith(f"/{suffix}")]

    def _python(self, file: SourceFile, imported: Import) -> list[str]:
        has_name = imported.name not in ("", "*")
        below = self._python_module(file, _below(imported.module, imported.name)) if has_name else []
        return below or self._python_module(file, imported.module)

    def _python_module(self, file: SourceFile, module: str) -> list[str]:
        parts = [part for part in module.split(".") if part]
        dots = len(module) - len(module.lstrip("."))
        if dots:
            folder = file.folder.split("/") if file.folder else []
            target = "/".join([*folder[: len(folder) - dots + 1], *parts])
            return self._existing([f"{target}.py", f"{target}.pyi", f"{target}/__init__.py".lstrip("/")])
        suffix = "/".join(parts)
        roots = [
            (path, prefix)
            for path in self._ending_in(suffix, file.family) if suffix
            and not self._files.exists(f"{(prefix := import_path(path)[: -len(suffix)])}__init__.py")
        ]  # fmt: skip
        if len(parts) == 1:
            roots = [one for one in roots if one[1] in _SOURCE_FOLDERS or file.path.startswith(one[1])]
        return _nearest(file.path, [path for path, _ in roots])

    def _javascript(self, file: SourceFile, imported: Import) -> list[str]:
        module = imported.module.partition("?")[0]
        if module.startswith("."):
            target = _beside(file, module)
            bare = re.sub(r"\.(m|c)?jsx?$", "", target)
            target = "" if target == "." else target
            return self._existing(f"{base}{ending}".lstrip("/") for base in (target, bare) for ending in _SCRIPTS)
        alias = re.match(r"(?:@|~|#|src|\$\w+)/(.+)", module) or re.match(r"[@~#$](.+/.+)", module)
        below_alias = self._ending_in(re.sub(r"\.(m|c)?[jt]sx?$", "", alias[1]), file.family) if alias else []
        if alias and not module.startswith(f"@{alias[1]}"):
            return _nearest(file.path, below_alias)
        name, _, below = re.sub(r"^@[^/]+/", "", module).partition("/")
        entries = [f"/{name}/{folder}{below or 'index'}" for folder in ("src/", "", "lib/")]
        found = [
            path
            for path in self._files.of_module(_last_name(below) if below else "src", file.family)
            + ([] if below else self._files.of_module(name, file.family))
            if any(f"/{path}".startswith(f"{entry}.") or f"{entry}." in f"/{path}" for entry in entries)
        ]
        return _nearest(file.path, found or below_alias)  # `@app/lib` is a package, or a folder that goes by this name

    def _go(self, file: SourceFile, imported: Import) -> list[str]:
        around = [one for one in self.go_modules.items() if one[1] and f"{imported.module}/".startswith(f"{one[1]}/")]
        around.sort(key=lambda one: (-len(one[1]), -len(one[0]) if file.path.startswith(one[0]) else 1))
        for root, module in around:
            folder = normpath(f"{root}{imported.module[len(module) + 1 :]}")
            paths = self._files.of_module(PurePosixPath(folder).name, "go")
            below = "" if folder == "." else folder
            if found := [path for path in paths if dirname(path) == below and not path.endswith("_test.go")]:
                return found
        return []

    @cached_property
    def go_modules(self) -> dict[str, str]:
        """The folders with a go.mod, each with the path by which Go files import it."""
        files = [path for path in self._files.of_module("go", "text") if PurePosixPath(path).name == "go.mod"]
        return {path.removesuffix("go.mod"): self._find(path, r"^module\s+\"?([^\s\"]+)") for path in files}

    def _find(self, path: str, pattern: str) -> str:
        """Return what a pattern finds in a small file; empty if there is none."""
        try:
            match = re.search(pattern, self._read(path)[0][:_MAX_MANIFEST_BYTES].decode(errors="replace"), re.M)
        except (OSError, PathRefused):
            match = None
        return match[1] if match else ""

    def _by_package(self, file: SourceFile, imported: Import) -> list[str]:
        """Java, Kotlin, Scala, C# and PHP: a file says its package, and an import names a type in one."""
        if imported.name == "*":
            return []
        outer, _, owner = imported.module.rpartition(".")
        wanted = [(imported.module, imported.name)] if imported.name else []
        wanted += [(outer, owner)] if outer or not imported.name else []
        for package, name in wanted:
            found = [
                other.path
                for other in self._files.with_name(name)
                if other.family == file.family
                and other.references.package.replace("\\", ".") == package
                and any(one.name == name for one in other.definitions)
            ]
            if found:
                return found
        return []

    def _rust(self, file: SourceFile, imported: Import) -> list[str]:
        parts = [part for part in f"{imported.module}::{imported.name}".split("::") if part not in ("", "*")]
        if not parts:
            return []
        crates = self._rust_crates
        if parts[0] in ("crate", "self", "super"):
            own = [root for root in crates.values() if file.path.startswith(f"{root}src/")]
            root = max(own, key=len, default="")
        elif (root := crates.get(parts[0], "?")) == "?":
            parts.insert(0, "crate")  # a module of this crate, or another library
        parts = [part for part in parts[1:] if part not in ("self", "super")]
        for end in range(len(parts), 0, -1):
            for start in range(end if root != "?" else 1):
                found = self._ending_in("/".join(parts[start:end]), file.family)
                if found := [path for path in found if path.endswith(".rs") and (root == "?" or path.startswith(root))]:
                    return _nearest(file.path, found)
        return self._existing([f"{root}src/lib.rs", f"{root}src/main.rs"]) if root != "?" else []

    @cached_property
    def _rust_crates(self) -> dict[str, str]:
        """The folder of each crate of the project by its name."""
        crates = {}
        for path in self._files.of_module("src", "rust"):
            root = path.removesuffix("src/lib.rs").removesuffix("src/main.rs")
            if root != path and (match := self._find(f"{root}Cargo.toml", r"^name\s*=\s*\"([\w-]+)\"")):
                crates[match.replace("-", "_")] = root
        return crates

    def _c(self, file: SourceFile, imported: Import) -> list[str]:
        if imported.name != "*":  # using a::b
            return self._defining(file, imported.name)
        beside = _beside(file, imported.module)
        if self._files.exists(beside):
            return [beside]
        suffix = imported.module.lstrip("./")
        stem = PurePosixPath(suffix).name.partition(".")[0]
        return _nearest(file.path, [path for path, _ in self._files.named(stem) if f"/{path}".endswith(f"/{suffix}")])

    def _ruby(self, file: SourceFile, imported: Import) -> list[str]:
        module = imported.module.removesuffix(".rb")
        if module.startswith("."):
            return self._existing([f"{_beside(file, module)}.rb"])
        return _nearest(file.path, self._ending_in(module, file.family))

    def _dart(self, file: SourceFile, imported: Import) -> list[str]:
        if not imported.module.startswith(("package:", "dart:")):
            return self._existing([_beside(file, imported.module)])
        suffix = imported.module.partition("/")[2].removesuffix(".dart")
        return _nearest(file.path, self._ending_in(suffix, file.family)) if suffix else []

    def _dotted(self, file: SourceFile, imported: Import) -> list[str]:
        """Lua and Haskell: the path of a module is its name."""
        return _nearest(file.path, self._ending_in(imported.module.replace(".", "/"), file.family))

    def _defining(self, file: SourceFile, name: str) -> list[str]:
        """Return the files of the same family that define a name."""
        return [
            other.path
            for other in self._files.with_name(name)
            if other.family == file.family and any(one.name == name for one in other.definitions)
        ]


def _beside(file: SourceFile, path: str) -> str:
    """Return the path that another one means in the folder of a file."""
    return normpath(f"{file.folder}/{path}").lstrip("/")


def _last_name(path: str) -> str:
    """Return the name of the module that a path without its ending leads to."""
    return path.rsplit("/", 1)[-1].partition(".")[0]


def _below(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"


def _nearest(path: str, found: list[str]) -> list[str]:
    """Return those of the paths that share the longest folders with a path."""
    if len(found) < 2:
        return found
    shared = {one: commonprefix([path, one]).count("/") for one in found}
    return [one for one in found if shared[one] == max(shared.values())]


_FINDERS: dict[str, Callable[[ImportResolver, SourceFile, Import], list[str]]] = {
    "python": ImportResolver._python,
    "starlark": ImportResolver._python,
    "javascript": ImportResolver._javascript,
    "go": ImportResolver._go,
    "jvm": ImportResolver._by_package,
    "csharp": ImportResolver._by_package,
    "php": ImportResolver._by_package,
    "rust": ImportResolver._rust,
    "c": ImportResolver._c,
    "ruby": ImportResolver._ruby,
    "dart": ImportResolver._dart,
    "lua": ImportResolver._dotted,
    "haskell": ImportResolver._dotted,
    "elixir": lambda self, file, imported: self._defining(file, imported.module),
}
