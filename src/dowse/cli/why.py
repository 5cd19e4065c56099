"""`dowse why`: the rule that put a file into the index or kept it out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.output import counted, json_option, show_json

if TYPE_CHECKING:
    from dowse.serving.project import Explanation


@click.command()
@click.argument("path", metavar="PATH")
@json_option
def why(path: str, *, as_json: bool) -> int:
    """Say why PATH is or is not indexed: the very rule, and the file and line it comes from.

    Exit code 1 when it is not.
    """
    from dowse.serving.project import find_project

    named = Path(path).expanduser().absolute()
    project = find_project(named)
    found = project.explain(str(named))
    project.close()
    if as_json:
        show_json(_as_json(found))
    else:
        for line in _lines(found):
            click.echo(line)
    return 0 if found.verdict.is_allowed else 1


def _lines(found: "Explanation") -> list[str]:
    verdict = found.verdict
    if not verdict.is_allowed:
        lines = [f"{verdict.path} is not indexed: {verdict.reason}"]
    elif verdict.path.endswith("/") or not verdict.path:
        return [f"{verdict.path or found.root} is a folder; what is allowed in it is indexed"]
    elif found.stored:
        lines = [f"{verdict.path} is indexed: {found.stored.language}, {counted(found.stored.chunk_count, 'chunk')}"]
    elif found.is_indexed_project:
        lines = [f"{verdict.path} may be indexed, and is not yet: run dowse index {found.root}"]
    else:
        lines = [f"{verdict.path} would be indexed: run dowse index {found.root}"]
    if verdict.rule:
        where = verdict.rule.origin + (f", line {verdict.rule.line}" if verdict.rule.line else "")
        lines.append(f"  rule: {verdict.rule.pattern}  ({where})")
    if verdict.detail:
        lines.append(f"  {verdict.detail}")
    return lines


def _as_json(found: "Explanation") -> dict[str, Any]:
    verdict, rule = found.verdict, found.verdict.rule
    return {
        "path": verdict.path,
        "projectPath": str(found.root),
        "allowed": verdict.is_allowed,
        "indexed": found.stored is not None,
        "reason": verdict.reason,
        "rule": {"pattern": rule.pattern, "origin": rule.origin, "line": rule.line} if rule else None,
        "detail": verdict.detail or None,
    }
