"""Members through the gateway: the books of each Java release balance, and records meet the fate that they meet on a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

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
    configure_group(gateway.bootstrap, name, **{"share.auto.offset.reset": "earliest"})
    produced = fill(upstream.bootstrap, name, RECORDS)
    base = Plan(
        bootstrap=gateway.bootstrap, group=name, topics=[name], weights=(6, 2, 1, 2), commit="mixed",
        settings={"max.poll.records": "50"},
    )  # fmt: skip
    # The one decides on each record, the other leaves that to its next poll.
    plans = [base, Plan(**{**vars(base), "seed": 1, "explicit": False})]
    settle_with_java(plans, version, produced)


@pytest.mark.parametrize("member", [confluent, java_member], ids=["confluent", "java"])
def test_a_record_meets_the_same_fate_as_on_a_broker(member: Callable[[Plan], Member], tmp_path: Path) -> None:
    """A member, a plan and a topic: every delivery, with its count, and what is left in the end."""
    (tmp_path / "broker").mkdir()
    with ExitStack() as stack:
        broker = stack.enter_context(kraft.with_share_groups(tmp_path / "broker", kraft.QUICK))
        settings = {**kraft.SHARE_SETTINGS, **kraft.QUICK}
        gateway = stack.enter_context(GatewayProcess(tmp_path / "gateway", broker.bootstrap, settings))
        produced = fill(broker.bootstrap, "jobs", RECORDS)
        fates = []
        for bootstrap in (broker.bootstrap, gateway.bootstrap):
            configs = {"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "30000"}
            configure_group(bootstrap, "workers", **configs)
            plan = Plan(bootstrap=bootstrap, group="workers", topics=["jobs"], weights=(3, 4, 1, 0), commit="mixed")
            with member(plan) as one:
                one.wait_until(lambda one: not Ledger.of([one]).open(produced), "every record is settled", 120)
                assert one.stop() == 0
                fates.append(Ledger.of([one]).fates())
            wait_until(partial(_is_finished, bootstrap), "all is settled, and nothing left")
        assert fates[0] == fates[1]
        assert fates[0].keys() == produced


def _is_finished(bootstrap: str) -> bool:
    """Returns true if both partitions have no lag. Start offsets may differ: a broker tells the one before the last write."""
    return all(lag(bootstrap, "workers", TopicPartition("jobs", partition)) == 0 for partition in (0, 1))
