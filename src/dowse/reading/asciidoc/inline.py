"""Conversion of inline markup of AsciiDoc to Markdown: links, references, quotes, code, emphasis."""

import re

from dowse.reading.markdown_writer import code_span, link

_MARKUP = re.compile(
    r"""
    (?P<ticks>`{1,2})\+?(?P<code>[^\s`+](?:[^`]{0,500}?[^\s`])??)\+?(?P=ticks)(?!["'])
    | (?P<quote>["'])`(?P<quoted>[^`]{1,500})`(?P=quote)
    | \+\+\+?(?P<plain>[^+\n]{1,500})\+\+\+?
    | <<(?P<anchor>[^<>,\n]{1,300})(?:,\s*(?P<anchor_text>[^<>]{0,500}))?>>
    | (?<![\w:])(?P<macro>[a-z][\w-]{1,20}):(?P<target>(?!//)[^\s\[\]]{0,1000})\[(?P<words>[^\[\]]{0,1000})\]
    | (?<![\w/"'=])(?P<url>(?:https?|ftp|irc)://[^\s\[\]<>]{1,1000})\[(?P<label>[^\[\]]{0,1000})\]
    | \{\w[\w-]{0,80}\}[^\s\[\]{}]{0,300}\[(?P<unset>[^\[\]]{1,1000})\]
    | \[\[[^\[\]\n]{1,200}\]\]
    | \[[.\#%][^\[\]\n]{0,200}\](?P<mark>\#\#?)(?P<marked>[^\#\n]{1,500})(?P=mark)
    | \({3}(?:[^()]{1,200})\){3}
    | \(\((?P<term>[^()]{1,200})\)\)
    | (?<![\w*\\])\*(?P<bold>[^\s*](?:[^*\n]{0,500}?[^\s*])?)\*(?![\w*])
    | (?<!\w)__(?P<slanted>[^\s_][^_\n]{0,500})__(?!\w)
    """,
    re.VERBOSE,
)
_ATTRIBUTES = re.compile(r"(?:^|,)\s*[\w-]+=.*$|\^$", re.DOTALL)


def convert_inline(text: str) -> str:
    """Return a text with its inline markup in Markdown."""
    return _MARKUP.sub(_convert_match, text)


def _convert_match(match: re.Match[str]) -> str:
    if match["code"]:
        return code_span(match["code"])
    if match["quoted"]:
        return f"“{match['quoted']}”" if match["quote"] == '"' else f"‘{match['quoted']}’"
    if match["anchor"]:
        return _convert_reference(match["anchor"], match["anchor_text"] or "")
    if match["macro"]:
        return _convert_macro(match["macro"], match["target"], macro_label(match["words"]))
    if match["url"]:
        return link(macro_label(match["label"]) or match["url"], match["url"])
    if match["bold"]:
        return f"**{match['bold']}**"
    if match["slanted"]:
        return f"*{match['slanted']}*"
    if match["unset"]:  # a link whose address is an attribute set in another file
        return macro_label(match["unset"])
    return match["plain"] or match["marked"] or match["term"] or ""


def macro_label(words: str) -> str:
    """Return the text in the brackets of a macro, without its attributes."""
    label = _ATTRIBUTES.sub("", words.strip()).strip()
    return label[1:-1] if len(label) > 1 and label[0] == label[-1] == '"' else label


def _convert_macro(name: str, target: str, label: str) -> str:
    match name:
        case "link":
            return link(label or target, target)
        case "xref":
            return _convert_reference(target, label)
        case "mailto":
            return label or target
        case "image":
            return f"![{label.partition(',')[0]}]({target})"
        case "footnote":
            return f" ({label})" if label else ""
        case "menu":
            return " > ".join(filter(None, [target, label]))
        case "kbd" | "stem" | "latexmath" | "asciimath":
            return code_span(label)
        case "icon" | "anchor":
            return ""
        case "btn" | "pass":
            return label
    return label or code_span(target.lstrip(":"))  # a custom macro of some site


def _convert_reference(target: str, label: str) -> str:
    """Return a link to another document, or to an anchor in this one."""
    is_here = "#" not in target and not re.search(r"\.\w{1,10}$", target)
    return link(label.strip() or target.lstrip("#"), f"#{target}" if is_here else target)
