"""Answers to ShareAcknowledge, and what acknowledgements do, in either of the two requests that carry them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.sharing import (  # fmt: skip
    A64,
    B64,
    LOCK_MS,
    NOBODY,
    OTHER,
    PLACES,
    A,
    B,
    Batch,
    Market,
    Member,
    given,
    refused,
    rows,
    told,
)
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import Connection

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
#: Kafka's texts; a code that is chosen before a share partition has seen the request has none.
TEXTS = {
    -1: "The server experienced an unexpected error when processing the request.",
    42: "The request is malformed, or was sent to a server of another kind.",
    121: "The record state is invalid. The acknowledgement of delivery could not be completed.",
}


def answer(*responses: tuple[str, dict[int, int]]) -> Message:
    """A whole answer with the codes of its partitions."""
    return {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "acquisitionLockTimeoutMs": LOCK_MS,
        "responses": [
            {
                "topicId": topic,
                "partitions": [
                    {
                        "partitionIndex": number,
                        "errorCode": code,
                        "errorMessage": TEXTS.get(code),
                        "currentLeader": {"leaderId": -1, "leaderEpoch": -1},
                    }
                    for number, code in listed.items()
                ],
            }
            for topic, listed in responses
        ],
        "nodeEndpoints": [],
    }


def holding(place: Market, group: str, *places: tuple[str, int]) -> Member:
    """A member at epoch 2 that holds every record of these places."""
    member = place.member(group, places or PLACES)
    assert set(given(member.fetch())) == set(places or PLACES)
    return member


@pytest.mark.parametrize("version", [1, 2])
def test_a_whole_answer(place: Market, version: int) -> None:
    group = f"whole {version}"
    member = holding(place, group)
    counted = [(name, topic) for name in ("acknowledged", "acknowledge_failed") for topic in (A64, B64)]
    before = [place.count(*one) for one in counted]
    asked: dict[tuple[str, int], list[Batch]] = {
        (A, 7): [(0, 0, [ACCEPT])],
        (NOBODY, 3): [(0, 0, [ACCEPT])],
        (A, 0): [(0, 4, [ACCEPT]), (5, 7, [RELEASE, REJECT, GAP])],
        (B, 0): [(2, 9, [ACCEPT])],
        (A, 1): [(1, 1, [REJECT])],
        (B, -1): [(0, 0, [ACCEPT])],
    }
    expected = answer((A, {7: 3, 0: 0, 1: 0}), (NOBODY, {3: 100}), (B, {0: 42, -1: 3}))
    if version == 1:
        del expected["acquisitionLockTimeoutMs"]
    assert member.acknowledge(asked, version=version) == expected
    # Two of the three apples, and none of the beans.
    assert [place.count(*one) - then for one, then in zip(counted, before, strict=True)] == [3, 2, 1, 2]
    assert len(place.counts["acknowledged"]) == len(place.counts["acknowledge_failed"]) == 2


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"groupId": None}, 42),
        ({"groupId": ""}, 42),
        ({"memberId": None}, 42),
        ({"memberId": ""}, 42),
        ({"memberId": "m" * 37}, 42),
        ({"memberId": "m" * 36}, 122),
        ({"groupId": "another"}, 122),
        ({"shareSessionEpoch": 0}, 123),
        ({"shareSessionEpoch": 2}, 123),
        ({"shareSessionEpoch": -2}, 123),
        ({"memberId": "m" * 36, "shareSessionEpoch": -1}, 122),
    ],
)
def test_what_is_checked_first(place: Market, change: dict[str, Any], code: int) -> None:
    place.member("checked", PLACES, member=OTHER)
    before = place.count("request_errors", 79, code)
    asked: Message = {"groupId": "checked", "memberId": OTHER, "shareSessionEpoch": 1, "topics": [], **change}
    assert refused(place.connection.ask("ShareAcknowledge", 2, asked)) == code
    assert place.count("request_errors", 79, code) == before + 1
    # The session is where it was.
    asked.update(groupId="checked", memberId=OTHER, shareSessionEpoch=1)
    assert place.connection.ask("ShareAcknowledge", 2, asked) == answer()
    assert place.connection.ask("ShareAcknowledge", 2, {**asked, "shareSessionEpoch": 2}) == answer()


@pytest.mark.parametrize(
    ("kind", "delivered"),
    [(GAP, None), (ACCEPT, None), (RELEASE, 2), (REJECT, None), (RENEW, None)],
    ids=["gap", "accept", "release", "reject", "renew"],
)
def test_the_types_of_acknowledgements(place: Market, kind: int, delivered: int | None) -> None:
    group = f"type {kind}"
    member = holding(place, group, (A, 1))
    before = place.counts["acknowledged_records"]
    renews: dict[str, Any] = {"isRenewAck": True} if kind == RENEW else {}
    assert member.acknowledge({(A, 1): [(0, 1, [kind])]}, **renews) == answer((A, {1: 0}))
    assert place.counts["acknowledged_records"] == {**before, kind: before[kind] + 2}
    found = given(place.member(group, [(A, 1)], member=OTHER).fetch())
    assert found == ({} if delivered is None else {(A, 1): [(0, 1, delivered)]})
    # What is settled, or somebody else's, cannot be acknowledged again.
    again = member.acknowledge({(A, 1): [(0, 1, [ACCEPT])]})
    # Below the start offset nothing is said; a renewed record is still held.
    assert again == answer((A, {1: 121 if kind == RELEASE else 0}))


@pytest.mark.parametrize(
    ("batches", "code"),
    [
        ([(0, 0, [ACCEPT]), (2, 2, [RELEASE])], 0),
        ([(0, 4, [ACCEPT]), (5, 9, [REJECT])], 0),
        ([(0, 2, [ACCEPT, GAP, REJECT])], 0),
        # Renewals need to say that they are.
        ([(0, 0, [RENEW])], 42),
        ([(0, 1, [ACCEPT]), (3, 4, [ACCEPT, RENEW])], 42),
        # Too few types, too many, none, an unknown one.
        ([(0, 2, [ACCEPT, ACCEPT])], 42),
        ([(0, 1, [ACCEPT, ACCEPT, ACCEPT])], 42),
        ([(0, 1, [])], 42),
        ([(0, 1, [5])], 42),
        ([(0, 1, [-1])], 42),
        # A range that ends before it begins, ranges out of order, with an offset in common, and one twice.
        ([(3, 2, [ACCEPT])], 42),
        ([(6, 7, [ACCEPT]), (0, 1, [ACCEPT])], 42),
        ([(0, 4, [ACCEPT]), (4, 9, [ACCEPT])], 42),
        ([(0, 1, [ACCEPT]), (0, 1, [ACCEPT])], 121),
        # What was never given out.
        ([(100, 101, [ACCEPT])], 42),
        ([(18, 21, [ACCEPT])], 42),
    ],
)
def test_ranges_of_acknowledgements(place: Market, batches: list[Batch], code: int) -> None:
    group = f"ranges {batches}"
    asked = {(A, 0): batches}
    member = holding(place, group, (A, 0))
    assert member.acknowledge(asked) == answer((A, {0: code}))
    member = holding(place, f"{group} in a fetch", (A, 0))
    assert told(member.fetch(acknowledged=asked)) == {(A, 0): (0, code)}
    if code:
        # A request that is refused has changed nothing.
        assert member.acknowledge({(A, 0): [(0, 19, [ACCEPT])]}) == answer((A, {0: 0}))


def test_records_are_counted_by_type(place: Market) -> None:
    member = holding(place, "counted")
    before = place.counts["acknowledged_records"]
    asked: dict[tuple[str, int], list[Batch]] = {
        (A, 0): [(3, 7, [ACCEPT]), (9, 11, [RELEASE, REJECT, REJECT])],
        (A, 1): [(0, 0, [GAP])],
        (B, 0): [(1, 2, [ACCEPT])],
        # Counted although they are refused; a range that ends before it begins is of no records.
        (NOBODY, 0): [(5, 6, [ACCEPT]), (9, 3, [ACCEPT])],
    }
    assert member.acknowledge(asked) == answer((A, {0: 0, 1: 0}), (B, {0: 0}), (NOBODY, {0: 100}))
    after = place.counts["acknowledged_records"]
    assert [after[kind] - before[kind] for kind in range(5)] == [1, 9, 1, 2, 0]


def test_a_place_that_is_named_several_times_has_one_row(place: Market) -> None:
    member = holding(place, "repeats", (A, 0), (B, 0))
    batches = [
        {"firstOffset": first, "lastOffset": last, "acknowledgeTypes": [kind]}
        for first, last, kind in ((0, 1, ACCEPT), (3, 4, RELEASE))
    ]
    one, two = ({"partitionIndex": 0, "acknowledgementBatches": [batch]} for batch in batches)
    none = {"partitionIndex": 0, "acknowledgementBatches": []}
    asked = [
        {"topicId": A, "partitions": [none, one]},
        {"topicId": B, "partitions": [none]},
        {"topicId": A, "partitions": [two, none]},
        {"topicId": A, "partitions": [{"partitionIndex": 1, "acknowledgementBatches": []}]},
    ]
    found = member.connection.ask("ShareAcknowledge", 2, {**member.named, "shareSessionEpoch": 2, "topics": asked})
    assert found == answer((A, {0: 0}))
    other = place.member("repeats", [(A, 0)], member=OTHER)
    assert given(other.fetch()) == {(A, 0): [(3, 4, 2)]}


def test_a_renewal_keeps_what_it_names(place: Market) -> None:
    member = holding(place, "renews")
    asked: dict[tuple[str, int], list[Batch]] = {(A, 0): [(0, 1, [RENEW]), (3, 3, [ACCEPT])], (A, 9): [(0, 0, [RENEW])]}
    assert member.acknowledge(asked, isRenewAck=True) == answer((A, {0: 0, 9: 3}))
    assert member.acknowledge({(A, 0): [(0, 0, [RENEW])], (B, 0): [(0, 0, [ACCEPT])]}, isRenewAck=False) == answer(
        (A, {0: 42}), (B, {0: 0})
    )
    # A member may renew its own records only.
    assert place.member("renews", member=OTHER).acknowledge({(A, 0): [(0, 0, [RENEW])]}, isRenewAck=True) == answer((A, {0: 121}))
    assert member.acknowledge({(A, 0): [(0, 2, [ACCEPT])]}, isRenewAck=True) == answer((A, {0: 0}))
    # The first version cannot say that it is a renewal.
    expected = answer((A, {0: 42}))
    del expected["acquisitionLockTimeoutMs"]
    assert member.acknowledge({(A, 0): [(5, 5, [RENEW])]}, version=1) == expected


def test_the_last_acknowledgements_end_the_session_and_release_the_rest(place: Market) -> None:
    member = holding(place, "ends")
    other = place.member("ends", member=OTHER)
    assert given(other.fetch()) == {}
    assert member.acknowledge({(B, 0): [(0, 1, [ACCEPT])]}) == answer((B, {0: 0}))
    assert given(other.fetch()) == {}
    assert member.acknowledge({(A, 0): [(0, 9, [ACCEPT])]}, epoch=-1) == answer((A, {0: 0}))
    assert refused(member.acknowledge({}, epoch=4)) == 122
    assert refused(member.fetch(epoch=4)) == 122
    released: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
    while len(released) < 3:
        found = given(other.fetch(maxWaitMs=20_000))
        assert found
        released |= found
    assert released == {(A, 0): [(10, 19, 2)], (A, 1): [(0, 1, 2)], (B, 0): [(2, 2, 2)]}


def test_the_end_of_a_connection_releases_what_its_members_hold(place: Market) -> None:
    moved = "C" * 22
    with Connection(place.gateway.bootstrap_servers) as lost:
        member = place.member("lost", [(A, 0)], connection=lost)
        assert given(member.fetch()) == {(A, 0): [(0, 19, 1)]}
        neighbour = place.member("lost", [(A, 1)], member=moved, connection=lost)
        assert given(neighbour.fetch()) == {(A, 1): [(0, 1, 1)]}
        # It opens its session anew over another connection, and keeps what it holds.
        again = place.member("lost", [(A, 1)], member=moved)
    other = place.member("lost", [(A, 0), (A, 1)], member=OTHER)
    assert given(other.fetch(maxWaitMs=20_000)) == {(A, 0): [(0, 19, 2)]}
    assert given(other.fetch()) == {}
    assert again.acknowledge({(A, 1): [(0, 1, [ACCEPT])]}) == answer((A, {1: 0}))


def test_who_holds_records_may_acknowledge_them_without_a_session_on_them(place: Market) -> None:
    member = holding(place, "forgets", (A, 0))
    forgotten = [{"topicId": A, "partitions": [0]}]
    assert rows(member.fetch([(B, 0)], forgottenTopicsData=forgotten, maxRecords=0)) == {}
    assert member.acknowledge({(A, 0): [(0, 9, [ACCEPT])]}) == answer((A, {0: 0}))
    assert told(member.fetch(acknowledged={(A, 0): [(10, 19, [ACCEPT])]}, maxRecords=0)) == {(A, 0): (0, 0)}
    place.ready("forgets", [(B, 0)])
    # Records of somebody else, and of a partition that it has nothing of.
    other = place.member("forgets", [(B, 0)], member=OTHER)
    assert given(other.fetch()) == {(B, 0): [(0, 2, 1)]}
    assert member.acknowledge({(B, 0): [(0, 0, [ACCEPT])], (A, 1): [(0, 0, [ACCEPT])]}) == answer((B, {0: 121}), (A, {1: 121}))


def test_what_is_not_in_memory_is_loaded_to_be_refused(place: Market) -> None:
    # There is a state of each, but no share partition in memory.
    place.join("not loaded")
    member = Member(place, "not loaded")
    assert rows(member.fetch()) == {}
    assert not place.serves("not loaded", (A, 0))
    asked: dict[tuple[str, int], list[Batch]] = {(A, 0): [(0, 0, [ACCEPT])], (A, 1): [(0, 3, [ACCEPT])]}
    assert member.acknowledge(asked) == answer((A, {0: 121, 1: 121}))
    assert place.serves("not loaded", (A, 0))
    # And where there is no state at all, that is said.
    member = Member(place, "never joined")
    assert rows(member.fetch()) == {}
    assert member.acknowledge(asked) == answer((A, {0: -1, 1: -1}))
