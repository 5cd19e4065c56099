"""The tools that say what is indexed, and those that change it."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial

from dowse.error_catalog import user_message
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import forget_project, list_projects
from dowse.indexes.remaining_time import MIN_SECONDS, MIN_SHARE, format_seconds_left
from dowse.keeping.indexing_run import REBUILD, IndexingRun
from dowse.keeping.served_index import ServedIndex
from dowse.mcp.replies import Reply, ask_consent
from dowse.mcp.schemas import FLAG, NUMBER, TEXT, describe, reply
from dowse.mcp.tools import CHANGES, DESTROYS, Call, tool
from dowse.surfaces.project import shared_tools
from dowse.surfaces.project.chosen_projects import ChosenProjects
from dowse.surfaces.project.path_search import reindex_file
from dowse.surfaces.project.project_replies import combined_reply, indexing_reply, projects_reply, status_reply
from dowse.types import View

REBUILD_QUESTION = "This will rebuild the entire index. Continue?"
DELETE_QUESTION = "Delete the index for this project? This cannot be undone."
CREATE_QUESTION = "Index {count} files of {name}?"
FOLLOW_SECONDS = 50.0
"""How long a call follows the indexing, since clients give up after 60 s. Then it replies `indexing`; the work goes on."""
PROGRESS_POLL_SECONDS = 0.1

_CONFIRM = {"confirm": describe(FLAG, "Yes, if the client cannot ask the user", default=False)}
_FILE = {"path": describe(TEXT, "Relative path to the file (e.g., 'src/auth/login.ts')", minLength=1, maxLength=4096)}
_INDEXED = reply(status=TEXT, projectPath=TEXT, filesIndexed=NUMBER, chunksCreated=NUMBER, message=TEXT)
_INDEXED_FILE = reply(status=TEXT, path=TEXT, chunksCreated=NUMBER, message=TEXT)
_DELETED = reply(status=TEXT, projectPath=TEXT, message=TEXT)


class IndexTools:
    """The tools that describe and change the indexes of the projects of a service."""

    def __init__(self, projects: ChosenProjects) -> None:
        self._projects = projects
        self._service = projects.service

    @shared_tools.get_index_status
    async def get_index_status(self, call: Call) -> Reply:
        """Show what is indexed, how complete and fresh it is, and what was skipped and why"""
        projects = await self._projects.named(call)
        replies = [await served.ask(partial(status_reply, served=served)) for served in projects]
        sizes = [await served.ask(lambda index: index.status().size_bytes) for served in projects[1:] and projects]
        return combined_reply(replies, self._service.warnings, sum(sizes))

    @shared_tools.list_projects
    async def list_projects(self, call: Call) -> Reply:
        """List every project indexed on this machine, with stats"""
        return projects_reply(await asyncio.to_thread(list_projects), call.budget_characters)

    @tool("Create index", _INDEXED, _CONFIRM, **CHANGES)
    async def create_index(self, call: Call) -> Reply:
        """Index the current project, or bring its index up to date"""
        projects = await self._projects.kept_fresh(call)
        busy = [served for served in projects if await self._is_busy(served)]
        idle = [served for served in projects if served not in busy]
        if idle and (refusal := await self._ask_to_index(call, idle)):
            return refusal
        runs = {served: served.start_run() for served in idle}
        if runs:
            await follow_runs(call, list(runs.values()), ", ".join(served.name for served in idle))
        replies = [await self._indexing_reply(served, runs.get(served) or _own_run(served)) for served in projects]
        return combined_reply(replies, self._service.warnings)

    async def _ask_to_index(self, call: Call, projects: list[ServedIndex]) -> Reply | None:
        counts = [await served.ask(lambda one: (one.count_files(), one.settings.max_files)) for served in projects]
        over = next(((files, limit) for files, limit in counts if files > limit), None)
        if over is None:
            names = ", ".join(served.name for served in projects)
            question = CREATE_QUESTION.format(count=sum(files for files, _ in counts), name=names)
            return await ask_consent(call, question, needs_argument=False)
        question = user_message("FILE_LIMIT_WARNING", {"count": over[0]})
        refusal = await ask_consent(call, question)
        return refusal and {**refusal, "code": "FILE_LIMIT_WARNING"}

    @tool("Rebuild index", _INDEXED, _CONFIRM, **DESTROYS)
    async def reindex_project(self, call: Call) -> Reply:
        """Delete the index and build it again from scratch"""
        served = await self._projects.only(call)
        await served.ask(served.require_index)
        if await self._is_busy(served):
            return await self._indexing_reply(served, _own_run(served))
        if refusal := await ask_consent(call, REBUILD_QUESTION):
            return refusal
        run = served.start_run(REBUILD)
        await follow_runs(call, [run], served.name)
        reply = await self._indexing_reply(served, run)
        return {**reply, "message": "Index rebuilt successfully"} if reply["status"] == "success" else reply

    async def _indexing_reply(self, served: ServedIndex, run: IndexingRun | None) -> Reply:
        return await served.ask(lambda index: indexing_reply(index, run))

    @tool("Re-index file", _INDEXED_FILE, _FILE, ("path",), **CHANGES)
    async def reindex_file(self, call: Call) -> Reply:
        """Update the index of one file now"""
        served, path = await self._projects.located(call)
        path, chunks = await served.ask(lambda index: reindex_file(index, path))
        return {
            "status": "success",
            "path": self._service.shown_path(served, path),
            "chunksCreated": chunks,
            "message": "File re-indexed successfully",
        }

    @tool("Delete index", _DELETED, _CONFIRM, **DESTROYS)
    async def delete_index(self, call: Call) -> Reply:
        """Remove the index of the current project; its files are not touched"""
        served = await self._projects.only(call)
        await served.ask(served.require_index)
        if refusal := await ask_consent(call, DELETE_QUESTION):
            return refusal
        await served.leave_alone()
        await served.ask(forget)
        return {"status": "success", "projectPath": str(served.root), "message": "Index deleted successfully"}

    async def _is_busy(self, served: ServedIndex) -> bool:
        is_updated = await served.ask(lambda index: index.is_being_updated() and index.exists)
        return is_updated or served.progress(View.PROJECT) is not None


def _own_run(served: ServedIndex) -> IndexingRun | None:
    return served.run if served.is_running else None


async def follow_runs(call: Call, runs: Sequence[IndexingRun], names: str) -> None:
    """Report the progress of some runs until all have ended or FOLLOW_SECONDS passed; a cancelled call stops them."""
    deadline, reported, is_running = time.monotonic() + FOLLOW_SECONDS, -1, True
    try:
        while is_running and time.monotonic() < deadline:
            is_running = any(run.is_running for run in runs)  # read first, so that the last figures are reported
            done, total = sum(run.done for run in runs), sum(run.total for run in runs)
            if done > reported:
                reported = done
                of = f" of {total:,}" if total else ""
                left = format_seconds_left(_seconds_left(runs, done, total))
                await call.progress(done, total or None, f"Indexing {names}: {done:,}{of} files{left}")
            if is_running:
                await asyncio.sleep(PROGRESS_POLL_SECONDS)
    except asyncio.CancelledError:
        for run in runs:
            asyncio.get_running_loop().run_in_executor(None, run.stop)  # finished work is kept
        raise


def _seconds_left(runs: Sequence[IndexingRun], done: int, total: int) -> int | None:
    elapsed = time.monotonic() - min(run.started for run in runs)
    is_known = elapsed > MIN_SECONDS and MIN_SHARE * total < done < total
    return round(elapsed * (total - done) / done) if is_known else None


def forget(index: ProjectIndex) -> None:
    """Close an index and remove it."""
    index.close()
    forget_project(index.root)
