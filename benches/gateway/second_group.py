"""Cost of a second group on the same topic to the upstream: bytes and CPU with one group, and with two."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import ShareConsumer

from benches.gateway import sides
from benches.gateway.latency import RECORDS_A_SECOND, produce
from benches.gateway.records import TOPIC
from benches.gateway.sides import Side, counter
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic

Say = Callable[[str], None]

_BYTES = "share_gateway_upstream_fetch_bytes_total"
_ACKNOWLEDGED = "share_gateway_acknowledged_records_total"
_WARM_UP_S = 3.0
_processes = multiprocessing.get_context("spawn")


def second_group(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """A row for each round and number of groups: what the broker spends while records come at 1,000 a second."""
    seconds = max(5.0, 15.0 / share)
    rows = []
    with sides.running(("C interval",)) as (broker, (side,)):
        create_topic(broker.bootstrap, TOPIC, 6)
        for number in range(min(rounds, 3)):
            for groups in (1, 2):
                row = _measure(side, [f"of-{groups}-{number}-{one}" for one in range(groups)], seconds)
                say(f"{groups} groups: " + ", ".join(f"{name} {value:,.3f}" for name, value in row.items()))
                rows.append({"groups": groups, **row})
    return {"rows": rows}


def _measure(side: Side, groups: list[str], seconds: float) -> dict[str, float]:
    for group in groups:
        configure_group(side.bootstrap, group, **{"share.auto.offset.reset": "latest"})
    members = [_processes.Process(target=_take, args=(side.bootstrap, group)) for group in groups]
    producing = _processes.Process(target=produce, args=(side.upstream, seconds + 60.0))
    for process in (*members, producing):
        process.start()
    try:
        time.sleep(_WARM_UP_S)
        read, taken = counter(side, _BYTES), counter(side, _ACKNOWLEDGED)
        with sides.watch(side) as spent:
            time.sleep(seconds)
        read, taken = counter(side, _BYTES) - read, counter(side, _ACKNOWLEDGED) - taken
        if taken < 0.9 * len(groups) * seconds * RECORDS_A_SECOND:
            raise RuntimeError(f"{len(groups)} groups took {taken:.0f} records in {seconds:.0f} s")
        return {
            "upstream_bytes_s": read / seconds,
            "upstream_cores": spent[0].upstream / seconds,
            "gateway_cores": spent[0].server / seconds,
        }
    finally:
        for process in (*members, producing):
            process.kill()
            process.join()


def _take(bootstrap: str, group: str) -> None:
    """Be a member forever."""
    consumer = ShareConsumer({"bootstrap.servers": bootstrap, "group.id": group, "log_level": 0})
    consumer.subscribe([TOPIC])
    while True:
        consumer.poll(1.0)
