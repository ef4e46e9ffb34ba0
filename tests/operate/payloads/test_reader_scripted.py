"""Mishaps of a log that is read by offset: gaps, a log that is cut meanwhile, aborted records, rights, silence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from share_state.errors import UnknownPartitionError
from share_state.operate.payloads import Missing, Payload, PayloadReader, Reason
from share_state.operate.reading.failures import NoAnswerError, ReadNotAllowedError
from tests.gateway.wire.batches import TRANSACTIONAL, batch, marker
from tests.operate.live.fake_cluster import FETCH, METADATA, OUT_OF_RANGE, FakeCluster, served

ORDERS = ("orders", UUID(int=1))
PLACE = ("orders", 0)
#: The last batch of a log stays, with a hole at its end.
LAST = batch([b"3000"], base_offset=3_000, timestamp=-1, last_offset_delta=2)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    """A log with records at some offsets only, as compaction and transactions leave it."""
    made = FakeCluster(tmp_path, ends={ORDERS: [3_003]}, starts={PLACE: 2})
    there = [batch([b"2", b"3"], base_offset=2), *(batch([b"%d" % at], base_offset=at) for at in (7, 2_000))]
    made.logs[PLACE] = [*there, LAST]
    with served(made):
        yield made


def read(cluster: FakeCluster, offsets: list[int], timeout: float = 5.0) -> list[Payload | Missing]:
    with PayloadReader(cluster.bootstrap, timeout=timeout) as reader:
        return list(reader.read("orders", 0, offsets))


def told(cluster: FakeCluster, offsets: list[int]) -> list[Reason | None]:
    return [one.reason if isinstance(one, Missing) else None for one in read(cluster, offsets)]


def test_each_reason_is_told(cluster: FakeCluster) -> None:
    below, gone, after = Reason.BELOW_LOG_START, Reason.NOT_THERE, Reason.AT_OR_AFTER_LOG_END
    asked = [0, 1, 2, 3, 4, 6, 7, 8, 1_999, 2_000, 3_000, 3_001, 3_002, 3_003, 4, 2]
    reasons = [below, below, None, None, gone, gone, None, gone, gone, None, None, gone, gone, after, gone, None]
    assert told(cluster, asked) == reasons
    assert cluster.is_left()


def test_a_record_without_a_time_a_key_and_headers_is_one(cluster: FakeCluster) -> None:
    assert read(cluster, [3_000]) == [Payload("orders", 0, 3_000, None, None, b"3000", ())]


def test_a_log_that_was_cut_meanwhile_is_asked_again(cluster: FakeCluster) -> None:
    cluster.before_fetch = lambda: cluster.starts.update({PLACE: 5})
    assert told(cluster, [3, 7]) == [Reason.BELOW_LOG_START, None]
    cluster.codes = {FETCH: [OUT_OF_RANGE]}
    cluster.before_fetch = lambda: cluster.ends.update({ORDERS: [6]})
    assert told(cluster, [7]) == [Reason.AT_OR_AFTER_LOG_END]


@pytest.mark.parametrize(("committed", "values"), [(False, [b"a", b"b", b"c"]), (True, [b"a", b"c"])])
def test_aborted_records_are_left_out_where_they_are_to_be(cluster: FakeCluster, committed: bool, values: list[bytes]) -> None:
    def mine(value: bytes, at: int, producer_id: int) -> bytes:
        return batch([value], base_offset=at, attributes=TRANSACTIONAL, producer_id=producer_id)

    cluster.logs[PLACE] = [
        mine(b"a", 2, 7),
        mine(b"b", 3, 8),
        marker(base_offset=4, producer_id=8, commit=False),
        marker(base_offset=5, producer_id=7, commit=True),
        mine(b"c", 6, 8),
        marker(base_offset=7, producer_id=8, commit=True),
    ]
    cluster.ends[ORDERS] = [8]
    cluster.aborted[PLACE] = [(8, 3)]
    with PayloadReader(cluster.bootstrap, read_committed=committed) as reader:
        found = [one.value for one in reader.read("orders", 0, range(2, 8)) if isinstance(one, Payload)]
    assert found == values


def test_a_missing_right_names_the_topic(cluster: FakeCluster) -> None:
    needed = r"the principal needs READ on the topic orders, and no other right$"
    for api_key in (FETCH, METADATA):
        cluster.codes = {api_key: [29]}
        with pytest.raises(ReadNotAllowedError, match=needed) as denied:
            read(cluster, [7])
        assert (denied.value.topic, denied.value.operation, denied.value.kafka_code) == ("orders", "READ", 29)


def test_a_topic_that_is_not_there_is_refused(cluster: FakeCluster) -> None:
    cluster.codes = {METADATA: [3]}
    with pytest.raises(UnknownPartitionError, match=r"^topic orders is not in the cluster$") as unknown:
        read(cluster, [7])
    assert (unknown.value.field, unknown.value.value) == ("topic", "orders")


def test_silence_is_not_waited_for_longer_than_asked(cluster: FakeCluster) -> None:
    cluster.silent = {FETCH}
    with pytest.raises(NoAnswerError, match=r"^no answer for orders-0 within 0\.2 s$"):
        read(cluster, [7], timeout=0.2)
