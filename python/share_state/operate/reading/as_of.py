"""The cut of a state log for reading it as of earlier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from share_state._core import Prefix
from share_state.types import WallTime

__all__ = ["AsOf", "AsOfOffset", "AsOfTimestamp"]

#: The last offset that counts: one for all state partitions, or one for each; omitted ones count as a whole.
AsOfOffset: TypeAlias = int | Mapping[int, int]
#: Each state partition ends before its first record of a later time; ms since the epoch.
AsOfTimestamp: TypeAlias = int | WallTime


class AsOf(NamedTuple):
    """A prefix of every state partition; without a field all of it. With both fields, the earlier end counts."""

    offset: AsOfOffset | None = None
    timestamp: AsOfTimestamp | None = None

    def prefix(self, state_partition: int) -> Prefix:
        """Return as far as a state partition counts."""
        return Prefix(state_partition, as_of_offset=self.offset, as_of_timestamp=self.timestamp)
