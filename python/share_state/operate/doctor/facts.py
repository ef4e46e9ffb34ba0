"""Facts that the checks look at: a view, its anomalies, and how the cluster keeps the state."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from share_state.operate.live.cluster_view import ClusterView
from share_state.operate.live.group_limits import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from share_state.operate.analysis.anomaly import Anomaly
    from share_state.operate.doctor.tools import Tools
    from share_state.operate.live.rates import Key
    from share_state.operate.live.view import GroupView, SharePartitionView, View

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    """All of it at one moment.

    Attributes:
        tools: how Kafka's tools reach the cluster.
        view: the share groups.
        anomalies: those that last, and those of the last 15 minutes.
        cluster: brokers and state topic.
    """

    tools: Tools
    view: View
    anomalies: tuple[Anomaly, ...] = ()
    cluster: ClusterView = field(default_factory=ClusterView)

    def share_partitions(self) -> Iterator[tuple[GroupView, SharePartitionView]]:
        """Iterate over the share partitions, each with its group."""
        for group in self.view.groups:
            for one in group.share_partitions:
                yield group, one

    def anomalies_of(self, one: SharePartitionView, *kinds: str) -> list[Anomaly]:
        """Return the anomalies of these kinds of a share partition."""
        return [found for found in self._by_key.get((one.group, one.topic_id, one.partition), ()) if found.kind in kinds]

    def limit(self, configs: Mapping[str, str], names: tuple[str, str]) -> int | None:
        """Return a limit of a group, or of the brokers for groups without one; None where neither may be read."""
        return number_of(configs, names) or number_of(self.cluster.broker_configs, names)

    def highest(self, name: str, default: int) -> int:
        """Return the highest value that the brokers take for a limit of a group."""
        return number_of(self.cluster.broker_configs, (name,)) or default

    @cached_property
    def _by_key(self) -> dict[Key, list[Anomaly]]:
        found: dict[Key, list[Anomaly]] = {}
        for one in self.anomalies:
            found.setdefault((one.group, one.topic_id, one.partition), []).append(one)
        return found
