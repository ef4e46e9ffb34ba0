"""Times at which the records of a share partition became available."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

from share_state.errors import ConfigError

__all__ = ["Arrivals"]

_ALWAYS: Final = float("-inf")


class Arrivals:
    """Log end offsets of a partition over time. Without any, all records are there from the beginning: a backlog.

    Args:
        end_offsets: ascending pairs of a time in ms since the epoch, and the offset after the last record then.

    Raises:
        ConfigError: the times or the offsets do not ascend.
    """

    def __init__(self, end_offsets: Iterable[tuple[float, int]] = ()) -> None:
        self._times: list[float] = []
        self._ends: list[int] = []
        for at_ms, end in end_offsets:
            if self._times and (at_ms < self._times[-1] or end < self._ends[-1]):
                told = f"end_offsets must ascend: {at_ms:g},{end} follows {self._times[-1]:g},{self._ends[-1]}"
                raise ConfigError(told, field="end_offsets", value=(at_ms, end))
            if self._ends and self._ends[-1] == end:
                continue
            self._times.append(at_ms)
            self._ends.append(end)

    @property
    def known(self) -> bool:
        """True if there is anything but a backlog."""
        return bool(self._times)

    def of(self, offset: int) -> float:
        """Return when a record came, in ms since the epoch: no later than the first end offset above it was measured.

        It came after the measurement before that one. In between, arrivals are taken to be even.
        """
        at = bisect_right(self._ends, offset)
        if at == 0 or at == len(self._ends):
            # Before the first measurement, or after the last one: then it came with the last at the latest.
            return _ALWAYS if at == 0 else self._times[-1]
        (before, after), (low, high) = self._times[at - 1 : at + 1], self._ends[at - 1 : at + 1]
        return before + (after - before) * (offset - low + 1) / (high - low)
