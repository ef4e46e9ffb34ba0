"""The answers that carry records against kio, an independent implementation: Fetch is read, ShareFetch is written.

The messages are drawn from kio's own schema: a field that ours lacks, or has at another place, shows at once.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import types
import typing
import uuid
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader

import share_state as ss
from share_state import _core
from tests.gateway.wire.batches import record_batch
from tests.kafka.wire.kio_oracle import BITS, Shape, kio_bytes, shape_id

EXAMPLES = 40
FETCH = [Shape(1, "Fetch", version, True) for version in range(4, 18)]
SHARE_FETCH = [Shape(78, "ShareFetch", version, True) for version in (1, 2)]
#: Bytes before the body in these frames.
BEFORE = b"before"
MS = dt.timedelta(milliseconds=1)


def entities(entity: type[Any]) -> st.SearchStrategy[Any]:
    """Draws any instance of a class of kio."""
    hints = typing.get_type_hints(entity)
    fields = {field.name: values(field.metadata.get("kafka_type"), hints[field.name]) for field in dataclasses.fields(entity)}
    return st.builds(entity, **fields)


#: By Kafka's name of the type.
PLAIN = {
    "error_code": st.sampled_from(ErrorCode),
    "uuid": st.uuids(),
    "string": st.text(max_size=20),
    "records": st.binary(max_size=200),
    "timedelta_i32": st.integers(0, (1 << 31) - 1).map(lambda ms: ms * MS),
    **{name: st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) | st.just(-1) for name, bits in BITS.items()},
}


def values(kafka_type: str | None, hint: Any) -> st.SearchStrategy[Any]:
    if isinstance(hint, types.UnionType) and kafka_type != "uuid":
        inner = next(part for part in typing.get_args(hint) if part is not type(None))
        return st.none() | values(kafka_type, inner)
    if typing.get_origin(hint) is tuple:
        return st.lists(entities(typing.get_args(hint)[0]), max_size=3).map(tuple)
    return entities(hint) if kafka_type is None else PLAIN[kafka_type]


def pair(drawn: Any, names: tuple[str, str]) -> tuple[int, int] | None:
    """A tagged struct of two numbers; the default is as good as none."""
    found = tuple(getattr(drawn, name) for name in names) if drawn is not None else (-1, -1)
    return None if found == (-1, -1) else found


def told(answer: Any, frame: bytes, decoded: tuple[Any, ...]) -> tuple[Any, ...]:
    """Answer that we must make of kio's; the places of the records are ours, and shown to hold them."""
    partitions = []
    places = iter([(partition[-2], partition[-1]) for partition in decoded[3]])
    for topic in answer.responses:
        name = getattr(topic, "topic", None)
        if name is None:
            name = base64.urlsafe_b64encode((topic.topic_id or uuid.UUID(int=0)).bytes).decode().rstrip("=")
        for drawn in topic.partitions:
            start, end = next(places)
            assert frame[start:end] == (drawn.records or b"")
            aborted = drawn.aborted_transactions
            partitions.append(
                (
                    name,
                    drawn.partition_index,
                    drawn.error_code.value,
                    drawn.high_watermark,
                    drawn.last_stable_offset,
                    getattr(drawn, "log_start_offset", -1),
                    None if aborted is None else [(a.producer_id, a.first_offset) for a in aborted],
                    getattr(drawn, "preferred_read_replica", -1),
                    pair(getattr(drawn, "diverging_epoch", None), ("epoch", "end_offset")),
                    pair(getattr(drawn, "current_leader", None), ("leader_id", "leader_epoch")),
                    start,
                    end,
                )
            )
    return (
        answer.throttle_time // MS,
        answer.error_code.value if hasattr(answer, "error_code") else 0,
        getattr(answer, "session_id", 0),
        partitions,
        [(node.node_id, node.host, node.port) for node in getattr(answer, "node_endpoints", ())],
    )


@pytest.mark.parametrize("shape", FETCH, ids=shape_id)
def test_an_answer_to_fetch_reads_as_kio_wrote_it(shape: Shape) -> None:
    ran = 0

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(entities(shape.entity))
    def agree(answer: Any) -> None:
        nonlocal ran
        frame = BEFORE + kio_bytes(answer)
        decoded = _core.decode_fetch_answer(shape.version, frame, len(BEFORE))
        assert decoded == told(answer, frame, decoded)
        for cut in range(len(BEFORE), len(frame), 13):
            with pytest.raises(ss.errors.WireDecodeError):
                _core.decode_fetch_answer(shape.version, frame[:cut], len(BEFORE))
        ran += 1

    agree()
    assert ran >= EXAMPLES // 2


def test_kio_knows_every_version_of_fetch_that_we_know() -> None:
    assert [shape.entity.__version__ for shape in FETCH] == list(range(4, 18))
    for version in (3, 18):
        with pytest.raises(ss.errors.UnsupportedVersionError):
            _core.decode_fetch_answer(version, bytes(64), 0)


def test_a_topic_is_named_by_one_object() -> None:
    partition = "00000000" + "0000" + "00" * 16 + "00000000" + "00000000"
    frame = bytes.fromhex("00000000" + "00000001" + "0001" + "74" + "00000002" + partition * 2)
    first, second = _core.decode_fetch_answer(4, frame, 0)[3]
    assert first[0] == "t"
    assert first[0] is second[0]


def delivery(offsets: list[tuple[int, int]]) -> _core.Delivery:
    """Records for a member that takes all of these batches."""
    ring = _core.BatchRing()
    data = b"".join(record_batch(base, last - base + 1) for base, last in offsets)
    ring.append(offsets[0][0], data, 0, len(data))
    share_partition = ss.SharePartition("g", str(uuid.UUID(int=5)), 0)
    share_partition.initialize(ss.ReadStateResult(0, offsets[0][0], []))
    given = ring.deliver(share_partition, "m", now_ms=0, max_records=10_000, batch_size=7, mode=0, max_bytes=1 << 20)
    assert given is not None
    assert given.records() == data
    return given


INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT16 = st.integers(-(1 << 15), (1 << 15) - 1)
TEXT = st.text(max_size=20)
CODES = st.sampled_from([code.value for code in ErrorCode])
TOPICS = st.sampled_from([uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=3)])
BATCHES = st.lists(st.integers(1, 9), min_size=1, max_size=6).map(
    lambda sizes: delivery([(sum(sizes[:index]) + index, sum(sizes[: index + 1]) + index - 1) for index in range(len(sizes))])
)
PARTITIONS = st.tuples(TOPICS, INT32, CODES, INT16, INT32, INT32, st.none() | BATCHES)


class Drawn(NamedTuple):
    """Contents of an answer."""

    partitions: list[tuple[Any, ...]]
    nodes: list[tuple[int, str, int, str | None]]
    message: str | None
    code: int
    ms: int
    correlation_id: int

    def encoded(self, version: int) -> bytes:
        return _core.encode_share_fetch_answer(
            version,
            self.correlation_id,
            [(base64.urlsafe_b64encode(topic.bytes).decode().rstrip("="), *rest) for topic, *rest in self.partitions],
            lock_timeout_ms=self.ms,
            throttle_ms=self.ms // 2,
            error_code=self.code,
            error_message=self.message,
            node_endpoints=self.nodes,
        )

    def topics(self) -> list[uuid.UUID]:
        return list(dict.fromkeys(topic for topic, *_ in self.partitions))

    def told(self) -> list[tuple[Any, ...]]:
        """The partitions by topic, as kio shall read them."""
        topics = self.topics()
        return [
            (*head, given.records() if given else b"", given.ranges if given else [], (None, None))
            for *head, given in sorted(self.partitions, key=lambda partition: topics.index(partition[0]))
        ]


DRAWN = st.builds(
    Drawn,
    st.lists(PARTITIONS, max_size=5),
    st.lists(st.tuples(INT32, TEXT, INT32, st.none() | TEXT), max_size=2),
    st.none() | TEXT,
    CODES,
    st.integers(0, (1 << 31) - 1),
    INT32,
)


def read(answer: Any) -> list[tuple[Any, ...]]:
    """The partitions of kio's answer."""
    return [
        (
            topic.topic_id,
            p.partition_index,
            p.error_code.value,
            p.acknowledge_error_code,
            p.current_leader.leader_id,
            p.current_leader.leader_epoch,
            bytes(p.records),
            [(a.first_offset, a.last_offset, a.delivery_count) for a in p.acquired_records],
            (p.error_message, p.acknowledge_error_message),
        )
        for topic in answer.responses
        for p in topic.partitions
    ]


@pytest.mark.parametrize("shape", SHARE_FETCH, ids=shape_id)
def test_kio_reads_an_answer_to_share_fetch_as_we_meant_it(shape: Shape) -> None:
    ran = 0

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(DRAWN)
    def agree(drawn: Drawn) -> None:
        nonlocal ran
        frame = drawn.encoded(shape.version)
        assert frame[:9] == (len(frame) - 4).to_bytes(4, "big") + drawn.correlation_id.to_bytes(4, "big", signed=True) + b"\0"
        answer, size = entity_reader(shape.entity)(frame, 9)
        assert size == len(frame) - 9
        assert (answer.throttle_time // MS, answer.acquisition_lock_timeout // MS) == (drawn.ms // 2, drawn.ms)
        assert (answer.error_code.value, answer.error_message) == (drawn.code, drawn.message)
        assert [(n.node_id, n.host, n.port, n.rack) for n in answer.node_endpoints] == drawn.nodes
        assert [topic.topic_id for topic in answer.responses] == drawn.topics()
        assert read(answer) == drawn.told()
        ran += 1

    agree()
    assert ran >= EXAMPLES // 2


def test_what_cannot_be_written_is_refused() -> None:
    def encode(version: int = 2, topic: str = "A" * 22, **options: Any) -> bytes:
        options = {"lock_timeout_ms": 1, **options}
        return _core.encode_share_fetch_answer(version, 1, [(topic, 0, 0, 0, -1, -1, None)], **options)

    assert len(encode()) > 0
    for version in (0, 3):
        with pytest.raises(ss.errors.UnsupportedVersionError):
            encode(version)
    with pytest.raises(ValueError, match="topic_id"):
        encode(topic="no id")
    with pytest.raises(ss.errors.WireDecodeError):
        encode(error_message="x" * 40_000)
    with pytest.raises(TypeError):
        encode(throttle_ms=True)
    with pytest.raises(OverflowError):
        encode(throttle_ms=1 << 31)


def test_a_batch_that_cannot_be_written_is_refused() -> None:
    record = (0, b"k", None, [(b"h", None)])
    with pytest.raises(ValueError, match="compression is 5; expected 0 to 4"):
        _core.encode_batch([record], 5)
    far: Any = [(-(2**63), None, None, []), (2**63 - 1, None, None, [])]
    for records, kind in (([], "record batch without records"), (far, "offset or timestamp does not exist")):
        with pytest.raises(ss.WireDecodeError, match=kind):
            _core.encode_batch(records)
    with pytest.raises(TypeError):
        _core.encode_batch([(0, b"k", "text", [])])  # type: ignore[list-item]
