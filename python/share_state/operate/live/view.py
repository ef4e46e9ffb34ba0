"""View of every share group and share partition at one moment, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from share_state.operate.live.asked import Member
from share_state.operate.live.heads import Head, OpenTransaction
from share_state.operate.live.health import Verdict
from share_state.operate.live.live_row import LiveRow
from share_state.operate.live.rates import Rates
from share_state.operate.live.rights import Right

__all__ = ["GroupView", "SharePartitionView", "View"]


class SharePartitionView(NamedTuple):
    """View of a share partition.

    Attributes:
        group, topic_id, partition: its key; the id is a hyphenated UUID.
        topic: the name of the topic; None where it was deleted or may not be described.
        row: how it stands, without a hold where only offsets that hold no record for the group are not settled; None where a
            member is assigned it and the state topic has no state of it.
        log_end_offset: the offset after the last record of the topic's partition; None where that is not known.
        lag: records that are not settled, as Kafka counts them; None where a term of it is not known.
        members: the ids of the members that are assigned it.
        rates: what happened lately; None until there are two moments to compare.
        verdict: one word for how it does, and why.
        anomalies: pairs of a kind and a number of findings: those that last, and those that were over lately
            (:data:`share_state.operate.live.group_limits.WINDOW_S`). ``LiveView.anomalies`` has them with their evidence.
        head: what the log tells of the first record that is not settled; None where it was not read.
        transaction: the open transaction that a group which reads committed records waits for; None where there is none.
        by_locks: why records come back, or came back lately, where that is because their locks run out; otherwise empty.
    """

    group: str
    topic_id: str
    partition: int
    topic: str | None
    row: LiveRow | None
    log_end_offset: int | None
    lag: int | None
    members: tuple[str, ...]
    rates: Rates | None
    verdict: Verdict
    anomalies: tuple[tuple[str, int], ...] = ()
    head: Head | None = None
    transaction: OpenTransaction | None = None
    by_locks: str = ""

    @property
    def has_nothing_left(self) -> bool:
        """Tell if the log is known to hold no record that the group may still be given, now or when a transaction ends."""
        return self.lag == 0 or (self.head is not None and self.head.offset is None and self.transaction is None)


@dataclass(frozen=True, slots=True)
class GroupView:
    """View of a share group.

    Attributes:
        group: its id.
        state: as its coordinator says, ``Stable`` or ``Empty``; None where it is not known.
        members: its members; None where they are not known.
        configs: its configuration by Kafka's names, the broker's values where it has none of its own; empty where not known.
        share_partitions: in order of topic and partition.
    """

    group: str
    state: str | None
    members: tuple[Member, ...] | None
    configs: dict[str, str]
    share_partitions: tuple[SharePartitionView, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Everything at one moment.

    Attributes:
        at_ms: when, in ms since the epoch.
        groups: in order of their ids.
        behind: offsets of the state topic that are not read yet; None while that is not known.
        problems: what cannot be seen at the moment, and why.
        failures_total: how often something could not be asked since the view is open.
        missing_rights: the rights without which some of it cannot be seen.
        topics_known: whether the cluster has told which topics there are.
    """

    at_ms: int
    groups: tuple[GroupView, ...]
    behind: int | None
    problems: tuple[str, ...]
    failures_total: int
    missing_rights: tuple[Right, ...] = ()
    topics_known: bool = False
