"""The ways to run a scenario: on which in-flight store, and in which form its writes are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from share_state.arguments import InFlightStore

__all__ = ["FORMS", "STORES", "Way", "ways"]

STORES: tuple[InFlightStore, ...] = ("twin", "leaves")
#: Writes are polled and their answers told; or a persister answers within the call, where Kafka's was recorded to answer at once.
FORMS = ("queued", "inline")


class Way(NamedTuple):
    """Store and form in which a scenario is run."""

    store: InFlightStore
    form: str

    def __str__(self) -> str:
        return f"{self.store} {self.form}"

    @property
    def is_inline(self) -> bool:
        """True if a persister answers within the call."""
        return self.form == "inline"


def ways(stores: Sequence[InFlightStore], forms: Sequence[str]) -> list[Way]:
    """Every store in every form."""
    return [Way(store, form) for store in stores for form in forms]
