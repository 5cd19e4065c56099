"""The decision about paths that need not exist any more, by the rules of today and by their names alone."""

import os

from dowse.sources.policy import RULE_NAMES, Folder, Form, Policy
from dowse.types import Reason, Verdict

_MAX_REMEMBERED = 200_000


class PastPaths:
    """The paths of earlier commits that may be shown: no rule of the deny list, the settings or an ignore file is against them."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._folders: dict[str, Folder | None] = {"": policy.open_root(self._rule_names(""))}
        self._allowed: dict[str, bool] = {}

    def allows(self, path: str) -> bool:
        """Return whether a path relative to the root may be shown."""
        known = self._allowed.get(path)
        if known is None:
            if len(self._allowed) > _MAX_REMEMBERED:
                self._allowed.clear()
            known = self._allowed[path] = self._decide(path)
        return known

    def is_secret(self, text: str) -> bool:
        """Return whether a text of an earlier commit is a private key, which is never shown."""
        return self._policy.key_refusal("", text.encode("utf-8", "replace")) is not None

    def _decide(self, path: str) -> bool:
        parent, _, name = path.rpartition("/")
        folder = self._enter(parent)
        if folder is None or name in ("", ".", "..") or self._policy.refusal(folder, name, Form.FILE):
            return False
        kind = self._policy.kind_of(path, 0)
        return not isinstance(kind, Verdict) or kind.reason is not Reason.NOT_INCLUDED

    def _enter(self, path: str) -> Folder | None:
        """Return a folder, which need not exist; None if it is refused."""
        if path in self._folders:
            return self._folders[path]
        parent, _, name = path.rpartition("/")
        above, entered = self._enter(parent), None
        if above is not None and name not in ("", ".", "..") and not self._policy.refusal(above, name, Form.FOLDER):
            found = self._policy.enter(above, name, self._rule_names(path))
            entered = None if isinstance(found, Verdict) else found
        self._folders[path] = entered
        return entered

    def _rule_names(self, path: str) -> list[str]:
        folder = self._policy.root / path
        return [name for name in RULE_NAMES if os.path.lexists(folder / name)]
