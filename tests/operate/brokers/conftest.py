"""A broker of each release with share groups at work, which every test of the operators' tools looks at.

Tests add topics and groups of their own, under names of their own; none touches the groups below.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.clients.members import confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic, produce
from tests.gateway.upstreams import kraft
from tests.kafka.broker import Broker, running
from tests.kafka.home import VERSIONS
from tests.kafka.roundtrip.workload import BROKER_SETTINGS
from tests.operate.brokers import DELIVERIES, RECORDS


@pytest.fixture(scope="package", params=VERSIONS)
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Three groups have been at work: one has accepted everything, one has released a record again and again, one is gone."""
    directory = tmp_path_factory.mktemp("live")
    with running(request.param, directory, {**BROKER_SETTINGS, **kraft.SHARE_SETTINGS}) as broker:
        for topic, records in (("orders", RECORDS), ("bad", 1)):
            create_topic(broker.bootstrap, topic, 1)
            produce(broker.bootstrap, topic, [b"%d" % number for number in range(records)])
        plans = [
            Plan(bootstrap=broker.bootstrap, group="healthy", topics=["orders"], records=RECORDS),
            Plan(bootstrap=broker.bootstrap, group="poisoned", topics=["bad"], weights=(0, 1, 0, 0), records=DELIVERIES),
            Plan(bootstrap=broker.bootstrap, group="gone", topics=["orders"], vanish_after=1),
        ]
        for plan in plans:
            configure_group(broker.bootstrap, plan.group, **{"share.auto.offset.reset": "earliest"})
            with confluent(plan, 0) as member:
                member.wait(60)
        yield broker
