"""Pictures are read under the policy of their root, and nothing else is taken for one."""

from pathlib import Path

import pytest

from dowse.settings import Settings
from dowse.sources.document_files import DocumentFiles
from dowse.sources.project_files import MAX_PICTURE_BYTES, ProjectFiles, picture_type
from dowse.types import Verdict
from tests.sample_data import write_tree
from tests.sources.test_denylist import KEY

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside.png").write_bytes(PNG)
    found = write_tree(
        tmp_path / "shop",
        {
            "docs/logo.png": PNG, "docs/logo.svg": "<svg/>", "docs/LOGO.JPG": b"\xff\xd8\xff\xe0", "docs/text.png": "words",
            "docs/large.png": PNG + bytes(MAX_PICTURE_BYTES), "build.png": PNG, "node_modules/x.png": PNG, ".ssh/key.png": PNG,
            ".gitignore": "build.png\n", "docs/key.svg": f"<svg>{KEY}</svg>",
        },
    )  # fmt: skip
    (found / "docs" / "link.png").symlink_to(tmp_path / "outside.png")
    return found


@pytest.mark.parametrize("files", [ProjectFiles, DocumentFiles])
def test_pictures_of_allowed_folders_are_read(root: Path, files: type[ProjectFiles]) -> None:
    source = files(root, Settings())
    assert source.read_picture("docs/logo.png") == (PNG, "image/png")
    assert source.read_picture("docs/logo.svg") == (b"<svg/>", "image/svg+xml")
    assert source.read_picture("docs/LOGO.JPG") == (b"\xff\xd8\xff\xe0", "image/jpeg")


@pytest.mark.parametrize("files", [ProjectFiles, DocumentFiles])
@pytest.mark.parametrize(
    "path",
    [
        "docs/text.png", "docs/large.png", "build.png", "node_modules/x.png", ".ssh/key.png", "docs/link.png", "docs/none.png",
        "../outside.png", "docs/../docs/logo.png", "docs", "", "docs/logo.png\0", ".gitignore", "docs/key.svg",
    ],
)  # fmt: skip
def test_everything_else_is_refused(root: Path, files: type[ProjectFiles], path: str) -> None:
    assert isinstance(files(root, Settings()).read_picture(path), Verdict)


def test_the_settings_of_the_user_hold_for_pictures(root: Path) -> None:
    assert isinstance(ProjectFiles(root, Settings(include=("src/**",))).read_picture("docs/logo.png"), Verdict)
    assert isinstance(ProjectFiles(root, Settings(exclude=("docs/**",))).read_picture("docs/logo.png"), Verdict)
    assert picture_type("a/b.tiff") is None
