"""The replies of the site tools: prose, and the same facts as structured content."""

import json
from typing import Any

from dowse.mcp.replies import largest, present
from dowse.mcp.tools import ProseReply
from dowse.screening.masking import find_flags, screen_text, warning_fields
from dowse.sites.sanitizing import one_line, remove_control_characters
from dowse.sites.site import LoadedSite, ServedSite
from dowse.sites.site_search import SiteResults

TITLE_CHARACTERS = 200
ABSTRACT_CHARACTERS = 400
MAX_TOPICS = 20
"""Topics shown of one page in a list of results. Longer lists are usually headings, not topics."""
MAX_SITE_TOPICS = 100
URL_CHARACTERS = 2000
"""Browsers open no longer URLs."""
SCREENED_CHARACTERS = 4 * ABSTRACT_CHARACTERS
"""Characters of a title or an abstract that are screened; at most a quarter of them is shown."""
MIN_BODY_CHARACTERS = 200
"""Characters of a page that are returned even if the budget is smaller."""


def search_reply(
    site: LoadedSite, query: str, found: SiteResults, seconds: float, budget: int, *, masks: bool = True
) -> ProseReply:
    """Return the pages found, as many as fit the budget."""
    results = [_result(site, hit.page, hit.score, found, masks=masks) for hit in found.hits]
    content: dict[str, Any] = {
        "site": _name(site),
        "query": one_line(query, TITLE_CHARACTERS),
        "totalMatches": found.total,
        "results": results,
        "searchTimeMs": round(seconds * 1000, 1),
    }
    if found.total_without_filters:
        content["withoutFilters"] = found.total_without_filters
    while True:
        reply = ProseReply(content, _search_text(content))
        if _reply_characters(reply) <= budget or not results:
            return reply
        results.pop()
        content["truncated"] = (
            f"{len(results)} of {len(found.hits)} pages fit. Ask for the rest with other words or filters, "
            "or read a page with get_article."
        )


def _result(site: LoadedSite, number: int, score: float, found: SiteResults, *, masks: bool) -> dict[str, Any]:
    page = site.page(number)
    title, abstract = (screen_text(text[:SCREENED_CHARACTERS], masks=masks) for text in (page.title, page.abstract))
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
    if summary := one_line(abstract.text, ABSTRACT_CHARACTERS):
        result["abstract"] = summary
    excerpt = one_line(passage.text, ABSTRACT_CHARACTERS)
    if excerpt and excerpt.strip("…") not in summary:
        result["passage"] = excerpt
    warnings = warning_fields((text, 1) for text in (title, abstract, passage))
    warnings.pop("flaggedLines", None)  # results show no lines of a page
    return result | {"score": round(score, 3)} | warnings


def _search_text(content: dict[str, Any]) -> str:
    results, total = content["results"], content["totalMatches"]
    shown = f" (showing {len(results)})" if len(results) < total else ""
    lines = [f"{content['site']}: {total:,} {'page' if total == 1 else 'pages'}{shown}"]
    for number, result in enumerate(results, 1):
        dated = " · ".join(filter(None, [result.get("date"), ", ".join(result.get("topics", ()))]))
        body = result.get("passage") or result.get("abstract")
        lines += ["", f"{number}. {result['title']}", f"   {result['url']}"]
        lines += [f"   {line}" for line in (dated, body) if line]
    if "withoutFilters" in content:
        lines += ["", f"Without the filters of the query: {content['withoutFilters']:,}"]
    if "truncated" in content:
        lines += ["", content["truncated"]]
    return "\n".join(lines)


def article_reply(site: LoadedSite, number: int, offset: int, budget: int) -> ProseReply:
    """Return a page with its text from the offset on, as much as fits the budget."""
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
    if flags := sorted({flag.kind for flag in find_flags(page.body)}):
        content["flags"] = flags
    left = max(0, len(whole) - offset)

    def fits(length: int) -> bool:
        return _reply_characters(_article_part(content, whole, offset, length)) <= budget

    return _article_part(content, whole, offset, largest(min(left, budget), fits, min(left, MIN_BODY_CHARACTERS)))


def _article_part(about: dict[str, Any], whole: str, offset: int, length: int) -> ProseReply:
    """Return a page with `length` characters of its text, from the offset on."""
    content = {**about, "body": whole[offset : offset + length]}
    if offset + length < len(whole):
        content["truncated"] = (
            f"These are characters {offset:,} to {offset + length:,} of {len(whole):,}. "
            f"Continue with get_article and offset {offset + length}."
        )
    return ProseReply(content, _article_text(content))


def _article_text(content: dict[str, Any]) -> str:
    head = [f"# {content['title']}", "", content["url"]]
    dated = " · ".join(filter(None, [content.get("date"), ", ".join(content.get("topics", ())[:MAX_TOPICS])]))
    parts = [dated, content.get("abstract", ""), content["body"], content.get("truncated", "")]
    return "\n".join(head) + "".join(f"\n\n{part}" for part in parts if part)


def info_reply(facts: list[tuple[str, ServedSite, LoadedSite]], *, is_list: bool) -> ProseReply:
    """Describe each site and its index."""
    about = [_site_facts(*fact) for fact in facts]
    text = "\n\n".join(map(_info_text, about))
    return ProseReply({"sites": about} if is_list else about[0], text)


def _site_facts(name: str, served: ServedSite, site: LoadedSite) -> dict[str, Any]:
    header, topics, dates = site.header, site.topics(), site.date_range()
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
        "loaded": served.loaded_at,
        "source": served.source_name,
    }
    about |= {"dates": {"first": dates[0], "last": dates[1]}} if dates else {}
    return about | present(problems=len(site.problems), problem=served.problem)


def _info_text(about: dict[str, Any]) -> str:
    dates = about.get("dates")
    topics = ", ".join(f"{entry['topic']} ({entry['pages']})" for entry in about["topics"][:MAX_TOPICS])
    lines = [
        f"{about['name']} ({about['domain']}), searched with {about['tool']}",
        about["description"],
        f"{about['pageCount']:,} pages" + (f", dated {dates['first']} to {dates['last']}" if dates else ""),
        f"Topics: {topics}" if topics else "",
        f"Index {about['version']} of {about['generated'] or 'an unknown date'}, loaded {about['loaded']}",
        about.get("problem", ""),
    ]
    return "\n".join(filter(None, lines))


def _name(site: LoadedSite) -> str:
    return one_line(site.header.site.name, TITLE_CHARACTERS)


def _reply_characters(reply: ProseReply) -> int:
    """Return the length of a reply as JSON."""
    content = json.dumps(reply.content, ensure_ascii=False)
    return len(content) + len(json.dumps(reply.text, ensure_ascii=False))
