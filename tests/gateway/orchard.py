"""A gateway over two brokers and two topics whose logs a test knows by heart, with rules of access that it may change.

``plums`` has three partitions: records 0 to 9 in two batches, records 0 to 4 of a transaction that is open, and one that nobody
leads. ``pears`` has one, with records 0 and 1. Partitions 0 are led by broker 1, partition 1 by broker 2.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from share_state.gateway import Access, Rule, ShareGateway
from tests.gateway.hostile import HostileUpstream
from tests.gateway.serving import MEMBER, serving
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import Connection

PLUMS, PEARS, NOWHERE = "plums", "pears", "nowhere"
NO_ID = "00000000-0000-0000-0000-000000000000"
#: Ids as messages have them.
IDS = {PEARS: "00000000-0000-4000-8000-000000000001", PLUMS: "00000000-0000-4000-8000-000000000002"}
ME = "User:ANONYMOUS"
#: Timestamps of the two batches of plums 0: records 0 to 3, and 4 to 9.
EARLY, LATE = 1_600_000_000_000, 1_700_000_000_000


class Rules(Access):
    """Rules that a test may set, for itself alone: everything is allowed before and after."""

    def __init__(self) -> None:
        super().__init__()

    @contextlib.contextmanager
    def only(self, *rules: Rule) -> Iterator[None]:
        """Have these, and no others, for a while."""
        self._rules = list(rules)
        self._known.clear()
        try:
            yield
        finally:
            self._rules = None
            self._known.clear()


class Orchard(NamedTuple):
    """The upstream, the gateway over it, a connection to that one, and its rules."""

    upstream: HostileUpstream
    gateway: ShareGateway
    connection: Connection
    rules: Rules

    def ask(self, name: str, version: int, message: Message) -> Message:
        """Ask the gateway; every answer says that nobody has to wait, where it says so at all."""
        answer = self.connection.ask(name, version, message)
        assert answer.pop("throttleTimeMs", 0) == 0
        return answer

    def join(self, group: str, topics: list[str], member: str = MEMBER) -> Message:
        """The first heartbeat of a member."""
        return self.beat(group, 0, topics, member)

    def beat(self, group: str, epoch: int, topics: list[str] | None = None, member: str = MEMBER) -> Message:
        """A heartbeat."""
        asked = {"groupId": group, "memberId": member, "memberEpoch": epoch, "rackId": None, "subscribedTopicNames": topics}
        return self.ask("ShareGroupHeartbeat", 1, asked)


def plant(upstream: HostileUpstream) -> None:
    """Make both topics."""
    upstream.create(PLUMS, 3)
    upstream.create(PEARS)
    with upstream.lock:
        # Known ones: topics are told in the order of their ids.
        for name, topic_id in IDS.items():
            upstream.topics[name].topic_id = topic_id
        log = upstream.topics[PLUMS].partitions[0].log
        log.append([b"x"] * 4, leader_epoch=0, timestamp=EARLY)
        log.append([b"x"] * 6, leader_epoch=0, timestamp=LATE)
    upstream.append(PLUMS, 1, [b"x"] * 5, producer_id=7)
    upstream.append(PEARS, 0, [b"x"] * 2)
    upstream.move_leader(PLUMS, 2, -1)


@contextlib.contextmanager
def orchard(path: Path, **options: Any) -> Iterator[Orchard]:
    """Serve it."""
    rules = Rules()
    with HostileUpstream(2) as upstream:
        plant(upstream)
        with (
            serving(upstream.bootstrap, path, access=rules, **options) as gateway,
            Connection(gateway.bootstrap_servers) as connection,
        ):
            yield Orchard(upstream, gateway, connection, rules)
