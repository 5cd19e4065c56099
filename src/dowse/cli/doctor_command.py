"""`dowse doctor`: compare an index with its files, its derived parts with the catalog, and notes with their checksums."""

import platform
import re
import sqlite3
from dataclasses import asdict
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from dowse import __version__
from dowse.cli.common_arguments import folder_argument, json_option
from dowse.cli.output import CommandReply, format_encoding, progress_bar, using
from dowse.system.sandbox import sandbox_support
from dowse.visible_text import pluralize

LIBRARIES = (
    "mcp", "tantivy", "tree-sitter", "semble-grammars", "numpy", "onnxruntime", "watchfiles", "pypdfium2", "boto3",
)  # fmt: skip
"""The libraries whose version may explain a problem. Some are optional."""


def collect_versions() -> dict[str, str]:
    """Return every version by its name. The names of the machine and of its kernel's maker are not part of one."""
    number = re.match(r"[\d.]*\d", platform.release())
    words = [platform.system(), number[0] if number else "", platform.machine(), *platform.libc_ver()]
    return {
        "dowse": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": " ".join(filter(None, words)),
        "SQLite": sqlite3.sqlite_version,
        **{library: _find_version(library) for library in LIBRARIES},
    }


def _find_version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def version_lines() -> list[str]:
    """Return the versions as text. Scripts read the first line."""
    first, *others = collect_versions().items()
    return [f"dowse, version {first[1]}", *(f"{name} {found}" for name, found in others)]


@click.command()
@folder_argument
@click.option("--fix", is_flag=True, help="Repair the problems that are found.")
@click.option(
    "--report", is_flag=True, help="Print a report for an issue instead, without paths, names or texts of yours."
)
@json_option
def doctor(folder: Path | None, *, fix: bool, report: bool) -> CommandReply:
    """Check the index of DIR against its files.

    DIR defaults to the project around the working directory. This reads every file, and compares
    every part of the index with the catalog. It also checks all named indexes of notes, which
    --fix does not change.

    Exit code 1: there are problems that are not repaired.
    """
    if report:
        if fix:
            raise click.UsageError("--report changes nothing; run --fix without it.")
        return _anonymous_report(folder)
    from dowse.archives.archive_index import find_index
    from dowse.indexes.damage_recovery import check_whole
    from dowse.notes.notes_check import check_notes

    project = find_index(folder)
    with using(project, project.root.name):
        with progress_bar(f"Checking {project.root.name}") as progress:
            findings = remaining = check_whole(project, progress)
        is_repaired = fix and bool(findings)
        if is_repaired:
            with progress_bar(f"Repairing {project.root.name}") as progress:
                remaining = project.repair(findings, progress)
        encoding = project.encoding()
    verdict = _format_verdict(len(findings), len(remaining), is_repaired=is_repaired)
    damaged_notes = check_notes()
    findings, remaining = [*findings, *damaged_notes], [*remaining, *damaged_notes]
    reply = {
        "projectPath": str(project.root),
        "findings": list(map(asdict, findings)),
        "repaired": is_repaired,
        "remaining": list(map(asdict, remaining)),
        "encoding": encoding.as_json if encoding else None,
    }
    lines = [f"{finding.part}: {finding.problem}" for finding in findings]
    if encoding:
        lines.append(format_encoding(encoding))
    if not sandbox_support().files:
        lines.append(sandbox_support().text())
    lines.append(f"{project.root}: {verdict}")
    if damaged_notes:
        lines.append(f"notes: {pluralize(len(damaged_notes), 'problem')} that --fix does not repair")
    return CommandReply(reply, lines, exit_code=1 if remaining else 0)


def _anonymous_report(folder: Path | None) -> CommandReply:
    from dowse.indexes.anonymous_report import machine_facts, problem_fact

    value: dict[str, dict[str, Any]] = {"versions": collect_versions(), "machine": {}, "index": {}}
    for title, collect in (("machine", machine_facts), ("index", partial(_report_index, folder))):
        try:
            value[title] = collect()
        except Exception as error:  # it may be what the report is about
            value[title] = problem_fact(error)
    lines = [
        line
        for title, facts in value.items()
        for line in (title, *(f"  {name}: {_format_fact(fact)}" for name, fact in facts.items()))
    ]
    return CommandReply(value, lines)


def _report_index(folder: Path | None) -> dict[str, Any]:
    from dowse.archives.archive_index import find_index
    from dowse.indexes.anonymous_report import finding_facts, index_facts
    from dowse.indexes.damage_recovery import check_whole, was_indexed

    index = find_index(folder)
    facts = index_facts(index)
    if was_indexed(index):
        with progress_bar("Checking") as progress:
            facts["problems"] = finding_facts(check_whole(index, progress))
    return facts


def _format_fact(fact: object) -> str:
    if isinstance(fact, dict):
        return ", ".join(f"{name} {_format_fact(value)}" for name, value in fact.items()) or "none"
    if isinstance(fact, list):
        return ", ".join(map(str, fact)) or "none"
    return {True: "yes", False: "no"}[fact] if isinstance(fact, bool) else str(fact)


def _format_verdict(found: int, remaining: int, *, is_repaired: bool) -> str:
    if not found:
        return "the index is complete and matches the files"
    if not is_repaired:
        return f"{pluralize(found, 'problem')}; repair with: dowse doctor --fix"
    return "repaired" if not remaining else f"{pluralize(remaining, 'problem')} could not be repaired"
