"""Reads the numbers of a gateway for one scrape. It gives way to clients between share partitions, of which there may be many."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state._core import StateStore, api_table
from share_state.gateway.clock import wall_ms
from share_state.gateway.upstream.cluster import UpstreamError
from share_state.gateway.upstream.reader import Source
from share_state.kafka import codes
from share_state.operate.monitoring.exposition import Readings, Times, Value

if TYPE_CHECKING:
    from share_state.gateway.authentication import Authentication
    from share_state.gateway.counts import Counts
    from share_state.gateway.data_plane import DataPlane
    from share_state.gateway.groups import Groups
    from share_state.gateway.identity import Identity
    from share_state.gateway.limits import AnswerBytes
    from share_state.gateway.offsets import Offsets
    from share_state.gateway.options import GatewayOptions
    from share_state.gateway.server import Server
    from share_state.gateway.upstream.cluster import Upstream
    from share_state.gateway.upstream.readers import Readers
    from share_state.gateway.upstream.topics import Topic
    from share_state.kafka.queued_bytes import QueuedBytes

__all__ = ["Parts", "read"]

#: Share partitions that are read at a stretch.
_STRETCH: Final = 100
#: Seconds that upstream has to tell where its logs end; a scrape has ten by default.
_LAG_TIME: Final = 5.0
#: Names of the types of acknowledgements, from 0 on.
_TYPES: Final = ("Gap", "Accept", "Release", "Reject", "Renew")
_LOG_COUNTERS: Final = {
    "log_writes": "writes",
    "log_records": "records",
    "log_bytes": "bytes",
    "log_commits": "batches",
    "log_syncs": "fsyncs",
    "log_pruned_segments": "pruned_segments",
}


class Parts(NamedTuple):
    """The parts of a gateway that have numbers."""

    options: GatewayOptions
    identity: Identity
    counts: Counts
    server: Server
    authentication: Authentication
    queued: QueuedBytes
    answers: AnswerBytes
    offsets: Offsets
    groups: Groups
    store: StateStore
    plane: DataPlane
    upstream: Upstream
    readers: Readers


class _Scrape:
    """Numbers by the name of their metric, which begins with ``share_gateway_``."""

    def __init__(self) -> None:
        self.found: Readings = {}

    def add(self, name: str, value: Value, *labels: object) -> None:
        self.found.setdefault(f"share_gateway_{name}", []).append((tuple(map(str, labels)), value))

    def all(self, name: str, values: Iterable[tuple[object, Value]]) -> None:
        for labels, value in values:
            self.add(name, value, *(labels if isinstance(labels, tuple) else (labels,)))


async def read(parts: Parts) -> Readings:
    """Read every number."""
    scrape = _Scrape()
    scrape.add("info", 1, version("share-state"), parts.identity.cluster_id, parts.identity.generation)
    _requests(scrape, parts)
    _clients(scrape, parts)
    _state(scrape, parts)
    _upstream(scrape, parts)
    await _share_partitions(scrape, parts)
    await _lags(scrape, parts)
    return scrape.found


def _requests(scrape: _Scrape, parts: Parts) -> None:
    counts, names = parts.counts, {key: row[0] for key, row in api_table().items()}
    scrape.all("request_seconds", ((names.get(key, "other"), times) for key, times in _merged(counts.request_times, names)))
    node = parts.plane.node.counts()
    for (key, code), count in (counts.request_errors | node["request_errors"]).items():
        scrape.add("request_errors", count, names.get(key, "other"), code)
    for key, count in counts.failures.items():
        scrape.add("request_failures", count, names.get(key, "other"))
    scrape.add("malformed_requests", counts.malformed)
    for name, by_topic in (
        ("fetched_partitions", node["fetched"]),
        ("fetched_partitions_failed", node["fetch_failed"]),
        ("acknowledged_partitions", node["acknowledged"]),
        ("acknowledged_partitions_failed", node["acknowledge_failed"]),
    ):
        by_name: dict[str, int] = {}
        for topic_id, count in by_topic.items():
            topic = _name_of(parts, topic_id)
            by_name[topic] = by_name.get(topic, 0) + count
        scrape.all(name, by_name.items())
    scrape.all("hidden_errors", node["hidden"].items())
    scrape.all("acknowledged_records", ((name, node["acknowledged_records"][kind]) for kind, name in enumerate(_TYPES)))
    scrape.add("partition_load_seconds", counts.load_times)
    scrape.all("fetch_asked_partitions", node["asked_partitions"].items())
    scrape.all("fetch_acquired_partitions", node["acquired_partitions"].items())
    times = ((group, Times.of(buckets, total_ms / 1000)) for group, (buckets, total_ms) in node["acquire_times"].items())
    scrape.all("fetch_acquire_seconds", times)
    scrape.add("expired_fetches", node["expired_fetches"])
    scrape.add("acknowledge_queue_seconds", counts.queue_times)
    scrape.add("acknowledge_write_seconds", counts.write_times)
    scrape.add("acknowledge_settle_seconds", counts.settle_times)


def _clients(scrape: _Scrape, parts: Parts) -> None:
    server, authentication = parts.server, parts.authentication
    scrape.add("connections", server.connections)
    scrape.add("connections_accepted", server.accepted)
    scrape.add("connections_refused", server.refused)
    scrape.add("tls_failures", server.tls_failed)
    scrape.add("authentications", authentication.succeeded)
    scrape.add("authentications_failed", authentication.failed)
    scrape.add("queued_request_bytes", parts.queued.total)
    scrape.add("unsent_answer_bytes", parts.options.limits.answers - parts.answers.free)


def _state(scrape: _Scrape, parts: Parts) -> None:
    figures = parts.plane.node.figures()
    scrape.add("share_sessions", figures["sessions"])
    scrape.add("share_session_partitions", figures["session_partitions"])
    scrape.add("waiting_fetches", figures["waiting_fetches"])
    states = {"Empty": 0, "Stable": 0, "Dead": 0}
    for _, state in parts.groups.store.groups():
        states[state] = states.get(state, 0) + 1
    scrape.all("groups", states.items())
    for log, counters in (("share_partitions", parts.store.counters()), ("groups", parts.groups.store.counters())):
        for name, counter in _LOG_COUNTERS.items():
            scrape.add(name, counters[counter], log)


def _upstream(scrape: _Scrape, parts: Parts) -> None:
    counts, now = parts.counts, time.monotonic()
    scrape.add("upstream_fetch_seconds", counts.upstream_times)
    scrape.add("upstream_fetch_bytes", counts.upstream_bytes)
    scrape.all("upstream_errors", counts.upstream_errors.items())
    scrape.add("upstream_back_reads", counts.back_reads)
    scrape.add("upstream_truncations", counts.truncations)
    scrape.add("upstream_recreations", parts.upstream.recreations)
    heard: dict[tuple[str, int], float] = {}
    for reader in parts.readers.all():
        if reader.heard_at is not None:
            place = reader.topic, reader.partition
            heard[place] = max(heard.get(place, 0.0), reader.heard_at)
    scrape.add("upstream_ring_bytes", sum(nbytes for *_, nbytes, _ in parts.plane.node.rings()))
    scrape.all("upstream_silence_seconds", ((place, now - heard_at) for place, heard_at in heard.items()))


async def _share_partitions(scrape: _Scrape, parts: Parts) -> None:
    watched = active = loading = 0
    starts: dict[Source, int] = {}
    for number, row in enumerate(parts.plane.node.share_partitions()):
        (group, topic_id, partition), is_ready, waiting, timeouts, dead_lettered, states, start_offset, isolation = row
        if number % _STRETCH == _STRETCH - 1:
            await asyncio.sleep(0)
        watched += waiting
        source = Source(topic_id, partition, isolation)
        starts[source] = min(start_offset, starts.get(source, start_offset))
        if not is_ready:
            loading += 1
            continue
        active += 1
        place = group, _name_of(parts, topic_id), partition
        scrape.add("lock_timeouts", timeouts, *place)
        scrape.add("dead_lettered_records", dead_lettered, *place)
        for state, count in states.items():
            scrape.add("in_flight_records", count, *place, state.capitalize())
    for source, start_offset in starts.items():
        if (reader := parts.readers.get(source)) is not None:
            # Nothing is older than that, and nobody asks for it.
            reader.appended.forget_before(start_offset)
    scrape.add("watched_partitions", watched)
    scrape.all("share_partitions", (("active", active), ("loading", loading)))


async def _lags(scrape: _Scrape, parts: Parts) -> None:
    """Read lag and age of every share partition that a group has, in memory or not."""
    for group, _ in parts.groups.store.groups():
        wanted: list[tuple[Topic, int]] = []
        for topic_id, _, numbers in parts.groups.store.share_partitions(group) or ():
            topic = parts.upstream.known(topic_id)
            if topic is not None:
                wanted += [(topic, number) for number in numbers]
        try:
            async with asyncio.timeout(_LAG_TIME):
                lags = await parts.offsets.lags(group, wanted)
        except (TimeoutError, *UpstreamError):
            # Without upstream nobody knows where the logs end.
            return
        for topic, number in wanted:
            row = lags[topic.topic_id, number]
            if row["errorCode"] != codes.NONE or row["lag"] < 0:
                continue
            scrape.add("lag_records", row["lag"], group, topic.name, number)
            age = _age(parts, topic.topic_id, number, row["startOffset"], row["lag"])
            if age is not None:
                scrape.add("deliverable_age_seconds", age, group, topic.name, number)
        await asyncio.sleep(0)


def _age(parts: Parts, topic_id: str, partition: int, start_offset: int, lag: int) -> float | None:
    if lag == 0:
        return 0.0
    readers = (parts.readers.get(Source(topic_id, partition, isolation)) for isolation in (0, 1))
    told = [at for reader in readers if reader is not None and (at := reader.appended.of(start_offset)) is not None]
    return max(0.0, (wall_ms() - max(told)) / 1000) if told else None


def _merged(times: dict[int, Times], names: dict[int, str]) -> list[tuple[int, Times]]:
    """Return the times of requests with a name, and one of all others."""
    found = {key: row for key, row in times.items() if key in names}
    others = [row for key, row in times.items() if key not in names]
    if others:
        other = found[-1] = Times()
        for row in others:
            other.total += row.total
            other.buckets = [one + another for one, another in zip(other.buckets, row.buckets, strict=True)]
    return list(found.items())


def _name_of(parts: Parts, topic_id: str) -> str:
    topic = parts.upstream.known(topic_id)
    return topic_id if topic is None else topic.name
