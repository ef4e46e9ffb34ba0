"""Plan of a member, and the lines in which it reports what it did.

A member prints one JSON object a line, each with ``event`` and ``at`` (nanoseconds of the system's monotonic clock, which is one
for all processes):

* ``started``: ``pid``.
* ``received``: ``records`` of one poll, each ``[topic, partition, offset, delivery count]``.
* ``acknowledging``: ``records``, each ``[topic, partition, offset, type]``, before they are sent.
* ``acknowledged``: ``records``, each ``[topic, partition, offset]``, that the server has answered; ``error``, a code or null.
* ``error``: what a call raised, as ``text``, with ``code`` (null where there is none) and ``fatal``.
* ``ended``: the consumer is closed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A member's work. It ends by itself where the plan says so, else when its standard input ends."""

    bootstrap: str
    group: str
    topics: list[str]
    #: Acknowledge each record, or leave it to the next poll.
    explicit: bool = True
    #: Weights by which a record is accepted, released, rejected, renewed (only Java renews, and then accepts).
    weights: tuple[int, int, int, int] = (1, 0, 0, 0)
    #: Seed of the choice among them, which is made by the record and its delivery count, whenever it comes.
    seed: int = 0
    #: Way in which explicit acknowledgements are sent: by "sync" or "async" commits, or with the next "poll"; "mixed" is all
    #: three.
    commit: str = "sync"
    #: Ends when so many records were received; 0 never.
    records: int = 0
    #: Ends when so many seconds brought no record; 0 never.
    idle_seconds: float = 0.0
    #: After every so many records it sits on what it has for ``stall_seconds``; 0 never.
    stall_after: int = 0
    stall_seconds: float = 0.0
    #: After so many records it kills itself with some in its hands; 0 never.
    vanish_after: int = 0
    poll_seconds: float = 0.2
    #: More settings of the client, in its library's names.
    settings: dict[str, str] = field(default_factory=dict)

    def line(self) -> str:
        """The plan as JSON, in one line."""
        return json.dumps(asdict(self))
