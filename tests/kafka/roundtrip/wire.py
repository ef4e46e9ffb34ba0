"""Requests to a broker's share coordinator in plain bytes: our codec for 84, 85 and 87, nothing else of share_state.

A coordinator that is still loading, or a state topic that is being made, is waited for; every other code is an answer.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any, NamedTuple, Self

import share_state
from share_state import SharePartitionKey, StateBatch

READ, WRITE, SUMMARY = 84, 85, 87
_VERSIONS = {READ: 0, WRITE: 1, SUMMARY: 1}
_FIND_COORDINATOR, _SHARE_KEY_TYPE = 10, 2

#: COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
_NOT_YET = frozenset({14, 15, 16})
_FENCED_LEADER_EPOCH = 74
_PATIENCE = 20.0
_LOOK_AGAIN = 0.1


class ReadAnswer(NamedTuple):
    """Answer to ReadShareGroupState; without an error the rest counts."""

    error_code: int
    state_epoch: int
    start_offset: int
    batches: tuple[StateBatch, ...]


class SummaryAnswer(NamedTuple):
    """Answer to ReadShareGroupStateSummary."""

    error_code: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int


class Coordinator:
    """A connection to the one node of a cluster, which coordinates every key; a context manager."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)
        self._correlation = 0

    def find(self, key: SharePartitionKey) -> None:
        """Look the coordinator up, which also makes the state topic the first time (FindCoordinator v6)."""
        name = share_state.coordinator_key(*key).encode()
        body = struct.pack(">b", _SHARE_KEY_TYPE) + b"\x02" + _uvarint(len(name) + 1) + name + b"\x00"

        def ask() -> int:
            answer = self._exchange(_FIND_COORDINATOR, 6, body)
            # Throttle time, then one compact array with one element: key, node, host, port, error code ...
            at = 4 + 1
            assert answer[4] == 2
            length, at = _read_uvarint(answer, at)
            at += length - 1 + 4
            length, at = _read_uvarint(answer, at)
            at += length - 1 + 4
            code: int = struct.unpack_from(">h", answer, at)[0]
            return code

        code = _patiently(ask)
        assert code == 0, f"FindCoordinator {key}: {code}"

    def read(self, key: SharePartitionKey, leader_epoch: int) -> ReadAnswer:
        """Ask for the state of a key; its own leader epoch changes nothing, a higher one is written."""
        answer = self.call(READ, key, leaderEpoch=leader_epoch)
        batches = tuple(
            StateBatch(b["firstOffset"], b["lastOffset"], b["deliveryState"], b["deliveryCount"]) for b in answer["stateBatches"]
        )
        return ReadAnswer(answer["errorCode"], answer["stateEpoch"], answer["startOffset"], batches)

    def summary(self, key: SharePartitionKey) -> SummaryAnswer:
        """Ask for the summary of a key."""
        answer = self.call(SUMMARY, key, leaderEpoch=-1)
        return SummaryAnswer(
            answer["errorCode"],
            answer["stateEpoch"],
            answer["leaderEpoch"],
            answer["startOffset"],
            answer["deliveryCompleteCount"],
        )

    def call(self, api_key: int, key: SharePartitionKey, **fields: object) -> dict[str, Any]:
        """Send one request for one key; the part of the answer that is about it."""
        topic_id = share_state.coordinator_key(*key).split(":")[-2]
        version = _VERSIONS[api_key]
        message = {
            "groupId": key.group,
            "topics": [{"topicId": topic_id, "partitions": [{"partition": key.partition, **fields}]}],
        }
        body = share_state.encode_message(api_key, version, message)
        answers: list[dict[str, Any]] = []

        def ask() -> int:
            answer = share_state.decode_message(api_key, version, self._exchange(api_key, version, body), response=True)
            (topic,) = answer["results"]
            (partition,) = topic["partitions"]
            assert topic["topicId"] == topic_id
            assert partition["partition"] == key.partition
            answers[:] = [partition]
            code: int = partition["errorCode"]
            return code

        _patiently(ask)
        return answers[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()

    def _exchange(self, api_key: int, version: int, body: bytes) -> bytes:
        self._correlation += 1
        # Request header 2: no client id, no tagged field.
        request = struct.pack(">hhih", api_key, version, self._correlation, -1) + b"\x00" + body
        self._socket.sendall(struct.pack(">i", len(request)) + request)
        (length,) = struct.unpack(">i", self._receive(4))
        answer = self._receive(length)
        assert struct.unpack_from(">i", answer)[0] == self._correlation
        # Response header 1: no tagged field either.
        assert answer[4] == 0
        return answer[5:]

    def _receive(self, length: int) -> bytes:
        parts: list[bytes] = []
        while length:
            part = self._socket.recv(length)
            assert part, "the broker closed the connection"
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


def read_all(port: int, keys: Iterable[SharePartitionKey]) -> dict[SharePartitionKey, tuple[ReadAnswer, SummaryAnswer]]:
    """Answers of the broker for every key."""
    answers = {}
    with Coordinator(port) as coordinator:
        for key in keys:
            summary = coordinator.summary(key)
            leader_epoch = summary.leader_epoch
            while (read := coordinator.read(key, leader_epoch)).error_code == _FENCED_LEADER_EPOCH:
                # An Initialize takes the leader epoch of the state back, but not what the broker remembers of the last
                # leader. The first that is not fenced is that one: reading with it changes nothing.
                leader_epoch += 1
            answers[key] = (read, summary)
    return answers


def _patiently(ask: Any) -> int:
    until = time.monotonic() + _PATIENCE
    while True:
        code: int = ask()
        if code not in _NOT_YET:
            return code
        assert time.monotonic() < until, f"the share coordinator is not there: {code}"
        time.sleep(_LOOK_AGAIN)


def _uvarint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _read_uvarint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
