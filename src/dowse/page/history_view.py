"""The history: the commits of a search, of a file or of everything, and the changes of one commit; and what else is asked about projects."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from dowse.errors import CatalogError, DowseError, ItemNotFound, NoHistory
from dowse.federation.federation_types import id_of, source_name
from dowse.federation.source_list import NoClient, SourceList
from dowse.keeping.served_index import ServedIndex
from dowse.mcp.replies import Reply, error_reply
from dowse.page.item_links import find_item, read_address
from dowse.page.markup import Html, html, time_view
from dowse.page.reading_view import breadcrumbs
from dowse.surfaces.project.project_surface import ProjectSurface
from dowse.visible_text import one_line, pluralize

LISTED_COMMITS = 50


class PageCall(NoClient):
    """A call of a handler by the page, about one project or all."""

    def __init__(self, project: ServedIndex | None, arguments: Mapping[str, Any]) -> None:
        self.arguments = {**arguments, "project": project.name if project else None}


class ProjectQuestions:
    """The handlers of the project tools, for the page."""

    def __init__(self, sources: SourceList) -> None:
        self._sources = sources
        self._made: ProjectSurface | None = None

    def project(self, source: str) -> ServedIndex:
        """Return the project of a source; ItemNotFound if it is none."""
        root = self._sources.root(source)
        if root is None or root.kind != "project":
            raise ItemNotFound("there is no such project")
        return root.served

    async def history(
        self, query: str, project: ServedIndex | None, path: str = "", limit: int = LISTED_COMMITS
    ) -> Reply:
        """Return the commits for a query, or without one the newest; of one project or path, or of all projects."""
        arguments = {
            "query": query,
            "path": path or None,
            "since": None,
            "until": None,
            "authors": True,
            "limit": limit,
        }
        return await self.surface.search_history(PageCall(project, arguments))

    def has_projects(self) -> bool:
        """Return whether there are projects."""
        return bool(self._sources.projects and self._sources.projects.projects)

    def only_project(self) -> ServedIndex | None:
        """Return the project, if there is one alone."""
        projects = self.surface.service.projects
        return projects[0] if len(projects) == 1 else None

    def place(self, shown_path: str, project: ServedIndex | None = None) -> tuple[ServedIndex, str] | None:
        """Return the project and the path in it of a path that a reply shows; None for one that is gone."""
        try:
            return self.surface.service.locate(shown_path, project.name if project else None)
        except CatalogError:
            return None

    def address(self, shown_path: str, line: int = 0) -> str:
        """Return the address at which a path of a reply is read."""
        place = self.place(shown_path)
        if place is None:
            return "/"
        return read_address(id_of(source_name("project", place[0].name), place[1])) + (f"#L{line}" if line else "")

    @property
    def surface(self) -> ProjectSurface:
        """The handlers."""
        service = self._sources.projects
        if service is None:
            raise ItemNotFound("no projects are served here")
        if self._made is None or self._made.service is not service:
            self._made = ProjectSurface(service, self._sources.start)
        return self._made


def glob_of(path: str) -> str:
    """Return the glob that matches one path, or everything below a folder."""
    written = "".join(f"[{sign}]" if sign in "*?[{" else sign for sign in path)
    return f"{written}**" if path.endswith("/") else written


def quoted_name(name: str) -> str:
    """Return a name as an address has it."""
    return quote(name, safe="", errors="replace")


SHORT_NAME = 10
SHOWN_FILES = 6
_FORM = """<form class="inline" action="/history" role="search" aria-label="Search the commits">{hidden}
<label class="hidden" for="commits">Words of a commit</label>
<input id="commits" name="q" type="search" value="{q}" placeholder="What was changed, or why" autocomplete="off" maxlength="10000">
<button>Search commits</button></form>
"""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_SIGNS = {"+": "added", "-": "removed", "@": "hunk"}


async def history_page(questions: ProjectQuestions, sources: SourceList, query: str, item_id: str) -> Html:
    """Return the commits for a query, of a file or folder if one is named."""
    project, path, head = None, "", html("<h1>History</h1>")
    if item_id:
        source, path = await find_item(sources, item_id)
        project = questions.project(source.name)
        head = html('<div class="head"><nav class="path mono" aria-label="Path">{crumbs}</nav><div class="tools">'
                    '<span>History</span><a href="/read?id={id}">Read it</a></div></div>', crumbs=breadcrumbs(source.name, path), id=item_id)  # fmt: skip
    hidden = html('<input type="hidden" name="id" value="{id}">', id=item_id) if item_id else None
    form = html(_FORM, q=query, hidden=hidden)
    if not questions.has_projects():
        message = "There is no project here, and only projects have a history. Open one: dowse open DIR"
        return html('{head}<p class="note">{message}</p>', head=head, message=message)
    try:
        found = await questions.history(query, project, glob_of(path) if path else "")
    except NoHistory as error:
        return html('{head}<p class="note">{message}</p>', head=head, message=str(error))
    except DowseError as error:
        return html(
            '{head}{form}<p class="note">{message}</p>', head=head, form=form, message=error_reply(error)["userMessage"]
        )
    count = pluralize(len(found["results"]), "commit") if found["results"] else "No commits"
    what = f" for “{one_line(query, 100)}”" if query.strip() else ", newest first" if found["results"] else ""
    advice = (
        None
        if found["results"]
        else html('<p class="about">Try other words, or <a href="/history">see the newest commits</a>.</p>')
    )
    return html(
        '{head}{form}<p class="summary" role="status">{count}{what} <span class="about">searched {covers}</span></p>{notes}{commits}{advice}',
        head=head, form=form, count=count, what=what, covers=found["covers"],
        notes=[html('<p class="note">{note}</p>', note=note) for note in found.get("warnings", ())],
        commits=commits_view(questions, found["results"], project), advice=advice,
    )  # fmt: skip


def commits_view(
    questions: ProjectQuestions,
    commits: Iterable[dict[str, Any]],
    project: ServedIndex | None,
    *,
    is_brief: bool = False,
) -> Html:
    """Return commits as a list; `project` is None for those of several projects."""
    return html(
        '<ol class="plain commits">{rows}</ol>',
        rows=[_commit_row(questions, one, project, is_brief=is_brief) for one in commits],
    )


def _commit_row(
    questions: ProjectQuestions, commit: dict[str, Any], project: ServedIndex | None, *, is_brief: bool
) -> Html:
    place = questions.place(commit["files"][0]) if project is None and commit["files"] else None
    owner = project or (place[0] if place else questions.only_project())
    subject: Html = html("{subject}", subject=commit["subject"])
    if owner:
        address = f"/commit?in={quoted_name(source_name('project', owner.name))}&name={commit['commit']}"
        subject = html('<a href="{address}">{subject}</a>', address=address, subject=commit["subject"])
    facts = [time_view(commit["date"]), commit.get("author", ""), html("<code>{name}</code>", name=commit["commit"])]
    details = None
    if not is_brief:
        files = [
            html('<li><a href="{address}">{path}</a></li>', address=questions.address(path), path=path)
            for path in commit["files"][:SHOWN_FILES]
        ]
        more = len(commit["files"]) - SHOWN_FILES + commit.get("moreFiles", 0)
        details = html(
            '{lines}<ul class="plain files mono">{files}{more}</ul>',
            lines=[html('<p class="quote">{line}</p>', line=line) for line in commit.get("lines", ())], files=files,
            more=html('<li class="about">and {more}</li>', more=pluralize(more, "more file")) if more > 0 else None,
        )  # fmt: skip
    return html(
        '<li><p class="subject">{subject}</p><p class="about">{facts}</p>{details}</li>', subject=subject,
        facts=[html('<span class="fact">{fact}</span>', fact=fact) for fact in facts if fact], details=details,
    )  # fmt: skip


async def commit_page(questions: ProjectQuestions, source: str, name: str) -> tuple[str, Html]:
    """Return the subject of a commit, and the view of its changes."""
    project = questions.project(source)
    try:
        found = await questions.surface.read_commit(PageCall(project, {"commit": name}))
    except NoHistory as error:
        raise ItemNotFound(str(error)) from error
    subject, _, body = found["message"].partition("\n")
    facts = [time_view(found["date"]), found["author"], html("<code>{name}</code>", name=found["commit"][:SHORT_NAME])]
    added, removed = (sum(file[key] for file in found["files"]) for key in ("added", "removed"))
    hidden = found.get("notShown", 0)
    shown = html(
        '<h1>{subject}</h1><p class="about">{facts}</p>{body}<p class="summary">{files} changed, <span class="plus">+{added}</span> '
        '<span class="minus">−{removed}</span></p>{hidden}{diffs}<p><a href="/history?{whole}">All commits</a></p>',
        subject=subject, facts=[html('<span class="fact">{fact}</span>', fact=fact) for fact in facts if fact],
        body=html('<p class="prose">{body}</p>', body=body.strip()) if body.strip() else None,
        files=pluralize(len(found["files"]), "file"), added=f"{added:,}", removed=f"{removed:,}",
        hidden=html('<p class="note">{hidden}</p>', hidden=f"{pluralize(hidden, 'file')} not shown: denied, ignored, or too many.") if hidden else None,
        diffs=[_file_diff(questions, project, file) for file in found["files"]],
        whole=urlencode({"id": f"{source}/"}),
    )  # fmt: skip
    return subject, shown


def _file_diff(questions: ProjectQuestions, project: ServedIndex, file: dict[str, Any]) -> Html:
    place = questions.place(file["path"], project)
    history = urlencode({"id": f"{source_name('project', project.name)}/{place[1]}"}) if place else ""
    notes = [f"was {file['oldPath']}"] if "oldPath" in file else []
    notes += [f"secrets are masked: {', '.join(file['masked'])}"] if "masked" in file else []
    notes += ["the rest is not shown"] if file.get("cut") else []
    return html(
        '<details class="diff" open><summary class="mono"><b>{path}</b> <span class="plus">+{added}</span> <span class="minus">−{removed}</span>'
        '</summary><p class="about"><a href="{address}">Read it now</a> <a href="/history?{history}">Its history</a> {notes}</p>{table}</details>',
        path=file["path"], added=file["added"], removed=file["removed"], address=questions.address(file["path"]), history=history,
        notes="; ".join(notes), table=_diff_table(file["diff"]) if file["diff"] else html('<p class="about">No lines of text changed.</p>'),
    )  # fmt: skip


def _diff_table(text: str) -> Html:
    rows, old, new = [], 0, 0
    for line in text.split("\n"):
        sign = line[:1]
        if found := _HUNK.match(line):
            old, new = int(found[1]), int(found[2])
            rows.append(html('<tr class="hunk"><td colspan="3">{line}</td></tr>', line=line))
            continue
        if sign == "\\":  # no newline at the end
            continue
        before, after = ("" if sign == "+" else old), ("" if sign == "-" else new)
        old, new = old + (sign != "+"), new + (sign != "-")
        rows.append(
            html('<tr{kind}><td class="nums">{before}</td><td class="nums">{after}</td><td class="line">{line}</td></tr>',
                 kind=html(' class="{name}"', name=_SIGNS[sign]) if sign in "+-" and sign else None, before=before, after=after, line=line)
        )  # fmt: skip
    return html('<div class="patch" tabindex="0"><table>{rows}</table></div>', rows=rows)
