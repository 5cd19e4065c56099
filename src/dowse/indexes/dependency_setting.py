"""The setting that lets dowse read the packages that a project uses: the user's own, never a file of the project."""

from pathlib import Path

from dowse.settings import Settings, SettingsFiles
from dowse.store.storage_layout import global_settings_file, index_folder

_files: dict[tuple[Path, Path], SettingsFiles] = {}


def dependency_settings(root: Path) -> Settings:
    """Return the user's settings for a project; a change of a file holds at the next call."""
    files = global_settings_file(), index_folder(root) / "config.json"
    return _files.setdefault(files, SettingsFiles(*files)).current()


def reads_dependencies(root: Path) -> bool:
    """Return whether the packages that a project uses may be read."""
    return dependency_settings(root).dependencies
