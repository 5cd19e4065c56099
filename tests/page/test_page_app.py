"""The page over HTTP: what each address replies, escaped, behind the policy that hides denied files."""

import html
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.end_to_end.security.test_denied import SPELLINGS
from tests.mcp.http.http_server import HttpServer, encode_request
from tests.mcp.stdio.stdio_client import wait_until
from tests.page.conftest import SCRIPT, get, post, shown
from tests.sample_data import index, write_tree
from tests.searching.history.repositories import Change, git, make_repository

VIEWS = (
    "/", "/?q=apple", "/?q=juniper&mode=exact", "/?q=p.*l&mode=regex", "/?q=persimmon&limit=50", "/?q=%3Cscript%3E",
    "/results?q=juniper", "/why?id=project/fruit/src/apple.py&q=apple", "/read?id=project/fruit/",
    "/read?id=project/fruit/src/evil.py", "/read?id=project/fruit/docs/knife.md", "/read?id=project/fruit/docs/page.html?as=document",
    "/read?id=project/fruit/hostile/", "/read?id=project/fruit/hostile/all.md", "/read?id=project/fruit/hostile/all.py",
    "/outline?id=project/fruit/src/evil.py", "/links?id=project/fruit/docs/guide.md", "/read?id=archive/",
    "/status",
    "/nothing", "/read?id=%3Cscript%3E", "/?since=%22%3E%3Cscript%3E&q=a", "/find?q=%3Cscript%3E", "/find?q=all",
    "/tree?id=project/fruit/hostile/all.md", "/related?id=project/fruit/src/apple.py", "/history", "/history?q=%3Cscript%3E",
    "/symbol?id=project/fruit/src/evil.py&name=%3Cscript%3E", "/symbol?id=project/fruit/src/apple.py&name=peel_apple",
    "/history?id=project/fruit/src/apple.py", "/commit?in=project/fruit&name=%3Cscript%3E", "/read?id=project/fruit/docs/pears.md",
)  # fmt: skip


def test_every_view_forbids_scripts_of_others_and_escapes_what_it_shows(page: HttpServer) -> None:
    for view in VIEWS:
        reply = get(page, view)
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'" in policy
        assert "unsafe" not in policy
        assert (reply.headers["x-content-type-options"], reply.headers["cache-control"]) == ("nosniff", "no-store")
        assert "frame-ancestors 'none'" in policy
        body = reply.body.decode()
        scripts = re.findall(r"<script[^>]*>", body)
        assert all('src="/assets/' in script or 'type="application/json"' in script for script in scripts), scripts
        assert not re.search(r"<[^>]*\son\w+=", body), view
        assert not re.search(r"<(svg|img (?!src=\"/picture\?)|iframe|object|style|base|meta http)", body), view
        assert not re.search(r"(?:href|src|action)=\"(?!/|#|https?://|mailto:|\?|vscode://file/)", body), view


def test_a_search_finds_files_documents_and_archives_with_the_match_marked(page: HttpServer) -> None:
    body = get(page, "/results?q=peel+apple").body.decode()
    assert 'href="/read?id=project/fruit/src/apple.py#L1-L3"' in body
    assert "<mark>" in body
    assert "result" in body
    assert "<h2>Language</h2>" in body
    archived = shown(get(page, "/results?q=aardvarks&source=archive"))
    assert "First report" in archived


def test_exact_and_regex_list_lines_with_their_numbers(page: HttpServer) -> None:
    body = get(page, "/results?q=def+peel_apple&mode=exact").body.decode()
    assert "1 in 1 file" in body
    assert "<mark>" in body
    many = get(page, "/results?q=def+step_%5Cd%2B&mode=regex").body.decode()
    assert "200 in 1 file" in many
    assert "more lines in this file" in many
    assert "regular expression" in shown(get(page, "/results?q=(&mode=regex"))


def test_filters_limit_the_results_and_a_source_that_cannot_is_named(page: HttpServer) -> None:
    assert "docs/guide.md" not in shown(get(page, "/results?q=apple&kind=code&source=project"))
    assert "src/apple.py" not in shown(get(page, "/results?q=apple&path=docs/**"))
    assert "is left out" in shown(get(page, "/results?q=apple&language=python"))
    assert "has to be a day" in shown(get(page, "/results?q=apple&since=soon"))


def test_a_search_without_results_can_be_repeated_without_its_filters(page: HttpServer) -> None:
    for fields in ("q=qqzzq+lang%3Apy", "q=qqzzq&path=docs/**&kind=docs", "q=qqzzq+-path%3Asrc&source=project"):
        body = shown(get(page, f"/results?{fields}"))
        assert '<a href="/?q=qqzzq">search without filters</a>' in body
        assert '<a href="/find?q=qqzzq">' in body
    unlimited = shown(get(page, "/results?q=qqzzq"))
    assert '<a href="/find?q=qqzzq">' in unlimited
    assert "search without filters" not in unlimited


def test_a_secret_is_masked_and_said_to_be(page: HttpServer) -> None:
    body = shown(get(page, "/results?q=mulberry"))
    assert "wJalrXUtnFEMI" not in body
    assert "Secrets are masked" in body


def test_a_browser_that_asks_for_something_else_is_not_searched_for(page: HttpServer) -> None:
    logged = len(page.stderr)
    for number in range(20):
        with page.connect() as connection:
            connection.send(encode_request("GET", f"/results?q=step+{number}", b"", {"Host": page.name}))
    wait_until(lambda: page.stderr[logged:].count("/results") >= 20)
    assert "Traceback" not in page.stderr
    assert get(page, "/results?q=apple").status == 200


def test_a_passage_that_begins_in_a_docstring_has_its_colour(page: HttpServer) -> None:
    def passage(query: str) -> str:
        body = get(page, f"/?q={query}").body.decode()
        return body.partition('title="src/plum.py"')[2].partition("</code>")[0]

    wait_until(lambda: '<span class="c">' in passage("for+while+bullace&mode=exact"))
    assert '<span class="k">' not in passage("for+while+bullace&mode=exact")
    wait_until(lambda: '<span class="k">return</span>' in passage("return+None&mode=exact&path=src/plum.py"))


def test_why_this_hit_has_each_signal_with_its_number(page: HttpServer) -> None:
    body = shown(get(page, "/why?id=project/fruit/src/apple.py&q=peel+apple", X_Part="1"))
    assert "Place 1 of" in body
    assert re.search(r'<th scope="row">words: best chunk</th><td>[\d.]+</td>', body)


def test_a_file_is_shown_with_colours_lines_and_symbols(page: HttpServer) -> None:
    def body() -> str:
        return get(page, "/read?id=project/fruit/src/apple.py").body.decode()

    wait_until(lambda: '<span class="k">def</span>' in body())
    assert '<pre class="nums" aria-hidden="true">1\n2\n3</pre>' in body()
    outline = get(page, "/outline?id=project/fruit/src/apple.py").body.decode()
    assert '<li class="l1" data-line="1" data-end="3"><a href="#L1" data-sign="ƒ">peel_apple</a></li>' in outline
    lines = get(page, "/lines?id=project/fruit/src/steps.py&from=601&to=800", X_Part="1").body.decode()
    assert lines.startswith('<span class="k">def</span> <span class="f">step_120</span>')
    raw = get(page, "/raw?id=project/fruit/src/evil.py")
    assert (raw.headers["content-type"], SCRIPT in raw.body.decode()) == ("text/plain; charset=utf-8", True)
    assert "sandbox" in raw.headers["content-security-policy"]


def test_markdown_is_rendered_without_its_scripts_pictures_and_odd_links(page: HttpServer) -> None:
    body = get(page, "/read?id=project/fruit/docs/knife.md").body.decode()
    assert '<h2 id="md-edge"' in body
    assert 'href="https://example.org/" rel="noopener noreferrer"' in body
    assert "javascript:" not in body
    assert 'class="image">picture' in body
    guide = get(page, "/read?id=project/fruit/docs/guide.md").body.decode()
    assert 'href="/read?id=project/fruit/docs/knife.md#md-edge"' in guide
    assert "<td>1</td>" in guide
    assert "<pre" in get(page, "/read?id=project/fruit/docs/guide.md&view=source").body.decode()


def test_folders_are_browsed(page: HttpServer) -> None:
    body = get(page, "/read?id=project/fruit/").body.decode()
    assert 'href="/read?id=project/fruit/src/"' in body
    assert ".env" not in body
    assert 'href="/read?id=project/fruit/docs/guide.md">guide</a>' in body  # from its README
    for address in ("/read?id=project/fruit", "/read?id=project/fruit/src"):
        assert get(page, address).headers["location"] == f"{address}/"
    assert 'aria-current="page"><bdi>apple.py' in get(page, "/tree?id=project/fruit/src/apple.py").body.decode()
    assert 'href="/read?id=project/fruit/src/apple.py"' in get(page, "/read?id=project/fruit/src/").body.decode()
    assert get(page, "/read?id=project/fruit/nothing/").status == 404


def test_every_file_that_is_listed_can_be_read_whatever_its_name(page: HttpServer) -> None:
    listed = re.findall(r'href="(/read[^"]+)"', get(page, "/read?id=project/fruit/hostile/").body.decode())
    assert len(listed) > 10
    assert [address for address in map(html.unescape, listed) if get(page, address).status != 200] == []


@pytest.mark.parametrize("address", ["/read", "/raw", "/lines", "/outline", "/links", "/why", "/picture", "/tree"])
def test_no_spelling_leads_to_a_denied_file(page: HttpServer, fruit: Path, address: str) -> None:
    for spelling in SPELLINGS:
        for form in ("", "?as=document"):
            for written in (spelling, quote(spelling, safe="")):
                item_id = quote(f"project/fruit/{written}{form}", safe="")
                reply = get(page, f"{address}?id={item_id}&q=hunter2&from=1&to=9")
                text = shown(reply).replace("q=hunter2", "")
                assert "hunter2" not in text
                assert reply.status != 200 or address in ("/links", "/why", "/tree") or spelling.endswith("/")
                assert str(fruit) not in text


@pytest.mark.parametrize(
    ("path", "name"),
    [("src/gone.py", "gone.py"), ("docs/img/secret.png", "secret.png"), ("docs/gone.html?as=document", "gone.html")],
)
def test_a_file_that_is_not_shown_has_links_that_lead_on(page: HttpServer, path: str, name: str) -> None:
    reply = get(page, f"/read?id={quote(f'project/fruit/{path}')}")
    assert reply.status == 404
    body = shown(reply)
    assert f'<a href="/find?q={name}">Find files of this name</a>' in body
    assert '<a href="/read?id=project/fruit/">See what fruit has</a>' in body
    assert "dowse why PATH says which rule leaves a file out." in body


def test_an_item_that_is_no_file_has_only_the_links_that_fit(page: HttpServer) -> None:
    for item_id, is_named in (("archive/gone", True), ("gone", True), ("", False)):
        reply = get(page, f"/read?id={item_id}")
        body = shown(reply)
        assert (reply.status, '<a href="/find?q=gone">' in body) == (404, is_named)
        assert "Search, or see what is here" in body
        for other in ("/find?q=&", '/find?q="', "See what", "dowse why"):
            assert other not in body


def test_pictures_are_those_that_the_policy_allows(page: HttpServer) -> None:
    body = get(page, "/read?id=project/fruit/docs/pears.md").body.decode()
    assert '<img src="/picture?id=project/fruit/docs/img/pear.png" alt="A pear" loading="lazy">' in body
    assert "reads this" not in body
    reply = get(page, "/picture?id=project/fruit/docs/img/pear.png")
    assert (reply.status, reply.headers["content-type"]) == (200, "image/png")
    assert "sandbox" in reply.headers["content-security-policy"]
    for path in (
        "docs/img/secret.png",
        "docs/img/fake.png",
        "docs/img/../../.env",
        ".env",
        "id_rsa",
        "src/apple.py",
        "docs/img",
    ):
        reply = get(page, f"/picture?id=project/fruit/{path}")
        assert (reply.status, b"hunter2" in reply.body) == (404, False), path


def test_a_symbol_has_its_definition_and_its_uses_with_the_caller(page: HttpServer) -> None:
    body = shown(get(page, "/symbol?id=project/fruit/src/apple.py&name=peel_apple"))
    assert 'href="/read?id=project/fruit/src/apple.py#L1"' in body
    assert re.search(r'href="/read\?id=project/fruit/src/pie.py#L5">5</a> <span class="by">in <b>bake</b>', body)
    unknown = shown(get(page, "/symbol?id=project/fruit/src/apple.py&name=nobody_knows", X_Part="1"))
    assert "Nothing here is called 'nobody_knows'" in unknown
    assert "mode=exact" in unknown
    related = shown(get(page, "/related?id=project/fruit/src/apple.py"))
    assert 'href="/read?id=project/fruit/src/pie.py"' in related


def test_files_and_symbols_are_found_by_parts_of_their_names(page: HttpServer) -> None:
    body = shown(get(page, "/find?q=plapp", X_Part="1"))
    assert 'href="/read?id=project/fruit/src/apple.py&symbol=peel_apple#L1"' in body
    assert 'href="/read?id=project/fruit/src/apple.py">' in shown(get(page, "/find?q=src+apple", X_Part="1"))
    assert "Nothing has a name like this" in shown(get(page, "/find?q=zzzz", X_Part="1"))
    assert "id_rsa" not in shown(get(page, "/find?q=id_r", X_Part="1"))
    assert "<form" in shown(get(page, "/find?q=apple"))


def test_a_folder_without_a_history_says_so(page: HttpServer) -> None:
    assert "not in a git repository" in shown(get(page, "/history"))
    assert get(page, "/commit?in=project/fruit&name=0123456789").status == 404


CURRENT = '<a href="/history" aria-current="page">History</a>'


def test_a_search_of_the_commits_stays_in_the_box(page: HttpServer) -> None:
    body = shown(get(page, "/history?q=peel+apple"))
    assert re.search(r'<input id="q" [^>]* value="peel apple"', body)
    assert CURRENT in body


def test_a_commit_has_its_subject_as_title_and_belongs_to_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "plum", [Change("Dry <plums>\n\nThey keep.", {"plum.py": "dry = True\n"})])
    git(root, "checkout", "-q", "-f", "main")
    write_tree(tmp_path / "dowse", {"config.json": '{"encoder": "none"}'})
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path / "dowse"))
    index(root)
    with HttpServer(root, home=tmp_path) as server:
        body = get(server, f"/commit?in=project/plum&name={git(root, 'rev-parse', 'main')}").body.decode()
    assert "<title>Dry &lt;plums&gt; - dowse</title>" in body
    assert CURRENT in body


def test_facets_write_filters_into_the_box_and_take_them_out(page: HttpServer) -> None:
    body = shown(get(page, "/results?q=apple"))
    assert 'href="/?q=apple+lang%3Apython"' in body
    assert 'href="/?q=apple+path%3Asrc%2F"' in body
    limited = shown(get(page, "/results?q=apple+lang%3Apython"))
    assert re.search(r'href="/\?q=apple" class="chosen"', limited)
    assert "docs/guide.md" not in limited
    exact = shown(get(page, "/results?q=apple&mode=exact"))
    assert "language=python" in exact


def test_links_in_and_out_are_listed(page: HttpServer) -> None:
    wait_until(lambda: b"docs/guide.md" in get(page, "/links?id=project/fruit/docs/knife.md").body)
    assert "Linked from (1)" in shown(get(page, "/links?id=project/fruit/docs/knife.md"))
    archive = get(page, "/results?q=first+report&source=archive").body.decode()
    first = re.search(r'href="(/read\?id=archive/[^"]+)" title="[^"]*one.md"', archive)
    assert first
    assert "Second" in shown(get(page, first[1].replace("/read", "/links")))


def test_the_status_names_every_source_and_what_was_skipped(page: HttpServer) -> None:
    body = shown(get(page, "/status"))
    assert body.count('class="source-card"') == 2
    for name in ("fruit</a>", "archive</a>"):
        assert name in body
    assert "default" not in body
    assert "denied" in body
    assert "MB" in body


def test_an_index_is_made_again_and_forgotten_only_after_a_yes(tmp_path: Path) -> None:
    (tmp_path / "plum").mkdir()
    (tmp_path / "plum" / "plum.py").write_text("def stone():\n    return 1\n", encoding="utf-8")
    with HttpServer(tmp_path / "plum", home=tmp_path) as server:
        status = get(server, "/status")
        cookie = status.headers["set-cookie"].partition(";")[0]
        assert "HttpOnly" in status.headers["set-cookie"]
        assert "SameSite=strict" in status.headers["set-cookie"]
        found = re.search(r'name="form_token" value="([^"]+)"', status.body.decode())
        assert found
        fields = {"form_token": found[1], "action": "index", "source": "project/plum"}
        assert "Index 1 file of plum?" in shown(post(server, "/change", fields, Cookie=cookie))
        assert b"not indexed" in get(server, "/status").body
        for bad in ({"form_token": "x"}, {"form_token": ""}):
            assert post(server, "/change", {**fields, **bad, "confirm": "yes"}, Cookie=cookie).status == 403
        assert post(server, "/change", {**fields, "confirm": "yes"}).status == 403
        assert (
            post(server, "/change", {**fields, "confirm": "yes"}, Cookie=cookie, Origin="https://evil.example").status
            == 403
        )
        assert b"not indexed" in get(server, "/status").body
        assert post(server, "/change", {**fields, "confirm": "yes"}, Cookie=cookie).status == 303
        wait_until(lambda: is_ready(server))
        assert "rebuild" in shown(post(server, "/change", {**fields, "action": "reindex"}, Cookie=cookie))
        fields |= {"action": "forget"}
        assert "cannot be undone" in shown(post(server, "/change", fields, Cookie=cookie))
        assert is_ready(server)
        assert post(server, "/change", {**fields, "confirm": "yes"}, Cookie=cookie).status == 303
        wait_until(lambda: not is_ready(server))
        assert post(server, "/change", {**fields, "action": "delete"}, Cookie=cookie).status == 404


def is_ready(server: HttpServer) -> bool:
    return bool(re.search(r"plum</a> <span[^>]*>ready", get(server, "/status").body.decode()))
