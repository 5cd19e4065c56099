"""For those who wait until an index has all its vectors: made by a process of our own, or by the one that is at it."""

import time
from collections.abc import Callable

from dowse.encoding_worker.client import EncodingClient
from dowse.encoding_worker.messages import IndexKey
from dowse.encoding_worker.worker_options import WorkerOptions
from dowse.errors import Failed
from dowse.indexes.encoding_progress import EncodingProgress, encoding_of
from dowse.indexes.index import ProjectIndex
from dowse.types import Progress

ENCODING_PROGRESS_SECONDS = 0.3
"""How often it is looked how far it is."""


def encode_now(project: ProjectIndex, progress: Progress, say: Callable[[str], None]) -> EncodingProgress:
    """Make the vectors that an index lacks, on battery as well; how far that came.

    All is done, or the files that are left change faster than they are indexed. Ctrl-C keeps what is done.
    """
    place = IndexKey(project.root, project.what)
    encoder = EncodingClient(WorkerOptions(ignores_battery=True), say=say)
    try:
        while True:
            found = encoding_of(project.store, project.settings)
            outcome, problem = encoder.outcome(place)
            if found.state in ("complete", "off") or outcome == "stuck":
                return found
            if outcome == "failed" or encoder.is_given_up:
                raise Failed(problem or encoder.problem or "The vectors could not be made.")
            if encoder.process_id is None or outcome in ("complete", "gone"):
                encoder.work_on([place])
            progress(found.done, found.total)
            time.sleep(ENCODING_PROGRESS_SECONDS)
    finally:
        encoder.stop()
