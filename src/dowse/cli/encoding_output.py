"""What commands say of the vectors of an index, and how they wait for them."""

from typing import TYPE_CHECKING

from dowse.cli.output import progress_bar, say

if TYPE_CHECKING:
    from dowse.indexes.encoding_progress import EncodingProgress
    from dowse.indexes.index import ProjectIndex


def meaning_line(encoding: "EncodingProgress") -> str:
    """How far the vectors are, in a line."""
    far = f"{encoding.done:,} of {encoding.total:,} chunks encoded by {encoding.encoder}"
    if encoding.serving:
        far += f", {encoding.serving} serves meanwhile"
    said = {
        "complete": f"all {encoding.total:,} chunks encoded by {encoding.encoder}",
        "working": f"{far}, the rest is being encoded",
        "waiting": f"{far}; a server encodes the rest in the background, dowse index --wait does it now",
        "paused": f"{far}; paused: {encoding.problem}",
        "off": 'off ("encoder" is "none")',
        "failed": f"{far}; failed: {encoding.problem}",
    }
    return f"meaning: {said[encoding.state]}"


def wait_for_vectors(project: "ProjectIndex") -> None:
    """Make the vectors that lack, with a bar for whoever watches."""
    from dowse.encoding_worker.encode_now import encode_now

    with progress_bar(f"Encoding {project.root.name}", is_expected=False) as progress:
        encode_now(project, progress, lambda text: say(f"dowse: {text}"))
