"""The state topic: whether it survives the loss of a broker, takes writes, and is pruned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.doctor.finding import Finding
from share_state.operate.live.group_limits import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.kafka.client.metadata import Topic
    from share_state.operate.doctor.facts import Facts

_CHECK: Final = "state_topic"
_CLEANUP: Final = "cleanup.policy"
_MIN_ISR: Final = "min.insync.replicas"
#: Kafka's ``share.coordinator.state.topic.replication.factor`` by default.
_REPLICAS: Final = 3
#: Redundant records of a state partition that brokers would have deleted: they do so every five minutes by default.
_REDUNDANT: Final = 100_000


def check(facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with replicas, and what is not pruned."""
    topic = facts.cluster.state_topic
    if topic is None:
        return
    yield from _replicas(facts, topic)
    yield from _writes(facts, topic)
    yield from _pruning(facts, topic)
    yield from _compaction(facts, topic)


def _compaction(facts: Facts, topic: Topic) -> Iterator[Finding]:
    policy = facts.cluster.state_topic_configs.get(_CLEANUP, "")
    if "compact" in policy:
        yield Finding(
            check=_CHECK,
            severity=Severity.CRITICAL,
            text=f"{_CLEANUP} is {policy}: compaction removes updates that a share coordinator still needs",
            advice="Kafka's own is delete; what was compacted is lost, and records may be delivered again.",
            topic=topic.name,
            evidence={"cleanup_policy": policy},
            commands=(facts.tools.topic_config(topic.name, {_CLEANUP: "delete"}),),
        )


def _replicas(facts: Facts, topic: Topic) -> Iterator[Finding]:
    brokers = facts.cluster.brokers
    fewest = min(map(len, topic.replicas), default=0)
    wanted = min(_REPLICAS, len(brokers))
    if 0 < fewest < wanted:
        # Each partition keeps the replicas that it has, and gets the brokers after them.
        rows = [
            {"topic": topic.name, "partition": index, "replicas": _spread(brokers, replicas, index, wanted)}
            for index, replicas in enumerate(topic.replicas)
            if len(replicas) < wanted
        ]
        plan = json.dumps({"version": 1, "partitions": rows}, separators=(",", ":"))
        move = facts.tools.call("kafka-reassign-partitions.sh", "--reassignment-json-file", "share-group-state.json", "--execute")
        yield Finding(
            check=_CHECK,
            severity=Severity.CRITICAL if fewest == 1 else Severity.WARNING,
            text=f"{len(rows)} of {len(topic.replicas)} state partitions have fewer than {wanted} replicas, one has {fewest}: "
            "with its brokers, what share groups have accepted is lost",
            advice="Give each partition more replicas. New clusters: share.coordinator.state.topic.replication.factor in "
            "server.properties, before the first share group.",
            topic=topic.name,
            evidence={"replicas": fewest, "brokers": len(brokers), "partitions": len(rows)},
            commands=(f"echo '{plan}' > share-group-state.json", move),
        )


def _spread(brokers: tuple[int, ...], replicas: tuple[int, ...], index: int, wanted: int) -> list[int]:
    others = [broker for broker in brokers if broker not in replicas]
    turned = others[index % len(others) :] + others[: index % len(others)] if others else []
    return [*replicas, *turned][:wanted]


def _writes(facts: Facts, topic: Topic) -> Iterator[Finding]:
    needed = number_of(facts.cluster.state_topic_configs, (_MIN_ISR,))
    replicas, in_sync = min(map(len, topic.replicas), default=0), min(map(len, topic.in_sync), default=0)
    if needed is not None and in_sync < needed:
        refused = sum(len(some) < needed for some in topic.in_sync)
        enough = replicas >= needed
        yield Finding(
            check=_CHECK,
            severity=Severity.CRITICAL,
            text=f"{refused} of {len(topic.in_sync)} state partitions take no writes: {in_sync} replicas are in sync, and "
            f"min.insync.replicas is {needed}",
            advice="Bring the brokers back that are missing; no acknowledgement is kept meanwhile."
            if enough
            else "There are fewer replicas than that: lower it, or add replicas.",
            topic=topic.name,
            evidence={"in_sync": in_sync, "min_insync_replicas": needed, "replicas": replicas},
            commands=(facts.tools.topic_config(topic.name, {_MIN_ISR: max(1, replicas - 1)}),) if not enough else (),
        )
    elif needed == 1 and replicas > 1:
        least = min(2, replicas)
        yield Finding(
            check=_CHECK,
            severity=Severity.WARNING,
            text=f"min.insync.replicas is 1 with {replicas} replicas: what one broker alone has taken may be lost with it",
            advice="Let a write wait for a second replica.",
            topic=topic.name,
            evidence={"in_sync": in_sync, "min_insync_replicas": needed, "replicas": replicas},
            commands=(facts.tools.topic_config(topic.name, {_MIN_ISR: least}),),
        )


def _pruning(facts: Facts, topic: Topic) -> Iterator[Finding]:
    redundant = {
        partition: place.needed - place.log_start
        for partition, place in facts.cluster.places.items()
        if place.needed is not None and place.log_start is not None
    }
    many = {partition: records for partition, records in redundant.items() if records >= _REDUNDANT}
    if many:
        most = max(many, key=lambda partition: many[partition])
        yield Finding(
            check=_CHECK,
            severity=Severity.WARNING,
            text=f"{sum(many.values())} records of {len(many)} state partitions are redundant and not pruned, {many[most]} of "
            f"partition {most}",
            advice="Brokers delete them every share.coordinator.state.topic.prune.interval.ms (5 minutes). If they stay, see the "
            "log of the broker that leads the partition; a start of its coordinator reads all of them.",
            topic=topic.name,
            partition=most,
            evidence={"redundant": sum(many.values()), "partitions": len(many), "most": many[most]},
            commands=(facts.tools.call("kafka-topics.sh", "--describe", "--topic", topic.name),),
        )
