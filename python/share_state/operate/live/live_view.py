"""The live view: follows the state topic, asks for what it does not hold, and puts both together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from share_state._core import StateTopicFollower
from share_state.analysis.anomaly import Anomaly
from share_state.analysis.states import records_behind
from share_state.kafka.client import parse_bootstrap
from share_state.kafka.errors import BadAnswerError, BrokerUnreachableError
from share_state.kafka.peers import LostError
from share_state.kafka.security import SecurityOptions
from share_state.live.asked import Asked, Group, Resource, Topic, UnansweredError
from share_state.live.cluster_view import ClusterView, ask_cluster
from share_state.live.group_limits import WINDOW_S, delivery_limit_of, thresholds
from share_state.live.health import Seen, health_of
from share_state.live.live_row import LiveRow
from share_state.live.problems import Problems
from share_state.live.rates import Key, RecentTotals
from share_state.live.rights import Missing, NotAllowedError
from share_state.live.state_topic import StatePartitionPlace, StateTopic
from share_state.live.view import GroupView, SharePartitionView, View
from share_state.types import SharePartitionKey, StateBatch

__all__ = ["LiveView"]

#: Seconds between two questions for configurations, which rarely change.
_CONFIGS_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class _Moment:
    """What a view is made of, beside what is asked."""

    now: float
    now_ms: int
    #: The members that are assigned each share partition.
    assigned: dict[Key, list[str]]
    lags: dict[Key, int]
    #: The delivery limit of each group.
    limits: dict[str, int]
    #: Kinds and numbers of anomalies.
    anomalies: dict[Key, tuple[tuple[str, int], ...]]


class LiveView:
    """Follows the share groups of a cluster. It joins no group and changes nothing.

    ::

        async with LiveView("localhost:9092") as live:
            view = await live.refresh()

    It lives on one event loop. Rights needed: READ and DESCRIBE on the topic ``__share_group_state``; DESCRIBE on the groups
    and topics to show, and DESCRIBE_CONFIGS on the groups. Where one is missing the rest is shown, and ``View.problems`` says so.

    Args:
        bootstrap: ``host:port[,host:port...]``, or an iterable of ``host:port``.
        security: how connections are secured.
        copy: a directory in which the state topic is kept as far as it was read, so that the next start reads only what is new.
        timeout: seconds to wait for an answer, and for the state topic to be read the first time.

    Raises:
        ConfigError: an argument cannot be used.
    """

    def __init__(
        self,
        bootstrap: str | Iterable[str],
        *,
        security: SecurityOptions | None = None,
        copy: Path | None = None,
        timeout: float = 10.0,
    ) -> None:
        self._asked = Asked(parse_bootstrap(bootstrap), security or SecurityOptions(), request_timeout=timeout)
        self._timeout = timeout
        self._follower = StateTopicFollower()
        self._follower.configure(thresholds({}))
        self._problems = Problems()
        self._state_topic = StateTopic(self._asked, self._follower, self._problems, copy)
        self._reading: asyncio.Task[None] | None = None
        self._rows: dict[Key, LiveRow] = {}
        #: By their ids.
        self._topics: dict[str, Topic] = {}
        self._groups: dict[str, Group] = {}
        self._configs: dict[str, dict[str, str]] = {}
        self._configs_at = -_CONFIGS_S
        self._ends: dict[tuple[str, int], int] = {}
        self._recent = RecentTotals()

    async def __aenter__(self) -> Self:
        """Begin to follow.

        Raises:
            BrokerUnreachableError: no broker answers.
            BrokerTooOldError: it is older than Kafka 4.2.
            KafkaPersisterError: one refuses, for instance the login.
        """
        try:
            await self._asked.topics((), set())
            await self._asked.need_share_groups()
        except LostError as lost:
            await self._asked.close()
            kind = BrokerUnreachableError if lost.retriable else BadAnswerError
            raise kind(str(lost), kafka_code=lost.code, node=lost.node) from lost
        except BaseException:
            await self._asked.close()
            raise
        # What is an anomaly depends on the limits of the group, so they are asked for before the state topic is read.
        await self._answered("groups", self._ask_groups)
        await self._answered("configurations of groups", self._ask_configs)
        # Groups without a coordinator are known once it is.
        self._configs_at = -_CONFIGS_S
        self._reading = asyncio.get_running_loop().create_task(self._state_topic.run())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop, and close every connection."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._asked.close()

    async def refresh(self) -> View:
        """Ask again for what is no part of the state topic, and return how everything stands.

        The first call waits until the state topic was read to its end, for the time-out at most.
        """
        await self._caught_up()
        rows, gone = self._follower.changes()
        for key in gone:
            self._rows.pop((key.group, key.topic_id, key.partition), None)
        self._rows.update((row[:3], row) for row in rows)
        await self._ask()
        # Of many share partitions that takes a while, in which the state topic is read on.
        return await asyncio.to_thread(self._view)

    async def anomalies(self) -> list[Anomaly]:
        """Return the anomalies that last and those that were over lately, ordered by group, topic id and partition.

        ``growing_lag`` and ``deleted_topic``, which the state topic does not tell, are not among them. Of each state partition
        the latest 1,000 that are over are known.
        """
        _, found = await asyncio.to_thread(self._follower.anomalies, _since(_now_ms()))
        return found

    async def cluster(self) -> ClusterView:
        """Ask how the cluster keeps the state of its share groups; needs DESCRIBE_CONFIGS on the cluster and the state topic.

        What cannot be seen is empty, and among the problems of the next view.
        """
        found = ClusterView()

        async def ask(missing: Missing) -> None:
            nonlocal found
            found = await ask_cluster(self._asked, missing, self.places())

        await self._answered("configurations of the cluster", ask)
        return found

    def state_batches(self, group: str, topic_id: str, partition: int) -> list[StateBatch] | None:
        """Return what is known of the records of a share partition, sorted and coalesced; None where there is no state."""
        return self._follower.state_batches(SharePartitionKey(group, topic_id, partition))

    def places(self) -> dict[int, StatePartitionPlace]:
        """Return how far each partition of the state topic was read, and what of it a coordinator needs."""
        return self._state_topic.places()

    async def _caught_up(self) -> None:
        reading = self._reading
        if reading is None:
            raise RuntimeError("the view is not open: use `async with`")
        waiting = asyncio.get_running_loop().create_task(self._state_topic.caught_up.wait())
        try:
            await asyncio.wait({reading, waiting}, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if reading.done():
            reading.result()

    async def _ask(self) -> None:
        await self._answered("groups", self._ask_groups)
        await self._answered("topics", self._ask_topics)
        if time.monotonic() - self._configs_at >= _CONFIGS_S:
            await self._answered("configurations of groups", self._ask_configs)
        await self._answered("log end offsets", self._ask_ends)

    async def _answered(self, source: str, question: Callable[[Missing], Awaitable[None]]) -> None:
        missing: Missing = set()
        try:
            await question(missing)
        except UnansweredError as error:
            self._problems.note(source, error)
        except NotAllowedError as error:
            self._problems.answered(source, {error.right})
        else:
            self._problems.answered(source, missing)

    async def _ask_topics(self, missing: Missing) -> None:
        self._topics = await self._asked.topics((topic_id for _, topic_id, _ in self._places()), missing)

    async def _ask_groups(self, missing: Missing) -> None:
        names = {*await self._asked.share_groups(), *(group for group, _, _ in self._rows)}
        self._groups = await self._asked.described(names, missing)

    async def _ask_configs(self, missing: Missing) -> None:
        configs = await self._asked.configs(Resource.GROUP, self._names(), missing)
        if configs != self._configs:
            self._configs = configs
            self._follower.configure(thresholds(configs))
        if not missing:
            self._configs_at = time.monotonic()

    async def _ask_ends(self, missing: Missing) -> None:
        places = {(topic_id, partition) for _, topic_id, partition in self._places()}
        wanted = [(self._topics[topic_id], partition) for topic_id, partition in places if topic_id in self._topics]
        self._ends = await self._asked.offsets(wanted, missing)

    def _places(self) -> set[Key]:
        """Return the share partitions that have a state or are assigned."""
        return self._rows.keys() | self._assigned().keys()

    def _names(self) -> set[str]:
        return {*self._groups, *(group for group, _, _ in self._rows)}

    def _view(self) -> View:
        lags = {
            key: lag
            for key, row in self._rows.items()
            if (lag := records_behind(self._ends.get(key[1:]), row.start_offset, row.delivery_complete_count)) is not None
        }
        now_ms = _now_ms()
        _, counts = self._follower.anomaly_counts(_since(now_ms))
        moment = _Moment(
            now=time.monotonic(),
            now_ms=now_ms,
            assigned=self._assigned(),
            limits={name: delivery_limit_of(self._configs.get(name, {})) for name in self._names()},
            lags=lags,
            anomalies={(key.group, key.topic_id, key.partition): tuple(of_key.items()) for key, of_key in counts},
        )
        of_group: dict[str, list[SharePartitionView]] = {name: [] for name in self._names()}
        for key in self._places():
            of_group[key[0]].append(self._share_partition(key, moment))
        self._recent.note(moment.now, self._rows, lags)
        groups = tuple(self._group(name, of_group[name]) for name in sorted(of_group))
        problems = self._problems
        return View(
            at_ms=moment.now_ms,
            groups=groups,
            behind=self._state_topic.behind,
            problems=problems.texts(),
            failures_total=problems.total,
            missing_rights=problems.rights(),
            topics_known=not problems.concerns("topics"),
        )

    def _assigned(self) -> dict[Key, list[str]]:
        assigned: dict[Key, list[str]] = {}
        for group in self._groups.values():
            for member in group.members:
                for topic_id, partition in member.assignment:
                    assigned.setdefault((group.group, topic_id, partition), []).append(member.member_id)
        return assigned

    def _group(self, name: str, found: list[SharePartitionView]) -> GroupView:
        group = self._groups.get(name)
        found.sort(key=lambda one: (one.topic or "", one.topic_id, one.partition))
        return GroupView(
            group=name,
            state=None if group is None else group.state,
            members=None if group is None else group.members,
            configs=self._configs.get(name, {}),
            share_partitions=tuple(found),
        )

    def _share_partition(self, key: Key, moment: _Moment) -> SharePartitionView:
        name, topic_id, partition = key
        row, group, lag = self._rows.get(key), self._groups.get(name), moment.lags.get(key)
        limit = moment.limits[name]
        rates = None if row is None else self._recent.rates(moment.now, key, row, lag, limit=limit)
        has_members = None if group is None else bool(group.members)
        return SharePartitionView(
            group=name,
            topic_id=topic_id,
            partition=partition,
            topic=self._topics[topic_id].name if topic_id in self._topics else None,
            row=row,
            log_end_offset=self._ends.get((topic_id, partition)),
            lag=lag,
            members=tuple(sorted(moment.assigned.get(key, ()))),
            rates=rates,
            verdict=health_of(Seen(row, lag, has_members, limit, rates, moment.now_ms)),
            anomalies=moment.anomalies.get(key, ()),
        )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _since(now_ms: int) -> int:
    return now_ms - int(WINDOW_S * 1000)
