"""`dowse doctor`: compare an index with its files, and its derived parts with the catalog."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from dowse.cli.common_arguments import json_option, parse_folder
from dowse.cli.output import CommandReply, pluralize, progress_bar, show, show_warnings
from dowse.types import Finding

if TYPE_CHECKING:
    from dowse.indexes.index import ProjectIndex


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--fix", is_flag=True, help="Repair the problems that are found.")
@json_option
def doctor(folder: str | None, *, fix: bool, as_json: bool) -> int | CommandReply:
    """Check the index of DIR against its files.

    DIR defaults to the project around the working directory. This reads every file, and compares
    every part of the index with the catalog. The index that `dowse docs` made of DIR is checked as well.

    Exit code 1: there are problems that are not repaired.
    """
    from dowse.indexes.damage_recovery import was_indexed
    from dowse.indexes.index import ProjectIndex
    from dowse.indexes.project_lookup import open_or_find

    project = open_or_find(parse_folder(folder))
    documents = ProjectIndex(project.root, "documents")
    indexes = [index for index in (project, documents) if was_indexed(index)]
    findings, remaining = list[Finding](), list[Finding]()
    for index in indexes or [project]:
        found = _check(index)
        findings += _name_documents(index, found)
        remaining += _name_documents(index, _repair(index, found) if fix and found else found)
    repaired = fix and bool(findings)
    exit_code = 1 if remaining else 0
    if as_json:
        value = {
            "projectPath": str(project.root),
            "findings": [{"part": finding.part, "problem": finding.problem} for finding in findings],
            "repaired": repaired,
            "remaining": [{"part": finding.part, "problem": finding.problem} for finding in remaining],
        }
        return CommandReply(value, exit_code)
    for finding in findings:
        show(f"{finding.part}: {finding.problem}")
    show(f"{project.root}: {_format_verdict(len(findings), len(remaining), is_repaired=repaired)}")
    return exit_code


def _check(index: "ProjectIndex") -> "list[Finding]":
    from dowse.indexes.damage_recovery import check_whole

    with progress_bar(f"Checking {index.root.name}") as progress:
        findings = check_whole(index, progress)
    show_warnings(index.warnings)
    index.warnings.clear()
    return findings


def _repair(index: "ProjectIndex", findings: "list[Finding]") -> "list[Finding]":
    try:
        with progress_bar(f"Repairing {index.root.name}") as progress:
            return index.repair(findings, progress)
    finally:
        show_warnings(index.warnings)


def _name_documents(index: "ProjectIndex", findings: "list[Finding]") -> "list[Finding]":
    """Return findings that say which of the two indexes of a root they are about."""
    if index.what == "project":
        return findings
    return [replace(finding, part=f"documents, {finding.part}") for finding in findings]


def _format_verdict(found: int, remaining: int, *, is_repaired: bool) -> str:
    if not found:
        return "the index is complete and matches the files"
    if not is_repaired:
        return f"{pluralize(found, 'problem')}; repair with: dowse doctor --fix"
    return "repaired" if not remaining else f"{pluralize(remaining, 'problem')} could not be repaired"
