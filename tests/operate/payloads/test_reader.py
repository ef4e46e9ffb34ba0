"""Records read by offset from a mock cluster: one answer an offset, whatever the order, and what is not there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from share_state._core import encode_batch
from share_state.errors import ArgumentRangeError, ConfigError, UnknownPartitionError
from share_state.operate.payloads import Missing, Payload, PayloadReader, Reason
from share_state.operate.payloads.payload import UNREADABLE_HEADERS
from share_state.operate.reading.failures import ClusterReadError
from share_state.testing import MockCluster
from tests.gateway.records import topic_metadata
from tests.gateway.wire import Connection

RECORDS = 1200
HEADERS: list[tuple[str, str | bytes | None]] = [("kind", b"new"), ("kind", None)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with MockCluster() as cluster:
        cluster.create_topic("orders", 2)
        cluster.create_topic("other", 1)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        for number in range(RECORDS):
            key, headers = (b"key", HEADERS) if number == 3 else (None, [])
            producer.produce("orders", b"%d" % number, key, partition=0, headers=headers, timestamp=1_000 + number)
        for number in range(4):
            producer.produce("other", b"other %d" % number, partition=0)
        assert producer.flush(10) == 0
        yield cluster.bootstrap_servers


@pytest.fixture(scope="module")
def reader(cluster: str) -> Iterator[PayloadReader]:
    with PayloadReader(f"kafka://{cluster}") as reader:
        yield reader


def test_a_record_comes_whole(reader: PayloadReader) -> None:
    [record] = reader.read("orders", 0, [3])
    assert record == Payload("orders", 0, 3, 1_003, b"key", b"3", (("kind", b"new"), ("kind", None)))


@pytest.mark.parametrize(
    "offsets",
    [range(RECORDS), [5, 900, 7, 7, 6, 1_199, 0], [3, 5, 1_199], []],
    ids=["all", "there and back", "near and far", "none"],
)
def test_one_answer_comes_for_each_offset_in_the_order_of_the_question(reader: PayloadReader, offsets: list[int]) -> None:
    found = list(reader.read("orders", 0, offsets))
    assert [(one.offset, one.value) for one in found if isinstance(one, Payload)] == [(at, b"%d" % at) for at in offsets]
    assert len(found) == len(offsets)


def test_what_was_not_produced_yet_is_told(reader: PayloadReader) -> None:
    assert list(reader.read("orders", 1, [0])) == [Missing("orders", 1, 0, Reason.AT_OR_AFTER_LOG_END)]
    last, after = reader.read("orders", 0, [RECORDS - 1, RECORDS])
    assert isinstance(last, Payload)
    assert after == Missing("orders", 0, RECORDS, Reason.AT_OR_AFTER_LOG_END)


def test_two_readings_at_once_do_not_mix(reader: PayloadReader) -> None:
    readings = [reader.read("orders", 0, [1, 2, 3]), reader.read("other", 0, [1, 2, 3]), reader.read("orders", 0, [10, 11, 12])]
    found = [next(readings[number]) for number in (0, 1, 2, 0, 1, 2)]
    # One that is given up, and so ends, ends no other.
    del readings[0]
    found += [next(reading) for reading in readings]
    assert [record.value for record in found if isinstance(record, Payload)] == [
        b"1", b"other 1", b"10", b"2", b"other 2", b"11", b"other 3", b"12",
    ]  # fmt: skip


def test_a_partition_or_an_offset_that_cannot_be_is_refused(reader: PayloadReader) -> None:
    with pytest.raises(UnknownPartitionError, match=r"^topic orders has no partition 2; it has 2, from 0$") as unknown:
        list(reader.read("orders", 2, [0]))
    assert (unknown.value.field, unknown.value.value, unknown.value.kafka_code) == ("partition", 2, 3)
    for offset in (-1, 2**63):
        with pytest.raises(ArgumentRangeError, match=f"^offset is {offset}; expected 0 to {2**63 - 1}$"):
            reader.read("orders", 0, [0, offset])
    # A refusal leaves the reader as it was.
    assert [one.offset for one in reader.read("orders", 0, [4])] == [4]


def test_what_cannot_be_set_is_refused() -> None:
    with pytest.raises(ConfigError) as refused:
        PayloadReader("a:1", max_bytes=10)
    assert (refused.value.field, refused.value.value, refused.value.minimum) == ("max_bytes", 10, 1024)
    with pytest.raises(ConfigError, match=r"^timeout is 0; expected more than 0$"):
        PayloadReader("a:1", timeout=0)
    unknown = r"^the client's settings: no\.such is not a setting"
    with pytest.raises(ClusterReadError, match=unknown), PayloadReader("a:1", client_config={"no.such": 1}):
        raise AssertionError("it is open")
    with pytest.raises(ClusterReadError, match=r"^'a' is not host:port$"), PayloadReader("kafka://a"):
        raise AssertionError("it is open")


def test_a_reader_that_is_closed_says_so(cluster: str) -> None:
    reader = PayloadReader(cluster)
    with pytest.raises(ClusterReadError, match="is not open"):
        list(reader.read("orders", 0, [1]))
    with reader:
        begun = reader.read("orders", 0, [1, 2])
        next(begun)
    with pytest.raises(ClusterReadError, match="is not open"):
        next(begun)


def test_headers_that_the_client_cannot_read_do_not_hide_the_record(cluster: str) -> None:
    headers = [(b"a\xffb", b"hidden")]
    records = encode_batch([(1_700_000_000_000, None, value, headers) for value in (b"v", b"w")])
    with Connection(cluster) as connection:
        topic_metadata(connection, "odd")
        written = {"name": "odd", "partitionData": [{"index": 0, "records": records}]}
        message = {"transactionalId": None, "acks": -1, "timeoutMs": 1_000, "topicData": [written]}
        [answer] = connection.ask("Produce", 7, message)["responses"]
    assert answer["partitionResponses"][0]["errorCode"] == 0
    offsets = [0, 1, 0]
    with PayloadReader(cluster) as reader:
        found = [(one.value, one.headers) for one in reader.read("odd", 0, offsets) if isinstance(one, Payload)]
    assert found == [(b"vw"[offset : offset + 1], UNREADABLE_HEADERS) for offset in offsets]
