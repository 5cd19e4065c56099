"""The progress of encoding as commands print it, and waiting for it to finish."""

from typing import TYPE_CHECKING

from dowse.cli.output import progress_bar, say

if TYPE_CHECKING:
    from dowse.indexes.encoding_progress import EncodingProgress
    from dowse.indexes.index import ProjectIndex


def format_encoding(encoding: "EncodingProgress") -> str:
    """Return the progress of encoding as one line."""
    encoder = encoding.encoder
    progress = f"{encoding.done:,} of {encoding.total:,} chunks encoded by {encoder}"
    if encoding.serving:
        progress += f", {encoding.serving} is used meanwhile"
    texts = {
        "complete": f"all {encoding.total:,} chunks encoded by {encoder}",
        "working": f"{progress}, the rest is being encoded",
        "waiting": f"{progress}; a server encodes the rest in the background, or run dowse index --wait",
        "off": 'off ("encoder" is "none")',
        "failed": f"{progress}; failed: {encoding.problem}",
    }
    return f"meaning: {texts[encoding.state]}"


def wait_for_vectors(project: "ProjectIndex") -> None:
    """Encode the missing vectors, with a progress bar."""
    from dowse.encoding_worker.encode_now import encode_now

    with progress_bar(f"Encoding {project.root.name}", is_expected=False) as progress:
        encode_now(project, progress, lambda text: say(f"dowse: {text}"))
