"""The figures of one share partition that a person asks for first."""

from collections import Counter
from typing import NamedTuple

from share_state.operate.analysis.read_states import records_behind
from share_state.operate.analysis.start_offset_reason import explain_start_offset
from share_state.operate.reading.plain import ShareState
from share_state.types import RecordState, StateBatch


class Summary(NamedTuple):
    """Row of the state table."""

    group: str
    topic_id: str
    partition: int
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    #: None: not yet resolved.
    start_offset: int | None
    #: Last offset of the tracked window; None if no batch is kept.
    window_end: int | None
    available: int
    acknowledged: int
    archiving: int
    archived: int
    highest_delivery_count: int
    oldest_unsettled: int | None
    #: End offset of the topic's partition, and the group's lag in records; None where it is not known.
    log_end_offset: int | None
    lag: int | None
    reason: str


def summarise(state: ShareState, log_end_offset: int | None = None) -> Summary:
    """Count the records of a state, explain its start offset, and tell how far it is behind the end of the topic's partition."""
    batches = [StateBatch(*batch) for batch in state["batches"]]
    counts: Counter[int] = Counter()
    for batch in batches:
        counts[batch.delivery_state] += batch.last_offset - batch.first_offset + 1
    reason = explain_start_offset(state["start_offset"], batches)
    text = reason.text
    if state["incomplete"]:
        text = f"incomplete, the snapshot before these updates is not in the log; {text}"
    return Summary(
        group=state["group"],
        topic_id=state["topic_id"],
        partition=state["partition"],
        snapshot_epoch=state["snapshot_epoch"],
        state_epoch=state["state_epoch"],
        leader_epoch=state["leader_epoch"],
        start_offset=None if state["start_offset"] < 0 else state["start_offset"],
        window_end=batches[-1].last_offset if batches else None,
        available=counts[RecordState.AVAILABLE],
        acknowledged=counts[RecordState.ACKNOWLEDGED],
        archiving=counts[RecordState.ARCHIVING],
        archived=counts[RecordState.ARCHIVED],
        highest_delivery_count=max((batch.delivery_count for batch in batches), default=0),
        oldest_unsettled=reason.oldest_unsettled,
        log_end_offset=log_end_offset,
        lag=records_behind(log_end_offset, state["start_offset"], state["delivery_complete_count"]),
        reason=text,
    )
