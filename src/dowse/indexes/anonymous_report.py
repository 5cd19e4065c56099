"""Facts about an index for a public report of a problem: numbers, and words of dowse's own.

No text that comes from a user gets in: no path, name, pattern, address, message or line of a log. So nothing has to
be recognized and removed.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dowse.errors import DowseError
from dowse.indexes.freshness.pending_paths import file_system_of
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import list_projects
from dowse.memory_plan import is_memory_small, usable_bytes
from dowse.searching.history.history_database import read_commit_counts
from dowse.settings import SETTING_FIELDS, Settings, differing_keys
from dowse.system.platform import storage_root
from dowse.system.sandbox import sandbox_support
from dowse.types import Finding, Reason

VARIABLES = (
    "DOWSE_HOME", "DOWSE_DEBUG", "DOWSE_TOKEN", "RESEARCH_ARCHIVE_PATH", "URL_CONTENT_ARCHIVE_PATH", "SEARCH_DB_PATH",
    "HF_HOME", "HF_HUB_OFFLINE", "XDG_CACHE_HOME", "TMPDIR",
)  # fmt: skip
"""Variables that change what dowse does; a report says which are set, and no value."""

Facts = dict[str, Any]


def machine_facts() -> Facts:
    """Return what matters of this machine and of the storage root."""
    memory = usable_bytes()
    return {
        "processors": os.cpu_count(),
        "memory GB": round(memory / 1e9, 1) if memory else "unknown",
        "uses little memory": is_memory_small(),
        "file system of the storage": _file_system(storage_root()),
        "sandbox of parsers": sandbox_support().text(),
        "indexes": len(list_projects()),
        "variables set": [name for name in VARIABLES if os.environ.get(name)],
    }


def index_facts(index: ProjectIndex) -> Facts:
    """Return the state of an index, and the settings that differ from the defaults."""
    status = index.status()
    encoding = status.encoding.as_json if status.encoding else {}
    return {
        "file system": _file_system(index.root),
        "state": status.state,
        "files": {kind: totals.documents for kind, totals in status.totals.items()},
        "chunks": {kind: totals.chunks for kind, totals in status.totals.items()},
        "files expected": status.expected_files,
        "files read as plain text": len(status.unparsed),
        "size MB": round(status.size_bytes / 1e6, 1),
        "skipped": {str(reason): status.skipped[reason] for reason in Reason if status.skipped.get(reason)},
        "last run failed": status.last_error is not None,
        "warnings": len(status.warnings),
        "encoding": {key: encoding[key] for key in ("state", "done", "total") if key in encoding},
        "commits": sum(read_commit_counts(index.folder).values()),
        "settings changed": {
            key: _shown_setting(index.settings, key) for key in differing_keys(index.settings, Settings())
        },
    }


def finding_facts(findings: Iterable[Finding]) -> Facts:
    """Return how many problems each part of an index has."""
    return dict(Counter(finding.part for finding in findings))


def problem_fact(error: Exception) -> Facts:
    """Return an error without its message, which may name files."""
    return {"error": error.code if isinstance(error, DowseError) else type(error).__name__}


def _file_system(folder: Path) -> str:
    kind = file_system_of(folder).partition(".")[0]
    return kind if re.fullmatch(r"[a-z0-9]{1,12}", kind) else "unknown"


def _shown_setting(settings: Settings, key: str) -> Any:
    value = getattr(settings, SETTING_FIELDS[key])
    if isinstance(value, bool | int):
        return value
    is_word = key in ("encoder", "indexingStrategy", "memory") and isinstance(value, str)
    return value if is_word else "changed"
