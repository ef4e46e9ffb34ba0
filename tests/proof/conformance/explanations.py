"""Deliberate differences in a recording of a share partition, as the judge recognises them, and what follows from them.

The judge (``rust/proof/judge``) has a predicate for each way that a deliberate difference shows. It plays a recording as it plays
its own sequences, with what Kafka was recorded to give in place of Kafka's side. Where the runner finds a difference, it asks the
judge whether that is one: at the same operation, or at an earlier one from which on the two states differ. The next leader reads
the recorded state, so it is compared again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .judged import Explained
from .report import Deliberate


class Explanations:
    """The deliberate differences of one scenario, played in one way."""

    def __init__(self, ask: Callable[[], Sequence[Explained]]) -> None:
        self._ask = ask
        self._begun: dict[int, int] = {}
        #: Share partitions whose state differs on purpose: nothing is compared there.
        self.apart: set[int] = set()
        self.met: list[Deliberate] = []

    def begin(self, partition: int, index: int) -> None:
        """A share partition is made anew by this operation."""
        self._begun[partition] = index
        self.apart.discard(partition)

    def explains(self, partition: int, index: int) -> bool:
        """Returns true if a difference of a share partition at this operation is a deliberate one, or follows from one."""
        begun = self._begun.get(partition, 0)
        for one in self._ask():
            follows = one.op_index == index or (one.apart and one.op_index < index)
            if one.partition != partition or one.op_index < begun or not follows:
                continue
            self.met.append(Deliberate(one.op_index, one.rule, one.what))
            if one.apart:
                self.apart.add(partition)
            return True
        return False
