"""Answers to ShareFetch: sessions, what is listed, what is refused, and how many records are given."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.gateway.patience import wait_until
from tests.gateway.serving import MEMBER
from tests.gateway.sharing import (  # fmt: skip
    A64,
    APPLES,
    B64,
    BEANS,
    LOCK_MS,
    NO_LIMITS,
    NOBODY,
    OTHER,
    PLACES,
    A,
    B,
    Market,
    Member,
    given,
    refused,
    rows,
    told,
)
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import Connection


def row(partition: int, *acquired: tuple[int, int], records: bytes = b"", code: int = 0, acknowledged: int = 0) -> Message:
    """A row of an answer; what was acquired is delivered for the first time."""
    return {
        "partitionIndex": partition,
        "errorCode": code,
        "errorMessage": None,
        "acknowledgeErrorCode": acknowledged,
        "acknowledgeErrorMessage": None,
        "currentLeader": {"leaderId": -1, "leaderEpoch": -1},
        "records": records,
        "acquiredRecords": [{"firstOffset": first, "lastOffset": last, "deliveryCount": 1} for first, last in acquired],
    }


def answer(*responses: tuple[str, list[Message]]) -> Message:
    """A whole answer without an error."""
    return {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "acquisitionLockTimeoutMs": LOCK_MS,
        "responses": [{"topicId": topic, "partitions": listed} for topic, listed in responses],
        "nodeEndpoints": [],
    }


@pytest.mark.parametrize("version", [1, 2])
def test_a_whole_answer(place: Market, version: int) -> None:
    before = [place.count("fetched", topic) for topic in (A64, B64)]
    member = place.member(f"whole {version}")
    everything = answer(
        # The session's partitions, beginning with that of its epoch.
        (A, [row(1, (0, 1), records=place.records(APPLES, 1, 0)), row(0, (0, 19), records=place.records(APPLES, 0, 0, 1, 2, 3))]),
        (B, [row(0, (0, 2), records=place.records(BEANS, 0, 0, 1, 2))]),
    )
    assert member.fetch(version=version) == everything
    # Nothing is new.
    assert member.fetch(version=version) == answer()
    assert [place.count("fetched", topic) - then for topic, then in zip((A64, B64), before, strict=True)] == [6, 3]
    group = f"whole {version}"
    assert (place.count("asked_partitions", group), place.count("acquired_partitions", group)) == (6, 3)
    buckets, total_ms = place.counts["acquire_times"][group]
    assert sum(buckets) == 1
    assert 0 <= total_ms < 60_000


def test_the_answer_that_opens_a_session_lists_what_could_be_fetched(place: Market) -> None:
    place.member("opens")
    member = Member(place, "opens")
    assert member.fetch([(B, 0), (A, 1), (B, 0)], maxRecords=1, shareAcquireMode=1) == answer(
        (B, [row(0, (0, 0), records=place.records(BEANS, 0, 0))]), (A, [row(1)])
    )
    everything = given(Member(place, "opens", OTHER).fetch(PLACES))
    assert everything == {(A, 0): [(0, 19, 1)], (A, 1): [(0, 1, 1)], (B, 0): [(1, 2, 1)]}
    # There is nothing left.
    assert Member(place, "opens", "C" * 22).fetch(PLACES) == answer((A, [row(0), row(1)]), (B, [row(0)]))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"groupId": None}, 42),
        ({"groupId": ""}, 42),
        ({"memberId": None}, 42),
        ({"memberId": ""}, 42),
        ({"memberId": "m" * 37}, 42),
        ({"memberId": "m" * 36}, 0),
        ({"memberId": "m"}, 0),
        ({"isRenewAck": True}, 42),
        *(({"isRenewAck": True, **NO_LIMITS, name: 1}, 42) for name in NO_LIMITS),
        ({"isRenewAck": True, **NO_LIMITS}, 0),
        ({"isRenewAck": False}, 0),
        ({"groupId": "unopened", "shareSessionEpoch": 1}, 122),
        ({"groupId": "unopened", "shareSessionEpoch": -1}, 122),
    ],
)
def test_what_is_checked_first(place: Market, change: dict[str, Any], code: int) -> None:
    before = place.count("request_errors", 78, code)
    asked: Message = {
        "groupId": "checked",
        "memberId": OTHER,
        "shareSessionEpoch": 0,
        "maxWaitMs": 0,
        "minBytes": 1,
        "maxBytes": 1000,
        "maxRecords": 1,
        "batchSize": 1,
        "topics": [],
        "forgottenTopicsData": [],
        **change,
    }
    found = place.connection.ask("ShareFetch", 2, asked)
    if code:
        assert refused(found) == code
        assert place.connection.ask("ShareFetch", 2, asked)["errorCode"] == code
        assert place.count("request_errors", 78, code) == before + 2
    else:
        assert found == answer()
        assert place.count("request_errors", 78, 0) == 0


@pytest.mark.parametrize("mode", [-1, 2, 127])
def test_an_acquire_mode_that_there_is_not_is_an_error(place: Market, mode: int) -> None:
    member = place.member("modes", [(B, 0)])
    assert refused(member.fetch(shareAcquireMode=mode)) == -1
    # Neither the session nor the connection is the worse for it.
    assert given(member.fetch(epoch=1, maxRecords=1, shareAcquireMode=1))
    assert member.fetch(epoch=-1)["errorCode"] == 0
    assert place.gateway.counts.failures[78] == 0


@pytest.mark.parametrize("number", [-1, -(1 << 31)])
def test_limits_below_zero(place: Market, number: int) -> None:
    member = place.member(f"limits {number}", [(B, 0), (A, 1)])
    # Bytes are an error of each partition that has records, records are none, and nothing is acquired.
    for records in (500, number):
        told = rows(member.fetch(maxBytes=number, maxRecords=records, maxWaitMs=20_000))
        assert told == {(B, 0): row(0, code=-1), (A, 1): row(1, code=-1)}
    assert set(rows(Member(place, f"limits {number}", OTHER).fetch([(B, 0), (A, 0)], maxRecords=number))) == {(B, 0)}
    assert set(given(member.fetch())) == {(B, 0), (A, 1)}


def test_the_epochs_of_a_session(place: Market) -> None:
    member = place.member("epochs")
    before = place.count("request_errors", 78, 123)
    assert refused(member.fetch(epoch=2)) == 123
    assert refused(member.fetch(epoch=0, acknowledged={(A, 0): [(0, 0, [1])]})) == 42
    assert given(member.fetch(maxRecords=1, epoch=1)) == {(A, 1): [(0, 1, 1)]}
    assert refused(member.fetch(epoch=1)) == 123
    assert place.count("request_errors", 78, 123) == before + 2
    # The session ends, and with it what was held; nothing is fetched any more.
    acknowledged = {(A, 1): [(0, 0, [1])]}
    assert member.fetch([(B, 0)], acknowledged, epoch=-1) == answer((A, [row(1)]))
    assert refused(member.fetch(epoch=2)) == 122
    assert refused(member.fetch(epoch=-1)) == 122
    other = place.member("epochs", [(A, 1)], member=OTHER)
    assert given(other.fetch(maxWaitMs=20_000)) == {(A, 1): [(1, 1, 2)]}


def test_strange_topics_and_partitions_have_errors_of_their_own(place: Market) -> None:
    place.join("strange")
    place.member("strange", [(B, 0)])
    counted = [(name, topic) for name in ("fetched", "fetch_failed") for topic in (A64, B64)]
    before = [place.count(*one) for one in counted]
    member = Member(place, "strange", OTHER)
    asked = [(A, 2), (NOBODY, 0), (B, 0), (A, -1), (B, 1)]
    expected = answer(
        (A, [row(2, code=3), row(-1, code=3)]),
        (NOBODY, [row(0, code=100)]),
        (B, [row(0, (0, 2), records=place.records(BEANS, 0, 0, 1, 2)), row(1, code=3)]),
    )
    found = member.fetch(asked)
    assert {one: rows(found)[one] for one in rows(expected)} == rows(found) == rows(expected)
    # Errors are told each time, acknowledgements beside them.
    again = member.fetch(acknowledged={(NOBODY, 0): [(0, 0, [1])], (A, 2): [(0, 0, [1])]})
    assert told(again) == {(A, 2): (3, 3), (A, -1): (3, 0), (B, 1): (3, 0), (NOBODY, 0): (100, 100)}
    assert [place.count(*one) - then for one, then in zip(counted, before, strict=True)] == [0, 2, 4, 2]
    assert place.counts["fetch_failed"].keys() == {A64, B64}


def test_a_group_without_states_is_told_so_once_they_were_looked_for(place: Market) -> None:
    counted = [("hidden", "UNKNOWN_SERVER_ERROR"), ("fetch_failed", A64), ("fetch_failed", B64)]
    before = [place.count(*one) for one in counted]
    member = Member(place, "never joined")
    assert rows(member.fetch()) == {}
    assert told(member.fetch(PLACES, maxWaitMs=20_000)) == dict.fromkeys(PLACES, (-1, 0))
    assert [place.count(*one) - then for one, then in zip(counted, before, strict=True)] == [3, 2, 1]
    place.join("never joined")
    assert rows(member.fetch(maxRecords=0)) == {}
    place.ready("never joined")
    # What had an error is listed when it could be fetched, and then only with records.
    assert told(member.fetch(maxRecords=1, shareAcquireMode=1)) == dict.fromkeys(PLACES, (0, 0))
    assert len(told(member.fetch(maxRecords=1, shareAcquireMode=1))) == 1


@pytest.mark.parametrize(
    ("limits", "acquired"),
    [
        # Whole batches until there are enough records; the first partition is that of the epoch.
        ({"maxRecords": 1}, {(A, 1): [(0, 1)]}),
        ({"maxRecords": 2}, {(A, 1): [(0, 1)]}),
        ({"maxRecords": 3}, {(A, 1): [(0, 1)], (B, 0): [(0, 0)]}),
        ({"maxRecords": 5}, {(A, 1): [(0, 1)], (B, 0): [(0, 2)]}),
        ({"maxRecords": 6}, {(A, 1): [(0, 1)], (B, 0): [(0, 2)], (A, 0): [(0, 4)]}),
        # Exactly so many.
        ({"maxRecords": 1, "shareAcquireMode": 1}, {(A, 1): [(0, 0)]}),
        ({"maxRecords": 4, "shareAcquireMode": 1}, {(A, 1): [(0, 1)], (B, 0): [(0, 1)]}),
        ({"maxRecords": 0}, {}),
        ({"maxRecords": -1}, {}),
        ({"maxBytes": 0}, {}),
        ({"maxBytes": -5}, {}),
        # A batch of each, however large.
        ({"maxBytes": 1}, {(A, 1): [(0, 1)], (B, 0): [(0, 0)], (A, 0): [(0, 4)]}),
        # Each has a third: 101 bytes are a batch of the first partition, 68 one of the last.
        ({"maxBytes": 3 * 203}, {(A, 1): [(0, 1)], (B, 0): [(0, 1)], (A, 0): [(0, 9)]}),
        ({"maxBytes": 3 * 308}, {(A, 1): [(0, 1)], (B, 0): [(0, 2)], (A, 0): [(0, 14)]}),
        ({"batchSize": 1}, {(A, 1): [(0, 1)], (B, 0): [(0, 0), (1, 1), (2, 2)], (A, 0): [(0, 4), (5, 9), (10, 14), (15, 19)]}),
        ({"batchSize": 0}, {(A, 1): [(0, 1)], (B, 0): [(0, 0), (1, 1), (2, 2)], (A, 0): [(0, 4), (5, 9), (10, 14), (15, 19)]}),
        ({"batchSize": 2}, {(A, 1): [(0, 1)], (B, 0): [(0, 1), (2, 2)], (A, 0): [(0, 4), (5, 9), (10, 14), (15, 19)]}),
        ({"minBytes": 10_000}, {}),
    ],
)  # fmt: skip
def test_how_many_records_are_given(
    place: Market, limits: dict[str, Any], acquired: dict[tuple[str, int], list[tuple[int, int]]]
) -> None:
    member = place.member(f"limits {limits}", [(A, 0), (A, 1), (B, 0)])
    found = given(member.fetch(**limits))
    assert found == {one: [(first, last, 1) for first, last in ranges] for one, ranges in acquired.items()}


def test_the_first_version_has_no_mode_and_no_renewals(place: Market) -> None:
    member = place.member("first version", [(A, 0)])
    assert given(member.fetch(version=1, maxRecords=2)) == {(A, 0): [(0, 4, 1)]}
    found = member.fetch(acknowledged={(A, 0): [(0, 4, [4])]}, version=1, maxRecords=1)
    assert told(found) == {(A, 0): (0, 42)}
    assert given(found) == {(A, 0): [(5, 9, 1)]}


def test_least_bytes_are_waited_for_until_the_time_is_over(place: Market) -> None:
    sizes = {one: len(place.records(*one, *range(count))) for one, count in (((APPLES, 1), 1), ((BEANS, 0), 3))}
    member = place.member("least", [(A, 1), (B, 0)])
    expired = place.count("expired_fetches")
    enough = sum(sizes.values())
    assert given(member.fetch(minBytes=enough + 1)) == {}
    assert place.count("expired_fetches") == expired
    assert given(member.fetch(minBytes=enough)) == {(A, 1): [(0, 1, 1)], (B, 0): [(0, 2, 1)]}
    late = place.member("least and late", [(A, 1), (B, 0)])
    assert set(given(late.fetch(minBytes=enough + 1, maxWaitMs=1))) == {(A, 1), (B, 0)}
    # There is nothing more.
    for count in (1, 2):
        assert late.fetch(maxWaitMs=1) == answer()
        assert place.count("expired_fetches") == expired + count


def test_forgotten_partitions_are_fetched_no_more(place: Market) -> None:
    member = place.member("forgets", PLACES)
    held = given(member.fetch(maxRecords=1))
    assert held == {(A, 1): [(0, 1, 1)]}
    # Acknowledged and forgotten in one request, from two topics.
    forgotten = [{"topicId": A, "partitions": [1, 0]}, {"topicId": NOBODY, "partitions": [0]}]
    found = member.fetch([(A, 0)], {(A, 1): [(0, 1, [2])]}, forgottenTopicsData=forgotten)
    assert told(found) == {(B, 0): (0, 0), (A, 1): (0, 0)}
    assert given(found) == {(B, 0): [(0, 2, 1)]}
    assert member.fetch() == answer()
    # Added again, it is new.
    found = member.fetch([(A, 1)])
    assert given(found) == {(A, 1): [(0, 1, 2)]}


def test_a_renewal_fetches_nothing_and_may_settle_other_records(place: Market) -> None:
    member = place.member("renews", [(A, 0), (B, 0)])
    assert given(member.fetch(maxRecords=1)) == {(B, 0): [(0, 0, 1)]}
    assert given(member.fetch(maxRecords=1)) == {(A, 0): [(0, 4, 1)]}
    renewed = {(A, 0): [(0, 1, [4]), (2, 4, [1, 3, 4])], (NOBODY, 0): [(0, 0, [4])], (A, 1): [(0, 0, [4])]}
    found = member.fetch(acknowledged=renewed, isRenewAck=True, **NO_LIMITS)
    assert found == answer((A, [row(0), row(1, acknowledged=121)]), (NOBODY, [row(0, acknowledged=100)]))
    # They are still held; without a renewal they cannot be renewed.
    found = member.fetch(acknowledged={(A, 0): [(0, 0, [4])], (B, 0): [(0, 0, [1])]}, maxRecords=0)
    assert told(found) == {(A, 0): (0, 42), (B, 0): (0, 0), (NOBODY, 0): (100, 0)}
    found = member.fetch(acknowledged={(A, 0): [(0, 1, [1]), (4, 4, [1])]}, maxRecords=0)
    assert told(found) == {(A, 0): (0, 0), (NOBODY, 0): (100, 0)}


def test_a_second_fetch_of_a_member_ends_the_first(place: Market) -> None:
    member = place.member("overtakes")
    assert len(given(member.fetch())) == 3
    with Connection(place.gateway.bootstrap_servers) as first, Connection(place.gateway.bootstrap_servers) as second:
        member.connection = first
        second.patience(20)
        asked: list[Message] = []
        thread = threading.Thread(target=lambda: asked.append(member.fetch(maxWaitMs=25_000)))
        thread.start()
        wait_until(lambda: place.gateway.plane.node.figures()["waiting_fetches"] == 1, "a fetch that waits")
        overtaking = Member(place, "overtakes", MEMBER, second)
        overtaking.epoch = 3
        assert overtaking.fetch(maxWaitMs=1) == answer()
        thread.join(15)
        assert [refused(one) for one in asked] == [123]
    assert place.gateway.plane.node.figures()["waiting_fetches"] == 0
