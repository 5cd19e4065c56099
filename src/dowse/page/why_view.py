"""The reasons for the place of a hit."""

from collections.abc import Mapping

from dowse.federation.federated_search import find_source
from dowse.federation.source_list import NoClient, SourceList
from dowse.indexes.project_search import explain_file
from dowse.page.markup import Html, html
from dowse.page.page_search import file_folders
from dowse.page.plain_words import plural
from dowse.page.served_roots import root_name
from dowse.surfaces.project.text_replies import explanation_reply

_NOT_A_FILE = (
    "The order of this source is its own, by the words in titles and texts; between sources, half of the score is the "
    "share of the query that the title and the passage show."
)


async def explain_hit(sources: SourceList, item_id: str, query: str) -> Html:
    """Return why a hit is where it is: rank and signals of a file, the rule of a source for anything else."""
    source, path = await find_source(sources, NoClient(), item_id)
    by_root = {root_name(name): (served, view) for name, served, view in file_folders(sources)}
    folder = by_root.get(root_name(source.name)) if source.kind in ("project", "documents") else None
    if folder is None:
        return html('<p class="about">{text}</p>', text=_NOT_A_FILE)
    served, view = folder
    found = await served.ask_fresh(lambda index, _: explain_file(index, path, query, served.encoder), view)
    reply = explanation_reply(*found)
    if "signals" not in reply:
        reason = reply.get("reason") or "is not ranked by this search"
        return html('<p class="about">The file {reason}.</p>', reason=reason)
    files = plural(reply["of"], "file")
    place = f"Place {reply['rank']} of {files} of {root_name(source.name)}, score {reply['score']}."
    if not reply["rank"]:
        place = f"Words alone do not find this file among those of {root_name(source.name)}."
    return html('<p class="about">{place}</p>{signals}', place=place, signals=_table(reply["signals"]))


def _table(signals: Mapping[str, float]) -> Html:
    rows = [
        html('<tr><th scope="row">{name}</th><td>{value}</td></tr>', name=name, value=f"{value:.4g}")
        for name, value in sorted(signals.items(), key=lambda pair: -pair[1])
    ]
    return html('<table class="signals"><caption>Signals</caption>{rows}</table>', rows=rows)
