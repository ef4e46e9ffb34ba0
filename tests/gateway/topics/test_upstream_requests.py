"""Requests of the gateway for batches and for the ends of leader epochs: whole, in the versions it may choose."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state._core import encode_message
from share_state.gateway.upstream import fetch
from share_state.gateway.upstream.epochs import cut_at
from share_state.gateway.upstream.fetch import FetchSession
from share_state.gateway.upstream.reader import PartitionReader, Ring, Source
from share_state.kafka.client.fetch import Answer, Fetched
from share_state.kafka.client.fetch import decode as decode_answer
from share_state.kafka.client.peers import Address, LostError, Node
from tests.gateway.topics.rings import Rings
from tests.gateway.wire.codec import Message, decode, encode

FETCH, ENDS_OF_EPOCHS = 1, 23
#: Topic ids as the gateway has them, and as the tests' codec shows them.
IDS = {"t": "AAAAAAAAAAAAAAAAAAAAAQ", "u": "AAAAAAAAAAAAAAAAAAAAAg"}
SHOWN = {"t": "00000000-0000-0000-0000-000000000001", "u": "00000000-0000-0000-0000-000000000002"}
NODE = Node(2, Address("two", 9092))


def reader(
    topic: str, partition: int, *, leader_epoch: int = 5, tail: int = -1, end: int = -2, read: int = -1
) -> PartitionReader:
    """A reader whose ring ends at an offset with a batch of a leader epoch."""
    rings = Rings()
    made = PartitionReader(cast("Any", None), rings, topic, Source(IDS[topic], partition, 0))
    made.leader_epoch = leader_epoch
    made.tail = tail
    rings.ends[made.source] = Ring(end, read)
    return made


def asked(version: int, wanted: dict[PartitionReader, int], session: FetchSession | None = None, **more: int) -> Message:
    """A Fetch as it goes out."""
    limits = {"isolation": 0, "max_wait_ms": 0, **more}
    return decode(FETCH, version, fetch.encode(version, wanted, session=session, **limits))


def three() -> dict[PartitionReader, int]:
    """Three partitions of two topics; of the first, what is read continues a batch of epoch 4."""
    return {
        reader("t", 0, tail=70, end=70, read=4): 70,
        reader("u", 1, leader_epoch=-1, tail=9, end=9, read=3): 8,
        reader("t", 2, leader_epoch=0, tail=6, end=5, read=2): 6,
    }


def row(partition: int, offset: int, **more: int) -> Message:
    return {"partition": partition, "fetchOffset": offset, "logStartOffset": -1, "partitionMaxBytes": 1_048_576, **more}


HEAD: Message = {"replicaId": -1, "maxWaitMs": 500, "minBytes": 1, "maxBytes": 16_777_216, "isolationLevel": 1}
NO_SESSION: Message = {"sessionId": 0, "sessionEpoch": -1}


def test_a_fetch_before_there_were_sessions() -> None:
    t = [{"partition": 0, "fetchOffset": 70, "partitionMaxBytes": 1_048_576}]
    t.append({"partition": 2, "fetchOffset": 6, "partitionMaxBytes": 1_048_576})
    u = [{"partition": 1, "fetchOffset": 8, "partitionMaxBytes": 1_048_576}]
    assert asked(4, three(), isolation=1, max_wait_ms=500) == {
        **HEAD,
        "topics": [{"topic": "t", "partitions": t}, {"topic": "u", "partitions": u}],
    }


def test_a_fetch_of_names_tells_the_epochs_of_leaders() -> None:
    assert asked(11, three(), isolation=1, max_wait_ms=500) == {
        **HEAD,
        **NO_SESSION,
        "topics": [
            {"topic": "t", "partitions": [row(0, 70, currentLeaderEpoch=5), row(2, 6, currentLeaderEpoch=0)]},
            {"topic": "u", "partitions": [row(1, 8, currentLeaderEpoch=-1)]},
        ],
        "forgottenTopicsData": [],
        "rackId": "",
    }


def with_epochs() -> tuple[list[Message], list[Message]]:
    """The rows of both topics. The last epoch is told only where the read goes on at the end of the ring."""
    t = [row(0, 70, currentLeaderEpoch=5, lastFetchedEpoch=4), row(2, 6, currentLeaderEpoch=0, lastFetchedEpoch=-1)]
    return t, [row(1, 8, currentLeaderEpoch=-1, lastFetchedEpoch=-1)]


def test_the_last_fetch_of_names_tells_the_epoch_of_the_last_batch() -> None:
    t, u = with_epochs()
    assert asked(12, three(), isolation=1, max_wait_ms=500) == {
        **HEAD,
        **NO_SESSION,
        "topics": [{"topic": "t", "partitions": t}, {"topic": "u", "partitions": u}],
        "forgottenTopicsData": [],
        "rackId": "",
    }


@pytest.mark.parametrize("version", [13, 17])
def test_a_newer_fetch_has_ids_of_topics(version: int) -> None:
    t, u = with_epochs()
    message = asked(version, three())
    # From version 15 on only a replica says who it is.
    assert message.pop("replicaId", -1) == -1
    assert message == {
        "maxWaitMs": 0,
        "minBytes": 1,
        "maxBytes": 16_777_216,
        "isolationLevel": 0,
        **NO_SESSION,
        "topics": [{"topicId": SHOWN["t"], "partitions": t}, {"topicId": SHOWN["u"], "partitions": u}],
        "forgottenTopicsData": [],
        "rackId": "",
    }


def many(count: int) -> dict[PartitionReader, int]:
    return {reader("t", number): 100 + number for number in range(count)}


def test_nineteen_partitions_need_no_session() -> None:
    session = FetchSession()
    wanted = many(19)
    for _ in range(2):
        assert session.changes(wanted) == (0, -1, wanted, [])
        session.answered(0)
        assert not session.is_open
    # Nothing was said in the session of a broker that opens one all the same.
    session.changes(wanted)
    session.answered(8)
    assert session.is_open
    assert session.changes(wanted) == (8, 1, wanted, [])


def test_a_session_of_twenty_partitions_says_what_has_changed() -> None:
    session = FetchSession()
    wanted = many(20)
    first, second, third, *_ = wanted
    assert session.changes(wanted) == (0, 0, wanted, [])
    opened = [session.is_open]
    session.answered(8)
    opened.append(session.is_open)
    assert session.changes(wanted) == (8, 1, {}, [])
    session.answered(8)
    wanted[first] += 1
    second.leader_epoch += 1
    del wanted[third]
    assert session.changes(wanted) == (8, 2, {first: 101, second: 101}, [third])
    session.answered(8)
    assert session.changes(wanted) == (8, 3, {}, [])
    session.answered(8)
    wanted[third] = 102
    assert session.changes(wanted) == (8, 4, {third: 102}, [])
    # The broker keeps it no longer.
    session.answered(0)
    opened.append(session.is_open)
    assert opened == [False, True, False]
    assert session.changes(wanted) == (0, 0, wanted, [])


def test_a_session_goes_from_the_largest_epoch_to_the_first() -> None:
    session = FetchSession()
    wanted = many(20)
    session.changes(wanted)
    session.answered(8)
    session._epoch = 2_147_483_646
    for epoch in (2_147_483_646, 2_147_483_647, 1, 2):
        assert session.changes(wanted) == (8, epoch, {}, [])
        session.answered(8)


@pytest.mark.parametrize(("version", "key", "names"), [(12, "topic", ["t", "u"]), (13, "topicId", list(SHOWN.values()))])
def test_a_request_of_a_session(version: int, key: str, names: list[str]) -> None:
    session = FetchSession()
    wanted = many(20)
    gone = reader("u", 4)
    wanted[gone] = 3
    opening = asked(version, wanted, session)
    assert (opening["sessionId"], opening["sessionEpoch"], opening["forgottenTopicsData"]) == (0, 0, [])
    assert [(topic[key], len(topic["partitions"])) for topic in opening["topics"]] == [(names[0], 20), (names[1], 1)]
    session.answered(77)
    del wanted[gone]
    _, second, *_ = wanted
    wanted[second] = 150
    following = asked(version, wanted, session)
    assert (following["sessionId"], following["sessionEpoch"]) == (77, 1)
    said = row(1, 150, currentLeaderEpoch=5, lastFetchedEpoch=-1)
    assert following["topics"] == [{key: names[0], "partitions": [said]}]
    assert following["forgottenTopicsData"] == [{key: names[1], "partitions": [4]}]


@pytest.mark.parametrize(("version", "key", "name"), [(12, "topic", "t"), (13, "topicId", SHOWN["t"])])
def test_an_answer_is_taken_apart_where_it_lies(version: int, key: str, name: str) -> None:
    first = {
        "partitionIndex": 3,
        "errorCode": 0,
        "highWatermark": 90,
        "lastStableOffset": 80,
        "logStartOffset": 10,
        "divergingEpoch": {"epoch": 4, "endOffset": 60},
        "abortedTransactions": [{"producerId": 7, "firstOffset": 11}, {"producerId": 8, "firstOffset": 12}],
        "preferredReadReplica": 2,
        "records": b"batches",
    }
    second = {
        "partitionIndex": 1,
        "errorCode": 6,
        "highWatermark": -1,
        "currentLeader": {"leaderId": 3, "leaderEpoch": 9},
        "abortedTransactions": None,
        "records": b"",
    }
    answer = {"throttleTimeMs": 12, "errorCode": 70, "sessionId": 99, "responses": [{key: name, "partitions": [first, second]}]}
    frame = b"head" + encode(FETCH, version, answer, response=True)
    found = decode_answer(version, frame, 4)
    place = "t" if version == 12 else IDS["t"]
    at = frame.index(b"batches")
    end = found.partitions[1].start
    assert found == Answer(
        throttle_ms=12,
        error_code=70,
        session_id=99,
        partitions=[
            Fetched(place, 3, 0, 90, 80, 10, [(7, 11), (8, 12)], 2, (4, 60), None, at, at + 7),
            Fetched(place, 1, 6, -1, -1, -1, None, -1, None, (3, 9), end, end),
        ],
        frame=frame,
    )


class Leader:
    """A new leader that says where epochs end."""

    def __init__(self, *rows: tuple[str, Message], fetch_version: int = 11, offers: bool = True) -> None:
        self.rows = rows
        self.asked: list[tuple[int, Message]] = []
        self.nodes: list[Node] = []
        self.offered = {ENDS_OF_EPOCHS: (2, 4)} if offers else {}
        self.fetch_version = fetch_version

    def version_of(self, api_key: int) -> int:
        return {FETCH: self.fetch_version}[api_key]

    async def connection(self, node: Node) -> Leader:
        self.nodes.append(node)
        return self

    async def request(self, api_key: int, message: Message) -> Message:
        self.asked.append((api_key, message))
        topics: dict[str, list[Message]] = {}
        for topic, one in self.rows:
            topics.setdefault(topic, []).append(one)
        return {"topics": [{"topic": topic, "partitions": rows} for topic, rows in topics.items()]}

    def cut(self, *, read: int = 4, epoch: int = 6, end: int = 70) -> int | None:
        """Ask it about a partition that was read in epoch 5."""
        of = reader("t", 1, tail=70, end=end, read=read)
        return asyncio.run(cut_at(cast("Any", SimpleNamespace(control=self)), NODE, of, epoch))


def end(partition: int, epoch: int, offset: int, code: int = 0) -> Message:
    return {"partition": partition, "errorCode": code, "leaderEpoch": epoch, "endOffset": offset}


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_new_leader_is_asked_where_the_last_epoch_ends(version: int) -> None:
    leader = Leader(("t", end(1, 4, 60)))
    assert leader.cut() == 60
    ((key, message),) = leader.asked
    assert (key, leader.nodes) == (ENDS_OF_EPOCHS, [NODE])
    sent = decode(ENDS_OF_EPOCHS, version, encode_message(ENDS_OF_EPOCHS, version, message))
    # A consumer, and from version 3 on it says so.
    assert sent.pop("replicaId", None) == (None if version < 3 else -1)
    place = {"partition": 1, "currentLeaderEpoch": 6, "leaderEpoch": 4}
    assert sent == {"topics": [{"topic": "t", "partitions": [place]}]}


def test_nobody_is_asked_without_two_epochs() -> None:
    leader = Leader(("t", end(1, 0, 60)))
    assert leader.cut(read=-1) is None
    assert leader.cut(epoch=-1) is None
    # The same leader as before.
    assert leader.cut(epoch=5) is None
    # What was read is not at the end of the ring.
    assert leader.cut(end=69) is None
    assert leader.nodes == []
    assert leader.cut(read=0) == 60
    assert leader.cut(epoch=0) == 60
    assert [asked["topics"][0]["partitions"] for _, asked in leader.asked] == [
        [{"partition": 1, "currentLeaderEpoch": 6, "leaderEpoch": 0}],
        [{"partition": 1, "currentLeaderEpoch": 0, "leaderEpoch": 4}],
    ]


def test_a_leader_whose_fetch_tells_it_is_not_asked() -> None:
    for leader in (Leader(fetch_version=12), Leader(fetch_version=13), Leader(offers=False)):
        assert leader.cut() is None
        assert leader.asked == []


@pytest.mark.parametrize(
    ("epoch", "offset", "cut"),
    [(4, 69, 69), (4, 70, None), (4, 71, None), (3, 71, 71), (3, 70, 70), (0, 0, 0), (-1, 60, None), (4, -1, None)],
)
def test_a_log_is_cut_where_its_epoch_ends_before_what_was_read(epoch: int, offset: int, cut: int | None) -> None:
    others = ("u", end(1, 4, 5, 3)), ("t", end(0, 4, 6, 3))
    assert Leader(*others, ("t", end(1, epoch, offset))).cut() == cut
    assert Leader(*others).cut() is None


def test_a_leader_that_does_not_answer_for_the_partition_is_lost() -> None:
    with pytest.raises(LostError) as lost:
        Leader(("t", end(1, -1, -1, 74))).cut()
    assert (lost.value.node, lost.value.reason) == ("broker 2 (two:9092)", "no answer where a leader epoch ends")
    assert (lost.value.code, lost.value.sent) == (74, True)
