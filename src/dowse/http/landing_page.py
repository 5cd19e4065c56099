"""The page for people who open the address of a server in a browser."""

from html import escape

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dowse</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #222 }}
code, pre {{ font-family: ui-monospace, monospace; background: #f3f3f3; border-radius: 4px }}
code {{ padding: 0 .25em }} pre {{ padding: .75em; overflow-x: auto }}
@media (prefers-color-scheme: dark) {{ body {{ background: #181818; color: #ddd }} code, pre {{ background: #2a2a2a }} }}
</style>
<h1>dowse</h1>
<p>This is a search server for AI assistants. It speaks the Model Context Protocol at <code>{address}</code>.</p>
{sources}
<h2>Connect</h2>
<pre>claude mcp add --transport http dowse {address}{header}</pre>
<p>or, in a client's configuration:</p>
<pre>{{"mcpServers": {{"dowse": {{"type": "http", "url": "{address}"}}}}}}</pre>
<p><a href="/health">Health</a></p>
</html>
"""


def render_page(address: str, sources: list[str], *, needs_token: bool) -> str:
    """Return the page as HTML, with all names escaped."""
    items = "".join(f"<li>{escape(name)}</li>" for name in sources)
    served = f"<h2>Served</h2>\n<ul>{items}</ul>" if items else ""
    header = ' --header "Authorization: Bearer YOUR_TOKEN"' if needs_token else ""
    return _PAGE.format(address=escape(address), sources=served, header=escape(header))
