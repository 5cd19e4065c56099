"""The view that shows how to connect each assistant to this server."""

import json
from pathlib import Path

from dowse.assistants.config_edits import put_entry
from dowse.assistants.known_assistants import SERVER_NAME, Assistant, Places, known_assistants
from dowse.assistants.start_command import SERVE, own_command
from dowse.page.markup import Html, html

_OVER_HTTP = """<h2>This server, over HTTP</h2>
<p>It speaks the Model Context Protocol at <code>{address}</code>.</p>
<pre class="snippet" tabindex="0">claude mcp add --transport http dowse {address}{header}</pre>
<p>or, in a client's configuration:</p>
<pre class="snippet" tabindex="0">{entry}</pre>
"""
_STARTED = """<h2>Started by the assistant</h2>
<p>{found} shows each change, makes it after a yes, and <code>dowse uninstall</code> undoes it. Or write it yourself:</p>
{assistants}
"""
TOKEN_PLACE = "YOUR_TOKEN"  # noqa: S105 - what a reader replaces


def connect_view(address: str | None, folders: list[Path] | None, *, needs_token: bool) -> Html:
    """Return how to connect: over HTTP if there is an `address`, and by a command if `folders` of this machine are served."""
    over_http = None
    if address:
        facts: dict[str, object] = {"type": "http", "url": address}
        header = ""
        if needs_token:
            facts["headers"] = {"Authorization": f"Bearer {TOKEN_PLACE}"}
            header = f' --header "Authorization: Bearer {TOKEN_PLACE}"'
        entry = json.dumps({"mcpServers": {SERVER_NAME: facts}}, indent=2)
        over_http = html(_OVER_HTTP, address=address, header=header, entry=entry)
    started = None
    if folders is not None:
        places = Places.of_this_user()
        known = sorted(known_assistants().values(), key=lambda one: (not one.is_on_this_machine(places), one.title))
        started = html(
            _STARTED,
            found=html("<code>dowse install</code>"),
            assistants=[_assistant_view(one, places, folders) for one in known],
        )
    return html("<h1>Connect an assistant</h1>{over_http}{started}", over_http=over_http, started=started)


def _assistant_view(assistant: Assistant, places: Places, folders: list[Path]) -> Html:
    file = assistant.user_file(places)
    program, *first = own_command(is_shared=False)
    arguments = [*first, *SERVE, *map(str, folders)]
    entry = assistant.server_entry(program, arguments)
    text = put_entry(file, "", assistant.path, entry)
    link = assistant.install_link(entry)
    here = html(' <span class="about">on this machine</span>') if assistant.is_on_this_machine(places) else None
    return html(
        "<details><summary>{title}{here}</summary><p><code>dowse install {folder} --agent {name}</code></p>{link}"
        '<p>or in <code>{file}</code></p><pre class="snippet" tabindex="0">{text}</pre></details>',
        title=assistant.title, here=here, folder=str(folders[0]) if folders else "DIR", name=assistant.name,
        link=html('<p><a href="{link}">or with one click</a></p>', link=link) if link else None,
        file=_shown_file(file, places), text=text.strip(),
    )  # fmt: skip


def _shown_file(file: Path, places: Places) -> str:
    """Return a path that begins with ~ if it is in the home folder."""
    return f"~/{file.relative_to(places.home)}" if file.is_relative_to(places.home) else str(file)
