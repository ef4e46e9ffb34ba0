"""ShareFetch (RPC 78): take acknowledgements, acquire records, wait for some.

The order is Kafka's (``KafkaApis.handleShareFetchRequest``): the request is checked, the session is opened or advanced, the
acknowledgements are begun, records are acquired, and the answer leaves when both are done.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from share_state._core import Delivery, ShareFetchContext, ShareSessions, encode_share_fetch_answer
from share_state.gateway.acknowledgements import Acknowledgements, merged
from share_state.gateway.answers import MAX_WAIT_MS, NO_LEADER, acknowledge_code, fetch_code
from share_state.gateway.counts import Counts
from share_state.gateway.group_configs import GroupConfigs
from share_state.gateway.limits import AnswerBytes
from share_state.gateway.net import Net
from share_state.gateway.requests import Client, check_member
from share_state.gateway.share_partitions import ServedPartition, SharePartitionManager
from share_state.gateway.topic_names import Names, TopicNames
from share_state.gateway.waiting_fetch import WaitingFetch
from share_state.kafka import codes

__all__ = ["ShareFetch"]

#: A topic id and a partition.
_Place: TypeAlias = tuple[str, int]
#: What a request that renews locks must leave at 0: it fetches nothing (KIP-1222).
_LIMITS: Final = ("maxWaitMs", "minBytes", "maxBytes", "maxRecords")

#: Seconds without any batch from upstream after which a fetch is told so (``upstream.unavailable.ms``).
_UNAVAILABLE: Final = 10.0
_API_KEY: Final = 78
#: Batch-optimised, and no more records than asked (KIP-1206).
_ACQUIRE_MODES: Final = frozenset({0, 1})


@dataclass(slots=True)
class _Found:
    """What a fetch has come to, by partition."""

    #: What could be read from, whether or not there was a record.
    fetched: list[_Place] = field(default_factory=list)
    deliveries: dict[_Place, Delivery] = field(default_factory=dict)
    errors: dict[_Place, int] = field(default_factory=dict)


class ShareFetch:
    """Answers ShareFetch.

    Args:
        sessions: the share sessions.
        manager: the share partitions.
        names: what topics there are.
        configs: configurations of groups.
        max_bytes: bytes of records in one answer (``fetch.max.bytes`` of the broker).
        answers: counts the bytes of answers that clients have not taken.
        counts: where fetches are counted.
        net: catches what a partition raises.
    """

    def __init__(
        self,
        sessions: ShareSessions,
        manager: SharePartitionManager,
        names: TopicNames,
        configs: GroupConfigs,
        *,
        max_bytes: int,
        answers: AnswerBytes,
        counts: Counts,
        net: Net,
    ) -> None:
        self._sessions = sessions
        self._manager = manager
        self._names = names
        self._configs = configs
        self._max_bytes = max_bytes
        self._answers = answers
        self._counts = counts
        self._net = net
        #: The fetch that each member of a group waits for. A second one ends the first.
        self._waiting: dict[tuple[str, str], WaitingFetch] = {}

    @property
    def waiting(self) -> int:
        """How many fetches wait or are about to."""
        return len(self._waiting)

    async def answer(self, client: Client, version: int, correlation_id: int, asked: dict[str, Any]) -> bytes:
        """Answer a request; returns the whole frame."""
        code = _check(client, asked)
        if code != codes.NONE:
            self._counts.request_errors[_API_KEY, code] += 1
            return _refused(version, correlation_id, code)
        group, member = asked["groupId"], asked["memberId"]
        acknowledged, added = await merged(asked["topics"], self._net.slices)
        forgotten = [(topic["topicId"], number) for topic in asked["forgottenTopicsData"] for number in topic["partitions"]]
        context = self._sessions.fetch(
            group,
            member,
            asked["shareSessionEpoch"],
            client.connection_id,
            added,
            forgotten,
            acknowledges=bool(acknowledged),
        )
        if context.error_code != codes.NONE:
            if context.error_code == codes.SHARE_SESSION_LIMIT_REACHED:
                await asyncio.sleep(_max_wait_ms(asked) / 1000)
            self._counts.request_errors[_API_KEY, context.error_code] += 1
            return _refused(version, correlation_id, context.error_code)
        if len(context.partitions) > self._net.limits.elements:
            # Each request looks at all of them.
            self._sessions.close(group, member)
            self._manager.release(group, member)
            self._counts.request_errors[_API_KEY, codes.INVALID_REQUEST] += 1
            return _refused(version, correlation_id, codes.INVALID_REQUEST)
        names = await self._names.of({topic_id for topic_id, _ in context.partitions} | {key[0] for key in acknowledged})
        is_renewal = asked.get("isRenewAck", False)
        acknowledgements = Acknowledgements(self._manager, names, client, group, member, is_renewal=is_renewal, net=self._net)
        await acknowledgements.begin(acknowledged)
        found = _Found() if is_renewal else await self._fetch(client, asked, context.partitions, names)
        outcomes = await acknowledgements.codes()
        if context.final:
            self._sessions.close(group, member)
            self._manager.release(group, member)
        partitions = await self._listed(context, found, outcomes)
        if partitions is None:
            # A later request of the same member has overtaken this one: nobody waits for the answer.
            return _refused(version, correlation_id, codes.INVALID_SHARE_SESSION_EPOCH)
        lock_timeout_ms = self._configs.resolved(group).record_lock_duration_ms
        return encode_share_fetch_answer(version, correlation_id, partitions, lock_timeout_ms=lock_timeout_ms)

    async def _fetch(self, client: Client, asked: dict[str, Any], places: list[_Place], names: Names) -> _Found:
        """Acquire records of the partitions of a session."""
        found = _Found()
        served = await self._served(client, asked["groupId"], places, names, found)
        failed: dict[ServedPartition, Exception] = {}
        if served and asked["maxRecords"] > 0 and asked["maxBytes"] > 0:
            await self._manager.freshen(served)
            fetch = WaitingFetch(
                list(served),
                asked["memberId"],
                max_records=asked["maxRecords"],
                batch_size=max(asked["batchSize"], 1),
                mode=asked.get("shareAcquireMode", 0),
                max_bytes=min(asked["maxBytes"], self._max_bytes),
                min_bytes=asked["minBytes"],
                client=client,
                answers=self._answers,
            )
            deliveries = await self._waited(fetch, asked)
            failed = fetch.failed
            found.fetched = [_place(one) for one in fetch.acquirable]
            found.deliveries = {_place(partition): delivery for partition, delivery in deliveries.items()}
        elif served and asked["maxRecords"] != 0 and min(asked["maxRecords"], asked["maxBytes"]) < 0:
            # As Kafka: bytes below 0 are an error of each partition that has records, records below 0 are none.
            await self._manager.freshen(served)
            found.fetched = [_place(one) for one in served if one.is_ready and one.engine.can_acquire()]
            if asked["maxBytes"] < 0:
                found.errors |= dict.fromkeys(found.fetched, codes.UNKNOWN_SERVER_ERROR)
        for partition in served:
            place = _place(partition)
            # A client drops the records of a partition that has an error, and they would be locked for nobody.
            error = codes.NONE if place in found.deliveries else fetch_code(partition.error_code or _unavailable(partition))
            if partition in failed:
                error = self._failed(failed[partition], client, asked["groupId"])
            elif error == codes.UNKNOWN_SERVER_ERROR:
                cause = codes.name_of(partition.error_code) if partition.error_code else "upstream_unavailable"
                self._counts.hidden[cause] += 1
            if error != codes.NONE:
                found.errors[place] = error
            self._counts.fetched[partition.key.topic_id] += 1
        # Ids that nobody knows are made up by clients.
        self._counts.fetch_failed.update(topic_id for topic_id, _ in found.errors if topic_id in names)
        return found

    async def _served(
        self, client: Client, group: str, places: list[_Place], names: Names, found: _Found
    ) -> dict[ServedPartition, None]:
        """Return the share partitions of a session that can be fetched from, and note why the others cannot."""
        served: dict[ServedPartition, None] = {}
        async for topic_id, number in self._net.slices.of(places):
            error = self._names.error(client, names, topic_id, number)
            try:
                if error == codes.NONE:
                    served[self._manager.serve(group, names[topic_id], number)] = None
            except Exception as wrong:  # noqa: BLE001  the others are served
                error = self._failed(wrong, client, group)
            if error != codes.NONE:
                found.errors[topic_id, number] = error
        return served

    def _failed(self, wrong: Exception, client: Client, group: str) -> int:
        return fetch_code(self._net.caught(wrong, client, _API_KEY, group))

    async def _waited(self, fetch: WaitingFetch, asked: dict[str, Any]) -> dict[ServedPartition, Delivery]:
        group, member, max_wait_ms = asked["groupId"], asked["memberId"], _max_wait_ms(asked)
        before = self._waiting.get((group, member))
        if before is not None:
            before.give_up()
        self._waiting[group, member] = fetch
        began = time.monotonic()
        try:
            found = await fetch.wait(self._manager, max_wait_ms)
        finally:
            if self._waiting.get((group, member)) is fetch:
                del self._waiting[group, member]
        self._counts.asked_partitions[group] += fetch.partitions
        self._counts.acquired_partitions[group] += len(found)
        if found:
            self._counts.acquire_times[group].observe(time.monotonic() - began)
        elif max_wait_ms > 0:
            self._counts.expired_fetches += 1
        return found

    async def _listed(
        self, context: ShareFetchContext, found: _Found, acknowledged: dict[_Place, int]
    ) -> list[tuple[str, int, int, int, int, int, Delivery | None]] | None:
        """Return the partitions of the answer; ``None`` if the session is no longer where the request was."""
        told = {*found.fetched, *found.errors}
        places = dict.fromkeys(place for place in context.partitions if place in told) | dict.fromkeys(acknowledged)
        outcomes = [
            (*place, place in found.deliveries, place in found.errors, place in acknowledged)
            async for place in self._net.slices.of(places)
        ]
        listed = self._sessions.answer(context, outcomes)
        if listed is None:
            return None
        return [
            (
                *place,
                found.errors.get(place, codes.NONE),
                acknowledge_code(acknowledged.get(place, codes.NONE)),
                *NO_LEADER,
                found.deliveries.get(place),
            )
            async for place, is_listed in self._net.slices.of(zip(places, listed, strict=True))
            if is_listed
        ]


def _place(served: ServedPartition) -> _Place:
    return served.key.topic_id, served.key.partition


def _check(client: Client, asked: dict[str, Any]) -> int:
    code = check_member(client, asked["groupId"], asked["memberId"])
    if code == codes.NONE and asked.get("shareAcquireMode", 0) not in _ACQUIRE_MODES:
        # As Kafka, which fails over it.
        return codes.UNKNOWN_SERVER_ERROR
    if code == codes.NONE and asked.get("isRenewAck", False) and any(asked[limit] for limit in _LIMITS):
        return codes.INVALID_REQUEST
    return code


def _max_wait_ms(asked: dict[str, Any]) -> int:
    return min(max(int(asked["maxWaitMs"]), 0), MAX_WAIT_MS)


def _unavailable(served: ServedPartition) -> int:
    since = served.reader.failing_since
    return codes.UNKNOWN_SERVER_ERROR if since is not None and time.monotonic() - since > _UNAVAILABLE else codes.NONE


def _refused(version: int, correlation_id: int, code: int) -> bytes:
    return encode_share_fetch_answer(version, correlation_id, [], lock_timeout_ms=0, error_code=code)
