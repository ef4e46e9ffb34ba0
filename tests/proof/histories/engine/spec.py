"""Settings of the engine's process, as JSON: how to start, and what to do meanwhile."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

from share_state.arguments import Sync

GROUP = "workers"
TOPIC = "orders"
TOPIC_ID = "11111111-2222-3333-4444-555555555555"


class LogBatch(NamedTuple):
    """A batch of the log, offsets inclusive."""

    first: int
    last: int
    #: -1 without a transaction.
    producer_id: int = -1
    #: The marker that ends a transaction: ``COMMIT`` or ``ABORT``.
    control: str | None = None
    #: True if its transaction was aborted.
    aborted: bool = False


@dataclass(slots=True)
class Spec:
    """Settings of one start of the process."""

    path: str
    seed: int
    lock_ms: int
    delivery_limit: int
    #: Offsets from the start offset to the end of the window.
    window: int
    #: See ``StateStore``.
    sync: Sync
    segment_bytes: int
    #: Greater at each start.
    leader_epoch: int
    #: Prefix of the members' names at this start.
    prefix: str
    threads: int
    #: True if the records of aborted transactions are left out.
    read_committed: bool
    #: When the clock starts, nanoseconds.
    floor: int
    #: The log of each partition, and where it starts.
    logs: list[list[LogBatch]]
    log_starts: list[int]
    #: By partition: where to set the start offset, before anybody works.
    resets: dict[int, int] = field(default_factory=dict)

    def line(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Self:
        """From JSON."""
        given: dict[str, Any] = json.loads(text)
        given["logs"] = [[LogBatch(*one) for one in log] for log in given["logs"]]
        given["resets"] = {int(partition): offset for partition, offset in given["resets"].items()}
        return cls(**given)
