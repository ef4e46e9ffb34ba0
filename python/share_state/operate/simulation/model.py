"""The model of a group's world: what a history was reduced to, and what is assumed where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from share_state.operate.simulation.arrivals import Arrivals
from share_state.operate.simulation.failures import Failures
from share_state.operate.simulation.processing import Processing
from share_state.operate.simulation.recorded import Place

__all__ = ["ASSUMPTIONS", "Model"]

#: Assumptions of every simulation; the help and the pages repeat them.
ASSUMPTIONS: Final = (
    "A member fetches again as soon as it has answered; it answers for all records of a fetch at once.",
    "The number of members does not change, and none of them crashes.",
    "All members are alike: any of them may stall, and work does not slow down when others work.",
    "An acquisition is not in the log: when a fetch began follows from the ends before it and the number of members.",
    "A delivery that lasted as long as the lock, and of which every record returned, is one whose lock expired.",
    "A record that was never accepted is poison with a probability that its releases give; poison fails whoever takes it.",
    "Offsets that were never delivered hold no records, and are left out.",
    "Every write of state is confirmed at once. Locks are not renewed.",
)
#: Assumption about arrivals; the source decides which of the two holds.
BACKLOG: Final = "All records are available from the beginning: no end offsets are known."
PRODUCED: Final = "Records became available evenly between the measurements of the log end offset."


@dataclass(frozen=True, slots=True)
class Model:
    """Facts that do not depend on the settings.

    Attributes:
        group: the id of the group.
        offsets: the offsets of the records of each share partition, ascending.
        arrivals: when they became available; those of a share partition that is not in it are a backlog.
        begin_ms: when the first fetch began, in ms since the epoch.
        processing: how long members work.
        failures: how deliveries end.
        log_batch: how many neighbouring records the producer wrote as one batch.
        unexplained: how many of the recorded fetches do not fit into it.
        unknown_work: why the log does not tell how long members work, and ``processing`` is a guess; otherwise empty.
    """

    group: str
    offsets: Mapping[Place, Sequence[int]]
    arrivals: Mapping[Place, Arrivals]
    begin_ms: float
    processing: Processing
    failures: Failures
    log_batch: int = 1
    unexplained: int = 0
    unknown_work: str = ""

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(map(len, self.offsets.values()))

    def assumptions(self) -> list[str]:
        """Return what is assumed."""
        return [*ASSUMPTIONS, PRODUCED if any(one.known for one in self.arrivals.values()) else BACKLOG]
