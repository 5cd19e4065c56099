"""`dowse why`: the rule that put a file into the index or kept it out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.output import counted, json_option, show_json

if TYPE_CHECKING:
    from dowse.serving.asking import Placement
    from dowse.serving.project import Explanation


@click.command()
@click.argument("arguments", metavar="[QUERY] PATH", nargs=-1, required=True)
@json_option
def why(arguments: tuple[str, ...], *, as_json: bool) -> int:
    """Say why PATH is or is not indexed: the very rule, and the file and line it comes from.

    With a QUERY before it: which signals put PATH where it is among the hits, each with its
    number. Exit code 1 when the file is not indexed, or not found by the query.
    """
    if len(arguments) > 2:
        raise click.UsageError("why takes a PATH, or a QUERY and a PATH; quote a query of several words")
    named = Path(arguments[-1]).expanduser().absolute()
    return (
        _why_ranked(arguments[0], named, as_json=as_json)
        if len(arguments) == 2
        else _why_indexed(named, as_json=as_json)
    )


def _why_indexed(named: Path, *, as_json: bool) -> int:
    from dowse.serving.project import find_project

    project = find_project(named)
    found = project.explain(str(named))
    project.close()
    if as_json:
        show_json(_as_json(found))
    else:
        for line in _lines(found):
            click.echo(line)
    return 0 if found.verdict.is_allowed else 1


def _why_ranked(query: str, named: Path, *, as_json: bool) -> int:
    from dowse.serving.asking import explain_rank
    from dowse.serving.project import find_project

    project = find_project(named)
    found = explain_rank(project, query, str(named))
    project.close()
    if as_json:
        show_json(
            {
                "path": found.path,
                "query_parsed": found.query.as_json(),
                "shape": found.query.shape,
                "rank": found.rank,
                "of": found.of,
                "score": round(found.score, 4),
                "signals": {name: round(value, 4) for name, value in found.signals.items()},
                "best": {"path": found.best_path, "score": round(found.best_score, 4)} if found.best_path else None,
                "terms": {term: round(weight, 3) for term, weight in found.terms.items()},
            }
        )
    else:
        _show_placement(found)
    return 0 if found.rank else 1


def _show_placement(found: "Placement") -> None:
    if not found.rank:
        click.echo(f"{found.path} has nothing of this query ({', '.join(found.terms) or 'no words'})")
        return
    click.echo(f"{found.path} is number {found.rank} of {found.of} with {found.score:.3f} ({found.query.shape} query)")
    for name, value in found.signals.items():
        click.echo(f"  {value:+.3f}  {name}")
    if found.rank > 1:
        click.echo(f"  first is {found.best_path} with {found.best_score:.3f}")
    rarest = sorted(found.terms.items(), key=lambda item: -item[1])
    click.echo("  words by weight: " + ", ".join(f"{term} {weight:.1f}" for term, weight in rarest))


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
