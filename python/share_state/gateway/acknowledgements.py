"""Acknowledgements of one request, whichever of the two requests they came in."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, Final

from share_state.gateway.net import Net
from share_state.gateway.requests import Client
from share_state.gateway.share_partitions import SharePartitionManager
from share_state.gateway.slices import Slices
from share_state.gateway.topic_names import Names, TopicNames
from share_state.kafka import codes

__all__ = ["Acknowledgements", "Batches", "merged"]

_SHARE_ACKNOWLEDGE: Final = 79

#: First offset, last offset, types: one for the whole range or one each.
Batches = list[tuple[int, int, bytes]]


async def merged(topics: list[dict[str, Any]], slices: Slices) -> tuple[dict[tuple[str, int], Batches], list[tuple[str, int]]]:
    """Take the partitions of a request apart; librdkafka names a topic, and a partition, several times.

    Returns:
        The acknowledgements by topic id and partition, in their order, and every partition that is named, once.
    """
    acknowledged: dict[tuple[str, int], Batches] = {}
    named: dict[tuple[str, int], None] = {}
    async for topic_id, row in slices.of((topic["topicId"], row) for topic in topics for row in topic["partitions"]):
        place = topic_id, row["partitionIndex"]
        named[place] = None
        if row["acknowledgementBatches"]:
            acknowledged.setdefault(place, []).extend(
                (batch["firstOffset"], batch["lastOffset"], batch["acknowledgeTypes"]) for batch in row["acknowledgementBatches"]
            )
    return acknowledged, list(named)


class Acknowledgements:
    """Begins the acknowledgements of a request, and waits for their writes.

    What a member may acknowledge depends on its locks alone: not on its assignment, nor on its being in the group (R12, R13).
    """

    def __init__(
        self,
        manager: SharePartitionManager,
        names: Names,
        client: Client,
        group: str,
        member: str,
        *,
        is_renewal: bool,
        net: Net,
    ) -> None:
        self._manager = manager
        self._names = names
        self._client = client
        self._group = group
        self._member = member
        self._is_renewal = is_renewal
        self._net = net
        self._outcomes: dict[tuple[str, int], int | asyncio.Future[int]] = {}

    async def begin(self, acknowledged: dict[tuple[str, int], Batches]) -> None:
        """Acknowledge, all that can be without waiting for the disk."""
        async for (topic_id, number), batches in self._net.slices.of(acknowledged.items()):
            for first, last, types in batches:
                _count(self._manager.counts.acknowledged_records, first, last, types)
            try:
                self._outcomes[topic_id, number] = self._begin(topic_id, number, batches)
            except Exception as wrong:  # noqa: BLE001  the others are acknowledged
                self._outcomes[topic_id, number] = self._caught(wrong)

    def _begin(self, topic_id: str, number: int, batches: Batches) -> int | asyncio.Future[int]:
        code = TopicNames.error(self._client, self._names, topic_id, number)
        if code == codes.NONE and not self._is_renewal and _renews(batches):
            code = codes.INVALID_REQUEST
        if code != codes.NONE:
            return code
        served = self._manager.serve(self._group, self._names[topic_id], number)
        if served.is_ready:
            return self._manager.acknowledge(served, self._member, batches)
        # Not in memory since a restart: loaded, so that the state can say that the locks are gone.
        return asyncio.get_running_loop().create_task(self._when_ready(topic_id, number, batches))

    def _caught(self, wrong: Exception) -> int:
        return self._net.caught(wrong, self._client, _SHARE_ACKNOWLEDGE, self._group)

    async def codes(self) -> dict[tuple[str, int], int]:
        """Return Kafka's code for each partition, once it is durable."""
        # One after the other: all are in progress, and none is begun by being waited for.
        found: dict[tuple[str, int], int] = {}
        for place, outcome in self._outcomes.items():
            try:
                found[place] = outcome if isinstance(outcome, int) else await outcome
            except Exception as wrong:  # noqa: BLE001  as in `begin`
                found[place] = self._caught(wrong)
        counts = self._manager.counts
        async for (topic_id, _), code in self._net.slices.of(found.items()):
            if topic_id in self._names:
                counts.acknowledged[topic_id] += 1
                if code != codes.NONE:
                    counts.acknowledge_failed[topic_id] += 1
        return found

    async def _when_ready(self, topic_id: str, number: int, batches: Batches) -> int:
        served = self._manager.serve(self._group, self._names[topic_id], number)
        await self._manager.ready(served)
        if not served.is_ready:
            return served.error_code or codes.INVALID_RECORD_STATE
        outcome = self._manager.acknowledge(served, self._member, batches)
        return outcome if isinstance(outcome, int) else await outcome


def _count(records: Counter[int], first: int, last: int, types: bytes) -> None:
    """Count records by type; one type stands for a whole range, which may be of any length."""
    if len(types) == 1:
        records[types[0]] += max(last - first + 1, 0)
    else:
        records.update(types)


def _renews(batches: Batches) -> bool:
    return any(4 in types for _, _, types in batches)  # noqa: PLR2004  AcknowledgeType.RENEW
