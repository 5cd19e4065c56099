"""An index in a bucket, fetched from a real S3 server, or from one that fails."""

from typing import Any

import pytest

from dowse.errors import Failed, UsageError
from dowse.sites import index_sources
from dowse.sites.index_sources import open_index_source
from dowse.sites.site import ServedSite
from tests.s3_server import make_bucket, needs_s3_server, s3_environment
from tests.sites.sample_sites import PAGES, encoded, index
from tests.sites.test_index_sources_https import Answer, cut, dripping, failing, giving, refusing, serving_site


@pytest.fixture
def client(s3_url: str) -> Any:
    """A client that may write to the server."""
    made = make_bucket("sites")
    made.put_object(Bucket="sites", Key="search-index.json", Body=encoded(index()))
    return made


@needs_s3_server
def test_an_index_is_served_from_a_bucket_and_renewed_when_it_changed(client: Any) -> None:
    now = 0.0
    live = ServedSite(open_index_source("s3://sites/search-index.json"), lambda: now)
    before = live.current
    assert len(before) == 4
    now = 100
    live.refresh()
    assert live.current is before
    assert live.problem is None
    client.put_object(Bucket="sites", Key="search-index.json", Body=encoded(index(*PAGES[:2])))
    now = 200
    live.refresh()
    assert len(live.current) == 2


@needs_s3_server
def test_what_is_not_there_is_said(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failed, match="no object with this name"):
        open_index_source("s3://sites/none.json").fetch(None)
    with pytest.raises(Failed, match="no such bucket"):
        open_index_source("s3://nowhere/none.json").fetch(None)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(Failed, match=r"secret key is wrong|have no access"):
        open_index_source("s3://sites/search-index.json").fetch(None)


@needs_s3_server
def test_a_store_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    with pytest.raises(Failed, match="cannot be fetched"):
        open_index_source("s3://sites/search-index.json").fetch(None)


def test_an_address_needs_a_bucket_and_a_name() -> None:
    for place in ("s3://", "s3://bucket", "s3://bucket/"):
        with pytest.raises(UsageError, match="s3://bucket/"):
            open_index_source(place)


@pytest.mark.parametrize("failing", [refusing, failing, dripping, cut])
def test_a_bucket_that_fails_for_a_while_does_not_take_the_site_away(
    monkeypatch: pytest.MonkeyPatch, failing: Answer
) -> None:
    pytest.importorskip("boto3", reason="needs the extra s3")
    monkeypatch.setattr(index_sources, "FETCH_SECONDS", 0.5)
    now = 0.0
    with serving_site(None) as site:
        for name, value in s3_environment(site.url).items():
            monkeypatch.setenv(name, value)
        site.answer = giving(encoded(index()), ETag='"1"')
        live = ServedSite(open_index_source("s3://sites/search-index.json"), lambda: now)
        before = live.current
        site.answer, now = failing, 100.0
        live.refresh()
        assert live.problem
        assert live.current is before
        site.answer, now = giving(encoded(index(*PAGES[:2])), ETag='"2"'), 100_000.0
        live.refresh()
        assert (live.problem is None, len(live.current)) == (True, 2)
