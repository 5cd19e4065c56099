"""The house: who may know whom, and what every part owes the reader."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "dowse"
GROUND = {"types", "errors", "lines", "syntax", "system", "globs", "settings"}
"""Known to all."""
KNOWS: dict[str, set[str]] = {
    "sources": {"reading"},
    "reading": set(),
    "chunking": set(),
    "encoding": set(),
    "screening": set(),
    "store": {"chunking", "encoding"},
    "searching": {"store", "screening"},
    "sites": {"reading", "searching", "screening", "sources"},
    "notes": {"store"},
    "freshness": {"sources", "reading", "chunking", "encoding", "store"},
    "archives": {"sources", "reading", "store", "searching", "screening", "freshness"},
    "serving": {
        "sources",
        "reading",
        "store",
        "searching",
        "screening",
        "freshness",
        "archives",
        "notes",
        "sites",
        "encoding",
    },
    "cli": {"serving", "searching", "archives", "notes", "sites"},
}
GROUND_KNOWS: dict[str, set[str]] = {
    "types": set(),
    "errors": set(),
    "lines": set(),
    "syntax": set(),
    "system": {"types", "errors"},
    "globs": {"errors"},
    "settings": {"errors", "globs", "system"},
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(file: Path) -> str:
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_rooms(file: Path) -> set[str]:
    """The rooms of the package that a module imports, at its top or inside a function."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("dowse.")}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: imports are absolute"
            if node.module == "dowse":
                found |= {f"dowse.{name.name}" for name in node.names if name.name != "__version__"}
            elif (node.module or "").startswith("dowse."):
                found.add(str(node.module))
    return {name.split(".")[1] for name in found}


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_room_may_know(file: Path) -> None:
    here = room(file)
    if here in ("__init__", "__main__"):
        return
    allowed = KNOWS[here] | GROUND | {here} if here in KNOWS else GROUND_KNOWS[here]
    assert imported_rooms(file) <= allowed


def test_every_room_has_its_rule() -> None:
    rooms = {room(file) for file in modules()} - {"__init__", "__main__"}
    assert rooms == set(KNOWS) | GROUND


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_module_says_in_a_line_what_it_is(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("command", ["status", "projects"])
def test_a_command_imports_nothing_heavy_that_it_does_not_need(command: str) -> None:
    program = (
        f"import sys; from dowse.cli import main; code = main([{command!r}]); "
        "heavy = {'numpy', 'rich', 'yaml', 'tree_sitter', 'charset_normalizer', 'html_to_markdown', 'pyromark', 'onnxruntime', 'tokenizers'}; "
        "print(sorted(heavy & set(sys.modules))); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_nothing_is_pickled_and_no_shell_is_started() -> None:
    for file in modules():
        text = file.read_text(encoding="utf-8")
        for word in ("import pickle", "import marshal", "import shelve", "os.system", "shell=True"):
            assert word not in text, file
