"""Progress reports about indexing to the client that asked for it."""

import asyncio
import time
from collections.abc import Sequence

from dowse.indexes.remaining_time import MIN_SECONDS, MIN_SHARE, format_seconds_left
from dowse.keeping.indexing_run import IndexingRun
from dowse.mcp.tools import Call

FOLLOW_SECONDS = 50.0
"""How long a call follows the indexing, since clients give up after 60 s. Then it replies `indexing`; the work goes on."""
PROGRESS_POLL_SECONDS = 0.1


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
