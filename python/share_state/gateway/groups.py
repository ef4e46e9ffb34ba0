"""Members and groups: heartbeats and deletion (RPC 76, 42).

The rules are those of ``ShareGroupStore``. Here is the order of its steps with those of the state store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from weakref import WeakValueDictionary

from share_state._core import ShareGroupStore, StateStore
from share_state.errors import ShareStateError
from share_state.gateway.access import Operation, Resource
from share_state.gateway.clock import lock_ms, wall_ms
from share_state.gateway.requests import Client, is_member_id
from share_state.gateway.share_partitions import SharePartitionManager
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.kafka import codes
from share_state.logs import named
from share_state.types import HeartbeatAnswer, SharePartitionKey

__all__ = ["Groups"]

_LOG: Final = logging.getLogger("share_state.gateway")
_LEAVE: Final = -1


class Groups:
    """Answers what is asked about groups.

    Args:
        groups: the groups and their log.
        store: the states of share partitions.
        executor: where calls run that wait for a disk.
        upstream: the cluster with the topics.
        manager: the share partitions in memory.
    """

    def __init__(
        self,
        groups: ShareGroupStore,
        store: StateStore,
        executor: ThreadPoolExecutor,
        upstream: Upstream,
        manager: SharePartitionManager,
    ) -> None:
        self.store = groups
        #: Whether the last decision that had to become durable did not.
        self.is_failing = False
        self._states = store
        self._executor = executor
        self._upstream = upstream
        self._manager = manager
        #: Only as long as somebody waits: groups come and go.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def turn(self, group: str) -> asyncio.Lock:
        """Return the lock of a group, for steps that span both stores.

        Two heartbeats at once would initialise the same states, the second over what has been acknowledged since; and a state
        that is initialised while its group is being deleted would be deleted with it.
        """
        lock = self._turns.get(group)
        if lock is None:
            lock = self._turns[group] = asyncio.Lock()
        return lock

    async def durable(self, ticket: int) -> None:
        """Wait until what was decided is on the disk.

        Raises:
            ShareStateError: it never will be.
        """
        if ticket and not self.store.is_durable(ticket):
            try:
                await asyncio.get_running_loop().run_in_executor(self._executor, self.store.wait, ticket)
            except ShareStateError:
                self.is_failing = True
                raise
            self.is_failing = False

    async def heartbeat(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ShareGroupHeartbeat (RPC 76)."""
        group, member, topics = asked["groupId"], asked["memberId"], asked["subscribedTopicNames"]
        if not client.may(Operation.READ, Resource.GROUP, group):
            return _refused(codes.GROUP_AUTHORIZATION_FAILED)
        if topics is not None and not all(client.may(Operation.DESCRIBE, Resource.TOPIC, name) for name in topics):
            return _refused(codes.TOPIC_AUTHORIZATION_FAILED)
        if not is_member_id(member):
            return _refused(codes.INVALID_REQUEST)
        if topics:
            await self._learn(topics)
        try:
            async with self.turn(group):
                answer = await self._heard(client, asked)
            await self.durable(answer.ticket)
        except ShareStateError as failed:
            _LOG.error("a heartbeat is not durable: %s: %s %s", failed, named(group=group, member=member), client)
            return _refused(codes.COORDINATOR_NOT_AVAILABLE)
        assignment = None
        if answer.assignment is not None:
            rows = [{"topicId": topic_id, "partitions": partitions} for topic_id, partitions in answer.assignment]
            assignment = {"topicPartitions": rows}
        return {
            "errorCode": answer.error_code,
            "errorMessage": answer.error_message,
            "memberId": member if answer.error_code == codes.NONE else None,
            "memberEpoch": answer.member_epoch,
            "heartbeatIntervalMs": answer.heartbeat_interval_ms,
            "assignment": assignment,
        }

    async def _heard(self, client: Client, asked: dict[str, Any]) -> HeartbeatAnswer:
        group, member, epoch, topics = asked["groupId"], asked["memberId"], asked["memberEpoch"], asked["subscribedTopicNames"]
        initialized: list[tuple[str, int]] = []
        if epoch != _LEAVE:
            wanted = self.store.to_initialize(group=group, member=member, member_epoch=epoch, topics=topics)
            if wanted:
                initialized = await self._initialize(group, wanted)
        answer = self.store.heartbeat(
            group=group,
            member=member,
            member_epoch=epoch,
            rack=asked["rackId"],
            topics=topics,
            client_id=client.client_id,
            # As Java writes an address without a name, and Kafka's tools show it.
            client_host=f"/{client.host}",
            now_ms=lock_ms(),
            wall_ms=wall_ms(),
            initialized=initialized,
        )
        self._arm()
        return answer

    async def delete(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DeleteGroups (RPC 42)."""
        rows = []
        for group in asked["groupsNames"]:
            code = codes.GROUP_AUTHORIZATION_FAILED
            if client.may(Operation.DELETE, Resource.GROUP, group):
                async with self.turn(group):
                    code = await self._delete(group)
            rows.append({"groupId": group, "errorCode": code, "errorMessage": None})
        return {"results": rows}

    async def delete_states(self, group: str, partitions: Sequence[tuple[str, int]]) -> int:
        """Delete states of share partitions; returns the first code that is none of success."""
        keys = [SharePartitionKey(group, topic_id, partition) for topic_id, partition in partitions]
        self._manager.drop_group(group, {topic_id for topic_id, _ in partitions})
        outcomes = await self._in_thread(lambda: self._states.delete_states(keys))
        failed = [outcome for outcome in outcomes if outcome is not None]
        return (failed[0].kafka_code or codes.UNKNOWN_SERVER_ERROR) if failed else codes.NONE

    async def initialize_states(self, requests: Sequence[tuple[SharePartitionKey, int, int]]) -> list[int]:
        """Initialise states, which replaces existing ones; returns a code for each."""
        outcomes = await self._in_thread(lambda: self._states.initialize_states(requests))
        return [codes.NONE if outcome is None else (outcome.kafka_code or codes.UNKNOWN_SERVER_ERROR) for outcome in outcomes]

    async def topics_deleted(self, topic_ids: list[str]) -> None:
        """Forget topics: groups, share partitions and their states."""
        for topic_id in topic_ids:
            self._manager.drop_topic(topic_id)
        ticket = self.store.topics_deleted(topic_ids, wall_ms=wall_ms())
        await self.durable(ticket)
        await self._in_thread(lambda: self._states.topics_deleted(topic_ids))

    def start(self) -> None:
        """Begin to count time: every member that was loaded has a whole session time-out."""
        self._arm()

    async def close(self) -> None:
        """Count time no more. Members are not removed: they come back."""
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _learn(self, topics: list[str]) -> None:
        """Ask upstream for topics that nobody has named before."""
        unknown = [name for name in topics if self._upstream.known_by_name(name) is None]
        if unknown:
            try:
                await self._upstream.topics(unknown)
            except UpstreamError as lost:
                _LOG.warning("topics %r are unknown, and upstream cannot be reached: %s", unknown, lost)

    async def _initialize(self, group: str, wanted: list[tuple[str, int, int, int]]) -> list[tuple[str, int]]:
        requests = [
            (SharePartitionKey(group, topic_id, partition), state_epoch, start_offset)
            for topic_id, partition, state_epoch, start_offset in wanted
        ]
        outcomes = await self.initialize_states(requests)
        refused = {code for code in outcomes if code != codes.NONE}
        if refused:
            _LOG.warning("share partitions were not initialised: codes=%s %s", sorted(refused), named(group=group))
        return [(key.topic_id, key.partition) for (key, _, _), code in zip(requests, outcomes, strict=True) if code == codes.NONE]

    async def _delete(self, group: str) -> int:
        code, partitions, ticket = self.store.begin_delete_group(group, wall_ms=wall_ms())
        if code != codes.NONE:
            return code
        try:
            await self.durable(ticket)
            code = await self.delete_states(group, partitions)
            if code == codes.NONE:
                await self.durable(self.store.finish_delete_group(group, wall_ms=wall_ms()))
        except ShareStateError as failed:
            _LOG.error("a group was not deleted: %s: %s", failed, named(group=group))
            return codes.COORDINATOR_NOT_AVAILABLE
        return code

    def _arm(self) -> None:
        deadline = self.store.poll_timeout()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if deadline is not None:
            delay = max(0, deadline - lock_ms()) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay, self._expire)

    def _expire(self) -> None:
        self._timer = None
        expired, ticket = self.store.handle_timeout(now_ms=lock_ms(), wall_ms=wall_ms())
        for group, member in expired:
            _LOG.info("no heartbeat in time: %s", named(group=group, member=member))
        if ticket:
            task = asyncio.get_running_loop().create_task(self.durable(ticket))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._arm()

    async def _in_thread(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def _refused(code: int) -> dict[str, Any]:
    return {
        "errorCode": code,
        "errorMessage": None,
        "memberId": None,
        "memberEpoch": 0,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }
