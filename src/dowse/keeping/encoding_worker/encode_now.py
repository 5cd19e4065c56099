"""Encoding for a command that waits until an index has all its vectors."""

import time
from collections.abc import Callable

from dowse.errors import Failed
from dowse.indexes.encoding_progress import EncodingProgress, read_encoding_progress, record_encoding_complete
from dowse.indexes.index import ProjectIndex
from dowse.keeping.encoding_worker.client import EncodingClient
from dowse.keeping.encoding_worker.worker_options import WorkerOptions, count_cores
from dowse.types import Progress

ENCODING_PROGRESS_SECONDS = 0.3
"""Time between two checks of the progress."""


def encode_now(project: ProjectIndex, progress: Progress, say: Callable[[str], None]) -> EncodingProgress:
    """Make the missing vectors of an index; return the progress at the end.

    A process of ours makes them, or one that already does so. The result is incomplete only when files change
    faster than they are indexed. Ctrl-C keeps the vectors made so far.
    """
    root = project.root
    client = EncodingClient(WorkerOptions(cores=count_cores()), say=say)
    try:
        while True:
            status = read_encoding_progress(project.whole, project.settings)
            outcome, problem = client.outcome(root)
            if status.state in ("complete", "off") or outcome == "stuck":
                break
            if outcome == "failed" or client.is_given_up:
                raise Failed(problem or client.problem or "The vectors could not be made.")
            if client.process_id is None or outcome in ("complete", "gone"):
                client.encode_indexes([root])
            progress(status.done, status.total)
            time.sleep(ENCODING_PROGRESS_SECONDS)
    finally:
        client.stop()
    if status.state == "complete":  # the process may have been stopped before it could record that
        record_encoding_complete(project.whole, project.settings)
        if project.settings.store == "lancedb":
            project.settle()  # the tables have the new vectors
    return status
