"""Every number of one scrape, read of stand-ins for the parts of a gateway."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import pytest

from share_state.gateway import readings
from share_state.gateway.counts import Counts
from share_state.kafka.client.peers import LostError
from share_state.operate.monitoring.exposition import Times
from share_state.types import SharePartitionKey

NOW = 1_000.0
WALL_MS = 50_000
TOPICS = {"id-t": SimpleNamespace(topic_id="id-t", name="t"), "id-u": SimpleNamespace(topic_id="id-u", name="u")}
#: Counters of one log: each has its own number.
COUNTERS = {"writes": 1, "records": 2, "bytes": 3, "batches": 4, "fsyncs": 5, "pruned_segments": 6}


@pytest.fixture(autouse=True)
def _clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "time", SimpleNamespace(monotonic=lambda: NOW))
    monkeypatch.setattr(readings, "wall_ms", lambda: WALL_MS)


def times(*seconds: float) -> Times:
    made = Times()
    for one in seconds:
        made.observe(one)
    return made


def plain(found: Any) -> dict[str, list[tuple[tuple[str, ...], Any]]]:
    """The readings without the beginning of their names, and times as what they add up to."""
    assert all(name.startswith("share_gateway_") for name in found)
    return {
        name.removeprefix("share_gateway_"): [
            (labels, (sum(value.buckets), value.total) if isinstance(value, Times) else value) for labels, value in rows
        ]
        for name, rows in found.items()
    }


def counted() -> Counts:
    """Each with a number of its own."""
    counts = Counts()
    counts.request_times.update({78: times(0.25, 0.5), -1: times(1.0), 900: times(2.0, 4.0), 79: times(0.125)})
    counts.request_errors.update({(-1, 35): 4})
    counts.malformed = 5
    counts.load_times = times(1.5)
    counts.queue_times, counts.write_times, counts.settle_times = times(2.5), times(3.5), times(4.5)
    counts.upstream_times = times(5.5)
    counts.upstream_bytes = 21
    counts.upstream_errors = Counter({6: 22, 3: 23})
    counts.back_reads, counts.truncations = 24, 25
    return counts


def served(group: str, number: int, start_offset: int = 0, *, is_ready: bool = True, waiting: int = 0) -> tuple[Any, ...]:
    """The row of a share partition as the node lists it."""
    states = {"AVAILABLE": 33, "ACKNOWLEDGED": 34}
    return SharePartitionKey(group, "id-t", number), is_ready, waiting, 31, 32, states, start_offset, 0


def plane(*listed: tuple[Any, ...]) -> Any:
    """A node with numbers of its own."""
    counts = {
        "request_errors": {(78, 42): 3},
        # A topic that was made again has two ids and one name; one that is gone has its id.
        "fetched": {"id-t": 6, "id-gone": 7},
        "fetch_failed": {"id-u": 8},
        "acknowledged": {"id-t": 9, "id-t-before": 10},
        "acknowledge_failed": {"id-t": 11},
        "acknowledged_records": {0: 12, 1: 13, 2: 0, 3: 14, 4: 15},
        "hidden": {"CORRUPT_MESSAGE": 16},
        "asked_partitions": {"g": 17, "h": 18},
        "acquired_partitions": {"g": 19},
        "acquire_times": {"h": (times(0.75).buckets, 750)},
        "expired_fetches": 20,
    }
    node = SimpleNamespace(
        counts=lambda: counts,
        figures=lambda: {"sessions": 53, "session_partitions": 52, "waiting_fetches": 49},
        share_partitions=lambda: list(listed),
        rings=lambda: [("id-t", 0, 0, 100, 1000), ("id-t", 1, 1, 23, 1000)],
    )
    return SimpleNamespace(node=node)


def reader(partition: int, heard_at: float | None, marks: dict[int, int] | None = None) -> Any:
    forgotten: list[int] = []
    appended = SimpleNamespace(of=(marks or {}).get, forget_before=forgotten.append, forgotten=forgotten)
    return SimpleNamespace(topic="t", partition=partition, heard_at=heard_at, appended=appended)


class Offsets:
    """Says where a group stands; asked for a group in `fails`, it raises that."""

    def __init__(self, fails: dict[str, BaseException] | None = None) -> None:
        self.fails = fails or {}
        self.asked: list[tuple[str, list[tuple[str, int]]]] = []

    async def lags(self, group: str, wanted: Iterable[tuple[Any, int]]) -> dict[tuple[str, int], dict[str, int]]:
        places = [(topic.topic_id, number) for topic, number in wanted]
        self.asked.append((group, places))
        if group in self.fails:
            raise self.fails[group]
        rows = {0: (3, 4, 0), 1: (4, 1, 0), 2: (5, 0, 0), 3: (3, 9, 3), 4: (3, -1, 0), 5: (9, 2, 0)}
        named = ("startOffset", "lag", "errorCode")
        return {place: dict(zip(named, rows[place[1]], strict=True)) for place in places}


def parts(offsets: Any = None, *listed: tuple[Any, ...], readers: dict[tuple[str, int, int], Any] | None = None) -> Any:
    groups = SimpleNamespace(
        groups=lambda: [("g", "Stable"), ("h", "Empty"), ("i", "Empty"), ("j", "Assigning")],
        counters=lambda: {name: count * 100 for name, count in COUNTERS.items()},
        share_partitions={
            # Of what upstream does not know, nothing is asked.
            "g": [("id-gone", "gone", [0]), ("id-t", "t", [0, 1, 2, 3, 4, 5]), ("id-u", "u", [2])],
            "h": [("id-t", "t", [0])],
        }.get,
    )
    found = readers or {}
    return SimpleNamespace(
        options=SimpleNamespace(limits=SimpleNamespace(answers=1000)),
        identity=SimpleNamespace(cluster_id="cluster", generation=7),
        counts=counted(),
        server=SimpleNamespace(connections=41, accepted=42, refused=43, tls_failed=44),
        authentication=SimpleNamespace(succeeded=45, failed=46),
        queued=SimpleNamespace(total=47),
        answers=SimpleNamespace(free=400),
        offsets=offsets or Offsets(),
        groups=SimpleNamespace(store=groups),
        store=SimpleNamespace(counters=lambda: COUNTERS),
        plane=plane(*listed),
        upstream=SimpleNamespace(known={**TOPICS, "id-t-before": TOPICS["id-t"]}.get, recreations=51),
        readers=SimpleNamespace(all=found.values, get=found.get),
    )


def test_every_number_has_its_name_and_its_labels() -> None:
    listed = [
        served("g", 1, is_ready=False, waiting=3),
        served("g", 0, 8, waiting=2),
        served("h", 0, 5),
        served("g", 2, is_ready=False),
    ]
    readers = {
        ("id-t", 0, 0): reader(0, 990.0, {3: 48_000}),
        # Of two readers, the one that knows better.
        ("id-t", 0, 1): reader(0, 995.5, {3: 48_500}),
        ("id-t", 1, 0): reader(1, None, {4: 60_000}),
        ("id-t", 2, 0): reader(2, 0.5, {5: 1}),
    }
    offsets = Offsets()
    everything = parts(offsets, *listed, readers=readers)
    place, other = ("g", "t", "0"), ("h", "t", "0")
    assert plain(asyncio.run(readings.read(everything))) == {
        "info": [((version("share-state"), "cluster", "7"), 1)],
        "request_seconds": [(("ShareFetch",), (2, 0.75)), (("ShareAcknowledge",), (1, 0.125)), (("other",), (3, 7.0))],
        "request_errors": [(("other", "35"), 4), (("ShareFetch", "42"), 3)],
        "malformed_requests": [((), 5)],
        "fetched_partitions": [(("t",), 6), (("id-gone",), 7)],
        "fetched_partitions_failed": [(("u",), 8)],
        "acknowledged_partitions": [(("t",), 19)],
        "acknowledged_partitions_failed": [(("t",), 11)],
        "hidden_errors": [(("CORRUPT_MESSAGE",), 16)],
        "acknowledged_records": [(("Gap",), 12), (("Accept",), 13), (("Release",), 0), (("Reject",), 14), (("Renew",), 15)],
        "partition_load_seconds": [((), (1, 1.5))],
        "fetch_asked_partitions": [(("g",), 17), (("h",), 18)],
        "fetch_acquired_partitions": [(("g",), 19)],
        "fetch_acquire_seconds": [(("h",), (1, 0.75))],
        "expired_fetches": [((), 20)],
        "acknowledge_queue_seconds": [((), (1, 2.5))],
        "acknowledge_write_seconds": [((), (1, 3.5))],
        "acknowledge_settle_seconds": [((), (1, 4.5))],
        "connections": [((), 41)],
        "connections_accepted": [((), 42)],
        "connections_refused": [((), 43)],
        "tls_failures": [((), 44)],
        "authentications": [((), 45)],
        "authentications_failed": [((), 46)],
        "queued_request_bytes": [((), 47)],
        "unsent_answer_bytes": [((), 600)],
        "share_sessions": [((), 53)],
        "share_session_partitions": [((), 52)],
        "waiting_fetches": [((), 49)],
        "groups": [(("Empty",), 2), (("Stable",), 1), (("Dead",), 0), (("Assigning",), 1)],
        "log_writes": [(("share_partitions",), 1), (("groups",), 100)],
        "log_records": [(("share_partitions",), 2), (("groups",), 200)],
        "log_bytes": [(("share_partitions",), 3), (("groups",), 300)],
        "log_commits": [(("share_partitions",), 4), (("groups",), 400)],
        "log_syncs": [(("share_partitions",), 5), (("groups",), 500)],
        "log_pruned_segments": [(("share_partitions",), 6), (("groups",), 600)],
        "upstream_fetch_seconds": [((), (1, 5.5))],
        "upstream_fetch_bytes": [((), 21)],
        "upstream_errors": [(("6",), 22), (("3",), 23)],
        "upstream_back_reads": [((), 24)],
        "upstream_truncations": [((), 25)],
        "upstream_recreations": [((), 51)],
        "upstream_ring_bytes": [((), 123)],
        # The reader that was heard last counts, and one that nobody has heard not at all.
        "upstream_silence_seconds": [(("t", "0"), 4.5), (("t", "2"), 999.5)],
        "lock_timeouts": [(place, 31), (other, 31)],
        "dead_lettered_records": [(place, 32), (other, 32)],
        "in_flight_records": [
            ((*one, state), count) for one in (place, other) for state, count in (("Available", 33), ("Acknowledged", 34))
        ],
        "watched_partitions": [((), 5)],
        "share_partitions": [(("active",), 2), (("loading",), 2)],
        # Partition 3 has an error, the lag of 4 is not known.
        "lag_records": [
            (("g", "t", "0"), 4),
            (("g", "t", "1"), 1),
            (("g", "t", "2"), 0),
            (("g", "t", "5"), 2),
            (("g", "u", "2"), 0),
            (("h", "t", "0"), 4),
        ],
        # A record of the future has no age; where nobody waits for one it is 0; nobody has read 5.
        "deliverable_age_seconds": [
            (("g", "t", "0"), 1.5),
            (("g", "t", "1"), 0.0),
            (("g", "t", "2"), 0.0),
            (("g", "u", "2"), 0.0),
            (("h", "t", "0"), 1.5),
        ],
    }
    t = [("id-t", number) for number in range(6)]
    assert offsets.asked == [("g", [*t, ("id-u", 2)]), ("h", [("id-t", 0)]), ("i", []), ("j", [])]
    # What one that loads will ask for is not known yet.
    assert [one.appended.forgotten for one in readers.values()] == [[5], [], [0], [0]]


@pytest.mark.parametrize("error", [TimeoutError(), LostError("1", "it is gone", code=13, sent=True), None])
def test_without_upstream_no_lag_is_told(error: BaseException | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "_LAG_TIME", 0.01)
    offsets = Offsets({} if error is None else {"h": error})
    if error is None:
        answer = offsets.lags

        async def never(group: str, wanted: Iterable[tuple[Any, int]]) -> Any:
            answered = await answer(group, wanted)
            if group == "h":
                await asyncio.Event().wait()
            return answered

        monkeypatch.setattr(offsets, "lags", never)
    found = plain(asyncio.run(readings.read(parts(offsets))))
    assert [labels[0] for labels, _ in found["lag_records"]] == ["g"] * 5
    # Nor is it asked for again.
    assert [group for group, _ in offsets.asked] == ["g", "h"]


@pytest.mark.parametrize(("count", "stretches"), [(99, 0), (100, 1), (199, 1), (200, 2)])
def test_clients_have_their_turn_between_share_partitions(monkeypatch: pytest.MonkeyPatch, count: int, stretches: int) -> None:
    turns: list[float] = []

    async def sleep(seconds: float) -> None:
        turns.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    listed = [served("g", number) for number in range(count)]
    found = plain(asyncio.run(readings.read(parts(None, *listed))))
    assert found["share_partitions"] == [(("active",), count), (("loading",), 0)]
    # And one after each group.
    assert turns == [0] * (stretches + 4)
