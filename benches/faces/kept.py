"""A store for the writes of a replay: inside the calls, or gathered by a caller that polls."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from share_state import SharePartitionKey, StateStore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benches.faces.durable import Durable
    from share_state import SharePartition
    from share_state.arguments import Sync

#: As in `benches/rust/src/stored.rs`: how writes reach the disk, and how many a caller gathers at most.
POLLED = "polled"
DURABILITIES = ("never", "interval", "always", POLLED)
GATHERED = 1_000


class Kept:
    """A new store in a directory, in which each share partition has an empty state."""

    def __init__(self, directory: Path, durability: str, topic: str, partitions: int) -> None:
        self.polled = durability == POLLED
        self.store = StateStore(directory, sync="always" if self.polled else cast("Sync", durability))
        keys = (SharePartitionKey("group", topic, partition) for partition in range(partitions))
        refused = [error for error in self.store.reset_states([(key, 0, 0) for key in keys]) if error]
        assert not refused, refused

    def commit(self, share_partitions: Iterable[SharePartition], now_ms: int) -> None:
        """Take every write that waits, make all durable in one call, and confirm them."""
        taken = []
        for at in share_partitions:
            while (write := at.poll_write()) is not None:
                taken.append((at, write))
        refused = [error for error in self.store.write_states([(at.key, write.state) for at, write in taken]) if error]
        assert not refused, refused
        for at, write in taken:
            at.handle_write_result(write.token, now_ms=now_ms)

    def differs(self, share_partitions: Iterable[SharePartition], expected: Durable) -> bool:
        """Return true if the store does not hold what was persisted of the records from the start offset on."""
        states = {state["partition"]: state["batches"] for state in self.store.states()}
        for partition, at in enumerate(share_partitions):
            start = at.start_offset
            held = [
                (max(first, start), last, state, count)
                for first, last, state, count in map(tuple, states[partition])
                if last >= start
            ]
            if held != expected.read(partition, start):
                return True
        return False
