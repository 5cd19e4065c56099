"""Indexing that goes on, as the client that asked for it sees it."""

import asyncio
import time
from collections.abc import Sequence

from dowse.keeping.indexing_run import IndexingRun
from dowse.mcp.tools import Call

FOLLOW_SECONDS = 50.0
"""How long a call follows the indexing: clients give up after 60 s. Then it answers `indexing`, and the work goes on."""
PROGRESS_POLL_SECONDS = 0.1


async def follow_runs(call: Call, runs: Sequence[IndexingRun], names: str) -> None:
    """Tell how far some runs are until all have ended, as long as a client waits; a cancelled call stops them."""
    try:
        await _follow(call, runs, names)
    except asyncio.CancelledError:
        for run in runs:
            asyncio.get_running_loop().run_in_executor(None, run.stop)  # what is done is kept
        raise


async def _follow(call: Call, runs: Sequence[IndexingRun], names: str) -> None:
    deadline, told, is_going_on = time.monotonic() + FOLLOW_SECONDS, -1, True
    while is_going_on and time.monotonic() < deadline:
        is_going_on = any(run.is_running for run in runs)  # asked first, so that the last figures are told
        done, total = sum(run.done for run in runs), sum(run.total for run in runs)
        if done > told:
            told = done
            of = f" of {total:,}" if total else ""
            await call.progress(done, total or None, f"Indexing {names}: {done:,}{of} files")
        if is_going_on:
            await asyncio.sleep(PROGRESS_POLL_SECONDS)
