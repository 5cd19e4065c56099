"""Whether the user wants secrets masked in what is found outside of projects, which have settings of their own."""

from dowse.settings import load_settings
from dowse.store import storage_layout


def masks_secrets() -> bool:
    """As the user's own settings say; read each time, so that a change holds at once."""
    return load_settings(storage_layout.global_config())[0].mask_secrets
