"""Knowledge of a live view at one moment, and the view that is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from share_state.kafka.client.metadata import Topic
from share_state.operate.analysis.anomaly import Anomaly, AnomalyKind
from share_state.operate.analysis.read_states import records_behind
from share_state.operate.live.asked import Group
from share_state.operate.live.blame import by_locks
from share_state.operate.live.group_limits import LOCK_DURATION, RECORD_LOCKS, delivery_limit_of, number_of, reads_committed
from share_state.operate.live.heads import Head, OpenTransaction
from share_state.operate.live.health import LASTING_MS, Seen, as_it_stands, health_of
from share_state.operate.live.live_row import LiveRow
from share_state.operate.live.rates import Key, RecentTotals
from share_state.operate.live.view import GroupView, SharePartitionView

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Known", "Place"]

#: Topic id and partition.
Place = tuple[str, int]
#: An anomaly that was over for longer is no word for how a share partition does now.
_NOW_MS: Final = 60_000
#: Kinds by which the search for anomalies, which reads no logs of topics, reports offsets without a record for the group.
_OF_THE_HEAD: Final = frozenset({AnomalyKind.START_OFFSET_STUCK, AnomalyKind.GAP})


@dataclass(slots=True)
class Known:
    """Facts that were read of the state topic, or asked for."""

    rows: dict[Key, LiveRow] = field(default_factory=dict)
    #: By their ids.
    topics: dict[str, Topic] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    ends: dict[Place, int] = field(default_factory=dict)
    #: Last stable offsets, of the topics of groups that read committed records.
    stable_ends: dict[Place, int] = field(default_factory=dict)
    heads: dict[Key, Head] = field(default_factory=dict)
    transactions: dict[Place, OpenTransaction] = field(default_factory=dict)

    def places(self) -> set[Key]:
        """Return the share partitions that have a state or are assigned."""
        return self.rows.keys() | self.assigned().keys()

    def names(self) -> set[str]:
        """Return the groups."""
        return {*self.groups, *(group for group, _, _ in self.rows)}

    def assigned(self) -> dict[Key, list[str]]:
        """Return the members that are assigned each share partition."""
        assigned: dict[Key, list[str]] = {}
        for group in self.groups.values():
            for member in group.members:
                for topic_id, partition in member.assignment:
                    assigned.setdefault((group.group, topic_id, partition), []).append(member.member_id)
        return assigned

    def has_members(self, group: str) -> bool | None:
        """Return whether a group has members; None where that is not known."""
        known = self.groups.get(group)
        return None if known is None else bool(known.members)

    def committed(self, group: str) -> bool:
        """Return whether a group is given committed records only."""
        return reads_committed(self.configs.get(group, {}))

    def lag(self, key: Key) -> int | None:
        """Return the lag of a share partition; None where it is not known."""
        row = self.rows.get(key)
        return None if row is None else records_behind(self.ends.get(key[1:]), row.start_offset, row.delivery_complete_count)

    def questionable(self, now_ms: int) -> list[tuple[Key, LiveRow, int]]:
        """Return what only the log can tell: share partitions that do not move, or have nobody, each with where it reads to."""
        found = []
        for key, row in self.rows.items():
            end = self.ends.get(key[1:])
            if end is None or not self.lag(key) or key[1] not in self.topics:
                continue
            quiet_since = row.start_since if row.newest_delivery is None else row.newest_delivery
            stands = row.held_since is not None and now_ms - row.held_since >= LASTING_MS
            if stands or now_ms - quiet_since >= LASTING_MS or self.has_members(key[0]) is False:
                reads_to = self.stable_ends.get(key[1:], end) if self.committed(key[0]) else end
                found.append((key, row, reads_to))
        return found

    def group_views(
        self, now: float, now_ms: int, recent: RecentTotals, counts: Mapping[Key, Mapping[str, int]], found: Iterable[Anomaly]
    ) -> tuple[GroupView, ...]:
        """Put it together.

        Args:
            now, now_ms: seconds of a monotonic clock, and ms since the epoch.
            recent: what was counted lately; it takes what is counted now.
            counts: numbers of anomalies by kind.
            found: the anomalies that may blame locks.
        """
        assigned, lags = self.assigned(), {key: lag for key in self.rows if (lag := self.lag(key)) is not None}
        blaming: dict[Key, list[Anomaly]] = {}
        for one in found:
            blaming.setdefault((one.group, one.topic_id, one.partition), []).append(one)
        of_group: dict[str, list[SharePartitionView]] = {name: [] for name in self.names()}
        for key in self.places():
            row, configs = self.rows.get(key), self.configs.get(key[0], {})
            limit = delivery_limit_of(configs)
            rates = None if row is None else recent.rates(now, key, row, lags.get(key), limit=limit)
            transaction = self.transactions.get(key[1:]) if self.committed(key[0]) else None
            seen = Seen(
                row=row,
                lag=lags.get(key),
                has_members=self.has_members(key[0]),
                delivery_limit=limit,
                rates=rates,
                now_ms=now_ms,
                log_end=self.ends.get(key[1:]),
                head=self.heads.get(key),
                transaction=transaction,
                record_locks=number_of(configs, RECORD_LOCKS),
                lock_ms=number_of(configs, LOCK_DURATION),
                by_locks=by_locks([one for one in blaming.get(key, ()) if _is_now(one, now_ms)], row),
            )
            told = self._share_partition(key, seen, assigned.get(key, []), counts.get(key, {}))
            of_group[key[0]].append(told._replace(by_locks=by_locks(blaming.get(key, ()), row)))
        recent.note(now, self.rows, lags)
        return tuple(self._group(name, of_group[name]) for name in sorted(of_group))

    def _group(self, name: str, found: list[SharePartitionView]) -> GroupView:
        group = self.groups.get(name)
        found.sort(key=lambda one: (one.topic or "", one.topic_id, one.partition))
        return GroupView(
            group=name,
            state=None if group is None else group.state,
            members=None if group is None else group.members,
            configs=self.configs.get(name, {}),
            share_partitions=tuple(found),
        )

    def _share_partition(self, key: Key, seen: Seen, members: list[str], counts: Mapping[str, int]) -> SharePartitionView:
        name, topic_id, partition = key
        row = None if seen.row is None else as_it_stands(seen.row, seen.lag, seen.head)
        return SharePartitionView(
            group=name,
            topic_id=topic_id,
            partition=partition,
            topic=self.topics[topic_id].name if topic_id in self.topics else None,
            row=row,
            log_end_offset=seen.log_end,
            lag=seen.lag,
            members=tuple(sorted(members)),
            rates=seen.rates,
            verdict=health_of(seen),
            anomalies=tuple((kind, number) for kind, number in counts.items() if not self.refutes(key, kind)),
            head=seen.head,
            transaction=seen.transaction,
        )

    def refutes(self, key: Key, kind: str) -> bool:
        """Return whether more is known of a share partition than the state topic tells, and it has no such anomaly."""
        row = self.rows.get(key)
        return (
            kind in _OF_THE_HEAD
            and row is not None
            and (lag := self.lag(key)) is not None
            and as_it_stands(row, lag, self.heads.get(key)).held_offset is None
        )


def _is_now(found: Anomaly, now_ms: int) -> bool:
    return found.until_timestamp is None or now_ms - found.until_timestamp <= _NOW_MS
