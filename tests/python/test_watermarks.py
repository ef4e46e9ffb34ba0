"""Where a partition begins and ends is asked until its leader is known, and no longer than asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from share_state.reading import topic_ends
from share_state.reading.asking import Connecting
from share_state.reading.failures import TIMED_OUT, NoAnswerError
from share_state.reading.watermarks import watermarks


class KafkaError(Exception):
    """What the client raises: its only argument has the code."""

    def __init__(self, code: int) -> None:
        super().__init__(SimpleNamespace(code=lambda: code))


class Consumer:
    """Answers with errors of these codes, and then with the offsets."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)
        self.asked = 0

    def get_watermark_offsets(self, place: str, patience: float) -> tuple[int, int]:
        assert (place, patience) == ("place", 0.5)
        self.asked += 1
        if self.codes:
            raise KafkaError(self.codes.pop(0))
        return 3, 8


CLIENT: Any = SimpleNamespace(KafkaException=KafkaError)
NOT_LEADER, OFFSET_NOT_AVAILABLE, NOT_AUTHORISED = 6, 78, 29


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time that only passes while somebody sleeps."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr("share_state.reading.watermarks.time", clock)


def ask(consumer: Any) -> tuple[int, int]:
    place: Any = "place"
    return watermarks(CLIENT, consumer, place, 0.5)


def test_a_leader_that_has_just_changed_is_asked_again() -> None:
    consumer = Consumer(NOT_LEADER, OFFSET_NOT_AVAILABLE)
    assert ask(consumer) == (3, 8)
    assert consumer.asked == 3


@pytest.mark.parametrize(("codes", "asked"), [([NOT_AUTHORISED], 1), ([NOT_LEADER] * 100, 4)], ids=["lasting", "no leader comes"])
def test_what_does_not_pass_is_raised(codes: list[int], asked: int) -> None:
    consumer = Consumer(*codes)
    with pytest.raises(KafkaError):
        ask(consumer)
    assert consumer.asked == asked


def test_a_leader_that_does_not_answer_is_told_as_such() -> None:
    with pytest.raises(NoAnswerError, match=r"^no answer within 0\.5 s$") as silent:
        ask(Consumer(NOT_LEADER, TIMED_OUT))
    assert silent.value.seconds == 0.5


def test_ends_that_nobody_tells_are_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(*_: object) -> None:
        raise KafkaError(TIMED_OUT)

    asking = SimpleNamespace(client=CLIENT, patience=0.5, connecting=Connecting(), measured=measured)
    monkeypatch.setattr(topic_ends, "_Asking", lambda *_: asking)
    with pytest.raises(NoAnswerError, match=r"^no answer for end offsets within 0\.5 s$"):
        topic_ends.end_offsets("kafka://a:1", None, [("topic", 0)])
