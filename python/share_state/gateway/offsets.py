"""Offsets of share groups, and how far they lag (RPC 90 to 92).

Lag is end offset - start offset - delivery complete count (KIP-1226), of what the share partition shows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from share_state._core import StateStore
from share_state.errors import ShareStateError, StoreError
from share_state.gateway.access import Operation, Resource
from share_state.gateway.answers import text_of
from share_state.gateway.clock import wall_ms
from share_state.gateway.data_plane import DataPlane
from share_state.gateway.groups import Groups, not_share_group
from share_state.gateway.net import Net
from share_state.gateway.refusals import refused_offsets
from share_state.gateway.requests import Client
from share_state.gateway.shown import ShownStates
from share_state.gateway.topic_names import partition_code, topics_named
from share_state.gateway.upstream.cluster import Upstream
from share_state.gateway.upstream.offsets import list_offsets
from share_state.gateway.upstream.topics import Topic
from share_state.kafka import codes
from share_state.kafka.client.metadata import ZERO_ID
from share_state.kafka.client.offsets import LATEST
from share_state.logs import named
from share_state.types import SharePartitionKey

__all__ = ["Offsets"]

#: Kafka's text (``GroupCoordinatorService``).
_NOTHING_TO_DELETE: Final = "There is no offset information to delete."
_DESCRIBE_SHARE_GROUP_OFFSETS: Final = 90
#: A start offset that stands for the group's ``share.auto.offset.reset``.
_BY_CONFIGURATION: Final = -1
_LOG: Final = logging.getLogger("share_state.gateway")


class Offsets:
    """Answers what is asked about offsets.

    Args:
        groups: the groups.
        store: the states of share partitions.
        executor: where calls run that wait for a disk.
        upstream: the cluster with the topics.
        plane: the share partitions in memory.
        generation: their leader epoch.
        net: catches what a group raises.
    """

    def __init__(
        self,
        groups: Groups,
        store: StateStore,
        executor: ThreadPoolExecutor,
        upstream: Upstream,
        plane: DataPlane,
        *,
        generation: int,
        net: Net,
    ) -> None:
        self._groups = groups
        self._store = store
        self._executor = executor
        self._shown = ShownStates(store, executor, plane, generation)
        self._upstream = upstream
        self._plane = plane
        self._net = net

    async def describe(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DescribeShareGroupOffsets (RPC 90)."""
        # Each group, topic and partition is answered once. Null topics are all that have state.
        groups: dict[str, dict[str, dict[int, None]]] = {}
        with_all = set[str]()
        async for row in self._net.slices.of(asked["groups"]):
            topics = groups.setdefault(row["groupId"], {})
            if row["topics"] is None:
                with_all.add(row["groupId"])
            for topic in row["topics"] or ():
                topics.setdefault(topic["topicName"], {}).update(dict.fromkeys(topic["partitions"]))

        async def described(group: str) -> dict[str, Any]:
            return await self._describe(client, group, groups[group], with_all=group in with_all)

        def refuse(group: str, code: int) -> dict[str, Any]:
            return {"groupId": group, "topics": [], "errorCode": code, "errorMessage": text_of(code)}

        return {"groups": await self._net.rows(client, _DESCRIBE_SHARE_GROUP_OFFSETS, groups, described, refuse)}

    async def alter(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer AlterShareGroupOffsets (RPC 91)."""
        group = asked["groupId"]
        if not group:
            return refused_offsets(codes.INVALID_GROUP_ID, text_of(codes.INVALID_GROUP_ID))
        if not client.may(Operation.READ, Resource.GROUP, group):
            return refused_offsets(codes.GROUP_AUTHORIZATION_FAILED)
        offsets = await self._by_topic(asked["topics"])
        topics = await topics_named(self._upstream, (name for name in offsets if _may_read(client, name)))
        errors: dict[tuple[str, int], int] = {}
        wanted: list[tuple[Topic, int, int]] = []
        async for name, partitions in self._net.slices.of(offsets.items()):
            topic = topics.get(name)
            # Of a partition that is named several times the last offset holds, as in Kafka.
            for index, offset in dict(partitions).items():
                code = partition_code(client, name, topic, index, Operation.READ)
                if code == codes.NONE and offset < _BY_CONFIGURATION:
                    code = codes.INVALID_REQUEST
                errors[name, index] = code
                if code == codes.NONE and topic is not None:
                    wanted.append((topic, index, offset))
        try:
            async with self._groups.turn(group):
                if await self._groups.is_other_kind(group):
                    return refused_offsets(codes.GROUP_ID_NOT_FOUND, not_share_group(group))
                code = await self._alter(group, wanted, errors)
        except ShareStateError as failed:
            _LOG.error("offsets were not altered: %s: %s", failed, named(group=group))
            code = codes.COORDINATOR_NOT_AVAILABLE
        if code != codes.NONE:
            return refused_offsets(code, text_of(code))
        return {
            "errorCode": codes.NONE,
            "errorMessage": None,
            "responses": [
                {
                    "topicName": name,
                    "topicId": topics[name].topic_id if name in topics else ZERO_ID,
                    "partitions": [
                        {"partitionIndex": index, "errorCode": (code := errors[name, index]), "errorMessage": text_of(code)}
                        for index, _ in partitions
                    ],
                }
                async for name, partitions in self._net.slices.of(offsets.items())
            ],
        }

    async def _by_topic(self, topics: list[dict[str, Any]]) -> dict[str, list[tuple[int, int]]]:
        """Return the partitions and offsets of a request by topic: as Kafka, a topic that is named several times has one row."""
        offsets: dict[str, list[tuple[int, int]]] = {}
        async for topic in self._net.slices.of(topics):
            rows = offsets.setdefault(topic["topicName"], [])
            rows.extend((one["partitionIndex"], one["startOffset"]) for one in topic["partitions"])
        return offsets

    async def delete(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DeleteShareGroupOffsets (RPC 92)."""
        group = asked["groupId"]
        if not group:
            return refused_offsets(codes.INVALID_GROUP_ID, text_of(codes.INVALID_GROUP_ID))
        if not client.may(Operation.DELETE, Resource.GROUP, group):
            return refused_offsets(codes.GROUP_AUTHORIZATION_FAILED)
        known = {name: topic_id for topic_id, name, _ in self._groups.store.share_partitions(group) or ()}
        # A topic is answered once.
        names = dict.fromkeys(row["topicName"] for row in asked["topics"])
        topics = await topics_named(self._upstream, (name for name in names if _may_read(client, name)))
        ids: dict[str, str] = {}
        errors: dict[str, int] = {}
        async for name in self._net.slices.of(names):
            if not _may_read(client, name):
                errors[name] = codes.TOPIC_AUTHORIZATION_FAILED
            elif name in known:
                ids[name] = known[name]
            elif name in topics:
                # Its deletion may have begun before.
                ids[name] = topics[name].topic_id
            else:
                errors[name] = codes.UNKNOWN_TOPIC_OR_PARTITION
        try:
            async with self._groups.turn(group):
                code = await self._delete(group, ids, errors)
        except ShareStateError as failed:
            _LOG.error("offsets were not deleted: %s: %s", failed, named(group=group))
            code = codes.COORDINATOR_NOT_AVAILABLE
        if code != codes.NONE:
            if code != codes.GROUP_ID_NOT_FOUND:
                return refused_offsets(code, text_of(code))
            is_other = await self._groups.is_other_kind(group)
            return refused_offsets(code, not_share_group(group) if is_other else f"Group {group} not found.")
        stateless = {name for name in topics if name not in ids and errors[name] == codes.UNKNOWN_TOPIC_OR_PARTITION}
        return {
            "errorCode": codes.NONE,
            "errorMessage": None,
            "responses": [
                {
                    "topicName": name,
                    "topicId": ids.get(name, ZERO_ID),
                    "errorCode": (code := errors.get(name, codes.NONE)),
                    "errorMessage": _NOTHING_TO_DELETE if name in stateless else text_of(code),
                }
                async for name in self._net.slices.of(names)
            ],
        }

    async def lags(self, group: str, partitions: Iterable[tuple[Topic, int]]) -> dict[tuple[str, int], dict[str, Any]]:
        """Give start offset, leader epoch and lag of share partitions, as DescribeShareGroupOffsets shows them."""
        wanted = list(partitions)
        ends = await list_offsets(self._upstream, [(topic, index, LATEST) for topic, index in wanted])
        found = {}
        async for topic, index in self._net.slices.of(wanted):
            end = ends[topic.topic_id, index]
            try:
                start, complete, leader_epoch = await self._shown.of(SharePartitionKey(group, topic.topic_id, index))
                code = end.error_code if start >= 0 else codes.NONE
            except StoreError:
                start, complete, leader_epoch, code = -1, -1, 0, codes.COORDINATOR_NOT_AVAILABLE
            is_known = start >= 0 and complete >= 0 and end.error_code == codes.NONE
            found[topic.topic_id, index] = {
                "partitionIndex": index,
                "startOffset": start,
                "leaderEpoch": leader_epoch,
                "lag": end.offset - start - complete if is_known else -1,
                "errorCode": code,
                "errorMessage": None,
            }
        return found

    def _state_epoch(self, key: SharePartitionKey) -> int:
        try:
            return self._store.read_summary(key).state_epoch
        except ShareStateError:
            return -1

    async def _describe(
        self, client: Client, group: str, topics: dict[str, dict[int, None]], *, with_all: bool
    ) -> dict[str, Any]:
        row: dict[str, Any] = {"groupId": group, "topics": [], "errorCode": codes.NONE, "errorMessage": None}
        if not client.may(Operation.DESCRIBE, Resource.GROUP, group):
            return {**row, "errorCode": codes.GROUP_AUTHORIZATION_FAILED}
        # As Kafka: of a group that there is not, every partition is one without state.
        initialized = self._groups.store.share_partitions(group) or []
        there = {(name, partition): topic_id for topic_id, name, numbers in initialized for partition in numbers}
        # Who names a topic is told that it is hidden; who names none does not hear of it.
        hidden = [(name, numbers) async for name, numbers in self._net.slices.of(topics.items()) if not client.sees(name)]
        if with_all:
            topics = {**topics, **{name: dict.fromkeys(numbers) | topics.get(name, {}) for _, name, numbers in initialized}}
        asked = [(name, numbers) async for name, numbers in self._net.slices.of(topics.items()) if client.sees(name)]
        known = await topics_named(self._upstream, (name for name, _ in asked))
        lags = await self.lags(
            group,
            [(known[name], number) for name, numbers in asked if name in known for number in numbers if (name, number) in there],
        )
        row["topics"] = [
            {
                "topicName": name,
                "topicId": known[name].topic_id if name in known else ZERO_ID,
                "partitions": [
                    lags.get((known[name].topic_id if name in known else ZERO_ID, number)) or _nothing(number)
                    for number in numbers
                ],
            }
            async for name, numbers in self._net.slices.of(asked)
        ]
        row["topics"] += [_hidden(name, numbers) for name, numbers in hidden]
        return row

    async def _alter(self, group: str, wanted: list[tuple[Topic, int, int]], errors: dict[tuple[str, int], int]) -> int:
        places = [(topic.topic_id, topic.name, index) for topic, index, _ in wanted]
        code, state_epoch, ticket = self._groups.store.begin_alter_offsets(group, places, wall_ms=wall_ms())
        if code != codes.NONE:
            return code
        await self._groups.durable(ticket)
        # What is in memory would write its own start offset over the new one.
        self._plane.states_changed({(group, topic.topic_id) for topic, _, _ in wanted})
        keys = [SharePartitionKey(group, topic.topic_id, index) for topic, index, _ in wanted]
        # A state that was cut with its log has its own epoch, which may be above the group's.
        epochs = [max(state_epoch, self._state_epoch(key) + 1) async for key in self._net.slices.of(keys)]
        requests = [(key, epoch, offset) for key, epoch, (_, _, offset) in zip(keys, epochs, wanted, strict=True)]
        outcomes = await self._groups.reset_states(requests) if requests else []
        done = []
        for place, (topic, index, _), outcome in zip(places, wanted, outcomes, strict=True):
            errors[topic.name, index] = outcome
            if outcome == codes.NONE:
                done.append(place)
        await self._groups.durable(self._groups.store.finish_alter_offsets(group, done, wall_ms=wall_ms()))
        return codes.NONE

    async def _delete(self, group: str, ids: dict[str, str], errors: dict[str, int]) -> int:
        code, partitions, ticket = self._groups.store.begin_delete_offsets(group, list(ids.values()), wall_ms=wall_ms())
        if code != codes.NONE:
            return code
        await self._groups.durable(ticket)
        for name in [name for name, topic_id in ids.items() if partitions.get(topic_id) is None]:
            errors[name] = codes.UNKNOWN_TOPIC_OR_PARTITION
            del ids[name]
        keys = [SharePartitionKey(group, topic_id, number) for topic_id in ids.values() for number in partitions[topic_id] or ()]
        failed = await self._groups.delete_states(keys)
        for name, topic_id in ids.items():
            errors[name] = failed.get((group, topic_id), codes.NONE)
        done = [topic_id for name, topic_id in ids.items() if errors[name] == codes.NONE]
        await self._groups.durable(self._groups.store.finish_delete_offsets(group, done, wall_ms=wall_ms()))
        return codes.NONE


def _may_read(client: Client, topic: str) -> bool:
    return client.may(Operation.READ, Resource.TOPIC, topic)


def _hidden(name: str, partitions: Iterable[int]) -> dict[str, Any]:
    code, message = codes.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed."
    rows = [{**_nothing(number), "errorCode": code, "errorMessage": message} for number in partitions]
    return {"topicName": name, "topicId": ZERO_ID, "partitions": rows}


def _nothing(partition: int) -> dict[str, Any]:
    return {
        "partitionIndex": partition,
        "startOffset": -1,
        "leaderEpoch": 0,
        "lag": -1,
        "errorCode": codes.NONE,
        "errorMessage": None,
    }
