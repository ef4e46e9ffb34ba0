"""Figures of a run, counted from the log and the journals, like the verdict."""

from dataclasses import dataclass

from examples.demo.history import log_bytes
from examples.gateway.journal import Event, lost_locks
from examples.gateway.plan import DELIVERY_COUNT_LIMIT
from examples.gateway.verdict import Evidence, lives, outcomes, redelivered_after_the_kill
from share_state import AcknowledgeType, RecordState


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of records unless the name says otherwise."""

    records: int
    accepted: int
    archived: int
    #: Deliveries with the last count that there is.
    deliveries_at_the_limit: int
    settled_before_the_kill: int
    deliveries: int
    redeliveries_after_the_kill: int
    released: int
    rejected: int
    #: Records that the stalling member lost to others, and acknowledgements that came too late.
    lost_locks: int
    refused: int
    #: Acknowledgements that nobody answered.
    unanswered: int
    #: State records that the gateway wrote, and the bytes of its log of them.
    writes: int
    bytes: int
    seconds: float
    records_per_second: float
    #: From the kill until the new gateway listens, its interpreter's start included.
    restart_ms: int


def count(evidence: Evidence) -> Figures:
    """Count what happened."""
    run = evidence.run

    def records(event: Event, kind: AcknowledgeType | None = None) -> int:
        chosen = (entry for entry in run.entries if entry.event is event and kind in {None, entry.acknowledge_type})
        return sum(entry.last_offset - entry.first_offset + 1 for entry in chosen)

    ended = outcomes(evidence)
    return Figures(
        records=evidence.plan.records,
        accepted=ended[RecordState.ACKNOWLEDGED],
        archived=ended[RecordState.ARCHIVED],
        deliveries_at_the_limit=sum(
            entry.last_offset - entry.first_offset + 1
            for entry in run.entries
            if (entry.event, entry.delivery_count) == (Event.DELIVERED, DELIVERY_COUNT_LIMIT)
        ),
        settled_before_the_kill=run.settled_before,
        deliveries=records(Event.DELIVERED),
        redeliveries_after_the_kill=redelivered_after_the_kill(evidence),
        released=records(Event.CONFIRMED, AcknowledgeType.RELEASE),
        rejected=records(Event.CONFIRMED, AcknowledgeType.REJECT),
        lost_locks=len(lost_locks(lives(evidence)[0])),
        refused=records(Event.REFUSED),
        unanswered=records(Event.UNANSWERED),
        writes=sum(history.writes for history in evidence.histories.values()),
        bytes=log_bytes(evidence.plan.state / "state"),
        seconds=round(run.seconds, 3),
        records_per_second=round(evidence.plan.records / run.seconds, 1),
        restart_ms=(run.restarted_at - run.killed_at) // 1_000_000,
    )
