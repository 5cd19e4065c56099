"""Replies about references: where a name is defined and used, grouped by file, as much as fits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from dowse.mcp.replies import (
    ENVELOPE_CHARACTERS,
    NAMED_FILES,
    Reply,
    coverage_reply,
    fit_items,
    fit_notes,
    present,
    wire_characters,
)
from dowse.searching.references.name_resolution import Confidence
from dowse.searching.references.reference_search import NameOwner, Place, References
from dowse.searching.references.related_files import RelatedFiles
from dowse.types import Coverage

ShowPath = Callable[[str], str]


def references_reply(
    found: Sequence[tuple[ShowPath, References, Coverage]],
    offset: int,
    limit: int,
    budget: int,
    warnings: Iterable[str],
) -> Reply:
    """Return the definitions of a name and a page of its uses in one or several projects."""
    answers = [answer for _, answer, _ in found]
    definitions = [_definition(shown_path, place) for shown_path, answer, _ in found for place in answer.definitions]
    overrides = [_definition(shown_path, place) for shown_path, answer, _ in found for place in answer.overrides]
    owners = [_owner(shown_path, owner) for shown_path, answer, _ in found for owner in answer.owners]
    uses = [(shown_path, place) for shown_path, answer, _ in found for place in answer.uses]
    page = uses[offset : offset + limit]
    total = sum(answer.total for answer in answers)
    notes = present(
        message=_message(answers, owners),
        owners=fit_items(owners, budget // 3),
        overrides=fit_items(overrides, budget // 6),
        byNameOnly=sorted({language for answer in answers for language in answer.by_name_only}),
        kinds=_sum(answer.kinds for answer in answers),
        confidences=_sum(answer.confidences for answer in answers),
        sameNameElsewhere=sum(answer.others for answer in answers),
        moreDefinitions=sum(answer.more_definitions for answer in answers),
        stale=[shown_path(path) for shown_path, answer, _ in found for path in answer.outdated][:20],
        warnings=fit_notes(dict.fromkeys(warnings), budget),
    )
    coverages = [coverage for _, _, coverage in found]
    if not all(coverage.is_complete for coverage in coverages):
        notes["coverage"] = coverage_reply(coverages)
    elif not any(answer.is_found for answer in answers):
        notes |= _unknown(answers)
    room = budget - ENVELOPE_CHARACTERS - wire_characters(notes)
    definitions = fit_items(definitions, room // 2) or definitions[:1]
    rows = fit_items(page, room - wire_characters(definitions), lambda pair: wire_characters(_use(*pair)) + 20)
    rows = rows or page[:1]
    following = offset + len(rows)
    has_more = bool(rows) and following < total
    return {
        "definitions": definitions,
        "references": list(_by_file(rows)),
        "totalReferences": total,
        "totalFiles": sum(answer.files for answer in answers),
        **present(nextOffset=following if has_more else 0, notListed=total - following if has_more else 0),
        **notes,
    }


def related_reply(found: RelatedFiles, limit: int, pending: Sequence[str] = ()) -> Reply:
    """Return the files around a file, each with the reason, and the files that were not looked at."""
    groups = {
        "imports": found.imports,
        "importedBy": found.imported_by,
        "tests": found.tests,
        "changesWith": found.changes_with,
    }
    return {
        "path": found.path,
        **{name: [{"path": one.path, "reason": one.reason} for one in rows[:limit]] for name, rows in groups.items()},
        **present(
            pending=pending[:NAMED_FILES],
            notListed={name: len(rows) - limit for name, rows in groups.items() if len(rows) > limit},
            warnings=[f"The imports of {found.unread} files are still being read. Ask again in a moment."]
            if found.unread
            else [],
        ),
    }


def _unknown(answers: Sequence[References]) -> Reply:
    near = dict.fromkeys(name for answer in answers for name in answer.suggestions)
    message = f"Nothing here is called '{answers[0].name}'." if answers else "There is nothing to search."
    return {"message": message, **present(similarNames=list(near))}


def _message(answers: Sequence[References], owners: Sequence[Reply]) -> str:
    """Return the reason why a reply has no uses, or only lines that have the word."""
    if owners:
        return f"Several things are called '{answers[0].name}'. Ask for one of them, such as {owners[0]['name']}."
    if not all(answer.is_text_searched for answer in answers):
        return "No use is known by syntax, and there was no time to search all files for the word: use find_text."
    words = {word for answer in answers for word in answer.confidences}
    return "No use is known by syntax; these lines have the word." if words == {Confidence.TEXT.word} else ""


def _owner(shown_path: ShowPath, owner: NameOwner) -> Reply:
    return {"name": owner.name, "path": shown_path(owner.path), "line": owner.line, "uses": owner.uses}


def _sum(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for key, count in one.items():
            total[key] = total.get(key, 0) + count
    return total


def _definition(shown_path: ShowPath, place: Place) -> Reply:
    return {"path": shown_path(place.path), "line": place.line, "text": place.text, "kind": place.kind} | present(
        within=place.within, masked=list(place.masked), flags=list(place.flags)
    )


def _by_file(rows: Iterable[tuple[ShowPath, Place]]) -> Iterator[Reply]:
    for path, uses in groupby(rows, lambda pair: pair[0](pair[1].path)):
        yield {"path": path, "uses": [_use(*pair) for pair in uses]}


def _use(shown_path: ShowPath, place: Place) -> Reply:
    path, _, line = place.definition.rpartition(":")
    return {"line": place.line, "text": place.text, "kind": place.kind} | present(
        within=place.within,
        confidence="" if place.confidence is Confidence.CERTAIN else place.confidence.word,
        definition=f"{shown_path(path)}:{line}" if path else "",
        masked=list(place.masked),
        flags=list(place.flags),
    )
