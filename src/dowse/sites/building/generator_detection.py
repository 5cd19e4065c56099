"""Detection of the generator of a site, and reading of its settings."""

from dowse.sites.building.astro import Astro
from dowse.sites.building.docusaurus import Docusaurus
from dowse.sites.building.generator import MARKDOWN_ENDINGS, Generator
from dowse.sites.building.hugo import Hugo
from dowse.sites.building.jekyll import Jekyll
from dowse.sites.building.mkdocs import MkDocs
from dowse.sites.building.page_parsing import read_settings
from dowse.sites.building.source_tree import SourceTree

GENERATORS: dict[str, type[Generator]] = {
    kind.name: kind for kind in (Generator, Hugo, Astro, Jekyll, Docusaurus, MkDocs)
}
HTML = "html"
GENERATOR_NAMES = (*GENERATORS, HTML)
_BY_SETTINGS: tuple[type[Generator], ...] = (Docusaurus, Astro, MkDocs, Jekyll, Hugo)
"""Tried in this order. Hugo is last, because other tools have a `config.toml` too."""


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
            return kind(tree, read_settings(file, tree.text(file)))
    return kind(tree)


def _is_hugo(tree: SourceTree) -> bool:
    """Return whether there is more of Hugo than a settings file with a common name."""
    folders = ("content", "archetypes", "layouts", "themes")
    return any(tree.has_file(f"hugo.{ending}") for ending in ("toml", "yaml", "yml", "json")) or (
        any(map(tree.has_folder, folders)) and any(tree.has_file(name) for name in Hugo.settings)
    )
