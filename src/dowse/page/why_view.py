"""The reasons for the place of a hit."""

from collections.abc import Mapping

from dowse.federation.source_list import SourceList
from dowse.indexes.project_search import explain_file
from dowse.page.item_links import find_item, root_name
from dowse.page.markup import Html, html
from dowse.surfaces.project.text_replies import explanation_reply
from dowse.visible_text import pluralize

_NOT_A_FILE = (
    "The order of this source is its own, by the words in titles and texts; between sources, half of the score is the "
    "share of the query that the title and the passage show."
)


async def explain_hit(sources: SourceList, item_id: str, query: str) -> Html:
    """Return why a hit is where it is: rank and signals of a file, the rule of a source for anything else."""
    source, path = await find_item(sources, item_id)
    root = sources.root(source.name)
    if root is None:
        return html('<p class="about">{text}</p>', text=_NOT_A_FILE)
    served = root.served
    found = await served.ask_fresh(lambda index, _: explain_file(index, path, query, served.encoder), root.main_view)
    reply = explanation_reply(*found)
    if "signals" not in reply:
        reason = reply.get("reason") or "is not ranked by this search"
        return html('<p class="about">The file {reason}.</p>', reason=reason)
    files = pluralize(reply["of"], "file")
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
