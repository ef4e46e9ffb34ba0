"""Members and groups: heartbeats and deletion (RPC 76, 42).

The rules are those of ``ShareGroupStore``. Here is the order of its steps with those of the state store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Final
from weakref import WeakValueDictionary

from share_state._core import ShareGroupStore, StateStore
from share_state.errors import ShareStateError
from share_state.gateway.access import Operation, Resource
from share_state.gateway.clock import lock_ms, wall_ms
from share_state.gateway.data_plane import DataPlane
from share_state.gateway.net import Net
from share_state.gateway.ordinary_groups import OrdinaryGroups
from share_state.gateway.refusals import refused_heartbeat
from share_state.gateway.requests import Client, is_member_id
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.kafka import codes
from share_state.logs import named
from share_state.types import HeartbeatAnswer, SharePartitionKey

__all__ = ["Groups", "not_share_group"]

_LOG: Final = logging.getLogger("share_state.gateway")
_JOIN: Final = 0
_UNKNOWN: Final = frozenset({codes.UNKNOWN_MEMBER_ID, codes.GROUP_ID_NOT_FOUND})
_LEAVE: Final = -1
_DELETE_GROUPS: Final = 42
#: Topics that one line of the log names.
_NAMED: Final = 10


class Groups:
    """Answers what is asked about groups.

    Args:
        groups: the groups and their log.
        store: the states of share partitions.
        executor: where calls run that wait for a disk.
        upstream: the cluster with the topics.
        plane: the share partitions in memory.
        net: catches what a group raises.
        ordinary: groups of other kinds, where clients reach them through the gateway.
    """

    def __init__(
        self,
        groups: ShareGroupStore,
        store: StateStore,
        executor: ThreadPoolExecutor,
        upstream: Upstream,
        plane: DataPlane,
        *,
        net: Net,
        ordinary: OrdinaryGroups | None = None,
    ) -> None:
        self.store = groups
        #: Whether the last decision that had to become durable did not.
        self.is_failing = False
        self._states = store
        self._executor = executor
        self._upstream = upstream
        self._plane = plane
        self._net = net
        self._ordinary = ordinary
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
            return refused_heartbeat(codes.GROUP_AUTHORIZATION_FAILED)
        if topics is not None and (said := sum(map(len, topics)) + len(topics)) > self._net.limits.subscription:
            text = f"the subscribed topics have {said} characters, expected at most {self._net.limits.subscription}"
            return refused_heartbeat(codes.INVALID_REQUEST, text)
        if topics is not None and not all(client.sees(name) for name in topics):
            return refused_heartbeat(codes.TOPIC_AUTHORIZATION_FAILED)
        if not is_member_id(member):
            return refused_heartbeat(codes.INVALID_REQUEST)
        if topics:
            await self._learn(topics)
        try:
            async with self.turn(group):
                answer = await self._heard(client, asked)
            await self.durable(answer.ticket)
        except ShareStateError as failed:
            _LOG.error("a heartbeat is not durable: %s: %s %s", failed, named(group=group, member=member), client)
            return refused_heartbeat(codes.COORDINATOR_NOT_AVAILABLE)
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

    async def is_other_kind(self, group: str) -> bool:
        """Say whether a name is that of an ordinary group.

        Raises:
            CoordinatorUnavailableError: upstream does not say.
        """
        return self._ordinary is not None and self.store.describe(group) is None and await self._ordinary.holds(group)

    async def _heard(self, client: Client, asked: dict[str, Any]) -> HeartbeatAnswer:
        group, member, epoch, topics = asked["groupId"], asked["memberId"], asked["memberEpoch"], asked["subscribedTopicNames"]
        initialized: list[tuple[str, int]] = []
        other_kind = HeartbeatAnswer(codes.GROUP_ID_NOT_FOUND, not_share_group(group), 0, 0, None, 0)
        if epoch == _JOIN and await self.is_other_kind(group):
            return other_kind
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
        if answer.error_code in _UNKNOWN and await self.is_other_kind(group):
            return other_kind
        return answer

    async def delete(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DeleteGroups (RPC 42), with one write for each step, however many groups there are."""

        def row(group: str, code: int) -> dict[str, Any]:
            return {"groupId": group, "errorCode": code, "errorMessage": None}

        async def begin(group: str) -> dict[str, Any]:
            if group not in allowed:
                return row(group, codes.GROUP_AUTHORIZATION_FAILED)
            code, partitions, ticket = self.store.begin_delete_group(group, wall_ms=wall_ms())
            if code == codes.NONE:
                begun[group], tickets[group] = partitions, ticket
            return row(group, code)

        # As Kafka: a group is answered once.
        groups = dict.fromkeys(asked["groupsNames"])
        allowed = {group async for group in self._net.slices.of(groups) if client.may(Operation.DELETE, Resource.GROUP, group)}
        begun: dict[str, list[tuple[str, int]]] = {}
        tickets: dict[str, int] = {}
        async with self._all_turns(allowed):
            rows = await self._net.rows(client, _DELETE_GROUPS, groups, begin, row)
            told = await self._delete(begun, max(tickets.values(), default=0))
        if self._ordinary is not None:
            others = [one["groupId"] for one in rows if one["errorCode"] == codes.GROUP_ID_NOT_FOUND]
            told |= await self._ordinary.delete(others)
        return {"results": [row(one["groupId"], told.get(one["groupId"], one["errorCode"])) for one in rows]}

    async def delete_states(self, keys: Sequence[SharePartitionKey]) -> dict[tuple[str, str], int]:
        """Delete states of share partitions, with one write; returns the first code of each group and topic that failed."""
        if not keys:
            return {}
        self._plane.states_changed({(key.group, key.topic_id) for key in keys})
        outcomes = await self._in_thread(lambda: self._states.delete_states(keys))
        failed: dict[tuple[str, str], int] = {}
        for key, outcome in zip(keys, outcomes, strict=False):
            if outcome is not None:
                failed.setdefault((key.group, key.topic_id), outcome.kafka_code or codes.UNKNOWN_SERVER_ERROR)
        return failed

    async def reset_states(self, requests: Sequence[tuple[SharePartitionKey, int, int]]) -> list[int]:
        """Initialise states, which replaces existing ones; returns a code for each."""
        outcomes = await self._in_thread(lambda: self._states.reset_states(requests))
        return [codes.NONE if outcome is None else (outcome.kafka_code or codes.UNKNOWN_SERVER_ERROR) for outcome in outcomes]

    async def topics_deleted(self, topic_ids: list[str]) -> None:
        """Forget topics: groups, share partitions and their states."""
        for topic_id in topic_ids:
            self._plane.topic_deleted(topic_id)
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
                _LOG.warning("topics %r are unknown, and upstream cannot be reached: %s", unknown[:_NAMED], lost)

    async def _initialize(self, group: str, wanted: list[tuple[str, int, int, int]]) -> list[tuple[str, int]]:
        requests = [
            (SharePartitionKey(group, topic_id, partition), state_epoch, start_offset)
            for topic_id, partition, state_epoch, start_offset in wanted
        ]
        outcomes = await self.reset_states(requests)
        refused = {code for code in outcomes if code != codes.NONE}
        if refused:
            _LOG.warning("share partitions were not initialised: codes=%s %s", sorted(refused), named(group=group))
        return [(key.topic_id, key.partition) for (key, _, _), code in zip(requests, outcomes, strict=True) if code == codes.NONE]

    @asynccontextmanager
    async def _all_turns(self, groups: Iterable[str]) -> AsyncIterator[None]:
        """Have the turns of several groups, taken in one order: two requests never wait for each other."""
        held: list[asyncio.Lock] = []
        try:
            async for group in self._net.slices.of(sorted(groups)):
                lock = self.turn(group)
                await lock.acquire()
                held.append(lock)
            yield
        finally:
            for lock in held:
                lock.release()

    async def _delete(self, begun: dict[str, list[tuple[str, int]]], ticket: int) -> dict[str, int]:
        """Delete the states of groups whose deletion has begun, then the groups; returns a code for each that is left."""
        if not begun:
            return {}
        try:
            await self.durable(ticket)
            places = ((group, *place) for group, partitions in begun.items() for place in partitions)
            failed = await self.delete_states([SharePartitionKey(*place) async for place in self._net.slices.of(places)])
            left: dict[str, int] = {}
            for (group, _), code in failed.items():
                left.setdefault(group, code)
            done = (group for group in begun if group not in left)
            tickets = [self.store.finish_delete_group(group, wall_ms=wall_ms()) async for group in self._net.slices.of(done)]
            await self.durable(max(tickets, default=0))
        except ShareStateError as lost:
            _LOG.error("groups were not deleted: %s: %s", lost, named(group=min(begun), groups=len(begun)))
            return dict.fromkeys(begun, codes.COORDINATOR_NOT_AVAILABLE)
        return left

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


def not_share_group(group: str) -> str:
    """Return Kafka's text for a group of another kind."""
    return f"Group {group} is not a share group."
