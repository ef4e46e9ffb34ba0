"""What a gateway may answer otherwise than a broker does, each with its reason. Everything else is a difference."""

from __future__ import annotations

from tests.gateway.differential.duel import Known

#: The rules are those of the page of deliberate differences; here is where they show on the wire.
KNOWN: tuple[Known, ...] = (
    Known(
        "ShareGroupHeartbeat",
        r"errorCode",
        lambda real, other: (real, other) == (69, 25),
        "a member of a lost group is told to join again (25): 69 would end its client",
    ),
    Known(
        "DescribeShareGroupOffsets",
        r"groups\[.*\]\.startOffset",
        lambda real, other: isinstance(real, int) and isinstance(other, int) and other >= real,
        "the start offset is that of the live share partition, which the written state follows",
    ),
)
