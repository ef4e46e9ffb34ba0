"""Recordings of a real Kafka 4.4.0 broker: the files on its disk, and the answers of its admin tool about them."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from examples.demo.plan import Plan
from share_state import SharePartitionKey
from share_state.operate import analysis
from share_state.types import RecordState

RECORDED = Path(__file__).resolve().parents[1] / "orders-4.4.0"
GROUP, TOPIC, PARTITION = "orders-workers", "orders", 1


class AdminRow(NamedTuple):
    """Row of `kafka-share-groups.sh --describe --offsets` about a share partition."""

    start_offset: int
    #: Records before the end of the topic's log that are not settled.
    lag: int


def recorded_states() -> list[dict[str, Any]]:
    """Fold the recorded state topic: one state a share partition."""
    states, findings = analysis.fold_path(RECORDED)
    if findings:
        raise ValueError(f"the recorded state topic is damaged: {findings}")
    return states


def state_partitions() -> int:
    """Return the number of partitions of the recorded state topic."""
    return len(list(RECORDED.glob("__share_group_state-*")))


def make_plan(directory: Path, states: list[dict[str, Any]]) -> Plan:
    """Plan to serve the rest of partition 1 of `orders` to the group `orders-workers`."""
    row = _admin_row()
    # The state topic has topic ids, the admin tool topic names: group, partition and start offset tell which is which.
    (state,) = (
        state
        for state in states
        if (state["group"], state["partition"], state["start_offset"]) == (GROUP, PARTITION, row.start_offset)
    )
    batches = state["batches"]
    never_delivered = batches[-1].last_offset + 1
    log_end = row.start_offset + state["delivery_complete_count"] + row.lag
    available = [batch.first_offset for batch in batches if batch.delivery_state == RecordState.AVAILABLE]
    return Plan(
        directory=directory,
        key=SharePartitionKey(state["group"], state["topic_id"], state["partition"]),
        start_offset=row.start_offset,
        log_end=log_end,
        unsettled=row.lag,
        recorded_leader_epoch=state["leader_epoch"],
        poison=never_delivered + 5,
        # One for each serving process.
        slow=frozenset({available[-1] + 20, (never_delivered + log_end) // 2}),
    )


def _admin_row() -> AdminRow:
    """Find the last thing that the admin tool said about the share partition."""
    calls = json.loads((RECORDED / "admin.json").read_text(encoding="utf-8"))
    rows = [line.split() for arguments, _, lines in calls if "--describe" in arguments for line in lines]
    *_, row = (row for row in rows if row[:3] == [GROUP, TOPIC, str(PARTITION)])
    return AdminRow(start_offset=int(row[3]), lag=int(row[4]))
