"""Share partitions in memory: states that cannot be loaded or written, locks that end, configurations, and those nobody uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from share_state.gateway import data_plane
from share_state.kafka import codes
from tests.gateway.groups import configure_group
from tests.gateway.orchard import PLUMS, Orchard
from tests.gateway.patience import wait_until
from tests.gateway.serving import Instead, fetch
from tests.gateway.sharing import A64, APPLES, OTHER, A, Market, Member, given, market, rows, told

CORRUPT = ss.ReadStateResult(1, 4, [ss.StateBatch(2, 3, 2, 1)])


def raising(error: Exception) -> Any:
    def raises(*_: object) -> None:
        raise error

    return raises


def answering(answer: Any) -> Any:
    return lambda asked: [answer for _ in asked]


def refusing(wrong: ss.ShareStateError) -> Any:
    """A round of writes that the store refuses one by one."""
    return lambda taken, _store: ([wrong.kafka_code or -1] * len(taken), [wrong] * len(taken))


@pytest.mark.parametrize(
    ("calls", "code", "why"),
    [
        ({"read_states": answering(ss.UnknownPartitionError("gone"))}, 3, "the state cannot be read: gone: "),
        ({"read_states": answering(ss.StoreError("closed"))}, -1, "the state cannot be read: closed: "),
        ({"read_states": answering(CORRUPT)}, -1, "the state is corrupt: state_batches[0]"),
        ({"read_states": raising(ss.StoreError("the store is gone"))}, -1, "the state cannot be read: the store is gone: "),
    ],
)
def test_what_cannot_be_loaded_has_a_code_and_is_tried_again(
    place: Market, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, calls: Any, code: int, why: str
) -> None:
    group = f"not loaded: {why}"
    place.join(group)
    loading = place.gateway._loading
    with monkeypatch.context() as patched:
        patched.setattr(loading, "_store", Instead(loading._store, **calls))
        member = Member(place, group)
        assert rows(member.fetch([(A, 0)], maxRecords=0)) == {}
        assert told(member.fetch(maxWaitMs=20_000)) == {(A, 0): (code, 0)}
        assert not place.serves(group, (A, 0))
    wait_until(lambda: given(member.fetch(maxWaitMs=1_000)) == {(A, 0): [(0, 19, 1)]}, "it is loaded")
    named = f"group={group!r} topic='{APPLES}' topic_id='{A64}' partition=0"
    # Once for each fetch that has had it loaded.
    (level, first), warned = dict.fromkeys((one.levelname, one.getMessage()) for one in caplog.records)
    assert (level, first[: len(why)], first[-len(named) :]) == ("ERROR", why, named)
    assert warned == ("WARNING", f"not loaded: code={code} ({codes.name_of(code)}) {named}")


def test_a_start_offset_that_cannot_be_kept_is_looked_for_again(
    place: Market, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place.join("not kept")
    member = Member(place, "not kept")
    with monkeypatch.context() as patched:
        patched.setattr(data_plane, "write", refusing(ss.EnginePoisonedError("a bug")))
        assert rows(member.fetch([(A, 0)], maxRecords=0)) == {}
        assert told(member.fetch(maxWaitMs=20_000)) == {(A, 0): (-1, 0)}
        assert not place.serves("not kept", (A, 0))
    wait_until(lambda: given(member.fetch(maxWaitMs=1_000)) == {(A, 0): [(0, 19, 1)]}, "it is loaded")
    assert list(dict.fromkeys((one.levelname, one.getMessage()) for one in caplog.records)) == [
        ("ERROR", "the store refuses writes: EnginePoisonedError('a bug')"),
        (
            "WARNING",
            f"not loaded: code=-1 (UNKNOWN_SERVER_ERROR) group='not kept' topic='{APPLES}' topic_id='{A64}' partition=0",
        ),
    ]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (ss.FencedLeaderEpochError("another leader"), 6),
        (ss.FencedStateEpochError("another state"), 6),
        (ss.UnknownPartitionError("gone"), 3),
    ],
)
def test_one_that_the_store_fences_is_loaded_anew(
    place: Market, monkeypatch: pytest.MonkeyPatch, wrong: ss.ShareStateError, code: int
) -> None:
    member = place.member(f"fenced {wrong}", [(A, 0), (A, 1)])
    assert len(given(member.fetch())) == 2
    with monkeypatch.context() as patched:
        patched.setattr(data_plane, "write", refusing(wrong))
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
    for name, seconds in (("_REFRESH", 0.05), ("_SILENT_PARTITION_MS", 200)):
        monkeypatch.setattr(f"share_state.gateway.gateway.{name}", seconds)
    with market(tmp_path) as place:
        place.join("silent")
        member = Member(place, "silent")
        member.fetch([(A, 0), (A, 1)])
        found: dict[Any, Any] = {}
        while len(found) < 2:
            found |= given(member.fetch(maxWaitMs=20_000))
        assert told(member.fetch(acknowledged={(A, 0): [(0, 19, [1])]}, maxRecords=0)) == {(A, 0): (0, 0)}
        wait_until(lambda: not place.serves("silent", (A, 0)), "it is forgotten")
        # Of this one records are held.
        assert place.serves("silent", (A, 1))
        place.upstream.append(APPLES, 0, [b"late"])
        wait_until(lambda: given(member.fetch(maxWaitMs=100)) == {(A, 0): [(20, 20, 1)]}, "the next record")
