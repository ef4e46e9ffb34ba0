"""Offsets of share groups, and how far they lag (RPC 90 to 92); offsets of the log (RPC 2).

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
from share_state.gateway.groups import Groups
from share_state.gateway.requests import Client
from share_state.gateway.share_partitions import SharePartitionManager
from share_state.gateway.shown import ShownStates
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.offsets import LATEST, list_offsets
from share_state.gateway.upstream.topics import ZERO_ID, Topic
from share_state.kafka import codes
from share_state.logs import named
from share_state.types import SharePartitionKey

__all__ = ["Offsets"]

#: Kafka's text (``GroupCoordinatorService``).
_NOTHING_TO_DELETE: Final = "There is no offset information to delete."
_LOG: Final = logging.getLogger("share_state.gateway")


class Offsets:
    """Answers what is asked about offsets.

    Args:
        groups: the groups.
        store: the states of share partitions.
        executor: where calls run that wait for a disk.
        upstream: the cluster with the topics.
        manager: the share partitions in memory.
    """

    def __init__(
        self,
        groups: Groups,
        store: StateStore,
        executor: ThreadPoolExecutor,
        upstream: Upstream,
        manager: SharePartitionManager,
    ) -> None:
        self._groups = groups
        self._store = store
        self._executor = executor
        self._shown = ShownStates(store, executor, manager)
        self._upstream = upstream
        self._manager = manager

    async def describe(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DescribeShareGroupOffsets (RPC 90)."""
        return {"groups": [await self._describe(client, row["groupId"], row["topics"]) for row in asked["groups"]]}

    async def alter(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer AlterShareGroupOffsets (RPC 91)."""
        group = asked["groupId"]
        if not group:
            return _refused(codes.INVALID_GROUP_ID, text_of(codes.INVALID_GROUP_ID))
        if not client.may(Operation.READ, Resource.GROUP, group):
            return _refused(codes.GROUP_AUTHORIZATION_FAILED)
        topics = await self._topics(row["topicName"] for row in asked["topics"])
        errors: dict[tuple[str, int], int] = {}
        wanted: list[tuple[Topic, int, int]] = []
        for row in asked["topics"]:
            topic = topics.get(row["topicName"])
            for partition in row["partitions"]:
                index, offset = partition["partitionIndex"], partition["startOffset"]
                code = self._code(client, row["topicName"], topic, index)
                if code == codes.NONE and offset < 0:
                    code = codes.INVALID_REQUEST
                errors[row["topicName"], index] = code
                if code == codes.NONE and topic is not None:
                    wanted.append((topic, index, offset))
        try:
            async with self._groups.turn(group):
                code = await self._alter(group, wanted, errors)
        except ShareStateError as failed:
            _LOG.error("offsets were not altered: %s: %s", failed, named(group=group))
            code = codes.COORDINATOR_NOT_AVAILABLE
        if code != codes.NONE:
            return _refused(code, text_of(code))
        return {
            "errorCode": codes.NONE,
            "errorMessage": None,
            "responses": [
                {
                    "topicName": row["topicName"],
                    "topicId": topics[row["topicName"]].topic_id if row["topicName"] in topics else ZERO_ID,
                    "partitions": [
                        {
                            "partitionIndex": partition["partitionIndex"],
                            "errorCode": (code := errors[row["topicName"], partition["partitionIndex"]]),
                            "errorMessage": text_of(code),
                        }
                        for partition in row["partitions"]
                    ],
                }
                for row in asked["topics"]
            ],
        }

    async def delete(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DeleteShareGroupOffsets (RPC 92)."""
        group = asked["groupId"]
        if not group:
            return _refused(codes.INVALID_GROUP_ID, text_of(codes.INVALID_GROUP_ID))
        if not client.may(Operation.DELETE, Resource.GROUP, group):
            return _refused(codes.GROUP_AUTHORIZATION_FAILED)
        known = {name: topic_id for topic_id, name, _ in self._groups.store.share_partitions(group) or ()}
        topics = await self._topics(row["topicName"] for row in asked["topics"])
        ids: dict[str, str] = {}
        errors: dict[str, int] = {}
        for row in asked["topics"]:
            name = row["topicName"]
            if not client.may(Operation.READ, Resource.TOPIC, name):
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
            return _refused(code, f"Group {group} not found." if code == codes.GROUP_ID_NOT_FOUND else text_of(code))
        stateless = {name for name in topics if name not in ids and errors[name] == codes.UNKNOWN_TOPIC_OR_PARTITION}
        return {
            "errorCode": codes.NONE,
            "errorMessage": None,
            "responses": [
                {
                    "topicName": row["topicName"],
                    "topicId": ids.get(row["topicName"], ZERO_ID),
                    "errorCode": (code := errors.get(row["topicName"], codes.NONE)),
                    "errorMessage": _NOTHING_TO_DELETE if row["topicName"] in stateless else text_of(code),
                }
                for row in asked["topics"]
            ],
        }

    async def list_offsets(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ListOffsets (RPC 2) with what upstream says."""
        topics = await self._topics(row["name"] for row in asked["topics"])
        wanted = [
            (topics[row["name"]], partition["partitionIndex"], partition["timestamp"])
            for row in asked["topics"]
            if row["name"] in topics
            for partition in row["partitions"]
        ]
        found = await list_offsets(self._upstream, wanted, isolation=asked.get("isolationLevel", 0))
        answered = []
        for row in asked["topics"]:
            topic = topics.get(row["name"])
            partitions = []
            for partition in row["partitions"]:
                index = partition["partitionIndex"]
                code = self._code(client, row["name"], topic, index, Operation.DESCRIBE)
                offset = timestamp = -1
                if code == codes.NONE and topic is not None:
                    code, offset, timestamp, _ = found[topic.topic_id, index]
                partitions.append(
                    {"partitionIndex": index, "errorCode": code, "timestamp": timestamp, "offset": offset, "leaderEpoch": -1}
                )
            answered.append({"name": row["name"], "partitions": partitions})
        return {"topics": answered}

    async def lags(self, group: str, partitions: Iterable[tuple[Topic, int]]) -> dict[tuple[str, int], dict[str, Any]]:
        """Give start offset, leader epoch and lag of share partitions, as DescribeShareGroupOffsets shows them."""
        wanted = list(partitions)
        ends = await list_offsets(self._upstream, [(topic, index, LATEST) for topic, index in wanted])
        found = {}
        for topic, index in wanted:
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

    async def _describe(self, client: Client, group: str, topics: list[dict[str, Any]] | None) -> dict[str, Any]:
        row: dict[str, Any] = {"groupId": group, "topics": [], "errorCode": codes.NONE, "errorMessage": None}
        if not client.may(Operation.DESCRIBE, Resource.GROUP, group):
            return {**row, "errorCode": codes.GROUP_AUTHORIZATION_FAILED}
        # As Kafka: of a group that there is not, every partition is one without state.
        initialized = self._groups.store.share_partitions(group) or []
        there = {(name, partition): topic_id for topic_id, name, numbers in initialized for partition in numbers}
        if topics is None:
            asked = [(name, numbers) for _, name, numbers in initialized]
        else:
            asked = [(topic["topicName"], topic["partitions"]) for topic in topics]
        hidden = [(name, numbers) for name, numbers in asked if not client.may(Operation.DESCRIBE, Resource.TOPIC, name)]
        asked = [row for row in asked if row not in hidden]
        known = await self._topics(name for name, _ in asked)
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
            for name, numbers in asked
        ]
        if topics is not None:
            # Who names a topic is told that it is hidden; who names none does not hear of it.
            row["topics"] += [_hidden(name, numbers) for name, numbers in hidden]
        return row

    async def _alter(self, group: str, wanted: list[tuple[Topic, int, int]], errors: dict[tuple[str, int], int]) -> int:
        places = [(topic.topic_id, topic.name, index) for topic, index, _ in wanted]
        code, state_epoch, ticket = self._groups.store.begin_alter_offsets(group, places, wall_ms=wall_ms())
        if code != codes.NONE:
            return code
        await self._groups.durable(ticket)
        # What is in memory would write its own start offset over the new one.
        self._manager.drop_group(group, {topic.topic_id for topic, _, _ in wanted})
        keys = [SharePartitionKey(group, topic.topic_id, index) for topic, index, _ in wanted]
        # A state that was cut with its log has its own epoch, which may be above the group's.
        epochs = [max(state_epoch, self._state_epoch(key) + 1) for key in keys]
        requests = [(key, epoch, offset) for key, epoch, (_, _, offset) in zip(keys, epochs, wanted, strict=True)]
        outcomes = await self._groups.initialize_states(requests) if requests else []
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
        done = []
        for name, topic_id in list(ids.items()):
            numbers = partitions.get(topic_id)
            if numbers is None:
                errors[name] = codes.UNKNOWN_TOPIC_OR_PARTITION
                del ids[name]
                continue
            errors[name] = await self._groups.delete_states(group, [(topic_id, number) for number in numbers])
            if errors[name] == codes.NONE:
                done.append(topic_id)
        await self._groups.durable(self._groups.store.finish_delete_offsets(group, done, wall_ms=wall_ms()))
        return codes.NONE

    async def _topics(self, names: Iterable[str]) -> dict[str, Topic]:
        wanted = set(names)
        try:
            return await self._upstream.topics(wanted)
        except UpstreamError as lost:
            _LOG.warning("upstream cannot be reached for its topics: %s", lost)
            return {name: topic for name in wanted if (topic := self._upstream.known_by_name(name)) is not None}

    @staticmethod
    def _code(client: Client, name: str, topic: Topic | None, partition: int, operation: Operation = Operation.READ) -> int:
        if not client.may(operation, Resource.TOPIC, name):
            return codes.TOPIC_AUTHORIZATION_FAILED
        if topic is None or not 0 <= partition < len(topic.partitions):
            return codes.UNKNOWN_TOPIC_OR_PARTITION
        return codes.NONE


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


def _refused(code: int, message: str | None = None) -> dict[str, Any]:
    return {"errorCode": code, "errorMessage": message, "responses": []}
