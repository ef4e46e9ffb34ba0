"""A topic of records, and members that settle them: what every test of members begins with."""

from __future__ import annotations

from contextlib import ExitStack

from tests.gateway.clients.ledger import Ledger, Place
from tests.gateway.clients.members import java_member
from tests.gateway.clients.plan import Plan
from tests.gateway.records import create_topic, produce


def fill(bootstrap: str, topic: str, records: int) -> set[Place]:
    """Make a topic of two partitions with so many records each, in batches of 20; their places."""
    create_topic(bootstrap, topic, 2)
    for partition in (0, 1):
        produce(bootstrap, topic, [b"%d" % number for number in range(records)], partition=partition, batch=20)
    return {(topic, partition, offset) for partition in (0, 1) for offset in range(records)}


def settle_with_java(plans: list[Plan], version: str, produced: set[Place]) -> Ledger:
    """Have a Java member a plan settle every record, and expect books that balance and no error; the books."""
    with ExitStack() as stack:
        members = [stack.enter_context(java_member(plan, number, version=version)) for number, plan in enumerate(plans)]
        members[0].wait_until(lambda _: not Ledger.of(members).open(produced), "every record is settled", 120)
        assert [member.stop() for member in members] == [0] * len(plans)
        ledger = Ledger.of(members)
        assert not [error for member in members for error in member.errors()]
    assert not ledger.lost(produced)
    assert not ledger.came_again()
    assert not ledger.held_twice()
    return ledger
