"""The view of a graph: the citations of the archives, or the links between the documents of a folder."""

import asyncio
from typing import Any

from starlette.responses import Response

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.citation_graph import whole_graph
from dowse.archives.graph_pictures.graph_page import node_radius, page_data, script_data
from dowse.archives.graph_pictures.layout import lay_out
from dowse.errors import ItemNotFound
from dowse.federation.result_ids import id_of, source_name
from dowse.federation.source_list import SourceList
from dowse.page.link_view import archive_database, document_folder
from dowse.page.markup import Html, html
from dowse.page.page_frame import asset_address, page
from dowse.page.page_search import read_address
from dowse.page.plain_words import plural
from dowse.page.served_roots import reading_source, root_name
from dowse.surfaces.documents.document_folders import DocumentFolder
from dowse.types import View

MAX_NODES, MAX_EDGES = 600, 4_000
"""A graph shows the documents with the most links: laying out 600 takes 0.4 s, and more cannot be read."""
_COLOUR = "#1f5fa8"
_CONTROLS = """<div class="controls">
<h1 id="title"></h1>
<nav aria-label="Graphs">{choices}</nav>
<input id="search" type="search" placeholder="Search titles" aria-label="Search titles" autocomplete="off">
<span id="sources"></span>
<label{dates}>from <input id="from" type="date"></label>
<label{dates}>to <input id="to" type="date"></label>
<label id="undated-label"><input id="undated" type="checkbox" checked> undated</label>
<span class="buttons"><button id="out" title="Zoom out">−</button><button id="in" title="Zoom in">+</button><button id="all">Show all</button></span>
<span id="count" role="status"></span>
<a href="/problems?in={name}">Broken links</a>
</div>
"""
_CANVAS = """<canvas id="picture" tabindex="0" role="img" aria-label="Graph of links; the list beside it has the same documents"></canvas>
<aside aria-label="Documents"><section id="detail" hidden></section><ol id="list"></ol></aside>
<div id="tip" hidden></div>
<script type="application/json" id="data">{data}</script>
"""


async def graph_page(sources: SourceList, name: str) -> Response:
    """Return the graph of a source, or of the first that has one."""
    names = graph_names(sources)
    if not names:
        body = html(
            '<section class="message"><h1>Links</h1><p>Documents and archives have links between them, and none of '
            "these is served here.</p></section>"
        )
        return page("graph", "Links", body)
    name = name or names[0]
    if name not in names:
        raise ItemNotFound("there is no such graph")
    if name == "archive":
        data = await asyncio.to_thread(_archive_data, await archive_database(sources))
    else:
        folder = document_folder(sources, name.partition("/")[2])
        data = await _documents_data(sources, folder) if folder else {}
    choices = [
        html('<a href="/graph?in={one}"{current}>{label}</a>', one=one, label=root_name(one), current=Html(' aria-current="page"') if one == name else None)
        for one in names
    ] if len(names) > 1 else []  # fmt: skip
    has_dates = any(node["date"] for node in data["nodes"])
    controls = html(_CONTROLS, choices=choices, name=name, dates=None if has_dates else Html(" hidden"))
    head = html(
        '<link rel="stylesheet" href="{style}"><script src="{script}" defer></script>\n',
        style=asset_address("graph.css"), script=asset_address("graph.js"),
    )  # fmt: skip
    return page("graph", "Links", html(_CANVAS, data=Html(script_data(data))), head=head, before=controls)


def graph_names(sources: SourceList) -> list[str]:
    """Return the sources that have a graph: the archives, and folders of documents that are indexed."""
    folders = sources.folders.known() if sources.folders else ()
    named = [source_name("documents", one.served.name) for one in folders if one.served.has_view(View.DOCUMENTS)]
    return [*(["archive"] if sources.archives and sources.archives.keeping.has_indexes() else []), *named]


def _archive_data(database: ArchiveDatabase) -> dict[str, Any]:
    graph = whole_graph(database, max_nodes=MAX_NODES, max_edges=MAX_EDGES)
    data = page_data(database, graph, "Citations", with_text=False)
    for node in data["nodes"]:
        node["file"] = read_address(id_of("archive", node["id"]))
    return data


async def _documents_data(sources: SourceList, folder: DocumentFolder) -> dict[str, Any]:
    edges, titles = await folder.served.ask(
        lambda index: ((links := folder.current_links(index)).edges(), links.titles()), View.DOCUMENTS
    )
    return await asyncio.to_thread(_link_data, sources, folder.served.name, edges, titles)


def _link_data(sources: SourceList, name: str, edges: set[tuple[str, str]], titles: dict[str, str]) -> dict[str, Any]:
    """Return the documents with the most links, and the links between them, as the script draws them."""
    degrees: dict[str, int] = {}
    linked: dict[str, int] = {}
    for source, target in edges:
        if source != target:
            degrees[source], degrees[target] = degrees.get(source, 0) + 1, degrees.get(target, 0) + 1
            linked[target] = linked.get(target, 0) + 1
    chosen = sorted(degrees, key=lambda path: (-degrees[path], path))[:MAX_NODES]
    numbers = {path: number for number, path in enumerate(chosen)}
    pairs = [pair for pair in sorted(edges) if pair[0] in numbers and pair[1] in numbers and pair[0] != pair[1]][
        :MAX_EDGES
    ]
    places = lay_out(chosen, pairs)
    source = source_name("documents", name)
    sources_of = {path: reading_source(sources, source, path) for path in chosen}
    facts = {
        "source": "documents",
        "type": "",
        "date": "",
        "question": "",
        "url": "",
        "text": "",
        "whole": True,
        "start": False,
    }
    nodes = [
        {
            **facts, "id": path, "title": titles.get(path) or path, "path": path,
            "file": read_address(id_of(sources_of[path], path)),
            "x": places[path][0], "y": places[path][1], "r": node_radius(linked.get(path, 0), len(chosen)),
        }
        for path in chosen
    ]  # fmt: skip
    left_out = len(degrees) - len(chosen)
    return {
        "title": "Links between documents",
        "note": f"{plural(left_out, 'document')} with fewer links are left out." if left_out else "",
        "colours": {"documents": _COLOUR},
        "names": {"documents": "documents"},
        "edgeNames": "links",
        "nodes": nodes,
        "edges": [[numbers[source], numbers[target], 1] for source, target in pairs],
    }
