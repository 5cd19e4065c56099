"""The upgrade of a root's index from the layout in which its documents had a second index."""

import shutil
from pathlib import Path

from dowse.settings import Settings, differing_keys, load_settings
from dowse.store.storage_layout import old_documents_folder, read_project
from dowse.types import View


def views_to_index(folder: Path, asked: View, kept: View) -> View:
    """Return the views that a run has to index: those of the index, those that are asked for, and those of older files.

    An index whose catalog was lost has the views that its metadata names.
    """
    known = read_project(folder) if not kept else None
    old = View.DOCUMENTS if old_documents_folder(folder) else View(0)
    return asked | kept | old | (known.views if known else View(0))


def retire_old_documents(old: Path, settings: Settings) -> list[str]:
    """Remove the second index, whose documents are now in the first; return the settings that no longer count."""
    messages = []
    if (old / "config.json").exists():
        theirs, _ = load_settings(old / "config.json")
        differing = differing_keys(theirs, settings)
        if differing:
            kept = old.with_name("config.documents.json")
            shutil.copyfile(old / "config.json", kept)
            messages.append(
                f"The documents had settings of their own. Those of the project count for both now; they differ in "
                f"{', '.join(differing)}. The old file is kept as {kept.name}."
            )
    shutil.rmtree(old, ignore_errors=True)
    return messages
