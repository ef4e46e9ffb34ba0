"""Take recorded states over into an embedded log of our own."""

from pathlib import Path
from typing import Any

import share_state
from share_state import SharePartitionKey, WriteState


def take_over(states: list[dict[str, Any]], directory: Path, *, partitions: int) -> None:
    """Write every state into a new log, epochs kept. On return all of it is synced to disk."""
    with share_state.open(directory, partitions=partitions) as store:
        for state in states:
            key = SharePartitionKey(state["group"], state["topic_id"], state["partition"])
            store.reset_state(key, state["state_epoch"], state["start_offset"])
            store.write_state(
                key,
                WriteState(
                    state_epoch=state["state_epoch"],
                    leader_epoch=state["leader_epoch"],
                    start_offset=state["start_offset"],
                    delivery_complete_count=state["delivery_complete_count"],
                    state_batches=state["batches"],
                ),
            )
