"""`dowse why`: the rule that includes or excludes a file, or the signals that rank it for a query."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dowse.cli.common_arguments import FILE_TEXT, json_option, parse_path
from dowse.cli.output import CommandReply, using
from dowse.errors import ProjectNotDetected
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.indexes.index import PathDecision, ProjectIndex
    from dowse.searching.explain import RankExplanation
    from dowse.types import Verdict


@click.command()
@click.argument("arguments", metavar="[QUERY] PATH", nargs=-1, required=True, type=FILE_TEXT)
@json_option
def why(arguments: tuple[str, ...]) -> CommandReply:
    """Explain why PATH is or is not indexed, or its rank for QUERY.

    Without QUERY, print the rule that includes or excludes PATH, and the file and line that the
    rule comes from. With QUERY, print the signals that determine the rank of PATH among the hits,
    each with its value.

    Exit code 0: PATH is or may be indexed. Exit code 1: a rule excludes PATH, PATH does not
    exist, or QUERY does not find it.
    """
    from dowse.api.folder_target import FolderTarget
    from dowse.indexes.project_search import document_verdict
    from dowse.surfaces.project.project_replies import explanation_reply

    if len(arguments) > 2:
        raise click.UsageError("why takes a PATH, or a QUERY and a PATH; quote a query of several words")
    if len(arguments) == 2 and Path(arguments[0]).is_file() and not Path(arguments[1]).exists():
        raise click.UsageError("the QUERY comes first: dowse why QUERY PATH")
    path = parse_path(arguments[-1])
    project = _project_of(path)
    query = arguments[0] if len(arguments) == 2 else None
    target = FolderTarget([project], waits=True)
    with using(target, target.name, *([project] if query else ())):
        found, ranked = target.explain(str(path), query)
        lines = _rank(ranked) if ranked else _rule(found, document_verdict(project, str(path)))
    is_yes = ranked.rank if ranked else found.verdict.is_allowed
    return CommandReply(explanation_reply(found, ranked), lines, exit_code=0 if is_yes else 1)


def _project_of(path: Path) -> "ProjectIndex":
    """Return the project of a path. A symlink belongs to the folder that contains it, not to its target."""
    from dowse.indexes.project_lookup import find_indexed, find_project

    for link in (parent for parent in (*reversed(path.parents), path) if parent.is_symlink()):
        if project := find_indexed(link.parent):
            return project
    if path.is_symlink():
        try:
            return find_project(path.parent)
        except ProjectNotDetected:  # a link in the home folder: use its target
            pass
    return find_project(path)


def _rule(found: "PathDecision", document: "Verdict | None") -> Iterator[str]:
    yield _describe_state(found)
    yield from _origin(found.verdict)
    if document and document.reason != found.verdict.reason:
        served = f"it is not served: {document.reason}" if document.reason else "it is served"
        yield f"As a document, {served}"
        yield from _origin(document)


def _rank(found: "RankExplanation") -> Iterator[str]:
    if not found.rank:
        yield f"{found.path} does not match this query ({', '.join(found.terms) or 'no words'})"
        return
    place = f"number {found.rank} of {found.of}, with a score of {found.score:.3f}"
    yield f"{found.path} is {place} ({found.query.shape} query)"
    for name, value in found.signals.items():
        yield f"  {value:+.3f}  {name}"
    if found.rank > 1:
        yield f"  number 1 is {found.best_path}, with a score of {found.best_score:.3f}"
    rarest = sorted(found.terms.items(), key=lambda item: -item[1])
    yield "  words by weight: " + ", ".join(f"{term} {weight:.1f}" for term, weight in rarest)


def _origin(verdict: "Verdict") -> Iterator[str]:
    if verdict.rule:
        where = verdict.rule.origin + (f", line {verdict.rule.line}" if verdict.rule.line else "")
        yield f"  rule: {verdict.rule.pattern}  ({where})"
    if verdict.detail and not _is_folder(verdict):
        yield f"  {verdict.detail}"


def _describe_state(found: "PathDecision") -> str:
    path = found.verdict.path
    if not found.verdict.is_allowed:
        return f"{path} is not indexed: {found.verdict.reason}"
    if _is_folder(found.verdict):
        return f"{path or found.root} is a folder; the files in it that no rule excludes are indexed"
    if found.stored:
        line = f"{path} is indexed: {found.stored.language}, {pluralize(found.stored.chunk_count, 'chunk')}"
        return f"{line}, read as plain text because it {found.stored.problem}" if found.stored.problem else line
    state = "may be indexed, but is not yet" if found.is_indexed_project else "would be indexed"
    return f"{path} {state}: run dowse index {found.root}"


def _is_folder(verdict: "Verdict") -> bool:
    return verdict.is_allowed and (not verdict.path or verdict.path.endswith("/"))
