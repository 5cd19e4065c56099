"""HTML becomes Markdown: blocks, lists, tables, code and links."""

from dowse.reading.html_markdown import convert_html


def test_conversion() -> None:
    for source, markdown in (
        ("<p>one\n   two<br>three</p>four", "one\ntwo  \nthree\n\nfour"),
        ("<p># a</p><hr><h3>b<br>c</h3>", "\\# a\n\n---\n\n### b c"),
        ("<ul><li>a<ol start=3><li>b<li><p>c<p>d</ol></ul><ul><li>e", "- a\n  3. b\n  4. c\n\n     d\n\n- e"),
        ("<li>a<pre>x\n\n y</pre>", "- a\n\n  ```\n  x\n\n   y\n  ```"),
        ("<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>", "- [x] a\n- [ ] b"),
        ("<blockquote><p>a<p>b</blockquote><dl><dt>c<dd>d</dl>", "> a\n>\n> b\n\nc\n\nd"),
        ("<table><caption>t</caption><tr><th>a|b<th>c<tr><td>d<p>e</p><td><ul><li>f<li>g</ul></table>h",
         "*t*\n\n| a\\|b | c |\n| --- | --- |\n| d e | f g |\n\nh"),
        ("<table><tr><td>a<td><table><tr><td>b</table></table>", "a\n\n| b |\n| --- |"),
        ("<table><tr><td>1<td><pre>x</pre></table>", "1\n\n```\nx\n```"),
        ("<pre><code class='a language-c++'>```</code></pre>", "````c++\n```\n````"),
        ("<b>a </b>b<i><b></b></i> <del>c</del> <q>d</q>", '**a** b ~~c~~ "d"'),
        ("<code>a`b</code><kbd>c</kbd> <code><b>d</b>&lt;</code>", "``a`b`` `c` `d<`"),
        ("<code>Map&lt;<a href=k>K</a>&gt;</code>", "`Map<`[`K`](k)`>`"),
        ("<a href='x (y)'>a <b>b</b></a><a href=z>[c</a><a>d</a><a href=e></a>", "[a **b**](<x (y)>)[\\[c](z)d[](e)"),
        ("<a href=x><h2>a</h2><p>b</p></a>", "## [a](x)\n\nb"),
        ("<img src=a alt=b><img src='data:,' alt=c><img alt=d>", "![b](a)cd"),
        ("<p title='a > b' data-x=\"<p>no</p>\">c <button>d</button>", "c d"),
        ("<p class='a hidden b' title=\"x hidden \">a<p data-hidden=1>b<p title='a'hidden>no", "a\n\nb"),
        ("<p>a<p hidden>no<p>b<div hidden>no<div>no</div>no</div>c", "a\n\nb\n\nc"),
    ):  # fmt: skip
        assert convert_html(source) == f"{markdown}\n"


def test_deep_nesting_is_bounded() -> None:
    assert len(convert_html("<ul><li>a<blockquote>b<table><tr><td>c" * 2_000)) < 1_000_000
