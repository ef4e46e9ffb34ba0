"""The two logs of a gateway are opened together: where they lie, how they are synced, and what is said when they are damaged."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from share_state._core import ShareGroupStore, StateStore
from share_state.errors import CorruptLogError, StoreError
from share_state.gateway import GatewayOptions
from share_state.gateway.stores import _of_both, open_stores
from share_state.kafka.client.peers import Address
from share_state.types import SharePartitionKey

KEY = SharePartitionKey("g", "AAAAAAAAQACAAAAAAAAAAg", 0)


def options(path: Path, **more: Any) -> GatewayOptions:
    return GatewayOptions(upstream=(Address("127.0.0.1", 1),), path=path, **more)


def write(states: StateStore, groups: ShareGroupStore, number: int) -> int:
    """Write to both; gives the interval of heartbeats."""
    assert states.reset_states([(KEY, number, 5)]) == [None]
    groups.set_topics([("t", KEY.topic_id, 1)])
    answer = groups.heartbeat(
        group="g",
        member=f"m{number}",
        member_epoch=0,
        rack=None,
        topics=["t"],
        client_id="c",
        client_host="/h",
        now_ms=0,
        wall_ms=1,
    )
    groups.wait(answer.ticket)
    return answer.heartbeat_interval_ms


def written(path: Path, **more: Any) -> int:
    """Open both, write to both once, and see that they are closed."""
    with ExitStack() as opened:
        states, groups = open_stores(options(path, **more), opened)
        interval = write(states, groups, 1)
    for closed in (lambda: states.read_summary(KEY), groups.groups):
        with pytest.raises(StoreError):
            closed()
    return interval


def synced(path: Path, **more: Any) -> tuple[bool, bool]:
    """Pair of flags, true if a write to this store is synced. The first write makes a file, which is synced at any rate."""
    with ExitStack() as opened:
        states, groups = open_stores(options(path, **more), opened)
        write(states, groups, 1)
        before = states.counters()["fsyncs"], groups.counters()["fsyncs"]
        write(states, groups, 2)
        return states.counters()["fsyncs"] > before[0], groups.counters()["fsyncs"] > before[1]


def damage(path: Path, name: str) -> Path:
    """Give the last batch of one log another checksum."""
    (segment,) = (one for one in (path / name).rglob("*.log") if one.stat().st_size)
    data = bytearray(segment.read_bytes())
    data[-1] ^= 1
    segment.write_bytes(data)
    return segment


def refused(path: Path, **more: Any) -> CorruptLogError:
    with ExitStack() as opened, pytest.raises(CorruptLogError) as found:
        open_stores(options(path, **more), opened)
    return found.value


def test_both_lie_below_the_directory_and_have_the_settings_of_the_broker(tmp_path: Path) -> None:
    assert written(tmp_path) == 5000
    assert sorted(one.name for one in tmp_path.iterdir()) == ["groups", "state"]
    assert written(tmp_path / "other", broker={"group.share.heartbeat.interval.ms": "7000"}) == 7000


def test_both_are_synced_as_the_options_say(tmp_path: Path) -> None:
    assert synced(tmp_path / "always") == (True, True)
    assert synced(tmp_path / "never", sync="never") == (False, False)


def test_a_log_that_is_damaged_alone_is_refused_alone(tmp_path: Path) -> None:
    for name in ("state", "groups"):
        path = tmp_path / name
        written(path)
        segment = damage(path, name)
        found = refused(path)
        assert (found.segment, len(found.repairs)) == (str(segment), 1)
        with ExitStack() as opened:
            states, groups = open_stores(options(path, repair=True), opened)
            # What was cut off is gone; the other log has everything.
            assert states.read_summary(KEY).start_offset == (-1 if name == "state" else 5)
            assert [group for group, _ in groups.groups()] == (["g"] if name == "state" else [])


def test_logs_that_are_both_damaged_are_refused_as_one(tmp_path: Path) -> None:
    written(tmp_path)
    segments = [damage(tmp_path, name) for name in ("state", "groups")]
    found = refused(tmp_path)
    first, second = str(found).split("; " + str(segments[1]), 1)
    assert str(segments[0]) in first
    assert second
    assert (found.segment, found.position) == (str(segments[0]), 0)
    assert found.kind.startswith("unreadable batch: ")
    assert len(found.repairs) == 2
    assert str(segments[0]) in found.repairs[0][0]
    assert str(segments[1]) in found.repairs[1][0]
    # One consent is for both.
    with ExitStack() as opened:
        states, groups = open_stores(options(tmp_path, repair=True), opened)
        assert (states.read_summary(KEY).start_offset, groups.groups()) == (-1, [])


def test_what_no_repair_mends_is_said_by_itself() -> None:
    mended = CorruptLogError("a", segment="A", position=7, kind="torn", repairs=[("damage of a", "costs of a")])
    also = CorruptLogError("b", segment="B", position=8, kind="flipped", repairs=[("damage of b", "costs of b")])
    never, nor = CorruptLogError("c", segment="C"), CorruptLogError("d", segment="D")
    assert _of_both(mended, never) is never
    assert _of_both(never, mended) is never
    assert _of_both(never, nor) is never
    both = _of_both(mended, also)
    assert str(both) == "a; b"
    assert (both.segment, both.position, both.kind) == ("A", 7, "torn")
    assert both.repairs == (("damage of a", "costs of a"), ("damage of b", "costs of b"))
