"""Lag of share groups: log end offsets come from a file, or from the cluster that is read."""

from __future__ import annotations

import time
from collections.abc import Iterable

import typer

from share_state.cli.shared import any_source
from share_state.cli.shared.choice import Choice
from share_state.operate.analysis.search import LogEndOffsets
from share_state.operate.reading import cluster
from share_state.operate.reading.as_of import AsOf
from share_state.operate.reading.plain import Place
from share_state.util.printable import printable

#: Measurements from which a lag that grows can be seen, over twice the time for which it must not fall.
_MEASUREMENTS = 13
#: Measurements of a picture.
_POINTS = 100


def newest(measurements: LogEndOffsets) -> dict[Place, int]:
    """Take the newest measurement of each partition."""
    return {place: max(samples)[1] for place, samples in measurements.items() if samples}


def ends_now(source: str, client: any_source.Client, places: Iterable[Place]) -> dict[Place, int]:
    """Ask where partitions end; without an answer, which is reported on stderr, and without a cluster no end is known."""
    return newest(_asked(source, client, places, ()))


def chosen(source: str, client: any_source.Client, choice: Choice) -> list[tuple[str, Place]]:
    """Return the share partitions of a cluster that are chosen, each a group and a place; none where it is no cluster."""
    if not cluster.is_cluster(source):
        return []
    states, _ = any_source.fold(source, None, client, AsOf())
    keys = ((state["group"], state["topic_id"], state["partition"]) for state in states)
    return [(key[0], key[1:]) for key in keys if choice.takes(key)]


def ends_lately(source: str, client: any_source.Client, places: Iterable[Place], lag_ms: int) -> LogEndOffsets | None:
    """Ask where partitions ended during twice the time for which a lag must not fall."""
    if not cluster.is_cluster(source):
        return None
    now = time.time_ns() // 1_000_000
    return _asked(source, client, places, [now - 2 * lag_ms * step // (_MEASUREMENTS - 1) for step in range(1, _MEASUREMENTS)])


def ends_between(source: str, client: any_source.Client, place: Place, first_ms: int, last_ms: int) -> list[tuple[int, int]]:
    """Ask where a partition ended between two times, ascending."""
    times = [first_ms + (last_ms - first_ms) * point // (_POINTS - 1) for point in range(_POINTS)]
    return list(_asked(source, client, [place], times).get(place, ()))


def _asked(source: str, client: any_source.Client, places: Iterable[Place], times: Iterable[int]) -> LogEndOffsets:
    if not cluster.is_cluster(source):
        return {}
    # Imported late: who reads paths needs nothing of what talks to brokers.
    from share_state.operate.reading import topic_ends  # noqa: PLC0415

    moments = [ms for ms in times if ms >= 0]
    try:
        return topic_ends.end_offsets(source, client.settings(source), places, times=moments, timeout=client.timeout)
    except cluster.ClusterReadError as error:
        # What the state topic tells was read: that is shown without what more could be known.
        typer.echo(printable(f"share-state: the lag is unknown: {error}"), err=True)
        return {}
