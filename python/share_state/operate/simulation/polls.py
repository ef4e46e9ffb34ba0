"""The fetches of members, put together again from what the log tells of their ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from share_state.operate.simulation.recorded import End, Ending, Place, Recorded, Write

__all__ = ["Poll", "polls"]

#: A member answers for all it has in one request. What it wrote for several share partitions differs by no more, in ms.
_ONE_REQUEST_MS: Final = 5
#: Locks that were taken together expire together, but are written one by one. So much may lie between two of them, in ms.
_ONE_EXPIRY_MS: Final = 20


@dataclass(slots=True, eq=False)
class Poll:
    """Deliveries that began together, as far as one can tell, because they ended together.

    Attributes:
        end_ms: when they ended, in ms since the epoch.
        earliest_ms: when they can have begun at the earliest: a redelivery follows the end of the delivery before.
        returned: all of them were returned, or archived at the limit: the lock may have expired.
        is_redelivery: some of the records were delivered before.
    """

    end_ms: float
    earliest_ms: float
    returned: bool
    is_redelivery: bool
    endings: list[tuple[Place, Ending]] = field(default_factory=list)

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(ending.last_offset - ending.first_offset + 1 for _, ending in self.endings)

    @property
    def order(self) -> tuple[Place, int]:
        """First deliveries of a share partition begin in the order of offsets."""
        return min((place, ending.first_offset) for place, ending in self.endings)


def polls(recorded: Recorded, delivery_limit: int, places: Collection[Place]) -> list[Poll]:
    """Return the fetches of members that take from some share partitions, in the order of their ends."""
    ended: dict[Place, dict[int, float]] = defaultdict(dict)
    found: list[Poll] = []
    for write in recorded.writes:
        if write.place not in places:
            continue
        poll = _poll(write, ended[write.place], delivery_limit)
        if found and _together(found[-1], poll):
            _add(found[-1], poll)
        else:
            found.append(poll)
        for ending in write.endings:
            if ending.end is End.RETURNED:
                ended[write.place].update(dict.fromkeys(range(ending.first_offset, ending.last_offset + 1), write.at_ms))
    return found


def _poll(write: Write, ended: dict[int, float], limit: int) -> Poll:
    earliest = max(
        (
            ended.get(offset, float("-inf"))
            for ending in write.endings
            if ending.delivery_count > 1
            for offset in range(ending.first_offset, ending.last_offset + 1)
        ),
        default=float("-inf"),
    )
    return Poll(
        end_ms=write.at_ms,
        earliest_ms=earliest,
        returned=all(
            one.end is End.RETURNED or (one.end is End.ARCHIVED and one.delivery_count >= limit) for one in write.endings
        ),
        is_redelivery=any(one.delivery_count > 1 for one in write.endings),
        endings=[(write.place, one) for one in write.endings],
    )


def _together(before: Poll, poll: Poll) -> bool:
    apart = poll.end_ms - before.end_ms
    if before.returned and poll.returned:
        # Nobody holds a record twice at once.
        return apart <= _ONE_EXPIRY_MS and poll.earliest_ms < before.end_ms - _ONE_EXPIRY_MS
    return apart <= _ONE_REQUEST_MS and not {place for place, _ in before.endings} & {place for place, _ in poll.endings}


def _add(before: Poll, poll: Poll) -> None:
    before.earliest_ms = max(before.earliest_ms, poll.earliest_ms)
    before.returned = before.returned and poll.returned
    before.is_redelivery = before.is_redelivery or poll.is_redelivery
    before.endings += poll.endings
