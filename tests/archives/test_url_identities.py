"""Identities of URLs."""

from dowse.archives.url_identities import url_identity


def test_scheme_slash_fragment_tracking_and_case_of_the_host_do_not_count() -> None:
    for address in (
        "https://example.com/a/b", "http://example.com/a/b/", "HTTPS://EXAMPLE.com/a/b#part", "//example.com/a/b",
        "https://example.com:443/a/b", "http://example.com:80/a/b?utm_source=x&utm_medium=y",
        "https://example.com/a/b?fbclid=1#x", "https://example.com./a/%62",
    ):  # fmt: skip
        assert url_identity(address) == "url:example.com/a/b"


def test_everything_else_counts() -> None:
    for address in (
        "https://example.com/A/b",
        "https://example.com/a/b?page=2",
        "https://example.com:8080/a/b",
        "https://other.com/a/b",
    ):
        assert url_identity(address) != "url:example.com/a/b"


def test_what_has_a_number_is_known_by_it() -> None:
    for address, key in (
        ("https://doi.org/10.1000/182", "doi:10.1000/182"),
        ("http://dx.doi.org/10.1000/ABC", "doi:10.1000/abc"),
        ("https://arxiv.org/abs/2101.00001v3", "arxiv:2101.00001"),
        ("https://arxiv.org/pdf/2101.00001.pdf", "arxiv:2101.00001"),
        ("https://arxiv.org/abs/hep-th/9901001", "arxiv:hep-th/9901001"),
        ("https://www.python.org/dev/peps/pep-0008/", "pep:8"),
        ("https://peps.python.org/pep-0008/#a-foolish-consistency", "pep:8"),
        ("https://tools.ietf.org/html/rfc2616#section-5", "rfc:2616"),
        ("https://datatracker.ietf.org/doc/html/rfc2616", "rfc:2616"),
        ("https://www.rfc-editor.org/rfc/rfc2616.txt", "rfc:2616"),
    ):
        assert url_identity(address) == key


def test_what_leads_nowhere_has_no_identity() -> None:
    for address in ("", "a/b.md", "mailto:a@b.c", "javascript:x", "http://[::1", "http://", "http://a:b/"):
        assert url_identity(address) == ""
