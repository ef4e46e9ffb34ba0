"""The logs of a share coordinator from Python: folds of encoded records, and encoded requests, by us and by kio."""

from __future__ import annotations

import base64
import io
import time
import uuid
from typing import TYPE_CHECKING, Any

from benches.faces.replay import TOPIC
from benches.oplog import Digest, Kind, OpLog
from share_state import ShareCoordinator, WriteState, encode_record
from share_state._core import encode_write_states

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

_TOPIC_ID = base64.urlsafe_b64encode(uuid.UUID(TOPIC).bytes).decode().rstrip("=")


def replay(log: OpLog, digest: Digest | None, encoder: str, limit_s: float) -> tuple[int, int | None]:
    """Nanoseconds in the timed sections, and the operation at which the time was up."""
    encode, make = (_by_us, _request) if encoder != "kio" else _kio()
    coordinator = ShareCoordinator()
    coordinator.replay(0, *_record(0, []))
    requests: dict[int, Any] = {}
    prepared: list[tuple[int, Any]] = []
    for op in log.ops:
        kind, argument = int(op["kind"]), None
        if kind == Kind.FOLD:
            argument = _record(1, _batches(log, op))
        elif kind == Kind.ENCODE:
            at = int(op["value"])
            if at not in requests:
                requests[at] = make(_batches(log, op), int(op["first"]))
            argument = requests[at]
        prepared.append((kind, argument))
    started = time.perf_counter()
    section = total = 0
    for index, (kind, argument) in enumerate(prepared):
        if kind == Kind.FOLD:
            coordinator.replay(index + 1, *argument)
        elif kind == Kind.ENCODE:
            request = encode(argument)
            if digest is not None:
                digest.data(request)
        elif kind == Kind.BEGIN:
            section = time.perf_counter_ns()
        elif kind == Kind.END:
            total += time.perf_counter_ns() - section
        elif kind == Kind.CHECK and digest is not None:
            state = coordinator.state("group", TOPIC, 0)
            assert state is not None
            digest.state((0, 0, 0), [tuple(batch) for batch in state["batches"]])
        if index % 64 == 0 and time.perf_counter() - started > limit_s:
            return total, index
    return total, None


def _batches(log: OpLog, op: np.void) -> list[dict[str, int]]:
    return [
        {"firstOffset": first, "lastOffset": last, "deliveryState": state, "deliveryCount": count}
        for first, last, state, _, count, _ in log.batches(op).tolist()
    ]


def _record(kind: int, batches: list[dict[str, int]]) -> tuple[bytes, bytes | None]:
    """A snapshot (0) or an update (1)."""
    data: dict[str, Any] = {"snapshotEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "deliveryCompleteCount": 0}
    if kind == 0:
        data |= {"stateEpoch": 0, "createTimestamp": 0, "writeTimestamp": 0}
    key = {"type": str(kind), "data": {"groupId": "group", "topicId": _TOPIC_ID, "partition": 0}}
    return encode_record({"key": key, "value": {"version": "0", "data": data | {"stateBatches": batches}}})


def _request(batches: list[dict[str, int]], start_offset: int) -> list[tuple[str, int, WriteState]]:
    """As an engine hands a write out."""
    return [(TOPIC, 0, WriteState(0, 0, start_offset, 0, [tuple(batch.values()) for batch in batches]))]  # type: ignore[misc]


def _by_us(writes: list[tuple[str, int, WriteState]]) -> bytes:
    return encode_write_states(1, "group", writes)


def _kio() -> tuple[Callable[[Any], bytes], Callable[[list[dict[str, int]], int], Any]]:
    """The independent codec, with the message as its own objects."""
    from kio.schema.write_share_group_state.v1 import request as kio  # noqa: PLC0415 # only for its own face
    from kio.serial import entity_writer  # noqa: PLC0415
    from kio.static.primitive import i8, i16, i32, i64  # noqa: PLC0415

    write = entity_writer(kio.WriteShareGroupStateRequest)

    def encode(message: Any) -> bytes:
        buffer = io.BytesIO()
        write(buffer, message)
        return buffer.getvalue()

    def make(batches: list[dict[str, int]], start_offset: int) -> Any:
        partition = kio.PartitionData(
            partition=i32(0),
            state_epoch=i32(0),
            leader_epoch=i32(0),
            start_offset=i64(start_offset),
            delivery_complete_count=i32(0),
            state_batches=tuple(
                kio.StateBatch(
                    first_offset=i64(b["firstOffset"]),
                    last_offset=i64(b["lastOffset"]),
                    delivery_state=i8(b["deliveryState"]),
                    delivery_count=i16(b["deliveryCount"]),
                )
                for b in batches
            ),
        )
        topic = kio.WriteStateData(topic_id=uuid.UUID(TOPIC), partitions=(partition,))
        return kio.WriteShareGroupStateRequest(group_id="group", topics=(topic,))

    return encode, make
