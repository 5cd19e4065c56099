"""The lease of a writer, on a folder."""

import json
import time
from pathlib import Path

import pytest

from dowse.errors import Failed, StoreBusy
from dowse.publishing import publish as leases
from dowse.publishing.publish import LEASE_OBJECT, require_conditions, writer_lease
from dowse.sharing.object_place import FolderPlace


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    return FolderPlace(tmp_path)


def test_a_second_writer_waits_or_says_who_is_writing(place: FolderPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "POLL_SECONDS", 0.01)
    said: list[str] = []
    with writer_lease(place, "a" * 40, 0, said.append):
        with (
            pytest.raises(StoreBusy, match="publishes commit aaaaaaaaaaaa"),
            writer_lease(place, "b" * 40, 0, said.append),
        ):
            pass
        with pytest.raises(StoreBusy), writer_lease(place, "b" * 40, 0.05, said.append):
            pass
        assert "waiting for it" in said[0]
    with writer_lease(place, "b" * 40, 0, said.append):
        pass
    assert place.read(LEASE_OBJECT) is None


def test_the_lease_of_a_killed_writer_expires(place: FolderPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write(LEASE_OBJECT, json.dumps({"name": "gone", "commit": "c", "until": 1.0}).encode(), replaces=None)
    with writer_lease(place, "b" * 40, 0, lambda _: None) as require:
        require()


def test_a_writer_that_lost_its_lease_stops(place: FolderPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEWAL_SECONDS", 0.01)
    with writer_lease(place, "a" * 40, 0, lambda _: None) as require:
        found = place.read(LEASE_OBJECT)
        while found and place.write(LEASE_OBJECT, b"{}", replaces=found.tag) is None:  # it is renewed meanwhile
            found = place.read(LEASE_OBJECT)
        for _ in range(1000):
            try:
                require()
            except StoreBusy:
                break
            time.sleep(0.01)
        else:
            pytest.fail("the loss was not noticed")
    assert place.read(LEASE_OBJECT), "the lease of the other writer stays"


class _Careless(FolderPlace):
    """A place that ignores conditions."""

    def write(self, key: str, data: bytes, *, replaces: str | None) -> str | None:
        found = self.read(key)
        return super().write(key, data, replaces=found.tag if found else None)


def test_a_place_that_ignores_conditions_is_refused(tmp_path: Path) -> None:
    require_conditions(FolderPlace(tmp_path / "good"))
    with pytest.raises(Failed, match="ignores the condition"):
        require_conditions(_Careless(tmp_path / "bad"))
    assert not list((tmp_path / "bad").glob("probe-*"))
