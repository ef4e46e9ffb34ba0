"""The log end offsets of the topics of a running cluster, now and earlier, from which the lag of a share group follows.

The state topic names topics by id and does not hold their ends. The cluster is asked for both, which needs DESCRIBE on
the topics. A topic that is deleted, or that may not be described, has no end here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from share_state.kafka import codes
from share_state.kafka.client.client import Client
from share_state.kafka.client.metadata import Topic, by_id, topic_of
from share_state.kafka.client.offsets import LATEST, OffsetQuestion
from share_state.kafka.client.peers import LostError, Node
from share_state.operate.reading.asking import ask
from share_state.operate.reading.plain import Place

__all__ = ["end_offsets", "topic_names"]

#: Topics asked for at once.
_AT_ONCE: Final = 1000
#: Answer of ListOffsets where no record is as late as was asked for.
_NO_RECORD: Final = -1


def end_offsets(
    source: str,
    settings: Mapping[str, object] | None,
    places: Iterable[Place],
    *,
    times: Sequence[int] = (),
    timeout: float | None = None,
) -> dict[Place, list[tuple[int, int]]]:
    """Ask for the log end offsets of partitions: now, and before at `times` in ms since the epoch, by the times of their records.

    Returns pairs of a time and an offset, ascending. A partition that the cluster does not report is left out.

    Raises:
        ClusterReadError: the cluster does not answer.
    """
    wanted = set(places)
    if not wanted:
        return {}
    return ask(source, settings, timeout, lambda client: _measured(client, wanted, sorted(times)), " for end offsets")


def topic_names(
    source: str, settings: Mapping[str, object] | None, topic_ids: Iterable[str], *, timeout: float | None = None
) -> dict[str, str]:
    """Ask for the names of topics by their ids; one that is deleted, or that may not be described, is left out.

    Raises:
        ClusterReadError: the cluster does not answer.
    """
    wanted = set(topic_ids)
    if not wanted:
        return {}
    topics = ask(source, settings, timeout, lambda client: _topics(client, wanted), " for names of topics")
    return {topic.topic_id: topic.name for topic in topics}


async def _topics(client: Client, topic_ids: set[str]) -> list[Topic]:
    ids = sorted(topic_ids)
    answers = [await client.metadata(by_id(ids[first : first + _AT_ONCE])) for first in range(0, len(ids), _AT_ONCE)]
    found = (topic_of(row) for answer in answers for row in answer["topics"])
    return [topic for topic in found if topic is not None]


async def _measured(client: Client, wanted: set[Place], times: Sequence[int]) -> dict[Place, list[tuple[int, int]]]:
    """Measure at all times and now. The end now stands for the end at times that no record is later than."""
    topics = await _topics(client, {topic_id for topic_id, _ in wanted})
    now = time.time_ns() // 1_000_000
    latest = await _ends(client, topics, wanted, LATEST)
    told: dict[Place, list[tuple[int, int]]] = {place: [] for place in latest}
    for ms in times:
        # The first record that is later than the time: it is the end of those that are not.
        for place, end in (await _ends(client, topics, wanted, ms + 1)).items():
            if place in told:
                told[place].append((ms, latest[place] if end == _NO_RECORD else end))
    for place, end in latest.items():
        told[place].append((now, end))
    return told


async def _ends(client: Client, topics: Sequence[Topic], wanted: set[Place], timestamp: int) -> dict[Place, int]:
    asked: dict[Node, list[OffsetQuestion]] = {}
    for topic in topics:
        for number, leader in enumerate(topic.leaders):
            node = client.node(leader)
            if node is not None and (topic.topic_id, number) in wanted:
                asked.setdefault(node, []).append(OffsetQuestion(topic.name, number, timestamp))
    ids = {topic.name: topic.topic_id for topic in topics}
    found = await client.offsets(asked)
    if any(one.error_code == codes.REQUEST_TIMED_OUT for one in found.values()):
        raise LostError(
            ", ".join(map(str, asked)), "ListOffsets was not answered in time", code=codes.REQUEST_TIMED_OUT, sent=True
        )
    return {(ids[name], number): one.offset for (name, number), one in found.items() if one.error_code == codes.NONE}
