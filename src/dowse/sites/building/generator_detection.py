"""Detection of the generator of a site, and reading of its settings."""

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
"""Tried in this order. Hugo is last, because other tools have a `config.toml` too."""

_PROGRAM_SETTING = re.compile(
    r"""\b(title|tagline|description|url|baseUrl|site|base)\s*:\s*(['"`])((?:(?!\2)[^\\\n])*)\2"""
)
_PROGRAM_ROUTE = r"""\b{part}\s*:\s*\{{(?:[^{{}}]|\{{[^{{}}]*\}})*?\brouteBasePath\s*:\s*(['"`])([^'"`\n]*)\1"""


def detect_generator(tree: SourceTree) -> str:
    """Return the name of the generator that the files of a folder belong to."""
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
    """Return the generator with this name, with its settings."""
    kind = GENERATORS[name]
    for file in kind.settings:
        if tree.has_file(file):
            return kind(tree, _read_settings(tree, file))
    return kind(tree)


def _is_hugo(tree: SourceTree) -> bool:
    """Return whether there is more of Hugo than a settings file with a common name."""
    folders = ("content", "archetypes", "layouts", "themes")
    return any(tree.has_file(f"hugo.{ending}") for ending in ("toml", "yaml", "yml", "json")) or (
        any(map(tree.has_folder, folders)) and any(tree.has_file(name) for name in Hugo.settings)
    )


def _read_settings(tree: SourceTree, file: str) -> dict[str, Any]:
    text = tree.text(file)
    if file.endswith((".js", ".ts", ".mjs", ".mts", ".cjs")):
        return _read_program_settings(text)
    try:
        if file.endswith(".toml"):
            return tomllib.loads(text)
        if file.endswith(".json"):
            value = json.loads(text)
            return value if isinstance(value, dict) else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{file} cannot be read ({error}). Correct it, or name another generator with --generator."
        ) from error
    settings = parse_yaml(text) if text.strip() else {}
    if settings is None:
        raise UsageError(f"{file} cannot be read. Correct it, or name another generator with --generator.")
    return settings


def _read_program_settings(text: str) -> dict[str, Any]:
    """Return the literal values of settings written in JavaScript. The program is searched, never run."""
    text = re.sub(r"^\s*//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL | re.MULTILINE)
    settings: dict[str, Any] = {}
    for match in _PROGRAM_SETTING.finditer(text):
        settings.setdefault(match[1], match[3])
    for part in ("docs", "blog"):
        if route := re.search(_PROGRAM_ROUTE.format(part=part), text):
            settings[f"{part}Route"] = route[2].strip("/")
    settings["starlight"] = "starlight" in text
    return settings
