"""The history: the commits of a search, of a file or of everything, and the changes of one commit; and what else is asked about projects."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from dowse.errors import CatalogError, DowseError, ItemNotFound, NoHistory
from dowse.federation.federation_types import id_of, source_name
from dowse.federation.source_list import SourceList
from dowse.keeping.served_index import ServedIndex
from dowse.mcp.replies import Reply, error_reply
from dowse.mcp.tools import Call
from dowse.page.item_links import find_item, quoted_name, read_address
from dowse.page.markup import Html, facts, html, link, tag, time_view
from dowse.page.reading_view import head_view
from dowse.surfaces.project.project_surface import ProjectSurface
from dowse.visible_text import one_line, pluralize

LISTED_COMMITS = 50


class PageCall(Call):
    """A call of a handler by the page, about one project or all."""

    def __init__(self, project: ServedIndex | None, arguments: Mapping[str, Any]) -> None:
        self.arguments = {**arguments, "project": project.name if project else None}


class ProjectQuestions:
    """The handlers of the project tools, for the page."""

    def __init__(self, sources: SourceList) -> None:
        self.sources = sources
        self._made: ProjectSurface | None = None

    @property
    def surface(self) -> ProjectSurface:
        """The handlers."""
        service = self.sources.projects
        if service is None:
            raise ItemNotFound("There is no project here, and only projects have a history. Open one: dowse open DIR")
        if self._made is None or self._made.service is not service:
            self._made = ProjectSurface(service, self.sources.start)
        return self._made

    def project(self, source: str) -> ServedIndex:
        """Return the project of a source; ItemNotFound if it is none."""
        root = self.sources.root(source)
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


def glob_of(path: str) -> str:
    """Return the glob that matches one path, or everything below a folder."""
    written = "".join(f"[{sign}]" if sign in "*?[{" else sign for sign in path)
    return f"{written}**" if path.endswith("/") else written


SHORT_NAME = 10
SHOWN_FILES = 6
_FORM = """<form class="inline" action="/history" role="search" aria-label="Search the commits">{hidden}
<label class="hidden" for="commits">Words of a commit</label>
<input id="commits" name="q" type="search" value="{q}" placeholder="What was changed, or why" autocomplete="off" maxlength="10000">
<button>Search commits</button></form>
"""
_FOUND = """{head}{form}
<p class="summary" role="status">{count}{what} <span class="about">searched {covers}</span></p>{notes}{commits}{advice}"""
_COMMIT = """<h1>{subject}</h1><p class="about">{facts}</p>{body}<p class="summary">{files} changed, {changes}</p>
{hidden}{diffs}<p><a href="/history?{whole}">All commits</a></p>"""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_SIGNS = {"+": "added", "-": "removed"}


async def history_view(questions: ProjectQuestions, query: str, item_id: str) -> Html:
    """Return the commits for a query, of a file or folder if one is named."""
    project, path, head, hidden = None, "", tag("h1", "History"), None
    if item_id:
        source, path = await find_item(questions.sources, item_id)
        project = questions.project(source.name)
        head = head_view(source.name, path, tag("span", "History"), link(read_address(item_id), "Read it"))
        hidden = html('<input type="hidden" name="id" value="{id}">', id=item_id)
    form: Html | None = html(_FORM, q=query, hidden=hidden)
    try:
        found = await questions.history(query, project, glob_of(path) if path else "")
    except DowseError as error:
        message = error_reply(error)["userMessage"]
        if isinstance(error, NoHistory | ItemNotFound):
            form, message = None, str(error)
        return html("{head}{form}{note}", head=head, form=form, note=tag("p", message, class_="note"))
    what, advice = f" for “{one_line(query, 100)}”" if query.strip() else "", None
    if not found["results"]:
        advice = tag("p", "Try other words, or ", link("/history", "see the newest commits"), ".", class_="about")
    return html(
        _FOUND,
        head=head,
        form=form,
        count=pluralize(len(found["results"]), "commit") if found["results"] else "No commits",
        what=what or (", newest first" if found["results"] else ""),
        covers=found["covers"],
        notes=[tag("p", note, class_="note") for note in found.get("warnings", ())],
        commits=commits_view(questions, found["results"], project),
        advice=advice,
    )


def commits_view(
    questions: ProjectQuestions,
    commits: Iterable[dict[str, Any]],
    project: ServedIndex | None,
    *,
    is_brief: bool = False,
) -> Html:
    """Return commits as a list; `project` is None for those of several projects."""
    rows = [_commit_row(questions, one, project, is_brief=is_brief) for one in commits]
    return tag("ol", rows, class_="plain commits")


def _commit_row(
    questions: ProjectQuestions, commit: dict[str, Any], project: ServedIndex | None, *, is_brief: bool
) -> Html:
    projects = questions.surface.service.projects
    place = questions.place(commit["files"][0]) if project is None and commit["files"] else None
    owner = project or (place[0] if place else projects[0] if len(projects) == 1 else None)
    subject = commit["subject"]
    if owner:
        subject = link(f"/commit?in={quoted_name(source_name('project', owner.name))}&name={commit['commit']}", subject)
    return tag(
        "li",
        tag("p", subject, class_="subject"),
        tag("p", _facts(commit), class_="about"),
        None if is_brief else _commit_details(questions, commit),
    )


def _facts(commit: dict[str, Any]) -> list[Html]:
    return facts([time_view(commit["date"]), commit.get("author"), tag("code", commit["commit"][:SHORT_NAME])])


def _commit_details(questions: ProjectQuestions, commit: dict[str, Any]) -> list[Html]:
    shown = commit["files"][:SHOWN_FILES]
    rows = [tag("li", link(questions.address(path), path)) for path in shown]
    if (more := len(commit["files"]) - len(shown) + commit.get("moreFiles", 0)) > 0:
        rows.append(tag("li", f"and {pluralize(more, 'more file')}", class_="about"))
    lines = [tag("p", line, class_="quote") for line in commit.get("lines", ())]
    return [*lines, tag("ul", rows, class_="plain files mono")]


async def commit_view(questions: ProjectQuestions, source: str, name: str) -> tuple[str, Html]:
    """Return a commit: the first line of its message, and the view of it with what it changed."""
    project = questions.project(source)
    try:
        found = await questions.surface.read_commit(PageCall(project, {"commit": name}))
    except NoHistory as error:
        raise ItemNotFound(str(error)) from error
    subject, _, body = found["message"].partition("\n")
    added, removed = (sum(file[key] for file in found["files"]) for key in ("added", "removed"))
    hidden = found.get("notShown", 0)
    said = f"{pluralize(hidden, 'file')} not shown: denied, ignored, or too many." if hidden else ""
    return subject, html(
        _COMMIT,
        subject=subject,
        facts=_facts(found),
        body=tag("p", body.strip(), class_="prose"),
        files=pluralize(len(found["files"]), "file"),
        changes=_changes(added, removed),
        hidden=tag("p", said, class_="note"),
        diffs=[_file_diff(questions, project, file) for file in found["files"]],
        whole=urlencode({"id": f"{source}/"}),
    )


def _changes(added: int, removed: int) -> Html:
    return html(
        '<span class="plus">+{added}</span> <span class="minus">−{removed}</span>',
        added=f"{added:,}",
        removed=f"{removed:,}",
    )


def _file_diff(questions: ProjectQuestions, project: ServedIndex, file: dict[str, Any]) -> Html:
    place = questions.place(file["path"], project)
    history = urlencode({"id": f"{source_name('project', project.name)}/{place[1]}"}) if place else ""
    notes = [f"was {file['oldPath']}"] if "oldPath" in file else []
    notes += [f"secrets are masked: {', '.join(file['masked'])}"] if "masked" in file else []
    notes += ["the rest is not shown"] if file.get("cut") else []
    links = link(questions.address(file["path"]), "Read it now"), " ", link(f"/history?{history}", "Its history"), " "
    return tag(
        "details",
        tag("summary", tag("b", file["path"]), " ", _changes(file["added"], file["removed"]), class_="mono"),
        tag("p", links, "; ".join(notes), class_="about"),
        _diff_table(file["diff"]) if file["diff"] else tag("p", "No lines of text changed.", class_="about"),
        class_="diff",
        open=True,
    )


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
        cells = html('<td class="nums">{before}</td><td class="nums">{after}</td><td class="line">{line}</td>',
                     before=before, after=after, line=line)  # fmt: skip
        rows.append(tag("tr", cells, class_=_SIGNS.get(sign)))
    return html('<div class="patch" tabindex="0"><table>{rows}</table></div>', rows=rows)
