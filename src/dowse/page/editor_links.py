"""Addresses that open a line of a file in the editor of the user."""

from pathlib import Path
from urllib.parse import quote

from dowse.federation.source_list import SourceList
from dowse.settings import EDITORS


async def editor_address(sources: SourceList, source: str, path: str) -> str:
    """Return the address for a file, with `{line}` in the place of the line; empty if the user has no editor."""
    root = sources.root(source)
    if root is None:
        return ""
    editor = await root.served.ask(lambda index: index.settings.editor, root.main_view)
    return fill_in(EDITORS.get(editor, editor), root.served.root / path)


def fill_in(template: str, file: Path) -> str:
    """Return an address with the path of a file."""
    written = quote(file.as_posix(), safe="/:", errors="surrogateescape")
    return template.replace("{path}", written if written.startswith("/") else f"/{written}")
