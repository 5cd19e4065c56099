"""`dowse doctor`: the index against the files, the derived parts against the catalog."""

from pathlib import Path

import click

from dowse.cli.output import counted, json_option, named_folder, progress_bar, show_json, show_warnings


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--fix", is_flag=True, help="Repair what is wrong.")
@json_option
def doctor(folder: str | None, *, fix: bool, as_json: bool) -> int:
    """Compare the index of DIR with its files, and every part of it with the catalog.

    Reads every file of the project. Exit code 1 when something is (still) wrong.
    """
    from dowse.serving.project import find_project

    project = find_project(named_folder(folder) or Path.cwd())
    findings = project.check()
    repaired = fix and bool(findings)
    left = findings
    if repaired:
        with progress_bar(f"Repairing {project.root.name}") as progress:
            project.repair(progress)
        left = project.check()
    show_warnings(project.warnings)
    project.close()
    if as_json:
        found = [{"part": finding.part, "problem": finding.problem} for finding in findings]
        remaining = [{"part": finding.part, "problem": finding.problem} for finding in left]
        show_json({"projectPath": str(project.root), "findings": found, "repaired": repaired, "remaining": remaining})
    else:
        for finding in findings:
            click.echo(f"{finding.part}: {finding.problem}")
        click.echo(f"{project.root}: {_verdict(len(findings), len(left), is_repaired=repaired)}")
    return 1 if left else 0


def _verdict(found: int, left: int, *, is_repaired: bool) -> str:
    if not found:
        return "the index is whole and equal to the files"
    if not is_repaired:
        return f"{counted(found, 'problem')}; repair with: dowse doctor --fix"
    return "repaired" if not left else f"{counted(left, 'problem')} could not be repaired"
