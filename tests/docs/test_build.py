"""The documentation site is built without a warning, loads nothing from elsewhere, and searches our own index."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from docs import build
from tests.docs.test_docs import PAGES
from tests.repository import REPOSITORY

LOADED = re.compile(r"""<(?:script|img|iframe|source)[^>]+src=["']?([^"'\s>]+)|<link[^>]+href=["']?([^"'\s>]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (Path(sys.executable).parent / "zensical").exists():
        pytest.skip("ZENSICAL IS NOT INSTALLED: run make test, which installs it")
    return build.build(tmp_path_factory.mktemp("docs") / "built")


def built_page(site: Path, page: Path) -> Path:
    name = str(page.relative_to(REPOSITORY).with_suffix(""))
    return site / "index.html" if name == "README" else site / name / "index.html"


def test_every_page_is_built(site: Path) -> None:
    assert [page.name for page in PAGES if not built_page(site, page).exists()] == []
    assert not (site / "docs" / "build.py").exists()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in PAGES:
        markup = built_page(site, page).read_text(encoding="utf-8")
        for found in LOADED.findall(markup):
            target = "".join(found)
            assert not re.match(r"\w+:|//", target), (page.name, target)
            assert (built_page(site, page).parent / target).resolve().exists(), (page.name, target)
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\([\"']?https?:|@import", style.read_text(encoding="utf-8")), style.name


def test_the_box_searches_the_index_that_dowse_built(site: Path) -> None:
    index = json.loads((site / build.INDEX).read_text(encoding="utf-8"))
    items = json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]
    assert len(index["pages"]) >= len(PAGES)
    assert {"docs/" + item["location"].split("/")[1] for item in items if item["location"].startswith("docs/")}
    texts = {item["location"]: item["text"] for item in items}
    assert "&lt;" in "".join(texts.values())
    assert "thirty" not in texts["docs/configuration/#globs"]
    assert "do not match a slash" in texts["docs/configuration/#globs"]
    for location in texts:
        path, _, anchor = location.partition("#")
        assert not anchor or f'id="{anchor}"' in (site / path / "index.html").read_text(encoding="utf-8")


def test_a_broken_link_fails_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    for name in ("README.md", "docs"):
        source, target = REPOSITORY / name, tmp_path / "copy" / name
        shutil.copytree(source, target) if source.is_dir() else target.parent.mkdir(parents=True)
    (tmp_path / "copy" / "README.md").write_text("# Home\n\n[nowhere](docs/nowhere.md)\n", encoding="utf-8")
    monkeypatch.setattr(build, "REPOSITORY", tmp_path / "copy")
    monkeypatch.setattr(build, "OTHERS", ())
    toml = tmp_path / "copy" / "docs" / "zensical.toml"
    toml.write_text(
        re.sub(r"nav = \[.*?^\]\n", "", toml.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE), "utf-8"
    )
    with pytest.raises(SystemExit, match=r"(?s)zensical build.*page does not exist"):
        build.build(tmp_path / "built")
