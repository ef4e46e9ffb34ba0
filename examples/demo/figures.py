"""Figures of a run, counted from the log and the journals, like the verdict."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from examples.demo.journal import Entry, Event, settled_offsets
from examples.demo.verdict import Evidence, lost_locks
from share_state import AcknowledgeType, RecordState


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of records unless the name says otherwise."""

    records: int
    settled_when_taken_over: int
    served: int
    settled_before_the_kill: int
    acknowledged: int
    archived: int
    deliveries: int
    redeliveries: int
    #: Redeliveries of records that were in a worker's hands when the kill came.
    redeliveries_after_the_kill: int
    released: int
    rejected: int
    renewed: int
    lock_timeouts: int
    #: State records that the serving processes wrote, and how much the log grew by them.
    writes: int
    bytes: int
    seconds: float
    records_per_second: float
    #: From the last word of the killed process to the first delivery of the next.
    restart_ms: int
    #: From a worker's call to the answer that its acknowledgement is synced to disk.
    median_acknowledge_ms: float


def count(evidence: Evidence, *, writes: int, log_bytes: int, seconds: float) -> Figures:
    """Count what happened. `writes`, `log_bytes` and `seconds` are those of both serving processes together."""
    plan, journal = evidence.plan, evidence.journal
    deliveries = Counter(_offsets(journal, Event.DELIVERED))
    states = Counter(outcome.state for offset, outcome in evidence.history.outcomes.items() if offset in plan.offsets)
    in_hand = set(_offsets(evidence.before, Event.DELIVERED)) - settled_offsets(evidence.before)
    return Figures(
        records=len(plan.offsets),
        settled_when_taken_over=len(plan.offsets) - plan.unsettled,
        served=plan.unsettled,
        settled_before_the_kill=len(settled_offsets(evidence.before)),
        acknowledged=states[RecordState.ACKNOWLEDGED],
        archived=states[RecordState.ARCHIVED],
        deliveries=deliveries.total(),
        redeliveries=deliveries.total() - len(deliveries),
        redeliveries_after_the_kill=len(in_hand & set(_offsets(evidence.after, Event.DELIVERED))),
        released=len(_offsets(journal, Event.CONFIRMED, AcknowledgeType.RELEASE)),
        rejected=len(_offsets(journal, Event.CONFIRMED, AcknowledgeType.REJECT)),
        renewed=len(set(_offsets(journal, Event.RENEWED))),
        lock_timeouts=len(lost_locks(evidence.before)) + len(lost_locks(evidence.after)),
        writes=writes,
        bytes=log_bytes,
        seconds=round(seconds, 3),
        records_per_second=round(plan.unsettled / seconds, 1),
        restart_ms=_between(evidence.before, evidence.after),
        median_acknowledge_ms=_median_acknowledge_ms(journal),
    )


def _offsets(entries: Sequence[Entry], event: Event, acknowledge_type: AcknowledgeType | None = None) -> list[int]:
    """List the records of all entries of a kind, each as often as it is named."""
    chosen = (entry for entry in entries if (entry.event, entry.acknowledge_type) == (event, acknowledge_type))
    return [offset for entry in chosen for offset in entry.offsets]


def _between(before: Sequence[Entry], after: Sequence[Entry]) -> int:
    """Measure from the last entry of a journal to the first of the next; 0 where one has none."""
    return min(entry.at_ms for entry in after) - max(entry.at_ms for entry in before) if before and after else 0


def _median_acknowledge_ms(journal: Sequence[Entry]) -> float:
    sent_at: dict[str, int] = {}
    took: list[int] = []
    for entry in journal:
        if entry.event is Event.SENT:
            sent_at[entry.worker] = entry.at_ms
        elif entry.event is Event.CONFIRMED and entry.worker in sent_at:
            took.append(entry.at_ms - sent_at.pop(entry.worker))
    return median(took) if took else 0.0
