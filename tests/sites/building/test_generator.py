"""For the layout of each generator, the builder makes the same URLs as the generator."""

import json
from pathlib import Path
from typing import Any

import pytest

from dowse.sites.building.builder import BuiltSite, build
from dowse.sites.building.generator_detection import detect_generator, make_generator
from dowse.sites.building.generator_settings import GeneratorSettings
from dowse.sites.building.source_tree import SourceTree
from dowse.sites.inspection import inspect_bytes
from tests.sample_data import write_tree

SETTINGS = GeneratorSettings(name="Site", domain="site.example")


def built(root: Path, settings: GeneratorSettings = SETTINGS) -> tuple[dict[str, dict[str, Any]], BuiltSite]:
    """Build an index, check it strictly and return its pages by URL."""
    done = build(root, settings)
    assert inspect_bytes(done.data).problems == ()
    return {page["url"]: page for page in json.loads(done.data)["pages"]}, done


def page(text: str = "Some words of text.", **matter: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in matter.items())
    return f"---\n{lines}---\n\n{text}\n" if matter else f"{text}\n"


def toml(text: str = "Some words of text.", **matter: str) -> str:
    return "+++\n" + "".join(f"{name} = {value}\n" for name, value in matter.items()) + f"+++\n\n{text}\n"


def test_plain_markdown(tmp_path: Path) -> None:
    files = {
        "README.md": "# Welcome\n\nHome words.",
        "guide/index.md": "# The guide\n\nGuide words.",
        "guide/First Steps.md": page(title="Steps"),
        "guide/named.md": page(slug="other-name", title="Named"),
        "stated.md": page(permalink="/somewhere/else/", title="Stated"),
        "draft.md": page(draft="true"),
        "hidden.md": page(published="false"),
        "day.md": page(published="2020-01-02", title="Dated"),
        "later.md": page(date="2999-01-01"),
        "empty.md": "\n",
        ".obsidian/x.md": "secret",
        "node_modules/x/README.md": "theirs",
        "component.mdx": "import X from './x'\n\n# Component\n\n<X>Inside words.</X>\n",
    }
    pages, done = built(write_tree(tmp_path, files))
    assert done.generator == "markdown"
    assert {url: one["title"] for url, one in pages.items()} == {
        "/": "Welcome",
        "/guide": "The guide",
        "/guide/First%20Steps": "Steps",
        "/guide/other-name": "Named",
        "/somewhere/else": "Stated",
        "/day": "Dated",
        "/component": "Component",
    }
    assert "Inside words." in pages["/component"]["body"]
    assert "import" not in pages["/component"]["body"]
    assert pages["/day"]["date"] == "2020-01-02"
    assert done.skipped == {
        "it is a draft": ["draft.md", "hidden.md"],
        "its date is in the future": ["later.md"],
        "it has no text": ["empty.md"],
    }


def test_drafts_and_pages_to_come_are_taken_where_that_is_wanted(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": page(draft="true"), "b.md": page(date="2999-01-01")})
    pages, _ = built(tmp_path, GeneratorSettings(name="S", domain="s.example", drafts=True, future=True))
    assert set(pages) == {"/a", "/b"}


HUGO = {
    "hugo.toml": 'baseURL = "https://hugo.example/sub/"\ntitle = "Hugo Site"\n[params]\ndescription = "About it"\n'
    '[permalinks]\nnews = "/:year/:month/:slug/"\n',
    "content/_index.md": toml(title='"Home"'),
    "content/about.md": toml(title='"About"', date="2024-03-02T10:00:00+02:00", tags='["a", "b"]', categories='["c"]'),
    "content/posts/_index.md": page(title="Posts"),
    "content/posts/My First Post.md": page(title="First", date="2020-05-06", description="What it says."),
    "content/posts/slugged.md": page(title="Slugged", slug="another-name"),
    "content/posts/stated.md": page(title="Stated", url="/here/it/is/"),
    "content/posts/bundle/index.md": page(
        'Before {{< figure src="a.png" >}} after {{% note %}}noted{{% /note %}}.', title="Bundle"
    ),
    "content/posts/bundle/part.md": page(title="Part"),
    "content/posts/draft.md": toml(title='"Draft"', draft="true"),
    "content/posts/old.md": page(title="Old", expiryDate="2001-01-01"),
    "content/posts/never.md": "---\ntitle: Never\nbuild:\n  render: never\n---\n\nWords.\n",
    "content/news/thing.md": page(title='"A Thing: happened!"', date="2021-02-03"),
    "content/json.md": '{"title": "Json", "date": "2019-09-09"}\nWords.\n',
    "README.md": "not a page",
    "layouts/x.md": "not a page",
}


def test_hugo(tmp_path: Path) -> None:
    pages, done = built(write_tree(tmp_path, HUGO), GeneratorSettings())
    assert done.generator == "hugo"
    assert (done.identity.name, done.identity.domain) == ("Hugo Site", "hugo.example")
    assert done.identity.description == "About it"
    assert {url: one["title"] for url, one in pages.items()} == {
        "/sub": "Home",
        "/sub/about": "About",
        "/sub/posts": "Posts",
        "/sub/posts/my-first-post": "First",
        "/sub/posts/another-name": "Slugged",
        "/sub/here/it/is": "Stated",
        "/sub/posts/bundle": "Bundle",
        "/sub/2021/02/a-thing-happened": "A Thing: happened!",
        "/sub/json": "Json",
    }
    about = pages["/sub/about"]
    assert (about["date"], about["topics"]) == ("2024-03-02", ["a", "b", "c"])
    assert pages["/sub/posts/my-first-post"]["abstract"] == "What it says."
    assert pages["/sub/posts/bundle"]["body"] == "Before after noted."
    assert set(done.skipped) == {
        "it belongs to the page of its folder",
        "it is a draft",
        "it has expired",
        "it is not rendered",
    }


def test_hugo_in_several_languages(tmp_path: Path) -> None:
    files = {
        "hugo.yaml": "title: Site\nbaseURL: https://x.example\ndefaultContentLanguage: en\n"
        "languages:\n  en:\n    title: English\n  fr:\n    title: Français\n",
        "content/about.md": page(title="About"),
        "content/about.fr.md": page(title="À propos"),
        "content/post/index.fr.md": page(title="Article"),
    }
    pages, done = built(write_tree(tmp_path, files), GeneratorSettings())
    assert {url: one["title"] for url, one in pages.items()} == {
        "/about": "About",
        "/fr/about": "À propos",
        "/fr/post": "Article",
    }
    assert done.identity.name == "English"


def test_hugo_with_a_folder_for_each_language_and_pages_of_html(tmp_path: Path) -> None:
    files = {
        "config.toml": 'title = "S"\nbaseURL = "https://x.example"\nuglyURLs = true\n'
        '[languages.en]\ncontentDir = "content/en"\n[languages.de]\ncontentDir = "content/de"\n',
        "content/en/a/b.md": page(title="B"),
        "content/de/a/b.md": page(title="B deutsch"),
        "archetypes/default.md": "x",
    }
    pages, _ = built(write_tree(tmp_path, files), GeneratorSettings())
    assert {url: one["title"] for url, one in pages.items()} == {"/a/b.html": "B", "/de/a/b.html": "B deutsch"}


JEKYLL = {
    "_config.yml": "title: Jekyll Site\nurl: https://jekyll.example\nbaseurl: /blog\nexclude: [drafty]\n"
    "collections:\n  recipes:\n    output: true\n  hidden:\n    output: false\n",
    "index.md": page(title="Home"),
    "about.md": page(title="About", permalink="/about/"),
    "plain/page.md": page(title="Page"),
    "_posts/2020-01-02-hello-world.md": page(
        "See {% include x.html %}{{ page.title }} here.", title="Hello", tags="one two"
    ),
    "_posts/2021-03-04-sorted.md": page(
        title="Sorted", categories="[News, Big Things]", date="2021-03-05 10:00:00 +0100"
    ),
    "sports/_posts/2022-01-01-match.md": page(title="Match"),
    "_posts/2999-01-01-later.md": page(title="Later"),
    "_posts/undated.md": page(title="Undated"),
    "_drafts/idea.md": page(title="Idea"),
    "_recipes/soup.md": page(title="Soup"),
    "_hidden/x.md": page(title="X"),
    "drafty/x.md": page(title="X"),
    "README.md": "No front matter.",
    "unpublished.md": page(title="U", published="false"),
}


def test_jekyll(tmp_path: Path) -> None:
    pages, done = built(write_tree(tmp_path, JEKYLL), GeneratorSettings())
    assert done.generator == "jekyll"
    assert {url: one["title"] for url, one in pages.items()} == {
        "/blog": "Home",
        "/blog/about": "About",
        "/blog/plain/page.html": "Page",
        "/blog/2020/01/02/hello-world.html": "Hello",
        "/blog/news/big-things/2021/03/05/sorted.html": "Sorted",
        "/blog/sports/2022/01/01/match.html": "Match",
        "/blog/recipes/soup.html": "Soup",
    }
    assert pages["/blog/2020/01/02/hello-world.html"]["date"] == "2020-01-02"
    assert pages["/blog/2020/01/02/hello-world.html"]["topics"] == ["one", "two"]
    assert pages["/blog/2020/01/02/hello-world.html"]["body"] == "See here."
    assert pages["/blog/news/big-things/2021/03/05/sorted.html"]["topics"] == ["News", "Big Things"]


@pytest.mark.parametrize(
    ("style", "url"),
    [
        ("pretty", "/cats/2020/01/02/a-post"),
        ("none", "/cats/a-post.html"),
        ("/:year/:i_month/:title/", "/2020/1/a-post"),
        ("/blog/:slug.html", "/blog/a-post.html"),
    ],
)
def test_jekyll_s_styles_of_permalinks(tmp_path: Path, style: str, url: str) -> None:
    files = {"_config.yml": f"permalink: {style}\n", "_posts/2020-01-02-a-post.md": page(title="T", category="cats")}
    assert list(built(write_tree(tmp_path, files))[0]) == [url]


ASTRO = {
    "astro.config.mjs": "import { defineConfig } from 'astro/config';\n"
    "export default defineConfig({ site: 'https://astro.example', base: '/docs' });\n",
    "src/pages/index.md": page(title="Home"),
    "src/pages/about/team.mdx": "import X from 'x'\n\n# Team\n\nTeam words.\n",
    "src/pages/_draft.md": page(title="Hidden"),
    "src/pages/blog/[slug].md": page(title="Template"),
    "src/content/blog/First Post.md": page(title="First", pubDate="Jul 08 2022", description="D"),
    "src/content/blog/nested/index.md": page(title="Nested"),
    "src/content/blog/slugged.md": page(title="Slugged", slug="own/way"),
    "src/content/blog/draft.md": page(title="Draft", draft="true"),
    "src/content/config.md": page(title="No collection"),
    "README.md": "not a page",
}


def test_astro(tmp_path: Path) -> None:
    pages, done = built(write_tree(tmp_path, ASTRO), GeneratorSettings(name="Astro"))
    assert done.generator == "astro"
    assert done.identity.domain == "astro.example"
    assert {url: one["title"] for url, one in pages.items()} == {
        "/docs": "Home",
        "/docs/about/team": "Team",
        "/docs/blog/first-post": "First",
        "/docs/blog/nested": "Nested",
        "/docs/blog/own/way": "Slugged",
    }
    assert pages["/docs/blog/first-post"]["date"] == "2022-07-08"


def test_astro_s_starlight_has_its_documents_at_the_top(tmp_path: Path) -> None:
    files = {
        "astro.config.mjs": "import starlight from '@astrojs/starlight';\n"
        "export default { integrations: [starlight({ title: 'My Docs' })] }\n",
        "src/content/docs/index.mdx": page(title="Start"),
        "src/content/docs/guides/Setting Up.md": page(":::tip[Careful]\nMind the gap.\n:::", title="Setting up"),
    }
    pages, done = built(write_tree(tmp_path, files), GeneratorSettings(domain="x.example"))
    assert list(pages) == ["/", "/guides/setting-up"]
    assert pages["/guides/setting-up"]["body"] == "Careful\n\nMind the gap."
    assert done.identity.name == "My Docs"


DOCUSAURUS = {
    "docusaurus.config.js": "module.exports = {\n  title: 'Docu Site',\n  tagline: 'It is easy',\n"
    "  url: 'https://docu.example',\n  baseUrl: '/',\n};\n",
    "docs/intro.md": page(sidebar_position="1", text="# Intro\n\nWords."),
    "docs/01-start/02-install.md": page(title="Install"),
    "docs/01-start/index.md": page(title="Start"),
    "docs/named/README.mdx": page(title="Readme"),
    "docs/with-id.md": page(title="With id", id="other-id"),
    "docs/slugs/absolute.md": page(title="Absolute", slug="/top"),
    "docs/slugs/relative.md": page(title="Relative", slug="below"),
    "docs/_partial.md": page(title="Partial"),
    "docs/hidden.md": page(title="Hidden", unlisted="true"),
    "docs/draft.md": page(title="Draft", draft="true"),
    "docs/2024-notes.md": page(title="Notes"),
    "blog/2021-08-26-welcome.md": "---\ntitle: Welcome\ntags: [hello]\n---\n\nThe beginning of it, long enough to be a summary.\n\n<!-- truncate -->\n\nThe rest.\n",
    "blog/2022-01-02-folder/index.md": page(title="Folder"),
    "blog/slugged.md": page(title="Slugged", slug="my-slug", date="2020-02-02"),
    "src/pages/markdown-page.md": page(title="Page"),
    "README.md": "not a page",
}


def test_docusaurus(tmp_path: Path) -> None:
    pages, done = built(write_tree(tmp_path, DOCUSAURUS), GeneratorSettings())
    assert done.generator == "docusaurus"
    assert (done.identity.name, done.identity.description) == ("Docu Site", "It is easy")
    assert {url: one["title"] for url, one in pages.items()} == {
        "/docs/intro": "Intro",
        "/docs/start": "Start",
        "/docs/start/install": "Install",
        "/docs/named": "Readme",
        "/docs/other-id": "With id",
        "/docs/top": "Absolute",
        "/docs/slugs/below": "Relative",
        "/docs/notes": "Notes",
        "/blog/2021/08/26/welcome": "Welcome",
        "/blog/2022/01/02/folder": "Folder",
        "/blog/my-slug": "Slugged",
        "/markdown-page": "Page",
    }
    welcome = pages["/blog/2021/08/26/welcome"]
    assert (welcome["date"], welcome["topics"]) == ("2021-08-26", ["hello"])
    assert welcome["abstract"] == "The beginning of it, long enough to be a summary."
    assert welcome["body"].endswith("The rest.")


def test_docusaurus_serves_its_latest_version(tmp_path: Path) -> None:
    files = {
        "docusaurus.config.ts": "export default { title: 'T', url: 'https://d.example', baseUrl: '/base/',\n"
        "  presets: [['classic', { docs: { sidebarPath: './s.js', routeBasePath: '/' } }]] };\n",
        "versions.json": '["2.0", "1.0"]',
        "docs/new.md": page(title="Next"),
        "versioned_docs/version-2.0/now.md": page(title="Now"),
        "versioned_docs/version-1.0/old.md": page(title="Old"),
    }
    assert list(built(write_tree(tmp_path, files), GeneratorSettings())[0]) == ["/base/now"]


MKDOCS = {
    "mkdocs.yml": "site_name: Mk Site\nsite_url: https://mk.example/docs/\nsite_description: About it\n"
    "nav:\n  - Home: index.md\n  - Guide:\n    - Getting going: guide/start.md\n    - guide/plain.md\n"
    "markdown_extensions:\n  - toc:\n      slugify: !!python/object/apply:pymdownx.slugs.slugify {}\n",
    "docs/index.md": "# Something else\n\nHome words.",
    "docs/guide/start.md": '# Start\n\n!!! note "Take care"\n    Indented words.\n\nAfter it.',
    "docs/guide/plain.md": page("# Heading\n\nWords.", title="Meta title"),
    "docs/guide/README.md": "# Readme\n\nWords.",
    "docs/untitled_page.md": "Only words here.",
    "README.md": "not a page",
}


def test_mkdocs(tmp_path: Path) -> None:
    pages, done = built(write_tree(tmp_path, MKDOCS), GeneratorSettings())
    assert done.generator == "mkdocs"
    assert (done.identity.name, done.identity.domain) == ("Mk Site", "mk.example")
    assert {url: one["title"] for url, one in pages.items()} == {
        "/docs": "Home",
        "/docs/guide": "Readme",
        "/docs/guide/start": "Getting going",
        "/docs/guide/plain": "Meta title",
        "/docs/untitled_page": "Untitled page",
    }
    assert pages["/docs/guide/start"]["body"] == "Start\n\nTake care\n\nIndented words.\n\nAfter it."


def test_mkdocs_with_pages_of_html(tmp_path: Path) -> None:
    files = {
        "mkdocs.yml": "site_name: S\ndocs_dir: text\nuse_directory_urls: false\n",
        "text/index.md": "# A\n\nw",
        "text/README.md": "# B\n\nw",
        "text/b/c.md": "# C\n\nw",
    }
    pages, done = built(write_tree(tmp_path, files))
    assert list(pages) == ["/", "/b/c.html"]
    assert done.skipped == {"index.md stands in its place": ["text/README.md"]}


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (HUGO, "hugo"),
        (JEKYLL, "jekyll"),
        (ASTRO, "astro"),
        (DOCUSAURUS, "docusaurus"),
        (MKDOCS, "mkdocs"),
        ({"a.md": "x"}, "markdown"),
        ({"a.html": "x"}, "html"),
        ({"index.html": "x", "licenses/README.md": "x"}, "html"),
        ({"README.md": "x", "index.html": "x"}, "markdown"),
        ({"config.toml": "x = 1", "a.md": "x"}, "markdown"),
        ({}, "markdown"),
    ],
)
def test_a_generator_is_known_by_its_files(tmp_path: Path, files: dict[str, str], name: str) -> None:
    assert detect_generator(SourceTree(write_tree(tmp_path / "site", files))) == name


@pytest.mark.parametrize("text", ["\n", "/* ", "docs: {", "title: '", "  //", "docs: {{a}"], ids=repr)
def test_no_settings_in_javascript_are_slow_to_read(tmp_path: Path, text: str) -> None:
    """Blank lines and open comments took a time that grew with the square of their number."""
    write_tree(tmp_path, {"docusaurus.config.js": text * (1_000_000 // len(text)), "docs/a.md": "Words."})
    assert make_generator(SourceTree(tmp_path), "docusaurus").name == "docusaurus"
