"""What no mock cluster does: gaps in a log, a log that is cut meanwhile, rights that are missing, silence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from share_state.errors import UnknownPartitionError
from share_state.payloads import Missing, Payload, PayloadReader, Reason
from share_state.reading import state_topic
from share_state.reading.failures import NoAnswerError
from share_state.reading.state_topic import ReadNotAllowedError

_EOF, _RESET, _TOPIC_DENIED, _GROUP_DENIED, _UNKNOWN_TOPIC = -191, -140, 29, 30, 3


class Error:
    def __init__(self, code: int) -> None:
        self._code = code

    def code(self) -> int:
        return self._code

    def str(self) -> str:
        return f"code {self._code}"


class KafkaException(Exception):
    pass


CLIENT: Any = SimpleNamespace(
    KafkaException=KafkaException,
    KafkaError=SimpleNamespace(_PARTITION_EOF=_EOF, _AUTO_OFFSET_RESET=_RESET),
    TopicPartition=lambda topic, partition, offset=None: (topic, partition, offset),
)


class Message:
    def __init__(self, offset: int | None = None, error: int | None = None) -> None:
        self._offset, self._error = offset, error

    def error(self) -> Error | None:
        return None if self._error is None else Error(self._error)

    def offset(self) -> int | None:
        return self._offset

    def timestamp(self) -> tuple[int, int]:
        return 0, -1

    def key(self) -> None:
        return None

    value = headers = key


class Consumer:
    """A log with records at some offsets only, as compaction and transactions leave it."""

    def __init__(self, there: list[int], ends: list[tuple[int, int]]) -> None:
        self.there, self.ends = there, ends
        self.position: int | None = None
        self.assigned: list[int] = []
        self.topic_error: int | None = None
        self.errors: list[int] = []
        self.silent = False

    def list_topics(self, topic: str, _: float) -> Any:
        error = None if self.topic_error is None else Error(self.topic_error)
        return SimpleNamespace(topics={topic: SimpleNamespace(error=error, partitions={0: None})})

    def get_watermark_offsets(self, *_: object) -> tuple[int, int]:
        return self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]

    def assign(self, places: list[tuple[str, int, int]]) -> None:
        [(_, _, self.position)] = places
        self.assigned.append(self.position)

    def unassign(self) -> None:
        self.position = None

    def poll(self, _: float) -> Message | None:
        if self.position is None or self.silent:
            return None
        if self.errors:
            return Message(error=self.errors.pop(0))
        after = [offset for offset in self.there if offset >= self.position]
        if not after:
            return Message(error=_EOF)
        self.position = after[0] + 1
        return Message(after[0])


@pytest.fixture
def consumer(monkeypatch: pytest.MonkeyPatch) -> Consumer:
    consumer = Consumer([2, 3, 7, 2_000, 3_000], [(2, 3_003)])

    @contextmanager
    def made(*_: object) -> Iterator[tuple[Any, Consumer]]:
        yield CLIENT, consumer

    monkeypatch.setattr(state_topic, "consumer", made)
    return consumer


def read(offsets: list[int], timeout: float = 5.0) -> list[Payload | Missing]:
    with PayloadReader("a:1", timeout=timeout) as reader:
        return list(reader.read("orders", 0, offsets))


def told(offsets: list[int]) -> list[Reason | None]:
    return [one.reason if isinstance(one, Missing) else None for one in read(offsets)]


def test_each_reason_is_told(consumer: Consumer) -> None:
    below, gone, after = Reason.BELOW_LOG_START, Reason.NOT_THERE, Reason.AT_OR_AFTER_LOG_END
    asked = [0, 1, 2, 3, 4, 6, 7, 8, 1_999, 2_000, 3_000, 3_001, 3_002, 3_003, 4, 2]
    reasons = [below, below, None, None, gone, gone, None, gone, gone, None, None, gone, gone, after, gone, None]
    assert told(asked) == reasons
    # Offsets between two records cost no question, and none that is far away is read towards.
    assert consumer.assigned == [2, 3_000, 4, 2]


def test_a_record_without_a_time_a_key_and_a_value_is_one(consumer: Consumer) -> None:
    assert read([7]) == [Payload("orders", 0, 7, None, None, None, ())]
    assert consumer.position is None


def test_a_log_that_was_cut_meanwhile_is_asked_again(consumer: Consumer) -> None:
    consumer.ends = [(0, 9), (5, 9)]
    consumer.errors = [_RESET]
    assert told([3, 7]) == [Reason.BELOW_LOG_START, None]
    consumer.ends = [(0, 9), (0, 3)]
    consumer.errors = [_RESET]
    assert told([7]) == [Reason.AT_OR_AFTER_LOG_END]


def test_a_right_on_the_group_is_not_needed(consumer: Consumer) -> None:
    consumer.errors = [_GROUP_DENIED]
    assert told([7]) == [None]


def test_a_missing_right_names_the_topic(consumer: Consumer) -> None:
    consumer.errors = [_TOPIC_DENIED]
    with pytest.raises(ReadNotAllowedError, match=r"the principal needs READ on the topic orders, and no other right$") as denied:
        read([7])
    assert (denied.value.topic, denied.value.operation, denied.value.kafka_code) == ("orders", "READ", 29)
    consumer.topic_error = _TOPIC_DENIED
    with pytest.raises(ReadNotAllowedError, match="READ on the topic orders"):
        read([7])


def test_a_topic_that_is_not_there_is_refused(consumer: Consumer) -> None:
    consumer.topic_error = _UNKNOWN_TOPIC
    with pytest.raises(UnknownPartitionError, match=r"^topic orders is not in the cluster$") as unknown:
        read([7])
    assert (unknown.value.field, unknown.value.value) == ("topic", "orders")


def test_silence_is_not_waited_for_longer_than_asked(consumer: Consumer) -> None:
    consumer.silent = True
    with pytest.raises(NoAnswerError, match=r"^no answer for orders-0 within 0\.001 s$"):
        read([7], timeout=0.001)
