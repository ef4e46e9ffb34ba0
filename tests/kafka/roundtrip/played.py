"""A client that does what we tell it: the part of confluent-kafka that reads a cluster, played from messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

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

    def __init__(self, logs: Mapping[int, Log]) -> None:
        self.logs = logs
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


def client(played: Played) -> ModuleType:
    """The module that stands in for ``confluent_kafka``."""

    def consumer(settings: Mapping[str, Any]) -> Played:
        played.settings = settings
        return played

    module = ModuleType("confluent_kafka")
    vars(module).update(
        Consumer=consumer,
        TopicPartition=lambda *place: place,
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
