"""Members drain a topic from a real broker, and the books balance; and the books show what does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.gateway.clients.ledger import Ledger
from tests.gateway.clients.members import confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic, produce
from tests.gateway.upstreams import kraft
from tests.kafka.broker import Broker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

RECORDS = 300


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with kraft.with_share_groups(tmp_path_factory.mktemp("model"), kraft.QUICK) as broker:
        yield broker


def test_three_members_settle_every_record(model: Broker) -> None:
    create_topic(model.bootstrap, "jobs", 2)
    configure_group(model.bootstrap, "workers", **{"share.auto.offset.reset": "earliest"})
    produced = {("jobs", partition, offset) for partition in (0, 1) for offset in range(RECORDS)}
    for partition in (0, 1):
        produce(model.bootstrap, "jobs", [b"%d" % number for number in range(RECORDS)], partition=partition, batch=20)
    base = Plan(bootstrap=model.bootstrap, group="workers", topics=["jobs"], weights=(6, 2, 1, 0), commit="mixed")
    plans = [
        base,
        Plan(**{**vars(base), "seed": 1, "stall_after": 50, "stall_seconds": 1.5}),
        Plan(**{**vars(base), "seed": 2, "vanish_after": 60}),
    ]
    with ExitStack() as stack:
        members = [stack.enter_context(confluent(plan, number)) for number, plan in enumerate(plans)]
        members[0].wait_until(lambda _: not Ledger.of(members).open(produced), "every record is settled", 120)
        for member in members:
            member.stop()
        ledger = Ledger.of(members)
    assert not ledger.lost(produced)
    assert not ledger.open(produced)
    assert not ledger.came_again()
    assert not ledger.held_twice()
    assert ledger.outcomes["ACCEPT", None] > RECORDS
    assert ledger.outcomes["RELEASE", None] > 0
