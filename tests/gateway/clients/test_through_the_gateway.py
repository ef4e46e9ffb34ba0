"""Members through the gateway: the books of each Java release balance, and records meet the fate that they meet on a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from confluent_kafka import TopicPartition

from tests.gateway.clients.jobs import fill, settle_with_java
from tests.gateway.clients.ledger import Ledger
from tests.gateway.clients.members import JAVA, Member, confluent, java_member
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group, lag
from tests.gateway.patience import wait_until
from tests.gateway.process import GatewayProcess
from tests.gateway.upstreams import kraft
from tests.kafka.broker import Broker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

RECORDS = 200


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The model, and the upstream of the gateway as well: their groups have nothing to do with each other."""
    with kraft.with_share_groups(tmp_path_factory.mktemp("broker"), kraft.QUICK) as running:
        yield running


@pytest.fixture(scope="module")
def gateway(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    settings = {**kraft.SHARE_SETTINGS, **kraft.QUICK}
    with GatewayProcess(tmp_path_factory.mktemp("gateway"), broker.bootstrap, settings) as process:
        yield process


@pytest.mark.parametrize("version", JAVA)
def test_java_members_settle_every_record(broker: Broker, gateway: GatewayProcess, version: str) -> None:
    name, own = f"java-{version}", f"java-{version}-own"
    configure_group(gateway.bootstrap, name, **{"share.auto.offset.reset": "earliest"})
    produced = fill(broker.bootstrap, name, RECORDS) | fill(broker.bootstrap, own, RECORDS)
    base = Plan(
        bootstrap=gateway.bootstrap, group=name, topics=[name, own], weights=(6, 2, 1, 2), commit="mixed",
        settings={"max.poll.records": "50"},
    )  # fmt: skip
    limited = {"max.poll.records": "20", "share.acquire.mode": "record_limit"}
    # The one decides on each record and has a topic of its own, the other leaves that to its next poll.
    plans = [base, Plan(**{**vars(base), "topics": [name], "seed": 1, "explicit": False, "settings": limited})]
    assert settle_with_java(plans, version, produced).outcomes["RENEW", None] > 0


@pytest.mark.parametrize("member", [confluent, java_member], ids=["confluent", "java"])
def test_a_record_meets_the_same_fate_as_on_a_broker(
    broker: Broker, gateway: GatewayProcess, member: Callable[[Plan], Member]
) -> None:
    """A member, a plan and a topic: every delivery, with its count, and what is left in the end."""
    name = f"fate-{member.__name__}"
    produced = fill(broker.bootstrap, name, RECORDS)
    fates = []
    for bootstrap in (broker.bootstrap, gateway.bootstrap):
        configure_group(bootstrap, name, **{"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "30000"})
        plan = Plan(bootstrap=bootstrap, group=name, topics=[name], weights=(3, 4, 1, 0), commit="mixed")
        with member(plan) as one:
            one.wait_until(lambda one: not Ledger.of([one]).open(produced), "every record is settled", 120)
            assert one.stop() == 0
            fates.append(Ledger.of([one]).fates())
        wait_until(partial(_is_finished, bootstrap, name), "all is settled, and nothing left")
    assert fates[0] == fates[1]
    assert fates[0].keys() == produced
    assert {kind for _, kind in fates[0].values()} == {"ACCEPT", "REJECT", "EXHAUSTED"}


def _is_finished(bootstrap: str, name: str) -> bool:
    """Returns true if both partitions have no lag. Start offsets may differ: a broker tells the one before the last write."""
    return all(lag(bootstrap, name, TopicPartition(name, partition)) == 0 for partition in (0, 1))
