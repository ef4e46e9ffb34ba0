"""A member in the process: a thread that fetches, thinks, and acknowledges, and tells each step before and after it."""

from __future__ import annotations

import random
import threading
from typing import Any, Final

from share_state import AcquiredRange, InvalidRecordStateError, InvalidRequestError, ShareStateError
from tests.proof.histories.engine.clock import Clock
from tests.proof.histories.engine.partition import Partition, Tell
from tests.proof.histories.engine.spec import GROUP

_GAP, _RENEW = 0, 4
#: Accept, release, reject, in the order of their ids.
_KINDS: Final = (1, 2, 3)
_WEIGHTS: Final = (16, 3, 1)


class Member(threading.Thread):
    """Works until it is told to leave.

    Args:
        name: of the member; two threads may have one.
        lock_ms: how long its locks hold.
        accepts: whether it accepts everything, and never stalls.
    """

    def __init__(
        self, name: str, partitions: list[Partition], clock: Clock, tell: Tell, seed: int, *, lock_ms: int, accepts: bool = False
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.leaving = threading.Event()
        self.stalls = threading.Event()
        self._partitions, self._clock, self._tell = partitions, clock, tell
        self._random = random.Random(seed)  # noqa: S311 - a workload
        self._lock_ms = lock_ms
        self._accepts = accepts

    def run(self) -> None:
        """Work, then leave as a member does that closes its session."""
        self._tell({"type": "joined", "member": self.name})
        while not self.leaving.is_set():
            if not self.turn(self._random.choice(self._partitions)):
                self.leaving.wait(0.01)
        self._tell({"type": "gone", "t": self._clock.tick(), "group": GROUP, "member": self.name})
        for partition in self._partitions:
            try:
                partition.state.release(self.name, now_ms=self._clock.raw_ms())
            except ShareStateError:
                # There is no room: its locks run out.
                continue

    def turn(self, partition: Partition) -> bool:
        """Fetch once and settle what came; whether anything did."""
        sent = self._clock.tick()
        try:
            ranges = partition.acquire(self.name, self._random.choice((1, 10, 100, 500)), self._random.randrange(2))
        except ShareStateError:
            return False
        t = self._clock.tick()
        for one in ranges:
            self._tell({
                "type": "grant", "t": t, "sent": sent, **partition.here, "member": self.name, "first": one.first_offset,
                "last": one.last_offset, "delivery_count": one.delivery_count, "lock_ms": self._lock_ms,
            })  # fmt: skip
        if ranges:
            self._settle(partition, ranges)
        return bool(ranges)

    def _settle(self, partition: Partition, ranges: list[AcquiredRange]) -> None:
        if self.stalls.is_set():
            self.stalls.clear()
            self.leaving.wait(1.3 * self._lock_ms / 1000)
        elif not self._accepts:
            self.leaving.wait(self._random.choice((0, 0, 0.01, 0.1)))
            if self._random.random() < 0.1:
                self._acknowledge(partition, [[one.first_offset, one.last_offset, _RENEW] for one in ranges])
        markers = partition.markers()
        decided = [
            [offset, offset, _GAP if offset in markers else self._kind()]
            for one in ranges
            for offset in range(one.first_offset, one.last_offset + 1)
        ]
        # In one request or several; now and then some are forgotten, and their locks run out.
        parts = 1 if self._accepts else self._random.choice((1, 1, 3))
        size = -(-len(decided) // parts)
        for first in range(0, len(decided), size):
            if self._accepts or self._random.random() > 0.03:
                self._acknowledge(partition, _together(decided[first : first + size]))

    def _kind(self) -> int:
        return 1 if self._accepts else self._random.choices(_KINDS, _WEIGHTS)[0]

    def _acknowledge(self, partition: Partition, ranges: list[list[int]]) -> None:
        asked: dict[str, Any] = {**partition.here, "member": self.name, "ranges": ranges, "sent": self._clock.tick()}
        thread = threading.get_ident()
        self._tell({"type": "asking", "thread": thread, **asked})
        try:
            partition.state.acknowledge_batches(
                self.name, [(first, last, kind) for first, last, kind in ranges], now_ms=self._clock.raw_ms()
            )
            outcome = "ok"
        except (InvalidRecordStateError, InvalidRequestError):
            outcome = "refused"
        except ShareStateError:
            # The disk has failed: nobody knows what it holds.
            outcome = "unknown"
        self._tell({"type": "ack", "thread": thread, "t": self._clock.tick(), **asked, "outcome": outcome})


def _together(decided: list[list[int]]) -> list[list[int]]:
    found: list[list[int]] = []
    for first, last, kind in decided:
        if found and (found[-1][1] + 1, found[-1][2]) == (first, kind):
            found[-1][1] = last
        else:
            found.append([first, last, kind])
    return found
