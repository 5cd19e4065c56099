"""The user's own settings outside of an open index: a change of their files holds at the next call."""

from pathlib import Path

from dowse.settings import Settings, SettingsFiles
from dowse.store.storage_layout import global_settings_file, index_folder

_files: dict[tuple[Path, ...], SettingsFiles] = {}


def masks_secrets() -> bool:
    """Return whether secrets are masked in results outside of projects, which have settings of their own."""
    return user_settings().mask_secrets


def user_settings(root: Path | None = None) -> Settings:
    """Return the user's settings, for a root if one is given; they are never those of a file of the project."""
    files = (global_settings_file(), *([index_folder(root) / "config.json"] if root else []))
    return _files.setdefault(files, SettingsFiles(*files)).current()


def reads_dependencies(root: Path) -> bool:
    """Return whether the packages that a project uses may be read."""
    return user_settings(root).dependencies
