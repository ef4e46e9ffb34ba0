"""Members drain a topic from a real broker, and the books balance; and the books show what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from confluent_kafka import TopicPartition

from tests.gateway.clients.jobs import fill, settle_with_java
from tests.gateway.clients.ledger import Ledger, Place
from tests.gateway.clients.members import JAVA, Member, confluent, java_member
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group, lag
from tests.gateway.patience import wait_until
from tests.gateway.upstreams import kraft
from tests.kafka.broker import Broker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

RECORDS = 300


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with kraft.with_share_groups(tmp_path_factory.mktemp("model"), kraft.QUICK) as broker:
        yield broker


def filled(model: Broker, topic: str, group: str) -> set[Place]:
    """A topic with records in two partitions for a group that begins with the first; their places."""
    configure_group(model.bootstrap, group, **{"share.auto.offset.reset": "earliest"})
    return fill(model.bootstrap, topic, RECORDS)


@pytest.mark.parametrize("version", JAVA)
@pytest.mark.parametrize("explicit", [True, False], ids=["explicit", "implicit"])
def test_java_members_settle_every_record(model: Broker, version: str, explicit: bool) -> None:
    name = f"{version}-{explicit}"
    produced = filled(model, name, name)
    base = Plan(
        bootstrap=model.bootstrap, group=name, topics=[name], explicit=explicit, weights=(6, 2, 1, 2), commit="mixed",
        settings={"max.poll.records": "50"},
    )  # fmt: skip
    limited = {"max.poll.records": "20", "share.acquire.mode": "record_limit"}
    plans = [base, Plan(**{**vars(base), "seed": 1, "settings": limited})]
    ledger = settle_with_java(plans, version, produced)
    assert (ledger.outcomes["RENEW", None] > 0) == explicit


def settled(model: Broker, group: str, place: TopicPartition) -> bool:
    return lag(model.bootstrap, group, place) == 0


@pytest.mark.parametrize("member", [confluent, java_member], ids=["confluent", "java"])
def test_the_fate_of_a_record_is_the_same_every_time(model: Broker, member: Callable[[Plan], Member]) -> None:
    name = f"fate-{member.__name__}"
    produced = filled(model, name, name)
    fates = []
    for group in (name, f"{name}-again"):
        configure_group(
            model.bootstrap, group, **{"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "30000"}
        )
        plan = Plan(bootstrap=model.bootstrap, group=group, topics=[name], weights=(3, 4, 1, 0), commit="mixed")
        with member(plan) as one:
            one.wait_until(lambda one: not Ledger.of([one]).open(produced), "every record is settled", 120)
            assert one.stop() == 0
            fates.append(Ledger.of([one]).fates())
        places = [TopicPartition(name, partition) for partition in (0, 1)]
        for place in places:
            wait_until(partial(settled, model, group, place), f"nothing is left of {place}")
    assert fates[0] == fates[1]
    assert {kind for _, kind in fates[0].values()} == {"ACCEPT", "REJECT", "EXHAUSTED"}
    assert len({count for count, _ in fates[0].values()}) == 5


def test_three_members_settle_every_record(model: Broker) -> None:
    produced = filled(model, "jobs", "workers")
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
