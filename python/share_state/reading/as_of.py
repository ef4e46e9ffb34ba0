"""The cut of a state log for reading it as of earlier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from share_state.types import WallTime

__all__ = ["AsOf", "AsOfOffset", "AsOfTimestamp"]

#: The last offset that counts: one for all state partitions, or one for each; omitted ones count as a whole.
AsOfOffset = int | Mapping[int, int]
#: Each state partition ends before its first record of a later time; ms since the epoch.
AsOfTimestamp = int | WallTime


class AsOf(NamedTuple):
    """A prefix of every state partition; without a field all of it. With both fields, the earlier end counts."""

    offset: AsOfOffset | None = None
    timestamp: AsOfTimestamp | None = None

    def last_offset(self, state_partition: int) -> int | None:
        """Return the last offset of a state partition that counts, None where the offset ends nothing."""
        return self.offset.get(state_partition) if isinstance(self.offset, Mapping) else self.offset

    def latest_ms(self) -> int | None:
        """Return the time that no record is later than, in ms since the epoch."""
        return self.timestamp.ms if isinstance(self.timestamp, WallTime) else self.timestamp
