"""Dead letters that queues and histories tell, and the ones of them that are meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import share_state as ss
from share_state.errors import ConfigError
from share_state.operate import analysis
from share_state.operate.dead_letters import (
    Cause,
    DeadLetter,
    Filter,
    Interval,
    Intervals,
    LetterPayload,
    QueuePlace,
    payloads_of,
)
from share_state.operate.dead_letters.archived import archived
from share_state.operate.dead_letters.intervals import without
from share_state.operate.dead_letters.queue_record import BadQueueRecordError, QueueRecord, group_of, letter_of
from share_state.operate.payloads import Payload
from tests.operate.dead_letters.fake_target import Topics, payload

#: As Kafka 4.4.0 writes them.
HEADERS = [
    ("__dlq.errors.topic", b"orders"),
    ("__dlq.errors.partition", b"2"),
    ("__dlq.errors.offset", b"17"),
    ("__dlq.errors.group", b"workers"),
    ("__dlq.errors.delivery.count", b"5"),
    ("__dlq.errors.message", b"Offset delivery count exceeded the threshold."),
]
LETTER = DeadLetter(
    "workers", "orders", None, 2, 17, 17, 5, Cause.DELIVERY_LIMIT, "Offset delivery count exceeded the threshold.", 1000,
    QueuePlace("dlq.workers", 0, 4, copied=False),
)  # fmt: skip


def record(**changed: bytes | None) -> QueueRecord:
    """A record of a queue with other values of headers; None leaves one out."""
    other = {f"__dlq.errors.{name.replace('_', '.')}": value for name, value in changed.items()}
    headers = [(name, other.get(name, value)) for name, value in HEADERS if other.get(name, value) is not None]
    return QueueRecord("dlq.workers", 0, 4, 1000, headers, copied=False)


def test_a_record_of_a_queue_tells_of_a_dead_letter() -> None:
    assert letter_of(record()) == LETTER
    assert letter_of(record(message=b"Offset rejected by client.")).cause is Cause.REJECTED
    other = letter_of(record(message=b"a cause of a later release"))
    assert (other.cause, other.message) == (Cause.OTHER, "a cause of a later release")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("topic", None, "it has no header __dlq.errors.topic"),
        ("message", None, "it has no header __dlq.errors.message"),
        ("offset", None, "it has no header __dlq.errors.offset"),
        ("offset", b"", "its header __dlq.errors.offset is ''; expected 0 to 9223372036854775807"),
        ("offset", b"-1", "its header __dlq.errors.offset is '-1'"),
        ("offset", b"9223372036854775808", "expected 0 to 9223372036854775807"),
        ("offset", b"9" * 5000, "…'; expected"),
        ("offset", "\u0661".encode(), "its header __dlq.errors.offset is '\u0661'"),
        ("partition", b"2147483648", "expected 0 to 2147483647"),
        ("delivery_count", b"32768", "expected 0 to 32767"),
        ("topic", b"\xff", "expected UTF-8"),
    ],
)
def test_a_record_that_tells_of_none_is_named(name: str, value: bytes | None, text: str) -> None:
    with pytest.raises(BadQueueRecordError) as raised:
        letter_of(record(**{name: value}))
    assert text in str(raised.value)


def test_a_record_that_names_no_group_is_nobodys() -> None:
    with pytest.raises(BadQueueRecordError, match=r"it has no header __dlq\.errors\.group"):
        group_of(record(group=None))


def test_a_history_tells_of_what_became_archived(tmp_path: Path) -> None:
    key = ss.SharePartitionKey("workers", "00000000-0000-0000-0000-000000000001", 0)
    with ss.open(tmp_path / "log", partitions=1) as store:
        store.reset_state(key, 0, 0)
        for batches in ([(0, 3, 4, 1), (4, 4, 0, 1)], [(4, 4, 4, 2), (5, 9, 2, 1)], [(10, 10, 3, 1)], [(10, 10, 4, 1)]):
            store.write_state(key, ss.WriteState(0, 0, 0, 0, [ss.StateBatch(*batch) for batch in batches]))
    rows = list(analysis.history(tmp_path / "log"))
    found = [(one.topic, one.first_offset, one.last_offset, one.delivery_count, one.cause) for one in archived(rows, {}, 2)]
    assert found == [
        (key.topic_id, 0, 3, 1, Cause.REJECTED),
        (key.topic_id, 4, 4, 2, Cause.DELIVERY_LIMIT),
        (key.topic_id, 10, 10, 1, Cause.REJECTED),
    ]
    named = list(archived(rows, {key.topic_id: "orders"}, None))
    assert {(one.topic, one.topic_id, one.cause) for one in named} == {("orders", key.topic_id, Cause.OTHER)}


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        (Filter(), (10, 20)),
        (Filter(causes=frozenset({Cause.DELIVERY_LIMIT, Cause.OTHER})), (10, 20)),
        (Filter(causes=frozenset({Cause.REJECTED})), None),
        (Filter(since=1000, until=1001), (10, 20)),
        (Filter(since=1001), None),
        (Filter(until=1000), None),
        (Filter(topic="orders", partition=2), (10, 20)),
        (Filter(topic="id"), (10, 20)),
        (Filter(topic="other"), None),
        (Filter(partition=1), None),
        (Filter(first_offset=12, last_offset=15), (12, 15)),
        (Filter(first_offset=20), (20, 20)),
        (Filter(last_offset=10), (10, 10)),
        (Filter(first_offset=21), None),
        (Filter(last_offset=9), None),
    ],
)
def test_a_filter_takes_what_it_says(wanted: Filter, taken: tuple[int, int] | None) -> None:
    letter = LETTER._replace(topic_id="id", first_offset=10, last_offset=20)
    found = wanted.check().within(letter)
    assert (None if found is None else (found.first_offset, found.last_offset)) == taken


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (Filter(partition=-1), "partition"),
        (Filter(partition=2**31), "partition"),
        (Filter(first_offset=-1), "first_offset"),
        (Filter(last_offset=2**63), "last_offset"),
        (Filter(first_offset=2, last_offset=1), "last_offset"),
        (Filter(since=2, until=1), "until"),
    ],
)
def test_a_filter_that_cannot_be_is_refused(wanted: Filter, field: str) -> None:
    with pytest.raises(ConfigError) as raised:
        wanted.check()
    assert raised.value.field == field


PAIRS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(0, 8)), max_size=40)


@given(PAIRS, st.sets(st.integers(0, 70)))
def test_intervals_are_the_set_of_their_offsets(pairs: list[tuple[int, int, int]], done: set[int]) -> None:
    letters = [LETTER._replace(partition=one, first_offset=first, last_offset=first + more) for one, first, more in pairs]
    expected = {(one.partition, offset) for one in letters for offset in range(one.first_offset, one.last_offset + 1)}
    found = list(Intervals(letters))
    offsets = [(one.partition, offset) for one in found for offset in range(one.first, one.last + 1)]
    assert offsets == sorted(expected)
    assert Intervals(letters).count() == len(expected)
    parts = [(some.partition, part) for some in found for part in without(some, sorted(done))]
    left = [(partition, offset) for partition, part in parts for offset in range(part.first, part.last + 1)]
    assert left == sorted(place for place in expected if place[1] not in done)


def test_an_interval_of_any_size_costs_nothing() -> None:
    huge = Intervals([LETTER._replace(first_offset=0, last_offset=2**63 - 1)])
    assert list(huge) == [Interval("orders", 2, 0, 2**63 - 1)]


def test_a_payload_that_is_gone_comes_from_the_copy_of_the_queue() -> None:
    copy = Payload("dlq.workers", 0, 4, 1000, b"key", b"value", tuple(HEADERS))
    topics = Topics({"orders": [[], [], [payload(2, 0), None]], "dlq.workers": [[None, None, None, None, copy]]})
    there, gone = LETTER._replace(first_offset=0, last_offset=0), LETTER._replace(first_offset=1, last_offset=1)
    copied = gone._replace(queue=QueuePlace("dlq.workers", 0, 4, copied=True))
    assert list(payloads_of(there, topics)) == [LetterPayload(there, payload(2, 0), None)]
    assert list(payloads_of(gone, topics)) == [LetterPayload(gone, None, "not_there")]
    assert list(payloads_of(copied, topics)) == [LetterPayload(copied, copy, "not_there")]

    without_source = Topics({"dlq.workers": topics.logs["dlq.workers"]})
    assert list(payloads_of(copied, without_source)) == [LetterPayload(copied, copy, "no_topic")]
