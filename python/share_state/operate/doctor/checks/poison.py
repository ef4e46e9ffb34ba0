"""Records that no member accepts: about to be given up, or given up at the delivery limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import AnomalyKind, Severity
from share_state.operate.doctor.finding import Finding
from share_state.operate.live.blame import BLAMING, given_up_of, is_by_locks
from share_state.operate.live.group_limits import delivery_limit_of
from share_state.operate.live.health import Health

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.view import GroupView, SharePartitionView

_CHECK: Final = "poison_record"
#: The configuration of Kafka 4.4; a group of an older release does not have it.
_QUEUE: Final = "errors.deadletterqueue.topic.name"
#: Anomalies of single records, or of many that were given up.
_KINDS: Final = (AnomalyKind.POISON_RECORD, *sorted(BLAMING))
_HANG: Final = (
    "Its locks ran out while other records were accepted: read the record, and see why members hang on it or take so long. Mend "
    "the consumer, or let it reject such records."
)
_PREFIX: Final = "errors.deadletterqueue.topic.name.prefix"


def check(facts: Facts) -> Iterator[Finding]:
    """Yield what is about to be given up, and what was."""
    for group, one in facts.share_partitions():
        limit = delivery_limit_of(group.configs)
        row = one.row
        if row is not None and one.verdict.health is Health.POISON and row.held_offset is not None and row.held_count is not None:
            yield Finding.of(
                one,
                _CHECK,
                Severity.CRITICAL,
                one.verdict.why,
                "Read the record and mend the consumer, or let it reject such records. " + _queue_advice(group),
                commands=(*_read(facts, one, row.held_offset), *_queue(facts, group, one)),
                offset=row.held_offset,
                delivery_count=row.held_count,
                delivery_limit=limit,
                lag=one.lag,
            )
        # Where locks explain what comes back, that is told as one finding.
        given_up = [found for found in facts.anomalies_of(one, *_KINDS) if not (one.by_locks and is_by_locks(found))]
        given_up.sort(key=is_by_locks)
        if given_up:
            first = given_up[0]
            advice = _HANG if is_by_locks(first) and first.kind != AnomalyKind.ARCHIVE_BURST else first.advice
            more = f"; and {len(given_up) - 1} more such findings" if len(given_up) > 1 else ""
            is_burst = any(found.kind == AnomalyKind.ARCHIVE_BURST for found in given_up)
            offset = first.first_offset
            yield Finding.of(
                one,
                _CHECK,
                Severity.CRITICAL if is_burst else Severity.WARNING,
                first.evidence + more,
                f"{advice} {_queue_advice(group)}".strip(),
                commands=(*(() if offset is None else _read(facts, one, offset)), *_queue(facts, group, one)),
                offset=offset,
                findings=len(given_up),
                given_up=None if row is None else given_up_of(row, limit),
                delivery_limit=limit,
            )


def _read(facts: Facts, one: SharePartitionView, offset: int) -> tuple[str, ...]:
    if one.topic is None:
        return ()
    place = ("--topic", one.topic, "--partition", str(one.partition), "--offset", str(offset), "--max-messages", "1")
    return (facts.tools.call("kafka-console-consumer.sh", *place),)


def _queue_advice(group: GroupView) -> str:
    if group.configs.get(_QUEUE) != "":
        return ""
    return "A dead-letter topic keeps what is given up (share.version 2; only records from then on)."


def _queue(facts: Facts, group: GroupView, one: SharePartitionView) -> tuple[str, ...]:
    """Give the group a dead-letter topic, where its release has them and it has none."""
    if group.configs.get(_QUEUE) != "" or one.topic is None:
        return ()
    topic = facts.cluster.broker_configs.get(_PREFIX, "dlq.") + one.topic
    allowed = "errors.deadletterqueue.group.enable=true"
    return (
        facts.tools.call("kafka-topics.sh", "--create", "--if-not-exists", "--topic", topic, "--config", allowed),
        facts.tools.group_config(one.group, {_QUEUE: topic}),
    )
