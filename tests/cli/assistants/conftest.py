"""A home folder with the configuration files of assistants."""

from pathlib import Path

import pytest

from dowse.cli.assistants.known_assistants import Places


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """The folders of a user who has nothing yet."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("PATH", str(tmp_path / "no-programs"))
    return Places.of_this_user()
