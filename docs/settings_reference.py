"""The table of the settings in docs/configuration.md: keys, defaults and types are those of the code."""

import json
import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

from dowse.settings import EDITORS, SETTING_FIELDS, Settings

MEANINGS = {
    "include": "index only the files that match one of these globs",
    "exclude": "leave out the files that match one of these globs, in addition to the files that are never indexed",
    "respectGitignore": "leave out the files that git ignores",
    "maxFileSize": "leave out larger files; 1 MB is 1,048,576 bytes",
    "maxFiles": "ask for confirmation before indexing more files than this",
    "docPatterns": "files that match are documentation, which `search_docs` searches; all other files are code",
    "indexDocs": "index documentation",
    "enhancedToolDescriptions": "add hints to the descriptions of the search tools that say when to prefer them ([tools.md](tools.md))",
    "indexingStrategy": "when a running server indexes changed files: at once, when it is idle or receives a query, or after a commit",
    "lazyIdleThreshold": "seconds without a change before the strategy `lazy` indexes changed files",
    "maskSecrets": "mask keys and tokens in search hits; for sites and archives the global file decides",
    "readHistory": "read the commits of the repository for `search_history` and `dowse search --history` ([history](how-to/history.md))",
    "sharedIndex": "the [place](how-to/shared-index.md#a-checkout-that-takes-vectors) from which an index takes vectors of the model",
    "store": "with `lancedb`, also keep each chunk with its text and vectors in [LanceDB tables](how-to/shared-index.md#tables-for-other-programs), which other programs read; needs `dowse[lance]`",
    "integrityHours": "hours between full checks of the index against the files",
    "encoder": "the encoder for search by meaning ([encoders.md](encoders.md))",
    "encoderFolder": "the folder with the model of `minilm`, if it is not in one of the usual places",
    "vectorCacheMB": "size limit of the vector cache that all projects share, in megabytes; the oldest vectors are removed first",
    "editor": 'the editor that [the page](page.md#reading) opens files in, or an address of your own such as `"emacs://{path}:{line}"`',
    "dependencies": "let dowse read the installed packages that projects use ([dependencies](how-to/dependencies.md))",
    "dependenciesMB": "size limit of the indexes of packages, in megabytes; those that were not used for longest are removed first",
    "memory": "how much memory dowse uses; only the global file sets it ([below](#memory))",
}
START, END = "<!-- settings: start -->\n\n", "\n<!-- settings: end -->"


def with_settings(page: str) -> str:
    """Return the text of docs/configuration.md with the table as the code has it."""
    return re.sub(rf"{START}.*?{END}", lambda _: f"{START}{settings_table()}{END}", page, flags=re.DOTALL)


def settings_table() -> str:
    """Return a row for each key of `config.json`."""
    types, defaults = get_type_hints(Settings), Settings()
    rows = [
        f"| `{key}` | `{_default(key, getattr(defaults, field))}` | {_kind(key, types[field])} | {MEANINGS[key]} |\n"
        for key, field in SETTING_FIELDS.items()
    ]
    return "| key | default | may be | what it does |\n|---|---|---|---|\n" + "".join(rows)


def _default(key: str, value: Any) -> str:
    if key == "maxFileSize":
        return json.dumps(f"{value >> 20}MB")
    return json.dumps(value >> 20 if key.endswith("MB") else value)


def _kind(key: str, kind: Any) -> str:
    if key == "maxFileSize":
        return "a number with `KB` or `MB`, as text"
    if key == "editor":
        return f"{', '.join(f'`{json.dumps(name)}`' for name in EDITORS)}, or an address"
    if key == "sharedIndex":
        return "full path of a folder, an address such as `s3://bucket/prefix`, or null"
    if get_origin(kind) is Literal:
        *first, last = (f'`"{word}"`' for word in get_args(kind))
        return f"{', '.join(first)} or {last}"
    if kind is bool or kind is int:
        return "true or false" if kind is bool else "positive whole number"
    if get_origin(kind) is tuple:
        return "array of globs"
    names = [word for part in get_args(kind) if get_origin(part) is Literal for word in get_args(part)]
    return (
        f"{', '.join(f'`{json.dumps(name)}`' for name in names)}, or an object"
        if names
        else "full path of a folder, or null"
    )
