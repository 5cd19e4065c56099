"""Files open in the editor that the settings name."""

from pathlib import Path

import pytest

from dowse.page.item_links import fill_in
from dowse.settings import EDITORS, load_settings


def test_an_address_has_the_path_as_addresses_write_it() -> None:
    file = Path("/home/a b/x#1.py")
    assert fill_in(EDITORS["vscode"], file) == "vscode://file/home/a%20b/x%231.py:{line}"
    assert fill_in(EDITORS["idea"], file) == "idea://open?file=/home/a%20b/x%231.py&line={line}"
    assert fill_in(EDITORS["none"], file) == ""


@pytest.mark.parametrize(
    ("value", "is_right"),
    [
        ('"idea"', True), ('"none"', True), ('"emacs://open?f={path}&l={line}"', True), ('"javascript:alert({path})"', False),
        ('"https://x.org/{path}"', False), ('"emacs://open"', False), ("3", False), ('"nano"', False),
    ],
)  # fmt: skip
def test_an_editor_is_a_name_or_an_address_that_no_browser_runs(tmp_path: Path, value: str, is_right: bool) -> None:
    file = tmp_path / "config.json"
    file.write_text(f'{{"editor": {value}}}', encoding="utf-8")
    settings, warnings = load_settings(file)
    assert (settings.editor != "vscode", not warnings) == (is_right, is_right)
