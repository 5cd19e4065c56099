"""Which generator a folder belongs to, and what its settings say."""

import json
import re
import tomllib
from typing import Any

from dowse.errors import UsageError
from dowse.reading.front_matter import parse_yaml
from dowse.sites.building.astro import Astro
from dowse.sites.building.docusaurus import Docusaurus
from dowse.sites.building.generator import MARKDOWN_ENDINGS, Generator
from dowse.sites.building.hugo import Hugo
from dowse.sites.building.jekyll import Jekyll
from dowse.sites.building.mkdocs import MkDocs
from dowse.sites.building.source_tree import SourceTree

GENERATORS: dict[str, type[Generator]] = {
    kind.name: kind for kind in (Generator, Hugo, Astro, Jekyll, Docusaurus, MkDocs)
}
HTML = "html"
GENERATOR_NAMES = (*GENERATORS, HTML)
_BY_SETTINGS: tuple[type[Generator], ...] = (Docusaurus, Astro, MkDocs, Jekyll, Hugo)
"""Asked in this order: `config.toml`, which may be Hugo's, may be anybody's."""

_PROGRAM_SETTING = re.compile(
    r"""\b(title|tagline|description|url|baseUrl|site|base)\s*:\s*(['"`])((?:(?!\2)[^\\\n])*)\2"""
)
_PROGRAM_ROUTE = r"""\b{part}\s*:\s*\{{(?:[^{{}}]|\{{[^{{}}]*\}})*?\brouteBasePath\s*:\s*(['"`])([^'"`\n]*)\1"""


def detect_generator(tree: SourceTree) -> str:
    """The name of the generator that the files speak for."""
    for kind in _BY_SETTINGS:
        if any(tree.has_file(name) for name in kind.settings) and (kind is not Hugo or _is_hugo(tree)):
            return kind.name
    if _is_hugo(tree) and tree.has_folder("content"):
        return Hugo.name
    if (
        next(tree.files("", MARKDOWN_ENDINGS), None) is None
        and next(tree.files("", (".html", ".htm")), None) is not None
    ):
        return HTML
    is_built = tree.has_file("index.html") and not any(tree.has_file(f"{name}.md") for name in ("index", "README"))
    return HTML if is_built else Generator.name


def make_generator(tree: SourceTree, name: str) -> Generator:
    """The generator of a name with its settings."""
    kind = GENERATORS[name]
    for file in kind.settings:
        if tree.has_file(file):
            return kind(tree, _read_settings(tree, file))
    return kind(tree)


def _is_hugo(tree: SourceTree) -> bool:
    """Whether there is more of Hugo than a settings file of a common name."""
    signs = ("content", "archetypes", "layouts", "themes")
    return any(tree.has_file(f"hugo.{ending}") for ending in ("toml", "yaml", "yml", "json")) or (
        any(map(tree.has_folder, signs)) and any(tree.has_file(name) for name in Hugo.settings)
    )


def _read_settings(tree: SourceTree, file: str) -> dict[str, Any]:
    text = tree.text(file)
    if file.endswith((".js", ".ts", ".mjs", ".mts", ".cjs")):
        return _read_program_settings(text)
    try:
        if file.endswith(".toml"):
            return tomllib.loads(text)
        if file.endswith(".json"):
            found = json.loads(text)
            return found if isinstance(found, dict) else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{file} cannot be read ({error}). Correct it, or name another generator with --generator."
        ) from error
    found = parse_yaml(text) if text.strip() else {}
    if found is None:
        raise UsageError(f"{file} cannot be read. Correct it, or name another generator with --generator.")
    return found


def _read_program_settings(text: str) -> dict[str, Any]:
    """What settings that are a program state in plain words; it is read and never run."""
    text = re.sub(r"^\s*//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL | re.MULTILINE)
    found: dict[str, Any] = {}
    for match in _PROGRAM_SETTING.finditer(text):
        found.setdefault(match[1], match[3])
    for part in ("docs", "blog"):
        if route := re.search(_PROGRAM_ROUTE.format(part=part), text):
            found[f"{part}Route"] = route[2].strip("/")
    found["starlight"] = "starlight" in text
    return found
