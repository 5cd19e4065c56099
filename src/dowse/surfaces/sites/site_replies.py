"""What the tools of sites reply: prose, and the same facts as structured content."""

import json
from typing import Any

from dowse.mcp.tools import ProseReply
from dowse.screening.instructions import flags_in
from dowse.screening.masking import notes, shown
from dowse.sites.sanitizing import one_line, remove_control_characters
from dowse.sites.served_site import ServedSite
from dowse.sites.site import LoadedSite
from dowse.sites.site_search import SiteResults

TITLE_CHARACTERS = 200
ABSTRACT_CHARACTERS = 400
MAX_TOPICS = 20
"""Of one page in a list of results; long lists are headings that somebody took for topics."""
MAX_SITE_TOPICS = 100
URL_CHARACTERS = 2000
"""No browser opens longer ones."""
SCREENED_CHARACTERS = 4 * ABSTRACT_CHARACTERS
"""Of a title or an abstract no more is looked at, and a quarter of it shown."""
MIN_BODY_CHARACTERS = 200
"""Of a page so much is told, however small the budget."""


def search_reply(
    site: LoadedSite, query: str, found: SiteResults, seconds: float, budget: int, *, masks: bool = True
) -> ProseReply:
    """The pages that were found, as many as fit."""
    results = [_result(site, hit.page, hit.score, found, masks=masks) for hit in found.hits]
    content: dict[str, Any] = {
        "site": _name(site),
        "query": one_line(query, TITLE_CHARACTERS),
        "totalMatches": found.total,
        "results": results,
        "searchTimeMs": round(seconds * 1000, 1),
    }
    while True:
        told = ProseReply(content, _search_text(content))
        if _reply_characters(told) <= budget or not results:
            return told
        results.pop()
        content["truncated"] = (
            f"{len(results)} of {len(found.hits)} pages fit. Ask for the rest with other words or filters, "
            "or read a page with get_article."
        )


def _result(site: LoadedSite, number: int, score: float, found: SiteResults, *, masks: bool) -> dict[str, Any]:
    page = site.page(number)
    title, abstract = (shown(text[:SCREENED_CHARACTERS], masks=masks) for text in (page.title, page.abstract))
    passage = site.passage(number, found, masks=masks)
    result: dict[str, Any] = {
        "title": one_line(title.text, TITLE_CHARACTERS),
        "url": one_line(site.full_url(number), URL_CHARACTERS),
        "path": one_line(page.url, URL_CHARACTERS),
    }
    if page.date:
        result["date"] = one_line(page.date, 40)
    if page.topics:
        result["topics"] = [one_line(topic, 100) for topic in page.topics[:MAX_TOPICS]]
    if said := one_line(abstract.text, ABSTRACT_CHARACTERS):
        result["abstract"] = said
    around = one_line(passage.text, ABSTRACT_CHARACTERS)
    if around and around.strip("…") not in said:
        result["passage"] = around
    about = notes((one, 1) for one in (title, abstract, passage))
    about.pop("flaggedLines", None)  # nobody sees lines of a page
    return result | {"score": round(score, 3)} | about


def _search_text(content: dict[str, Any]) -> str:
    results, total = content["results"], content["totalMatches"]
    shown = f" (showing {len(results)})" if len(results) < total else ""
    lines = [f"{content['site']}: {total:,} {'page' if total == 1 else 'pages'}{shown}"]
    for number, one in enumerate(results, 1):
        dated = " · ".join(filter(None, [one.get("date"), ", ".join(one.get("topics", ()))]))
        body = one.get("passage") or one.get("abstract")
        lines += ["", f"{number}. {one['title']}", f"   {one['url']}"]
        lines += [f"   {line}" for line in (dated, body) if line]
    if "truncated" in content:
        lines += ["", content["truncated"]]
    return "\n".join(lines)


def article_reply(site: LoadedSite, number: int, offset: int, budget: int) -> ProseReply:
    """A page, its text from the offset on, as much as fits."""
    page = site.page(number)
    whole = remove_control_characters(page.body)
    content: dict[str, Any] = {
        "url": one_line(site.full_url(number), URL_CHARACTERS),
        "path": one_line(page.url, URL_CHARACTERS),
        "title": one_line(page.title, TITLE_CHARACTERS),
    }
    if page.date:
        content["date"] = one_line(page.date, 40)
    if page.topics:
        content["topics"] = [one_line(topic, 100) for topic in page.topics[:MAX_SITE_TOPICS]]
    if page.abstract.strip():
        content["abstract"] = one_line(page.abstract, 4 * ABSTRACT_CHARACTERS)
    if flags := sorted({flag.kind for flag in flags_in(page.body)}):
        content["flags"] = flags
    left = max(0, len(whole) - offset)
    fits, too_many = min(left, MIN_BODY_CHARACTERS), min(left, budget) + 1
    while too_many - fits > 1:  # halve what is not known until the most that fits is
        middle = (fits + too_many) // 2
        if _reply_characters(_article_part(content, whole, offset, middle)) <= budget:
            fits = middle
        else:
            too_many = middle
    return _article_part(content, whole, offset, fits)


def _article_part(about: dict[str, Any], whole: str, offset: int, most: int) -> ProseReply:
    """A page with so much of its text."""
    content = {**about, "body": whole[offset : offset + most]}
    if offset + most < len(whole):
        content["truncated"] = (
            f"These are characters {offset:,} to {offset + most:,} of {len(whole):,}. "
            f"Go on with get_article and offset {offset + most}."
        )
    return ProseReply(content, _article_text(content))


def _article_text(content: dict[str, Any]) -> str:
    head = [f"# {content['title']}", "", content["url"]]
    dated = " · ".join(filter(None, [content.get("date"), ", ".join(content.get("topics", ())[:MAX_TOPICS])]))
    parts = [dated, content.get("abstract", ""), content["body"], content.get("truncated", "")]
    return "\n".join(head) + "".join(f"\n\n{part}" for part in parts if part)


def info_reply(facts: list[tuple[str, ServedSite, LoadedSite]], *, is_list: bool) -> ProseReply:
    """What is known of each site."""
    about = [_site_facts(*one) for one in facts]
    text = "\n\n".join(map(_info_text, about))
    return ProseReply({"sites": about} if is_list else about[0], text)


def _site_facts(name: str, live: ServedSite, site: LoadedSite) -> dict[str, Any]:
    header, topics, dates = site.header, site.topics(), site.dates()
    about: dict[str, Any] = {
        "site": name,
        "tool": f"search_{name}",
        "name": _name(site),
        "domain": one_line(header.site.domain, 100),
        "description": one_line(header.site.description, ABSTRACT_CHARACTERS),
        "version": one_line(header.version, 20),
        "generated": one_line(header.generated, 40),
        "pageCount": len(site),
        "topicCount": len(topics),
        "topics": [{"topic": one_line(topic, 100), "pages": pages} for topic, pages in topics[:MAX_SITE_TOPICS]],
        "loaded": live.loaded,
        "source": live.source,
    }
    if dates:
        about["dates"] = {"first": dates[0], "last": dates[1]}
    if site.problems:
        about["problems"] = len(site.problems)
    if live.problem:
        about["problem"] = live.problem
    return about


def _info_text(about: dict[str, Any]) -> str:
    dates = about.get("dates")
    topics = ", ".join(f"{one['topic']} ({one['pages']})" for one in about["topics"][:MAX_TOPICS])
    lines = [
        f"{about['name']} ({about['domain']}), searched with {about['tool']}",
        about["description"],
        f"{about['pageCount']:,} pages" + (f", dated {dates['first']} to {dates['last']}" if dates else ""),
        f"Topics: {topics}" if topics else "",
        f"Index {about['version']} of {about['generated'] or 'an unknown day'}, loaded {about['loaded']}",
        about.get("problem", ""),
    ]
    return "\n".join(filter(None, lines))


def _name(site: LoadedSite) -> str:
    return one_line(site.header.site.name, TITLE_CHARACTERS)


def _reply_characters(told: ProseReply) -> int:
    """What a reply takes on the wire."""
    content = json.dumps(told.content, ensure_ascii=False)
    return len(content) + len(json.dumps(told.text, ensure_ascii=False))
