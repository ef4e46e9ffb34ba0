"""Beginnings of share partitions without a start offset: what each strategy finds in a log of known times."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.gateway.groups import configure_group
from tests.gateway.hostile.faults import of
from tests.gateway.orchard import EARLY, LATE, PLUMS, Orchard, orchard
from tests.gateway.patience import wait_until
from tests.gateway.serving import fetch
from tests.gateway.wire.codec import Message

_DAY_MS = 86_400_000
#: Days ago, between the two batches of plums 0.
_BETWEEN = (round(time.time() * 1000) - (EARLY + LATE) // 2) // _DAY_MS


def begins(there: Orchard, group: str, strategy: str, isolation: str = "read_uncommitted") -> list[int]:
    """Start offsets of the first two partitions of plums."""
    configure_group(
        there.gateway.bootstrap_servers, group, **{"share.auto.offset.reset": strategy, "share.isolation.level": isolation}
    )
    there.join(group, [PLUMS])
    place = there.upstream.topics[PLUMS].topic_id
    assert there.ask("ShareFetch", 1, fetch(group, 0, [(place, 0), (place, 1)]))["errorCode"] == 0
    asked: Message = {"groupId": group, "topics": [{"topicName": PLUMS, "partitions": [0, 1]}]}
    found: list[int] = []

    def has_begun() -> bool:
        (told,) = there.ask("DescribeShareGroupOffsets", 1, {"groups": [asked]})["groups"]
        found[:] = [row["startOffset"] for row in told["topics"][0]["partitions"]]
        return -1 not in found

    wait_until(has_begun, f"{group} has begun")
    return found


@pytest.mark.parametrize(
    ("strategy", "isolation", "offsets"),
    [
        ("earliest", "read_uncommitted", [0, 0]),
        ("latest", "read_uncommitted", [10, 5]),
        # A transaction is open since the first record of partition 1.
        ("latest", "read_committed", [10, 0]),
        (f"by_duration:P{_BETWEEN}D", "read_uncommitted", [4, 0]),
        # Before 1970 there are no records.
        ("by_duration:P30000D", "read_uncommitted", [0, 0]),
        # No record is as young: it begins with those to come.
        ("by_duration:PT1H", "read_uncommitted", [10, 5]),
        ("by_duration:PT0S", "read_committed", [10, 0]),
    ],
)
def test_a_strategy_asks_for_a_moment(trees: Orchard, strategy: str, isolation: str, offsets: list[int]) -> None:
    assert begins(trees, f"{strategy} {isolation}", strategy, isolation) == offsets


def test_a_leader_that_does_not_answer_or_has_moved_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with orchard(tmp_path) as there:
        there.upstream.faults.closed = of("ListOffsets")
        configure_group(there.gateway.bootstrap_servers, "g", **{"share.auto.offset.reset": "latest"})
        there.join("g", [PLUMS])
        place = there.upstream.topics[PLUMS].topic_id
        there.ask("ShareFetch", 1, fetch("g", 0, [(place, 0)]))
        wait_until(lambda: len(there.upstream.requests("ListOffsets")) > 2, "it is asked more than once")
        # Not for ever: OFFSET_NOT_AVAILABLE.
        monkeypatch.setattr("share_state.gateway.start_offsets._PATIENCE", 0.0)
        answer = there.ask("ShareFetch", 1, fetch("g", 1, [], maxWaitMs=20_000))
        assert answer["responses"][0]["partitions"][0]["errorCode"] == 78
        monkeypatch.undo()
        there.upstream.move_leader(PLUMS, 0, 2)
        there.upstream.faults.clear()
        assert begins(there, "g", "latest") == [10, 5]
