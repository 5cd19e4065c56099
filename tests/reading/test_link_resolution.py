"""Resolution of links between documents."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dowse.reading.file_reading import read_document
from dowse.reading.link_resolution import Broken, External, Fault, Foreign, Internal, find_site_prefixes, resolve_link
from dowse.reading.link_targets import LinkTarget, LinkTargets

TREE = LinkTargets(
    [
        "README.md", "api.md", "C#.md", "guide/index.md", "guide/install.md", "guide/setup/README.md",
        "guide/setup/linux.html", "guide/a b.md", "guide/Ünïcode.md", "guide/50%.md", "guide/Case.md",
        "guide/what?.md", "notes/today.txt", "notes/std::vector.md", "files/app.py", "two/Name.md", "two/name.md",
    ]
)  # fmt: skip
HERE = "guide/install.md"


def test_this_leads_to_a_document() -> None:
    for target, path, anchor in (
        ("../api.md", "api.md", ""),
        ("../api.md#x", "api.md", "x"),
        ("./setup/README.md", "guide/setup/README.md", ""),
        ("setup/linux.html", "guide/setup/linux.html", ""),
        ("#usage", HERE, "usage"),
        ("#", HERE, ""),
        ("?plain=1", HERE, ""),
        ("install.md?plain=1#usage", HERE, "usage"),
        ("../guide/../api.md", "api.md", ""),
        (".//setup//./linux.html", "guide/setup/linux.html", ""),
        (" ../api.md ", "api.md", ""),
        # from the root
        ("/api.md", "api.md", ""),
        ("/", "README.md", ""),
        ("/guide/", "guide/index.md", ""),
        ("/guide", "guide/index.md", ""),
        ("/guide/#top", "guide/index.md", "top"),
        # as a site shows it
        ("/guide/install/", HERE, ""),
        ("/guide/install", HERE, ""),
        ("/guide/install.html", HERE, ""),
        ("/guide/install/index.html", HERE, ""),
        ("/guide/index.html", "guide/index.md", ""),
        ("/guide/setup/", "guide/setup/README.md", ""),
        ("/guide/setup/index.html", "guide/setup/README.md", ""),
        ("/guide/setup/linux", "guide/setup/linux.html", ""),
        ("../api", "api.md", ""),
        ("..", "README.md", ""),
        (".", "guide/index.md", ""),
        ("./", "guide/index.md", ""),
        ("index.html", "guide/index.md", ""),
        ("../setup/", "guide/setup/README.md", ""),
        ("../../notes/today", "notes/today.txt", ""),
        # other spellings
        ("a%20b.md", "guide/a b.md", ""),
        ("a b.md", "guide/a b.md", ""),
        ("%C3%9Cn%C3%AFcode.md#%C3%BC", "guide/Ünïcode.md", "ü"),
        ("U\u0308ni\u0308code.md", "guide/Ünïcode.md", ""),
        ("50%.md", "guide/50%.md", ""),
        ("50%25.md", "guide/50%.md", ""),
        ("what%3F.md", "guide/what?.md", ""),
        ("what?.md", "guide/what?.md", ""),
        ("../C%23.md", "C#.md", ""),
        ("../C#.md", "C#.md", ""),
        ("../notes/std::vector.md", "notes/std::vector.md", ""),
        ("..\\api.md", "api.md", ""),
        ("setup\\linux.html", "guide/setup/linux.html", ""),
        ("..%2Fapi.md", "api.md", ""),
        ("%2e%2e/api.md", "api.md", ""),
        ("case.md", "guide/Case.md", ""),
        ("/GUIDE/INSTALL/", HERE, ""),
        ("/Api.HTML", "api.md", ""),
        ("../two/name.md", "two/name.md", ""),
        ("../two/Name", "two/Name.md", ""),
        ("../files/app.py", "files/app.py", ""),
    ):
        assert resolve_link(target, HERE, TREE) == Internal(path, anchor)


def test_this_is_broken_and_says_why() -> None:
    for target, fault, path in (
        ("nothing.md", Fault.MISSING, "guide/nothing.md"),
        ("/nothing/", Fault.MISSING, "nothing"),
        ("../api.html.md", Fault.MISSING, "api.html.md"),
        ("../files/app", Fault.MISSING, "files/app"),
        ("../api.rst", Fault.MISSING, "api.rst"),
        ("setup/linux.md", Fault.MISSING, "guide/setup/linux.md"),
        ("/notes/", Fault.FOLDER, "notes"),
        ("../two/NAME.md", Fault.MISSING, "two/NAME.md"),
        ("../two/NAME", Fault.MISSING, "two/NAME"),
        ("", Fault.EMPTY, ""),
        (" ", Fault.EMPTY, ""),
        ("[[]]", Fault.EMPTY, ""),
        ("x" * 5000, Fault.MISSING, ""),
    ):
        assert resolve_link(target, HERE, TREE) == Broken(fault, path)


def test_nothing_leads_out_of_the_root() -> None:
    for target in (
        "../../api.md", "../../guide/install.md", "/../api.md", "/guide/../../api.md", "%2e%2e/%2e%2e/api.md",
        "..%2f..%2fapi.md", "..\\..\\api.md", "..%5C..%5Capi.md", "\\..\\api.md", "setup/../../../api.md",
        "\\\\host\\api.md", "/\\host/api.md", "C:\\api.md", "c:/guide/install.md",
    ):  # fmt: skip
        assert resolve_link(target, HERE, TREE) == Broken(Fault.OUTSIDE)


def test_an_address_of_the_web_is_external() -> None:
    for url in ("https://a.org/api.md", "HTTP://a.org", "ftp://a.org/x", "//a.org/api.md", "https://[", "http:"):
        assert resolve_link(url, HERE, TREE) == External(url)


def test_what_is_no_document_and_no_page_is_foreign() -> None:
    for target in (
        "mailto:a@b.org", "JavaScript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vscode://x",
        "{{site.baseurl}}/api.md", "{%link_api.md%}", "tower_http::trace",
    ):  # fmt: skip
        assert resolve_link(target, HERE, TREE) == Foreign()


def test_an_anchor_alone_needs_its_document() -> None:
    assert resolve_link("#x", "gone.md", TREE) == Broken(Fault.MISSING)


def test_a_page_is_preferred_to_the_front_of_a_folder_unless_the_folder_is_named() -> None:
    tree = LinkTargets(["a.md", "install.html", "install.md", "install/README.md", "install/index.md"])
    assert resolve_link("install", "a.md", tree) == Internal("install.md")
    assert resolve_link("install/", "a.md", tree) == Internal("install/index.md")


def test_forms_of_a_page_have_an_order() -> None:
    for count in range(4):
        order = ["install.md", "install/index.md", "install.html", "install/README.md"]
        assert resolve_link("/install", "a.md", LinkTargets(order[count:])) == Internal(order[count])


def test_a_site_may_have_its_root_further_down() -> None:
    tree = LinkTargets(["README.md", "docs/guide/install.md", "docs/api.md", "docs/index.md", "other/api.md"])
    assert resolve_link("/api", "docs/guide/install.md", tree) == Internal("docs/api.md")
    assert resolve_link("/api", "README.md", tree) == Broken(Fault.MISSING, "api")


def test_a_link_from_the_root_means_the_root_first() -> None:
    tree = LinkTargets(["api.md", "docs/api.md", "docs/a.md"])
    assert resolve_link("/api.md", "docs/a.md", tree) == Internal("api.md")


def test_the_base_of_a_site_is_no_folder() -> None:
    tree = LinkTargets(["web/css/index.md", "index.md", "docs/web/x.md"], prefixes=["/en-US/docs/"])
    assert resolve_link("/en-US/docs/Web/CSS#x", "index.md", tree) == Internal("web/css/index.md", "x")
    assert resolve_link("/en-US/docs/", "web/css/index.md", tree) == Internal("index.md")
    assert resolve_link("/en-US/docs/../docs/Web/CSS", "index.md", tree) == Internal("web/css/index.md")


def test_a_page_answers_to_the_addresses_it_states() -> None:
    tree = LinkTargets([LinkTarget("posts/2024-01-02-hello.md", addresses=("/blog/hello/", "hi")), "a.md"])
    for target in ("/blog/hello", "/blog/hello/", "/Blog/Hello.html", "hi"):
        assert resolve_link(target, "a.md", tree) == Internal("posts/2024-01-02-hello.md")


def test_numbers_for_the_order_of_files_are_no_part_of_their_address() -> None:
    tree = LinkTargets(["docs/01-start/02_install.md", "docs/1.2.md", "docs/2024-01-02-news.md"])
    assert resolve_link("/docs/start/install", "docs/1.2.md", tree) == Internal("docs/01-start/02_install.md")
    assert resolve_link("/docs/2", "docs/1.2.md", tree) == Broken(Fault.MISSING, "docs/2")
    assert resolve_link("/docs/01-02-news", "docs/1.2.md", tree) == Broken(Fault.MISSING, "docs/01-02-news")


def test_an_exact_spelling_is_never_ambiguous() -> None:
    tree = LinkTargets(["Guide.md", "guide/index.md", "a.md"])
    assert resolve_link("Guide", "a.md", tree) == Internal("Guide.md")
    assert resolve_link("guide", "a.md", tree) == Internal("guide/index.md")
    assert resolve_link("GUIDE", "a.md", tree) == Broken(Fault.MISSING, "GUIDE")


VAULT = LinkTargets(
    [
        LinkTarget("Home.md"),
        LinkTarget("a/My Page.md", "The Title"),
        LinkTarget("a/b/Note.md"),
        LinkTarget("a/b/deep/Log.md"),
        LinkTarget("c/Note.md"),
        LinkTarget("c/d/Log.md"),
        LinkTarget("c/topic/index.md"),
        LinkTarget("c/snake_case.md"),
        LinkTarget("c/C#.md"),
        LinkTarget("c/v1.2.md"),
        LinkTarget("pictures/map.png"),
        LinkTarget("The Title/x.md"),
    ]
)


def test_a_wiki_link_leads_to_the_nearest_page_of_that_name() -> None:
    for target, source, path, anchor in (
        ("[[My Page]]", "Home.md", "a/My Page.md", ""),
        ("[[my-page]]", "Home.md", "a/My Page.md", ""),
        ("[[My_Page.md]]", "Home.md", "a/My Page.md", ""),
        ("[[My Page#A part]]", "Home.md", "a/My Page.md", "A part"),
        ("[[My Page#A#b|text]]", "Home.md", "a/My Page.md", "A#b"),
        ("[[#A part]]", "Home.md", "Home.md", "A part"),
        ("[[the title]]", "Home.md", "a/My Page.md", ""),
        ("[[Note]]", "a/My Page.md", "a/b/Note.md", ""),
        ("[[Note]]", "c/d/Log.md", "c/Note.md", ""),
        ("[[Note]]", "Home.md", "c/Note.md", ""),
        ("[[Log]]", "a/b/Note.md", "a/b/deep/Log.md", ""),
        ("[[Log]]", "c/topic/index.md", "c/d/Log.md", ""),
        ("[[b/Note]]", "c/Note.md", "a/b/Note.md", ""),
        ("[[a/b/Note]]", "c/Note.md", "a/b/Note.md", ""),
        ("[[/c/Note]]", "a/b/Note.md", "c/Note.md", ""),
        ("[[../My Page]]", "a/b/Note.md", "a/My Page.md", ""),
        ("[[b\\Note]]", "c/Note.md", "a/b/Note.md", ""),
        ("[[topic]]", "a/b/Note.md", "c/topic/index.md", ""),
        ("[[snake case]]", "Home.md", "c/snake_case.md", ""),
        ("[[C#]]", "Home.md", "c/C#.md", ""),
        ("[[v1.2]]", "Home.md", "c/v1.2.md", ""),
        ("[[map.png]]", "Home.md", "pictures/map.png", ""),
    ):
        assert resolve_link(target, source, VAULT) == Internal(path, anchor)


def test_a_wiki_link_may_lead_to_no_page() -> None:
    for target, resolved in (
        ("[[Nowhere]]", Broken(Fault.MISSING, "Nowhere")),
        ("[[x/Note]]", Broken(Fault.MISSING, "x/Note")),
        ("[[../../Home]]", Broken(Fault.MISSING)),
        ("[[map]]", Broken(Fault.MISSING, "map")),
        ("[[https://a.org]]", External("https://a.org")),
    ):
        assert resolve_link(target, "a/My Page.md", VAULT) == resolved


PUBLISHED = LinkTargets(
    ["README.md", "content/index.md", "content/posts/Now.md", "content/Thoughts/My Idea.md", "content/Thoughts/b/c.md"]
)
"""A vault as Quartz and Hugo publish it: the notes lie in `content/`, which is the root of their links."""


def test_links_of_a_vault_may_be_relative_to_the_folder_that_is_published() -> None:
    for source in ("content/index.md", "content/posts/Now.md", "content/Thoughts/b/c.md"):
        for target in (
            "Thoughts/My%20Idea.md#why", "Thoughts/My%20Idea#why", "thoughts/my%20idea.md#why",
            "/Thoughts/My%20Idea#why", "/thoughts/my%20idea/#why", "[[Thoughts/My Idea#why]]",
            "[[thoughts/my-idea#why]]", "[[My Idea#why]]",
        ):  # fmt: skip
            assert resolve_link(target, source, PUBLISHED) == Internal("content/Thoughts/My Idea.md", "why")


def test_other_relative_links_are_relative_to_their_document_only() -> None:
    for target in ("index.md", "./posts/Now.md", "../posts/Now.md", "nowhere/Now.md"):
        assert isinstance(resolve_link(target, "content/Thoughts/b/c.md", PUBLISHED), Broken)


def test_only_a_wiki_link_is_looked_for_elsewhere() -> None:
    assert resolve_link("Note", "Home.md", VAULT) == Broken(Fault.MISSING, "Note")


def test_many_pages_of_one_name_are_told_apart_by_their_place() -> None:
    tree = LinkTargets(f"d{number}/index.md" for number in range(3000))
    found = [resolve_link("[[index]]", f"d{number}/a.md", tree) for number in range(3000)]
    assert found == [Internal(f"d{number}/index.md") for number in range(3000)]


def test_links_of_real_files_find_each_other(tmp_path: Path) -> None:
    files = {
        "docs/index.md": "[one](guide/first-steps.md#the-end) [two](/guide/page/) [[First steps]] [three](guide/old%20page.html)",
        "docs/guide/first-steps.md": "# Start\n## The end\n[back](..) [next](page.html) [[page|here]] <a href='../index.md'>x</a>",
        "docs/guide/page.html": "<title>Page</title><p><a href='first-steps.md'>one</a> <a href='./old page'>two</a></p>",
        "docs/guide/old page.md": "[r] and [gone](gone.md)\n\n[r]: <../../docs/guide/page.html>",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    readings = {path: read_document((tmp_path / path).read_bytes(), path) for path in files}
    tree = LinkTargets(LinkTarget(path, reading.title) for path, reading in readings.items())
    found = {
        path: [resolve_link(link.target, path, tree) for link in reading.links] for path, reading in readings.items()
    }
    index, first, page, old = files
    assert found == {
        index: [Internal(first, "the-end"), Internal(page), Internal(first), Internal(old)],
        first: [Internal(index), Internal(page), Internal(page), Internal(index)],
        page: [Internal(first), Internal(old)],
        old: [Internal(page), Broken(Fault.MISSING, "docs/guide/gone.md")],
    }


PIECES = [
    "..", ".", "/", "\\", "a", "A", "b", "index", "README", ".md", ".html", "#", "?", "%2e", "%2F", "%", "[[", "]]",
    "|", " ",
]  # fmt: skip
PIECES += [":", "http:", "//", "ü", "\0", "x" * 300]
SPELLED = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "A", "index", "ü", ".md", "..md", "C#"]), min_size=1, max_size=3).map("/".join), max_size=8
)  # fmt: skip


@given(st.text() | SPELLED, st.text() | SPELLED, PATHS | st.lists(st.text(min_size=1)), st.lists(st.text(), max_size=2))
def test_any_link_resolves_to_what_is_there_or_to_nothing(
    target: str, source: str, paths: list[str], prefixes: list[str]
) -> None:
    pages = [LinkTarget(path + ending, title="a b") for path in paths for ending in ("", ".md", ".html")]
    tree = LinkTargets(pages, prefixes)
    for written in (target, f"[[{target}]]", f"/{target}"):
        resolved = resolve_link(written, source, tree)
        assert not isinstance(resolved, Internal) or resolved.path in tree
        assert not isinstance(resolved, Broken) or ".." not in resolved.path.split("/")


@given(PATHS)
def test_every_document_is_found_by_its_own_path(paths: list[str]) -> None:
    tree = LinkTargets(paths)
    for path in paths:
        parts = path.split("/")
        if not {"", ".", ".."} & set(parts) and "#" not in path:
            assert resolve_link(f"/{path}", "x/y.md", tree) == Internal(path)


NAMES = ["html", "css", "http", "svg", "dom", "events", "forms"]
PREFIXED = LinkTargets(f"files/en-us/web/{name}/index.md" for name in NAMES)
SOURCE = "files/en-us/web/css/index.md"


def test_a_base_is_learned_where_most_links_lead_somewhere_without_it() -> None:
    links = [(SOURCE, f"/en-US/docs/Web/{name.upper()}#top") for name in [*NAMES, "gone", "lost"]]
    prefixes = find_site_prefixes([*links, (SOURCE, "/about"), (SOURCE, "https://a.org/b/")], PREFIXED)
    assert prefixes == ("/en-US/docs/",)
    assert resolve_link("/en-US/docs/Web/SVG", SOURCE, PREFIXED.with_prefixes(prefixes)) == Internal(
        "files/en-us/web/svg/index.md"
    )


def test_a_few_links_are_no_evidence() -> None:
    assert find_site_prefixes([(SOURCE, f"/base/web/{name}") for name in NAMES[:4]], PREFIXED) == ()


def test_one_page_under_many_addresses_is_no_evidence() -> None:
    links = [
        (SOURCE, f"/base/{spelling}") for spelling in ("web/css", "Web/CSS", "web/CSS", "WEB/css", "wEB/css", "weB/css")
    ]
    assert find_site_prefixes(links, PREFIXED) == ()


def test_links_that_mostly_lead_nowhere_are_no_evidence() -> None:
    links = [(SOURCE, f"/blog/web/{name}") for name in [*NAMES, *(f"post{number}" for number in range(10))]]
    assert find_site_prefixes(links, PREFIXED) == ()


def test_links_that_lead_somewhere_as_they_are_teach_nothing() -> None:
    assert find_site_prefixes([(SOURCE, f"/web/{name}") for name in NAMES], PREFIXED) == ()


def test_a_site_may_have_more_than_one_base() -> None:
    links = [(SOURCE, f"/{base}/web/{name}/") for base in ("en", "fr") for name in NAMES]
    assert sorted(find_site_prefixes(links, PREFIXED)) == ["/en/", "/fr/"]


@given(st.lists(st.tuples(st.text(), st.text().map(lambda text: f"/{text}"))))
def test_any_links_can_be_learned_from(links: list[tuple[str, str]]) -> None:
    assert len(find_site_prefixes(links, PREFIXED)) <= 3
