"""The Java members of each release through the gateway, over a broker that has no share groups: their books balance too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.gateway.clients.ledger import Ledger
from tests.gateway.clients.members import JAVA, java_member
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.process import GatewayProcess
from tests.gateway.records import create_topic, produce
from tests.gateway.upstreams import kraft
from tests.kafka.broker import Broker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

RECORDS = 200


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with kraft.without_share_groups(tmp_path_factory.mktemp("upstream")) as broker:
        yield broker


@pytest.fixture(scope="module")
def gateway(upstream: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    settings = {**kraft.SHARE_SETTINGS, **kraft.QUICK}
    with GatewayProcess(tmp_path_factory.mktemp("gateway"), upstream.bootstrap, settings) as process:
        yield process


@pytest.mark.parametrize("version", JAVA)
def test_java_members_settle_every_record(upstream: Broker, gateway: GatewayProcess, version: str) -> None:
    name = f"java-{version}"
    create_topic(upstream.bootstrap, name, 2)
    configure_group(gateway.bootstrap, name, **{"share.auto.offset.reset": "earliest"})
    for partition in (0, 1):
        produce(upstream.bootstrap, name, [b"%d" % number for number in range(RECORDS)], partition=partition, batch=20)
    produced = {(name, partition, offset) for partition in (0, 1) for offset in range(RECORDS)}
    base = Plan(
        bootstrap=gateway.bootstrap, group=name, topics=[name], weights=(6, 2, 1, 2), commit="mixed",
        settings={"max.poll.records": "50"},
    )  # fmt: skip
    # The one decides on each record, the other leaves that to its next poll.
    plans = [base, Plan(**{**vars(base), "seed": 1, "explicit": False})]
    with ExitStack() as stack:
        members = [stack.enter_context(java_member(plan, number, version=version)) for number, plan in enumerate(plans)]
        members[0].wait_until(lambda _: not Ledger.of(members).open(produced), "every record is settled", 120)
        assert [member.stop() for member in members] == [0, 0]
        ledger = Ledger.of(members)
        assert not [error for member in members for error in member.errors()]
    assert not ledger.lost(produced)
    assert not ledger.came_again()
    assert not ledger.held_twice()
