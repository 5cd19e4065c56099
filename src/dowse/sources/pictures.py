"""Pictures that documents show: read under the policy of their root, though they are no text."""

from dowse.sources.path_decision import decide_normalized_path, verdict_for_os_error
from dowse.sources.policy import Folder, Policy
from dowse.system.platform import open_beneath, read_at_most
from dowse.types import Reason, Verdict

MAX_PICTURE_BYTES = 10 * 1024 * 1024
_SIGNATURES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",), "image/jpeg": (b"\xff\xd8\xff",), "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",), "image/svg+xml": (b"<",),
}  # fmt: skip
"""The types of pictures that are shown, each with the bytes with which such a file begins."""
_TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".svg": "image/svg+xml",
}  # fmt: skip
_NO_TEXT = (Reason.BINARY, Reason.NOT_INCLUDED)
"""What the policy says against every picture: a list of files that are no text, or of those that are documents."""


def picture_type(path: str) -> str | None:
    """Return the type of a picture by its name; None for any other file."""
    return _TYPES.get(path[path.rfind(".") :].lower())


def read_picture(policy: Policy, path: str) -> tuple[bytes, str] | Verdict:
    """Return the bytes of a picture and its type, or the verdict against it."""
    kind = picture_type(path)
    if kind is None or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        return Verdict(path, Reason.NOT_INCLUDED, detail="not a picture")
    decision = decide_normalized_path(policy, path)
    if isinstance(decision, Folder) or (isinstance(decision, Verdict) and decision.reason not in _NO_TEXT):
        return Verdict(path, None, detail="a folder") if isinstance(decision, Folder) else decision
    if not policy.includes(path):
        return Verdict(path, Reason.NOT_INCLUDED)
    try:
        with open_beneath(policy.root, path) as descriptor:
            data = read_at_most(descriptor, MAX_PICTURE_BYTES + 1)
    except OSError as error:
        return verdict_for_os_error(path, error)
    if len(data) > MAX_PICTURE_BYTES:
        return Verdict(path, Reason.TOO_LARGE)
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_SIGNATURES[kind]):
        return Verdict(path, Reason.NOT_INCLUDED, detail="not a picture")
    return policy.key_refusal(path, data) or (data, kind)
