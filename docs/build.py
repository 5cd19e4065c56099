"""Build the documentation site: `make docs`, or `python docs/build.py FOLDER`.

The pages keep their places in the repository, so every link works here and there. Zensical turns them into HTML,
`dowse site build` makes the index of the site, and the box of the site searches that index.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parent.parent
OTHERS = (
    "LICENSE",
    "docs",
    "training",
    "bench/NOTES.md",
    "bench/FIGURES.md",
    "bench/agent.py",
    "bench/questions/lines.jsonl",
)
"""The pages beside those at the top of the repository, and the other files that pages link to."""
INDEX = "search-index.json"
_HEADING = re.compile(r'<h([1-6]) id="([^"]+)"[^>]*>(.*?)</h\1>', re.DOTALL)


def build(folder: Path) -> Path:
    """Build the site in a folder and return the folder with its pages. A warning is an error."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in (*(file.name for file in REPOSITORY.glob("*.md")), *OTHERS):
        _copy(REPOSITORY / name, folder / "pages" / name)
    shutil.copy(REPOSITORY / "docs" / "zensical.toml", folder)
    _run("zensical", "build", "--strict", at=folder)
    site = folder / "site"
    _run("dowse", "site", "build", str(site), "-o", str(site / INDEX), "--name", "dowse",
         "--domain", "dowse.invalid", at=folder)  # fmt: skip
    _run("dowse", "site", "check", str(site / INDEX), "--strict", at=folder)
    _write_search(site)
    return site


def _copy(source: Path, target: Path) -> None:
    """Copy a page or a folder of pages with what they show."""
    if source.is_dir():
        keep = ("*.md", "*.png", "*.svg", "*.webp", "*.json")
        for file in sorted(found for pattern in keep for found in source.rglob(pattern)):
            _copy(file, target / file.relative_to(source))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _run(program: str, *arguments: str, at: Path) -> None:
    """Run a program of the environment, and show what it says only if it fails."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments],
        cwd=at, env=os.environ | {"NO_COLOR": "1", "DOWSE_HOME": str(at / "home")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{program} {' '.join(arguments)}\n{done.stdout}{done.stderr}")


def _write_search(site: Path) -> None:
    """Write what the box of the site searches: the pages of our own index, cut at their headings."""
    file = site / "search.json"
    search = json.loads(file.read_text(encoding="utf-8"))
    pages = json.loads((site / INDEX).read_text(encoding="utf-8"))["pages"]
    search["items"] = [item for page in pages for item in _sections(site, page)]
    file.write_text(json.dumps(search, ensure_ascii=False), encoding="utf-8")


def _sections(site: Path, page: dict[str, Any]) -> Iterator[dict[str, Any]]:
    location = page["url"].strip("/") + "/" if page["url"] != "/" else ""
    markup = (site / location / "index.html").read_text(encoding="utf-8")
    headings = [(int(level), anchor, _plain(text)) for level, anchor, text in _HEADING.findall(markup)]
    heading, texts = (1, "", page["title"]), list[str]()
    for paragraph in page["body"].split("\n\n"):
        words = " ".join(paragraph.split())
        if headings and words == headings[0][2]:
            if texts or heading[1]:
                yield _item(page, location, heading, texts)
            heading, texts = headings.pop(0), []
        else:
            texts.append(words)
    yield _item(page, location, heading, texts)


def _item(page: dict[str, Any], location: str, heading: tuple[int, str, str], texts: list[str]) -> dict[str, Any]:
    level, anchor, title = heading
    return {
        "location": location + (f"#{anchor}" if anchor and level > 1 else ""),
        "level": level,
        "title": html.escape(title, quote=False),
        "text": "".join(f"<p>{html.escape(text, quote=False)}</p>" for text in texts),
        "path": [html.escape(page["title"].removesuffix(" - dowse"), quote=False)],
        "tags": [],
    }


def _plain(markup: str) -> str:
    """Return the text of a heading, without the link to itself."""
    without_link = re.sub(r'<a class="headerlink".*?</a>', "", markup, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", without_link)).split())


if __name__ == "__main__":
    built = build(Path(sys.argv[1] if len(sys.argv) > 1 else ".docs").absolute())
    sys.stdout.write(f"{built / 'index.html'}\n")
