"""`dowse refs`: where a name is defined and used."""

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import json_option, parse_folder
from dowse.cli.output import CommandReply, escape, pluralize, progress_bar, say, show, using
from dowse.cli.result_output import coverage_notes, format_flags

if TYPE_CHECKING:
    from dowse.searching.references.reference_search import Place, References

KINDS = ("call", "import", "inheritance", "annotation", "mention")


@click.command()
@click.argument("name")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of use.")
@click.option("--path", "glob", metavar="GLOB", help="Only uses in files whose path matches, such as 'src/**/*.py'.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Maximum number of uses.")
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many uses.")
@json_option
def refs(name: str, folder: str | None, *, as_json: bool, **how: Any) -> int | CommandReply:
    """Find where NAME is defined and used in the files in DIR.

    DIR defaults to the project around the working directory. NAME is the name of a function, class
    or other symbol, alone or with its class or module before it, such as Client.get. The index is
    brought up to date first.

    A name that several things have is told apart by imports and by the expression before it. A use
    is certain unless it is marked as likely or possible.

    Exit code 1: the name is unknown.
    """
    from dowse.api.folder_target import FolderTarget
    from dowse.indexes.project_lookup import open_or_find
    from dowse.searching.references.reference_search import ReferenceOptions

    project = open_or_find(parse_folder(folder))
    limit, offset = how["limit"], how["offset"]
    options = ReferenceOptions(how["kind"], how["glob"], offset + limit)
    target = FolderTarget([project], waits=True)
    with using(target, project), progress_bar(f"Indexing {target.name}", is_expected=False) as progress:
        [(found, coverage, _)] = target.references(name, options, progress).values()
    exit_code = 0 if found.is_found else 1
    if as_json:
        from dowse.mcp.reply_status import coverage_warnings
        from dowse.surfaces.project.reference_replies import references_reply

        warnings = [*project.warnings, *coverage_warnings(coverage)]
        return CommandReply(references_reply([(str, found, coverage)], offset, limit, sys.maxsize, warnings), exit_code)
    end = min(offset + limit, len(found.uses))
    next_offset = end if offset < end < found.total else None
    _show(found, found.uses[offset:])
    for note in [*_notes(found, next_offset), *coverage_notes(coverage)]:
        say(note)
    return exit_code


def _show(found: "References", uses: "Sequence[Place]") -> None:
    for place in (*found.definitions, *found.overrides):
        what = f"{place.kind}{f' in {place.within}' if place.within else ''}"
        what += ", overrides it" if place in found.overrides else ""
        show(
            escape(place.path, bold=True), f":{place.line}: ", escape(place.text), "  ",
            escape(what, dim=True), *format_flags(place.flags),
        )  # fmt: skip
    for owner in found.owners:
        where = escape(f"{pluralize(owner.uses, 'use')}  {owner.path}:{owner.line}", dim=True)
        show(escape(owner.name, bold=True), "  ", where)
    for path, places in groupby(uses, lambda place: place.path):
        show()
        show(escape(path, bold=True))
        for place in places:
            show(escape(f"{place.line:>6}", dim=True), "  ", escape(place.text), "  ", *_describe(place))


def _describe(place: "Place") -> list[str]:
    within = f" in {place.within}" if place.within else ""
    words = [f"{place.kind}{within}"]
    if place.confidence.word != "certain":
        words.append(place.confidence.word)
    if place.definition:
        words.append(f"of {place.definition}")
    return [escape(", ".join(words), dim=True), *format_flags(place.flags)]


def _notes(found: "References", next_offset: int | None) -> list[str]:
    if not found.is_found:
        near = f" Similar names: {', '.join(found.suggestions)}." if found.suggestions else ""
        return [f"Nothing here is called '{found.name}'.{near}"]
    sure = ", ".join(f"{count} {word}" for word, count in found.confidences.items())
    notes = [
        f"{pluralize(found.total, 'use')} in {pluralize(found.files, 'file')}"
        + (f": {sure}" if len(found.confidences) > 1 else "")
    ]
    if found.owners:
        notes.append(f"several things are called '{found.name}': ask for one, as in dowse refs {found.owners[0].name}")
    if "by its text" in found.confidences:
        notes.append("no use is known by syntax; these lines have the word")
    if not found.is_text_searched:
        notes.append("there was no time to search all files for the word")
    if found.by_name_only:
        notes.append(f"{', '.join(found.by_name_only)}: by name only")
    if found.others:
        notes.append(f"{pluralize(found.others, 'use')} of other things with this name left out")
    if found.more_definitions:
        notes.append(f"{pluralize(found.more_definitions, 'more definition')} not listed")
    if found.outdated:
        notes.append(f"left out because they changed during the search: {', '.join(found.outdated[:5])}")
    if next_offset:
        notes.append(f"{pluralize(found.total - next_offset, 'use')} not listed; more with --offset {next_offset}")
    return notes
