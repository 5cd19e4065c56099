"""`python -m tests.page.screenshots`: renew the pictures of the page in docs/images, from the files of this repository."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.browser import Browser
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import wait_until
from tests.page.conftest import get, shown

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "images"


class Look(NamedTuple):
    """The size of a window, and whether its user prefers dark colours."""

    width: int
    height: int
    is_dark: bool = False


LOOKS = {"light": Look(1400, 900), "dark": Look(1400, 900, is_dark=True), "narrow": Look(390, 844)}
SEARCH = "/?q=where+is+a+file+cut+into+chunks+by+its+syntax"
PICTURES = {
    "page-search": ("light", SEARCH),
    "page-search-dark": ("dark", SEARCH),
    "page-search-narrow": ("narrow", SEARCH),
    "page-file": ("light", "/read?id=project/dowse/src/dowse/page/markup.py&symbol=render#L57-L67"),
    "page-markdown": ("light", "/read?id=project/dowse/docs/page.md"),
    "page-folder": ("light", "/read?id=project/dowse/src/dowse/parsing/"),
    "page-status": ("light", "/status"),
}
"""The pictures that stand in the documentation."""


def take_screenshot(browser: Browser, url: str) -> bytes:
    """Return a picture of an address in WebP, with everything that its script loads later."""
    browser.visit(url)
    browser.wait_for("document.querySelector('[data-part], .block[data-plain]') === null")
    return browser.screenshot("webp")


def copy_repository(folder: Path) -> None:
    """Copy the files that git knows, so that the pictures show nothing else."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def main() -> int:
    """Index the files of this repository, and write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="demo-") as name, Browser() as browser:
        home, root = Path(name, "home"), Path(name, "dowse")
        copy_repository(root)
        command = [sys.executable, "-m", "dowse", "index", str(root)]
        subprocess.run(command, env={**os.environ, "DOWSE_HOME": str(home / "dowse")}, stdout=sys.stderr, check=True)
        with HttpServer(root, home=home) as server:
            get(server, "/results?q=page&source=documents")
            wait_until(lambda: 'dowse</a> <span class="about">ready' in shown(get(server, "/status")))
            for _, path in PICTURES.values():
                take_screenshot(browser, f"http://{server.name}{path}")  # the next time, every passage has its colours
            for picture, (look, path) in PICTURES.items():
                browser.look_like(*LOOKS[look][:2], is_dark=LOOKS[look].is_dark)
                data = take_screenshot(browser, f"http://{server.name}{path}")
                (FOLDER / f"{picture}.webp").write_bytes(data)
                print(f"{picture}.webp: {len(data):,} bytes", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
