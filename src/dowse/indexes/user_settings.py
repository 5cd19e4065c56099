"""The user's own settings outside of an open index: a change of their files holds at the next call."""

from pathlib import Path

from dowse.settings import Settings, SettingsFiles
from dowse.store.storage_layout import global_settings_file, index_folder

_files: dict[tuple[Path, ...], SettingsFiles] = {}


def masks_secrets() -> bool:
    """Return whether secrets are masked in results outside of projects, which have settings of their own."""
    return _current(global_settings_file()).mask_secrets


def dependency_settings(root: Path) -> Settings:
    """Return the user's settings for the packages of a project, which are never those of a file of the project."""
    return _current(global_settings_file(), index_folder(root) / "config.json")


def reads_dependencies(root: Path) -> bool:
    """Return whether the packages that a project uses may be read."""
    return dependency_settings(root).dependencies


def _current(*files: Path) -> Settings:
    return _files.setdefault(files, SettingsFiles(*files)).current()
