"""The hostile upstream behaves as a cluster while nothing is wrong, and spoils exactly what it is told to."""

from __future__ import annotations

import gc
import socket
import threading
from contextlib import suppress
from typing import Any

import pytest

from tests.gateway.hostile import Faults, HostileUpstream
from tests.gateway.hostile.faults import of
from tests.gateway.hostile.upstream import WITHOUT_IDS
from tests.gateway.wire import CodecError, Connection, Disconnected
from tests.gateway.wire.batches import headers, whole_bytes
from tests.gateway.wire.codec import Message

NO_ID = "00000000-0000-0000-0000-000000000000"


def values(count: int, start: int = 0) -> list[bytes | None]:
    return [b"%d" % number for number in range(start, start + count)]


def connect(upstream: HostileUpstream, node: int = 1) -> Connection:
    return Connection(upstream.bootstrap.split(",")[node - 1])


def fetch(connection: Connection, topic: str, offset: int, *, version: int = 12, **more: Any) -> Message:
    partition = {"partition": 0, "fetchOffset": offset, "partitionMaxBytes": 1_000_000}
    partition |= {name: more.pop(name) for name in ("currentLeaderEpoch", "lastFetchedEpoch") if name in more}
    asked = {
        "maxWaitMs": 0,
        "minBytes": 1,
        "maxBytes": 10_000_000,
        "topics": [{"topic": topic, "partitions": [partition]}],
        **more,
    }
    return connection.ask("Fetch", version, asked)


def only(answer: Message) -> Message:
    (topic,) = answer["responses"]
    (partition,) = topic["partitions"]
    found: Message = partition
    return found


def spans(partition: Message) -> list[tuple[int, int]]:
    return [(header.base_offset, header.last_offset) for header in headers(partition["records"])]


def test_batches_are_cut_off_and_begin_too_early() -> None:
    with HostileUpstream() as upstream, connect(upstream) as connection:
        upstream.create("t")
        for start in range(0, 40, 10):
            upstream.append("t", 0, values(10, start))
        assert spans(only(fetch(connection, "t", 15))) == [(10, 19), (20, 29), (30, 39)]
        upstream.faults.earlier_batches = 1
        assert spans(only(fetch(connection, "t", 15))) == [(0, 9), (10, 19), (20, 29), (30, 39)]
        upstream.faults.tail_bytes = 7
        records = only(fetch(connection, "t", 35))["records"]
        assert len(records) - whole_bytes(records) == 7


def test_epochs_and_leaders() -> None:
    with HostileUpstream(brokers=2) as upstream, connect(upstream) as first, connect(upstream, 2) as second:
        upstream.create("t")
        upstream.append("t", 0, values(5))
        upstream.move_leader("t", 0, to=2)
        upstream.append("t", 0, values(5))
        told = only(fetch(first, "t", 0))
        assert (told["errorCode"], told["currentLeader"]) == (6, {"leaderId": 2, "leaderEpoch": 1})
        codes = [only(fetch(second, "t", 0, currentLeaderEpoch=epoch))["errorCode"] for epoch in (0, 1, 2)]
        assert codes == [74, 0, 75]
        assert "divergingEpoch" not in only(fetch(second, "t", 5, lastFetchedEpoch=0))
        assert only(fetch(second, "t", 8, lastFetchedEpoch=0))["divergingEpoch"] == {"epoch": 0, "endOffset": 5}
        asked = [{"partition": 0, "leaderEpoch": epoch} for epoch in (0, 1, 7)]
        ends = second.ask("OffsetForLeaderEpoch", 4, {"replicaId": -1, "topics": [{"topic": "t", "partitions": asked}]})
        assert [(one["leaderEpoch"], one["endOffset"]) for one in ends["topics"][0]["partitions"]] == [(0, 5), (1, 10), (1, 10)]
        leaders = [topic["partitions"][0]["leaderId"] for topic in first.ask("Metadata", 9, {"topics": None})["topics"]]
        assert leaders == [2]
        upstream.faults.epochs_back = 1
        (topic,) = first.ask("Metadata", 9, {"topics": None})["topics"]
        assert (topic["partitions"][0]["leaderId"], topic["partitions"][0]["leaderEpoch"]) == (1, 0)
        upstream.move_leader("t", 0, to=-1)
        upstream.faults.clear()
        assert first.ask("Metadata", 9, {"topics": [{"name": "t"}]})["topics"][0]["partitions"][0]["errorCode"] == 5


def test_truncation_retention_and_compaction() -> None:
    with HostileUpstream() as upstream, connect(upstream) as connection:
        upstream.create("t")
        for start in range(0, 50, 10):
            upstream.append("t", 0, values(10, start))
        upstream.change("t", 0, lambda log: log.remove(10))
        assert spans(only(fetch(connection, "t", 10)))[0] == (20, 29)
        upstream.change("t", 0, lambda log: log.delete_below(25))
        assert only(fetch(connection, "t", 10))["errorCode"] == 1
        told = only(fetch(connection, "t", 25))
        assert (told["logStartOffset"], spans(told)[0]) == (25, (20, 29))
        upstream.change("t", 0, lambda log: log.truncate(33))
        assert only(fetch(connection, "t", 40))["errorCode"] == 1
        offsets = connection.ask("ListOffsets", 6, {
            "replicaId": -1, "topics": [{"name": "t", "partitions": [{"partitionIndex": 0, "timestamp": at} for at in (-1, -2)]}],
        })  # fmt: skip
        assert [one["offset"] for one in offsets["topics"][0]["partitions"]] == [30, 25]


def test_transactions_have_a_stable_end_and_aborted_ones() -> None:
    with HostileUpstream() as upstream, connect(upstream) as connection:
        upstream.create("t")
        upstream.append("t", 0, values(2), producer_id=7)
        upstream.append("t", 0, values(2))
        told = only(fetch(connection, "t", 0, isolationLevel=1))
        assert (told["highWatermark"], told["lastStableOffset"], told["records"]) == (4, 0, b"")
        assert upstream.end_transaction("t", 0, 7, commit=False) == 4
        told = only(fetch(connection, "t", 0, isolationLevel=1))
        assert told["lastStableOffset"] == 5
        assert told["abortedTransactions"] == [{"producerId": 7, "firstOffset": 0}]
        assert len(spans(told)) == 3


def test_a_topic_is_forgotten_and_made_again() -> None:
    with HostileUpstream() as upstream, connect(upstream) as connection:

        def known() -> tuple[int, str]:
            (topic,) = connection.ask("Metadata", 12, {"topics": [{"name": "t"}]})["topics"]
            return topic["errorCode"], topic["topicId"]

        upstream.create("t")
        first = known()
        upstream.forget("t")
        assert (known()[0], only(fetch(connection, "t", 0))["errorCode"]) == (3, 3)
        upstream.remember("t")
        assert known() == first
        upstream.create("t", 2)
        assert known()[0] == 0
        assert known()[1] != first[1]
        partition = {"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1000}
        asked = {"maxWaitMs": 0, "minBytes": 1, "maxBytes": 1000, "topics": [{"topicId": first[1], "partitions": [partition]}]}
        assert only(connection.ask("Fetch", 13, asked))["errorCode"] == 100


def test_sessions_of_fetch_tell_only_news() -> None:
    with HostileUpstream() as upstream, connect(upstream) as connection:
        upstream.create("t")
        upstream.append("t", 0, values(3))
        opened = fetch(connection, "t", 3, sessionId=0, sessionEpoch=0)
        session = opened["sessionId"]
        assert (session > 0, len(opened["responses"])) == (True, 1)
        nothing: Message = {"maxWaitMs": 0, "minBytes": 1, "maxBytes": 1000, "sessionId": session}
        assert connection.ask("Fetch", 12, {**nothing, "sessionEpoch": 1})["responses"] == []
        upstream.append("t", 0, values(2))
        assert spans(only(connection.ask("Fetch", 12, {**nothing, "sessionEpoch": 2}))) == [(3, 4)]
        assert connection.ask("Fetch", 12, {**nothing, "sessionEpoch": 2})["errorCode"] == 71
        upstream.restart()
        with connect(upstream) as again:
            assert again.ask("Fetch", 12, {**nothing, "sessionEpoch": 3})["errorCode"] == 70


def test_an_old_cluster_has_no_ids() -> None:
    with HostileUpstream(offered=WITHOUT_IDS) as upstream, connect(upstream) as connection:
        upstream.create("t")
        assert {key: offered[-1] for key, offered in connection.offered().items()}[3] == 8
        assert "topicId" not in connection.ask("Metadata", 8, {"topics": [{"name": "t"}]})["topics"][0]
        with pytest.raises(Disconnected):
            connection.ask("Metadata", 9, {"topics": None})
    with HostileUpstream(ids=False) as upstream, connect(upstream) as connection:
        upstream.create("t")
        assert connection.ask("Metadata", 12, {"topics": [{"name": "t"}]})["topics"][0]["topicId"] == NO_ID


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ({"closed": of("Metadata")}, Disconnected),
        ({"cut": of("Metadata")}, Disconnected),
        ({"misnumbered": of("Metadata")}, Disconnected),
        ({"endless": of("Metadata"), "cut": of("Metadata")}, Disconnected),
        ({"nonsense": of("Metadata")}, CodecError),
        ({"silent": of("Metadata")}, Disconnected),
    ],
    ids=["closed", "cut", "misnumbered", "endless", "nonsense", "silent"],
)
def test_a_fault_is_seen_by_whom_it_is_meant_for(fault: dict[str, Any], seen: type[Exception]) -> None:
    with HostileUpstream() as upstream, connect(upstream) as connection, connect(upstream) as other:
        upstream.create("t")
        for name, value in fault.items():
            setattr(upstream.faults, name, value)
        if "silent" in fault:
            connection.patience(0.2)
        with pytest.raises(seen):
            connection.ask("Metadata", 9, {"topics": None})
        # Other requests are answered meanwhile, and all of them afterwards.
        assert only(fetch(other, "t", 0))["errorCode"] == 0
        upstream.faults.clear()
        assert other.ask("Metadata", 9, {"topics": None})["topics"][0]["name"] == "t"


def test_codes_and_throttling() -> None:
    with HostileUpstream() as upstream, connect(upstream) as connection:
        upstream.create("t")
        upstream.faults.codes["t", 0] = 9
        upstream.faults.throttle_ms = 1234
        answer = fetch(connection, "t", 0)
        assert (only(answer)["errorCode"], answer["throttleTimeMs"]) == (9, 1234)
        upstream.faults.fetch_code = 8
        assert fetch(connection, "t", 0)["errorCode"] == 8
        upstream.faults.clear()
        assert vars(upstream.faults).keys() == vars(Faults()).keys()
        assert only(fetch(connection, "t", 0))["errorCode"] == 0


def connect_again_and_again(address: tuple[str, int], over: threading.Event) -> None:
    while not over.is_set():
        with suppress(OSError), socket.create_connection(address):
            pass


def test_it_closes_while_clients_connect_and_loses_no_connection() -> None:
    for _ in range(4):
        with HostileUpstream() as upstream:
            host, port = upstream.bootstrap.split(":")
            over = threading.Event()
            asked = ((host, int(port)), over)
            clients = [threading.Thread(target=connect_again_and_again, args=asked, daemon=True) for _ in range(2)]
            for client in clients:
                client.start()
            upstream.stop()
        over.set()
        for client in clients:
            client.join()
    # A socket that was lost would be told of here, as an error of the test.
    gc.collect()
