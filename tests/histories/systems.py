"""The systems under test, by name: each with the faults that it can have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from tests.histories import brokers, faults, gateways, kfakes
from tests.histories.engine import play as engine
from tests.histories.run import play_on
from tests.histories.system import System
from tests.kafka.home import VERSIONS

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
