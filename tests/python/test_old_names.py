"""Old names still work for one release, and say what the new ones are."""

from __future__ import annotations

import pytest

import share_state as ss
import share_state.kafka
from share_state.kafka import ShareCoordinatorServer

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"


def test_the_old_name_of_the_coordinator_server_warns() -> None:
    with pytest.warns(DeprecationWarning, match="use ShareCoordinatorServer") as warned:
        old: object = getattr(share_state.kafka, "FakeShareCoordinator")  # noqa: B009  its type is known under the new name
    assert old is ShareCoordinatorServer
    # The warning points at the caller, who has to change the name.
    assert [one.filename for one in warned] == [__file__]


def test_the_old_name_is_imported_too() -> None:
    with pytest.warns(DeprecationWarning, match="FakeShareCoordinator is deprecated"):
        exec("from share_state.kafka import FakeShareCoordinator")  # noqa: S102


def test_no_other_name_is_made_up() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'FakeCoordinator'"):
        getattr(share_state.kafka, "FakeCoordinator")  # noqa: B009


def test_the_store_of_leaves_by_its_old_name_warns_and_works() -> None:
    with pytest.warns(DeprecationWarning, match='use store="leaves"') as warned:
        old = ss.SharePartition("workers", TOPIC, 0, store="tree")
    assert [one.filename for one in warned] == [__file__]
    new = ss.SharePartition("workers", TOPIC, 0, store="leaves")
    for made in (old, new):
        made.initialize(ss.ReadStateResult(0, 0, []))
    assert old.acquire("alice", [(0, 9)], max_records=5, now_ms=0) == new.acquire("alice", [(0, 9)], max_records=5, now_ms=0)


def test_a_warning_that_is_an_error_is_raised() -> None:
    # As pytest is configured here, with `filterwarnings = ["error"]`.
    with pytest.raises(DeprecationWarning, match='store="tree" is deprecated'):
        ss.SharePartition("workers", TOPIC, 0, store="tree")
