"""Plays scenarios on a server: those that need a crash have it together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.gateway.upstreams import kraft
from tests.proof.histories import brokers, gateways
from tests.proof.histories.defects import answers, gaps
from tests.proof.histories.defects.scenario import Found, Scenario
from tests.proof.histories.defects.stage import Stage
from tests.proof.histories.system import Server

GATEWAY: Final = "gateway"
SCENARIOS: Final[Mapping[str, Scenario]] = {one.defect: one for one in sorted((*gaps.SCENARIOS, *answers.SCENARIOS))}

#: Nothing runs out by itself where a group does not say so, and a write takes a while: long enough to meet it with a fetch.
_SETTINGS: Final = {
    **kraft.PATIENT,
    "group.share.min.record.lock.duration.ms": "1000",
    "share.coordinator.append.linger.ms": "300",
}


@contextmanager
def opened(system: str, directory: Path) -> Iterator[Server]:
    """A broker of a release, or the gateway over one."""
    if system == GATEWAY:
        with gateways.over_broker(directory, _SETTINGS) as server:
            yield server
    else:
        with brokers.opened(system, directory, _SETTINGS) as server:
            yield server


def play(server: Server, scenarios: Iterable[Scenario]) -> dict[str, Found]:
    """Play scenarios; what each has found, by defect."""
    found: dict[str, Found] = {}
    with Stage(server) as stage:
        scripts = {one.defect: one.script(stage) for one in scenarios}
        while scripts:
            for defect, script in list(scripts.items()):
                try:
                    next(script)
                except StopIteration as end:
                    found[defect] = end.value
                    del scripts[defect]
            if scripts:
                server.process.kill()
                server.process.start()
    return found
