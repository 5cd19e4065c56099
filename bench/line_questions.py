"""Questions about repositories, and the lines that answer them: `bench/questions/lines.jsonl`.

A row names the repository, the path of a Python file and what answers in it: a definition, the beginnings of lines in
their order, or both. So it stays true when lines move. Without beginnings of lines, all lines of the definition answer,
but for its description. The date says when a second person compared the row with the file.
"""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("questions") / "lines.jsonl"
COMMITS: Mapping[str, str] = {"django": "03988c5a5ba248c3b9b11ea96fd4fda5e98849aa"}
"""The commit of django/django that the questions are about; those about dowse are about this commit of its own."""


@dataclass(frozen=True, slots=True)
class LineQuestion:
    """A question, and where the lines that answer it are."""

    repository: str
    question: str
    path: str
    checked: str
    symbol: str = ""
    lines: tuple[str, ...] = ()

    def answering_lines(self, root: Path) -> list[int]:
        """Return the numbers of the lines that answer, none if the file does not have them all."""
        file = root / self.path
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        lines = text.splitlines()
        wanted = _lines_of(text, self.symbol.split(".")) if self.symbol else range(1, len(lines) + 1)
        left = [number for number in wanted if lines[number - 1].strip()]
        if not self.lines:
            return left
        found = list[int]()
        for beginning in self.lines:
            at = next((at for at, number in enumerate(left) if lines[number - 1].strip().startswith(beginning)), None)
            if at is None:
                return []
            found.append(left[at])
            left = left[at + 1 :]
        return found


def read_questions() -> list[LineQuestion]:
    """Return all questions."""
    rows = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return [LineQuestion(**{**row, "lines": tuple(row.get("lines", ()))}) for row in rows]


def _lines_of(text: str, names: list[str]) -> list[int]:
    """Return the numbers of the lines of a definition, without its description."""
    body: list[ast.stmt] = ast.parse(text).body
    found: ast.stmt | None = None
    for name in names:
        found = next((one for one in body if name in _names_of(one)), None)
        body = getattr(found, "body", [])
    if found is None:
        return []
    first = body[0] if body else None
    is_described = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    described = range(first.lineno, (first.end_lineno or 0) + 1) if first and is_described else ()
    return [line for line in range(found.lineno, (found.end_lineno or 0) + 1) if line not in described]


def _names_of(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []
