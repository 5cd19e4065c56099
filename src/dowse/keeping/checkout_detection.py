"""Detection of git checkouts, for the strategy that indexes on commits."""

from pathlib import Path

from dowse.freshness.git_head import Head, read_head
from dowse.freshness.strategies import QUIET_SECONDS

CHECKOUT_SECONDS = 5.0
"""Files that change this soon after HEAD moved belong to the checkout; one of 2,000 files takes a second."""


class CheckoutDetector:
    """Watches git's HEAD of one root."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._head: Head | None = read_head(root)
        self._moved_at = -CHECKOUT_SECONDS

    def has_just_ended(self, now: float, last_event_at: float) -> bool:
        """Return whether HEAD moved a moment ago and no file changed since; git writes files before and after it."""
        head = read_head(self._root)
        if head != self._head:
            self._head, self._moved_at = head, now
        is_recent = now - self._moved_at <= CHECKOUT_SECONDS
        return is_recent and now - max(self._moved_at, last_event_at) >= QUIET_SECONDS
