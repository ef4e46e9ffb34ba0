"""What to look at, or to do, for each kind of anomaly."""

from __future__ import annotations

from share_state.analysis.anomaly import AnomalyKind
from share_state.analysis.window import Run
from share_state.types import RecordState

__all__ = ["ADVICE", "holder"]

ADVICE = {
    AnomalyKind.POISON_RECORD: (
        "Read the record and see why no member accepts it; mend the consumer, or let it reject such a record at once. "
        "With Kafka 4.4 a dead-letter queue (errors.deadletterqueue.topic.name) would keep it."
    ),
    AnomalyKind.ARCHIVE_BURST: (
        "Look at what the members depend on (a database, a service) at that time rather than at single records, and read these "
        "offsets again from the topic once it is mended: the group will not deliver them."
    ),
    AnomalyKind.LOCK_EXPIRY_LOOP: (
        "Members take longer than the lock lasts, or hang: raise share.record.lock.duration.ms, take fewer records at a time "
        "(max.poll.records), or renew the lock (KIP-1222). The log does not tell a release from a lock that ran out."
    ),
    AnomalyKind.START_OFFSET_WENT_BACK: (
        "Records that were passed may be delivered again. Brokers before 4.4 may write this (KAFKA-20733): upgrade them. "
        "On 4.4 keep the segment and report it to Kafka."
    ),
    AnomalyKind.EPOCH_WENT_BACK: (
        "Two brokers may have led this partition of the state topic at once, or a tool wrote to it: compare the leader epochs "
        "of its batches, and do not trust what was accepted at that time."
    ),
    AnomalyKind.STATE_WENT_BACK: (
        "Settled records may be delivered again. No released Kafka is known to write this: see which broker or tool wrote the "
        "state topic, and keep the segment."
    ),
    AnomalyKind.COUNT_DISAGREES: (
        "The lag that Kafka shows (end offset - start offset - this count) is too high by at least the difference. Brokers "
        "before 4.4 may write too small a count (KAFKA-20749): upgrade them. A later write may mend it."
    ),
    AnomalyKind.GAP: (
        "Normal for offsets that hold no record for this group (compacted, aborted, or a transaction's marker). Otherwise a "
        "member has held them since their first delivery: look for one that hangs or renews its locks for long."
    ),
    AnomalyKind.MISSING_SNAPSHOT: (
        "If the log was copied in part, take all segments from the log start offset on. A broker would load this state as "
        "incomplete as it is here."
    ),
    AnomalyKind.COLD_KEY: (
        "A write for this share partition, or a broker's cold snapshot "
        "(share.coordinator.cold.partition.snapshot.interval.ms), frees them; if the group is not needed, delete it."
    ),
}


def holder(run: Run | None) -> tuple[str, str]:
    """Say what holds a start offset, and what to do about it; nothing is known of the offset where there is no run."""
    if run is None:
        return (
            "nothing was ever written of it, so a member holds it since its first delivery, or nobody was given it",
            (
                "Find the member that holds it (one that hangs, or renews its lock again and again) and restart it; if the "
                "offset holds no record for this group, the next fetch passes it."
            ),
        )
    if run.state == RecordState.ARCHIVING:
        return (
            "its dead-letter write is not finished",
            "See whether the dead-letter topic exists and takes writes; until then the start offset cannot pass it.",
        )
    return (
        f"available after {run.deliveries} {'delivery' if run.deliveries == 1 else 'deliveries'}",
        (
            "Read that record: members give it back, or their locks run out on it. It goes when it is accepted, rejected, or "
            "delivered as often as the limit allows."
        ),
    )
