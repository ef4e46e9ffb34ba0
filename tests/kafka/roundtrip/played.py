"""A client that does what we tell it: the part of confluent-kafka that reads a cluster, played from messages."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import share_state

ADDRESS = "kafka://played:9092"
EOF = -191


class Error(NamedTuple):
    number: int

    def code(self) -> int:
        return self.number

    def str(self) -> str:
        return f"error {self.number}"


class Failure(Exception):
    """The client's own exception."""


class Message(NamedTuple):
    place: int
    kafka_key: bytes | None = None
    kafka_value: bytes | None = None
    failure: Error | None = None
    ms: int = 1_795_254_335_384

    def error(self) -> Error | None:
        return self.failure

    def offset(self) -> int:
        return self.place

    def key(self) -> bytes | None:
        return self.kafka_key

    def value(self) -> bytes | None:
        return self.kafka_value

    def timestamp(self) -> tuple[int, int]:
        return 1, self.ms


class Log(NamedTuple):
    """A state partition: its watermarks, and the messages that come one a poll, and then nothing."""

    start: int
    end: int
    messages: Sequence[Message]


class Played:
    """A consumer of the state topic. What is assigned is played from its beginning."""

    def __init__(self, logs: Mapping[int, Log], topics: Mapping[str, Topic] | None = None) -> None:
        self.logs = logs
        self.topics = topics or {}
        self.messages: deque[Message] = deque()
        self.settings: Mapping[str, Any] = {}
        self.handed_out = 0
        self.closed = False

    def list_topics(self, *_: object) -> Any:
        return SimpleNamespace(topics={"__share_group_state": SimpleNamespace(error=None, partitions=list(self.logs))})

    def get_watermark_offsets(self, place: tuple[str, int], *_: object) -> tuple[int, int]:
        return self.logs[place[1]][:2]

    def assign(self, places: list[tuple[str, int, int]]) -> None:
        assert not self.closed
        [(_topic, partition, _offset)] = places
        self.messages = deque(self.logs[partition].messages)

    def poll(self, _: float) -> Message | None:
        self.handed_out += bool(self.messages)
        return self.messages.popleft() if self.messages else None

    def close(self) -> None:
        self.closed = True


class Topic(NamedTuple):
    """A topic of records: its id, and of each partition the times of its records."""

    topic_id: str
    partitions: Sequence[Sequence[int]]


class Administrator:
    """A client that asks for topics and for their ends."""

    def __init__(self, played: Played) -> None:
        self.topics = played.topics

    def list_topics(self, *_: object) -> Any:
        return SimpleNamespace(topics={name: SimpleNamespace(error=None) for name in self.topics})

    def describe_topics(self, names: Sequence[str], **_: object) -> dict[str, Future[Any]]:
        bits = {name: UUID(self.topics[name].topic_id).int for name in names}
        # As signed halves, as the client gives them.
        halves = {name: struct.unpack(">qq", number.to_bytes(16)) for name, number in bits.items()}
        return {name: _done(SimpleNamespace(topic_id=TopicId(*halves[name]))) for name in names}

    def list_offsets(self, specs: Mapping[tuple[str, int], int | None], **_: object) -> dict[Any, Future[Any]]:
        return {place: _done(SimpleNamespace(offset=self._offset(*place, ms))) for place, ms in specs.items()}

    def _offset(self, name: str, partition: int, ms: int | None) -> int:
        times = self.topics[name].partitions[partition]
        if ms is None:
            return len(times)
        return next((offset for offset, time in enumerate(times) if time >= ms), -1)


class TopicId(NamedTuple):
    most: int
    least: int

    def get_most_significant_bits(self) -> int:
        return self.most

    def get_least_significant_bits(self) -> int:
        return self.least


def _done(answer: object) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(answer)
    return future


def client(played: Played) -> ModuleType:
    """The module that stands in for ``confluent_kafka``."""

    def consumer(settings: Mapping[str, Any]) -> Played:
        played.settings = settings
        # Each reading makes a client of its own.
        played.closed = False
        return played

    module = ModuleType("confluent_kafka")
    vars(module).update(
        Consumer=consumer,
        TopicPartition=lambda *place: place,
        TopicCollection=lambda names: names,
        admin=SimpleNamespace(
            AdminClient=lambda _: Administrator(played),
            OffsetSpec=SimpleNamespace(latest=lambda: None, for_timestamp=lambda ms: ms),
        ),
        KafkaException=Failure,
        KafkaError=SimpleNamespace(_PARTITION_EOF=EOF),
    )
    return module


def logs_of(directory: Path) -> dict[int, Log]:
    """A directory as a cluster hands it out: what markers and compaction leave out is missing there too."""
    messages: dict[int, list[Message]] = {}
    for partition, _segment, offset, timestamp, key, value in share_state.scan_path(directory):
        messages.setdefault(partition, []).append(Message(offset, key, value, ms=timestamp))
    return {partition: Log(of[0].place, of[-1].place + 1, of) for partition, of in messages.items()}
