"""The setting that masks secrets in results outside of projects; projects have settings of their own."""

from pathlib import Path

from dowse.settings import SettingsFiles
from dowse.store.storage_layout import global_settings_file

_files: dict[Path, SettingsFiles] = {}


def masks_secrets() -> bool:
    """Return the user's setting; a change of the file holds at the next call."""
    file = global_settings_file()
    return _files.setdefault(file, SettingsFiles(file)).current().mask_secrets
