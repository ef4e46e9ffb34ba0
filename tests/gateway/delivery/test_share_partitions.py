"""Share partitions in memory: states that cannot be loaded or written, locks that end, configurations, and those nobody uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from tests.gateway.groups import configure_group
from tests.gateway.orchard import PLUMS, Orchard
from tests.gateway.patience import wait_until
from tests.gateway.serving import Instead, fetch
from tests.gateway.sharing import A64, APPLES, OTHER, A, Market, Member, given, market, rows, told

CORRUPT = ss.ReadStateResult(1, 4, [ss.StateBatch(2, 3, 2, 1)])
NEW = ss.ReadStateResult(3, -1, [])


def raising(error: Exception) -> Any:
    def raises(*_: object) -> None:
        raise error

    return raises


def answering(answer: Any) -> Any:
    return lambda asked: [answer for _ in asked]


@pytest.mark.parametrize(
    ("calls", "code", "why"),
    [
        ({"read_states": answering(ss.UnknownPartitionError("gone"))}, 3, "the state cannot be read: gone: "),
        ({"read_states": answering(ss.StoreError("closed"))}, -1, "the state cannot be read: closed: "),
        ({"read_states": answering(CORRUPT)}, -1, "the state is corrupt: state_batches[0]"),
        ({"read_states": raising(ss.StoreError("the store is gone"))}, -1, "not loaded: the store is gone: "),
        (
            {"read_states": answering(NEW), "write_states": answering(ss.StoreError("full"))},
            -1,
            "the start offset cannot be written: full: ",
        ),
    ],
)
def test_what_cannot_be_loaded_has_a_code_and_is_tried_again(
    place: Market, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, calls: Any, code: int, why: str
) -> None:
    group = f"not loaded: {why}"
    place.join(group)
    manager = place.gateway.manager
    with monkeypatch.context() as patched:
        patched.setattr(manager, "_store", Instead(manager._store, **calls))
        member = Member(place, group)
        assert rows(member.fetch([(A, 0)], maxRecords=0)) == {}
        assert told(member.fetch(maxWaitMs=20_000)) == {(A, 0): (code, 0)}
        assert manager.get(group, A64, 0) is None
    wait_until(lambda: given(member.fetch(maxWaitMs=1_000)) == {(A, 0): [(0, 19, 1)]}, "it is loaded")
    named = f"group={group!r} topic='{APPLES}' topic_id='{A64}' partition=0"
    first, second = caplog.records[:2]
    assert (first.levelname, first.getMessage()[: len(why)], second.levelname) == ("ERROR", why, "WARNING")
    assert second.getMessage().startswith(f"not loaded: code={code} (")
    assert all(one.getMessage().endswith(named) for one in (first, second))


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (ss.FencedLeaderEpochError("another leader"), 6),
        (ss.FencedStateEpochError("another state"), 6),
        (ss.UnknownPartitionError("gone"), 3),
    ],
)
def test_one_that_the_store_fences_is_loaded_anew(
    place: Market, monkeypatch: pytest.MonkeyPatch, wrong: Exception, code: int
) -> None:
    member = place.member(f"fenced {wrong}", [(A, 0), (A, 1)])
    assert len(given(member.fetch())) == 2
    with monkeypatch.context() as patched:
        patched.setattr(place.gateway.manager.writes._rounds, "_carry_out", lambda taken: answering(wrong)(taken.requests))
        (response,) = member.acknowledge({(A, 0): [(0, 4, [1])]})["responses"]
        assert [row["errorCode"] for row in response["partitions"]] == [code]
    # What was not written was not settled, and the neighbour is as it was.
    other = Member(place, f"fenced {wrong}", OTHER)
    wait_until(lambda: given(other.fetch([(A, 0)] if other.epoch == 0 else [])) == {(A, 0): [(0, 19, 1)]}, "it is there again")
    (response,) = member.acknowledge({(A, 1): [(0, 1, [1])]})["responses"]
    assert [row["errorCode"] for row in response["partitions"]] == [0]


def test_locks_end_while_nobody_asks(tmp_path: Path) -> None:
    short = {"group.share.min.record.lock.duration.ms": "1000", "group.share.record.lock.duration.ms": "1000"}
    with market(tmp_path, broker=short, groups={"share.auto.offset.reset": "earliest"}) as place:
        assert given(place.member("locks").fetch())
        other = place.member("locks", member=OTHER)
        found: dict[Any, Any] = {}
        while len(found) < 3:
            # It waits for longer than a lock holds, and is woken.
            more = given(other.fetch(maxWaitMs=20_000))
            assert more
            found |= more
        assert {delivered for ranges in found.values() for _, _, delivered in ranges} == {2}


def test_another_isolation_level_is_read_elsewhere_from_then_on(there: Orchard) -> None:
    configure_group(there.gateway.bootstrap_servers, "levels", **{"share.isolation.level": "read_committed"})
    there.join("levels", [PLUMS])
    topic = there.upstream.topics[PLUMS].topic_id

    def acquired(epoch: int, wait_ms: int) -> list[tuple[int, int]]:
        places = [] if epoch else [(topic, 1)]
        answer = there.ask("ShareFetch", 1, fetch("levels", epoch, places, maxWaitMs=wait_ms))
        ranges = [one for row in answer["responses"] for part in row["partitions"] for one in part["acquiredRecords"]]
        return [(one["firstOffset"], one["lastOffset"]) for one in ranges]

    # The transaction of all of them is open.
    assert [acquired(epoch, 200) for epoch in (0, 1)] == [[], []]
    configure_group(there.gateway.bootstrap_servers, "levels", **{"share.isolation.level": "read_uncommitted"})
    assert acquired(2, 20_000) == [(0, 4)]


def test_what_nobody_uses_is_forgotten_and_loaded_when_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("_REFRESH", 0.05), ("_SILENT_PARTITION", 0.2)):
        monkeypatch.setattr(f"share_state.gateway.gateway.{name}", seconds)
    with market(tmp_path) as place:
        place.join("silent")
        member = Member(place, "silent")
        member.fetch([(A, 0), (A, 1)])
        found: dict[Any, Any] = {}
        while len(found) < 2:
            found |= given(member.fetch(maxWaitMs=20_000))
        assert told(member.fetch(acknowledged={(A, 0): [(0, 19, [1])]}, maxRecords=0)) == {(A, 0): (0, 0)}
        manager = place.gateway.manager
        wait_until(lambda: manager.get("silent", A64, 0) is None, "it is forgotten")
        # Of this one records are held.
        assert manager.get("silent", A64, 1) is not None
        place.upstream.append(APPLES, 0, [b"late"])
        wait_until(lambda: given(member.fetch(maxWaitMs=100)) == {(A, 0): [(20, 20, 1)]}, "the next record")
