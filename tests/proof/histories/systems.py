"""The systems under test, by name: each with the faults that it can have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic
from tests.kafka.home import VERSIONS
from tests.kafka.roundtrip.workload import BROKER_SETTINGS
from tests.proof.histories import brokers, faults, gateways, kfakes
from tests.proof.histories.engine import play as engine
from tests.proof.histories.run import GROUP, PARTITIONS, TOPIC, Run
from tests.proof.histories.system import Open, Order, Played, System


def play_on(open_: Open, order: Order) -> Played:
    """Play one run on a server, of whatever kind."""
    lock_ms = order.rng.choice((1000, 2000, 3000))
    settings: Mapping[str, str] = {
        **BROKER_SETTINGS,
        "group.share.min.record.lock.duration.ms": "1000",
        "group.share.record.lock.duration.ms": str(lock_ms),
    }
    with open_(order.directory, settings) as server:
        create_topic(server.upstream, TOPIC, PARTITIONS)
        # Where the cluster knows of transactions, nobody is given what was aborted.
        isolation = "read_committed" if set(order.faults) & set(faults.TRANSACTIONS) else "read_uncommitted"
        configure_group(server.direct, GROUP, **{"share.auto.offset.reset": "earliest", "share.isolation.level": isolation})
        with Run(server, order.rng, faults.FAULTS, lock_ms=lock_ms, kinds=order.kinds) as run:
            run.play(order.seconds, order.faults)
    return Played(run.all_lines(), run.faults, len(run.members), run.besides)


_ON_ALL: Final = (*faults.MEMBERS, *faults.PROCESS, *faults.NETWORK, *faults.GROUP)
#: A program of Go asks the kernel for the time, so kfake has the system's clock.
_ON_SERVERS: Final = (*_ON_ALL, *faults.CLOCK)
#: A mock cluster deletes no records, and keeps nothing of transactions.
_OF_BROKERS: Final = (*faults.LOG, *faults.TRANSACTIONS)
_ON_BROKERS: Final = (*_ON_SERVERS, *_OF_BROKERS)

_ALL: Final = (
    System("engine", engine.play, tuple(engine.FAULTS)),
    *(
        System(f"kafka-{version}", partial(play_on, partial(brokers.opened, version)), _ON_BROKERS, needs_kafka=True)
        for version in VERSIONS
    ),
    System("gateway", partial(play_on, gateways.over_mock), _ON_SERVERS),
    System("gateway-over-4.4.0", partial(play_on, gateways.over_broker), (*_ON_BROKERS, *faults.UPSTREAM), needs_kafka=True),
    System("kfake", partial(play_on, kfakes.opened), (*_ON_ALL, *_OF_BROKERS)),
)

SYSTEMS: Final[Mapping[str, System]] = {system.name: system for system in _ALL}
