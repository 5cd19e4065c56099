"""`dowse open`: the page for people, in a browser."""

import webbrowser

import click

from dowse.cli.common_arguments import json_option, parse_root
from dowse.cli.http_options import serve_over_http
from dowse.cli.output import format_json, say, show, show_text
from dowse.cli.serve_command import ServeOptions, compose_server


@click.command("open")
@click.argument("folders", metavar="[DIR|ADDRESS]...", nargs=-1)
@click.option(
    "--site",
    "sites",
    metavar="[NAME=]FILE|URL",
    multiple=True,
    help="Also show the site with this search index. May be repeated.",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@json_option
def open_page(folders: tuple[str, ...], sites: tuple[str, ...], *, no_browser: bool, as_json: bool) -> int:
    """Search and read DIR in a browser.

    The page shows what dowse serve would serve: projects, documents, sites, archives and named
    indexes. It is on a free port of this machine, and only those who have its address may see it.
    A project without an index is indexed. Ctrl-C ends it. See docs/page.md.
    """
    roots = tuple(map(parse_root, folders))
    options = ServeOptions(level="minimal", roots=roots, sites=sites)

    def open_browser(address: str) -> None:
        if as_json:
            show_text(format_json({"url": address}))
        elif no_browser or not _start_browser(address):
            show(address)
            say("dowse: open this address in a browser; it works until Ctrl-C.")

    return serve_over_http(
        lambda is_public: compose_server(options, is_public=is_public, is_over_http=True),
        address="127.0.0.1:0", allow_remote=False, token_file=None, public=False, allow_changes=False, origins=(),
        hosts=(), rate=None, log_queries=False, open_browser=open_browser,
    )  # fmt: skip


def _start_browser(address: str) -> bool:
    """Open a browser with windows; return False if there is none, since one in the terminal would run no script."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if type(browser) is webbrowser.GenericBrowser:
        return False
    return browser.open(address)
