"""View of the way a cluster keeps the state of its share groups: brokers, replicas, configuration of the state topic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from share_state.kafka.client.configs import Resource
from share_state.operate.reading.plain import STATE_TOPIC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from share_state.kafka.client.metadata import Topic
    from share_state.operate.live.asked import Asked
    from share_state.operate.live.rights import Missing
    from share_state.operate.live.state_topic import StatePartitionPlace

__all__ = ["ClusterView", "ask_cluster"]


@dataclass(frozen=True, slots=True)
class ClusterView:
    """View of a cluster, as far as it is known.

    Attributes:
        brokers: their ids.
        broker_configs: the configuration of one of them; empty where it may not be read.
        state_topic: None where there is none, or it may not be described.
        state_topic_configs: its configuration; empty where it may not be read.
        places: how far each state partition was read, and what of it a coordinator needs.
    """

    brokers: tuple[int, ...] = ()
    broker_configs: Mapping[str, str] = field(default_factory=dict)
    state_topic: Topic | None = None
    state_topic_configs: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[int, StatePartitionPlace] = field(default_factory=dict)


async def ask_cluster(asked: Asked, missing: Missing, places: Mapping[int, StatePartitionPlace]) -> ClusterView:
    """Ask for all of it.

    Raises:
        NotAllowedError: the state topic may not be described.
        UnansweredError: no broker could be asked.
    """
    topic = await asked.topic(STATE_TOPIC)
    brokers = asked.node_ids()
    of_broker = await asked.configs(Resource.BROKER, [str(brokers[0])] if brokers else [], missing)
    if topic is None:
        return ClusterView(brokers, of_broker.get(str(brokers[0]), {}) if brokers else {})
    of_topic = await asked.configs(Resource.TOPIC, [topic.name], missing)
    return ClusterView(brokers, of_broker.get(str(brokers[0]), {}), topic, of_topic.get(topic.name, {}), places)
