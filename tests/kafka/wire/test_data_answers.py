"""The answer to Fetch against kio, an independent implementation.

The messages are drawn from kio's own schema: a field that ours lacks, or has at another place, shows at once.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import types
import typing
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

import share_state as ss
from share_state import _core
from tests.kafka.wire.kio_oracle import BITS, Shape, kio_bytes, shape_id

EXAMPLES = 40
FETCH = [Shape(1, "Fetch", version, True) for version in range(4, 18)]
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
