"""The live view: follows the state topic, asks for what it does not hold, and puts both together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from share_state._core import StateTopicFollower
from share_state.kafka.client.client import UnansweredError
from share_state.kafka.client.configs import Resource
from share_state.kafka.client.peers import LostError, parse_bootstrap
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.errors import BadAnswerError, BrokerUnreachableError
from share_state.operate.analysis.anomaly import Anomaly
from share_state.operate.analysis.start_offset_reason import head_offset
from share_state.operate.live.asked import Asked
from share_state.operate.live.blame import BLAMING
from share_state.operate.live.cluster_view import ClusterView, ask_cluster
from share_state.operate.live.group_limits import WINDOW_S, thresholds
from share_state.operate.live.heads import Heads, Question
from share_state.operate.live.known import Known
from share_state.operate.live.problems import Problems
from share_state.operate.live.rates import RecentTotals
from share_state.operate.live.rights import Missing, NotAllowedError
from share_state.operate.live.state_topic import StatePartitionPlace, StateTopic
from share_state.operate.live.view import View
from share_state.types import SharePartitionKey, StateBatch

__all__ = ["LiveView"]

#: Seconds between two questions for configurations, which rarely change.
_CONFIGS_S: Final = 30.0


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
        self._heads = Heads(self._asked)
        self._known = Known()
        self._configs_at = -_CONFIGS_S
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
        await self._heads.close()
        await self._asked.close()

    async def refresh(self) -> View:
        """Ask again for what is no part of the state topic, and return how everything stands.

        The first call waits until the state topic was read to its end, for the time-out at most.
        """
        await self._caught_up()
        rows, gone = self._follower.changes()
        for key in gone:
            self._known.rows.pop((key.group, key.topic_id, key.partition), None)
        self._known.rows.update((row[:3], row) for row in rows)
        await self._ask()
        # Of many share partitions that takes a while, in which the state topic is read on.
        return await asyncio.to_thread(self._view)

    async def anomalies(self) -> list[Anomaly]:
        """Return the anomalies that last and those that were over lately, ordered by group, topic id and partition.

        ``growing_lag`` and ``deleted_topic``, which the state topic does not tell, are not among them. Of each state partition
        the latest 1,000 that are over are known.
        """
        _, found = await asyncio.to_thread(self._follower.anomalies, _since(_now_ms()))
        return [one for one in found if not self._known.refutes((one.group, one.topic_id, one.partition), one.kind)]

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
        await self._ask_logs()

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
        self._known.topics = await self._asked.topics((topic_id for _, topic_id, _ in self._known.places()), missing)

    async def _ask_groups(self, missing: Missing) -> None:
        names = {*await self._asked.share_groups(), *(group for group, _, _ in self._known.rows)}
        self._known.groups = await self._asked.described(names, missing)

    async def _ask_configs(self, missing: Missing) -> None:
        configs = await self._asked.configs(Resource.GROUP, self._known.names(), missing)
        if configs != self._known.configs:
            self._known.configs = configs
            self._follower.configure(thresholds(configs))
        if not missing:
            self._configs_at = time.monotonic()

    async def _ask_ends(self, missing: Missing) -> None:
        known = self._known
        places = {key[1:] for key in known.places() if key[1] in known.topics}
        known.ends = await self._asked.offsets(((known.topics[topic_id], number) for topic_id, number in places), missing)
        committed = {key[1:] for key in known.places() if key[1:] in known.ends and known.committed(key[0])}
        wanted = ((known.topics[topic_id], number) for topic_id, number in committed)
        known.stable_ends = await self._asked.offsets(wanted, missing, isolation=1)

    async def _ask_logs(self) -> None:
        """Read in the logs of topics what the state topic cannot tell; what may not be read stays unknown."""
        known = self._known
        open_ones = {
            place: (known.topics[place[0]], stable, known.ends[place])
            for place, stable in known.stable_ends.items()
            if stable < known.ends.get(place, 0)
        }
        known.transactions = await self._heads.transactions(open_ones)
        known.heads = await self._heads.look(
            {
                key: Question(
                    topic=known.topics[key[1]],
                    partition=key[2],
                    start=head_offset(row.start_offset, batches),
                    end=reads_to,
                    isolation=int(known.committed(key[0])),
                    settled=batches,
                    basis=(row.state_epoch, row.start_offset, row.newest_delivery, known.committed(key[0])),
                )
                for key, row, reads_to in known.questionable(_now_ms())
                for batches in (self.state_batches(*key) or (),)
            }
        )

    def _view(self) -> View:
        now_ms = _now_ms()
        _, counted = self._follower.anomaly_counts(_since(now_ms))
        counts = {(key.group, key.topic_id, key.partition): of_key for key, of_key in counted}
        # All of them may be many: they are looked at where some may blame locks.
        blaming = any(not BLAMING.isdisjoint(of_key) for of_key in counts.values())
        found = self._follower.anomalies(_since(now_ms))[1] if blaming else ()
        problems = self._problems
        return View(
            at_ms=now_ms,
            groups=self._known.group_views(time.monotonic(), now_ms, self._recent, counts, found),
            behind=self._state_topic.behind,
            problems=problems.texts(),
            failures_total=problems.total,
            missing_rights=problems.rights(),
            topics_known=not problems.concerns("topics"),
        )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _since(now_ms: int) -> int:
    return now_ms - int(WINDOW_S * 1000)
