"""Time of a record from its producer to a member at 1,000 records a second, and of a member until it is served."""

from __future__ import annotations

import multiprocessing
import random
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, Message, Producer, ShareConsumer

from benches.gateway import sides
from benches.gateway.records import TOPIC
from benches.gateway.sides import Side
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic

Say = Callable[[str], None]

RECORDS_A_SECOND = 1_000
_PARTITIONS = 6
_QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
_NAMES = ("A", "B", "C interval", "C always")
_INSTANT = struct.Struct(">q")
#: Time at the beginning that is not counted: members join, connections open.
_WARM_UP_S = 2.0
_POLL_S = 1.0
# A process of its own, so that the producer and the member do not wait for each other.
_processes = multiprocessing.get_context("spawn")


def latency(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """Milliseconds from produce to poll by quantile, and from subscribe to the first record, a row a side and round."""
    seconds = max(5, 20 // share)
    rows = []
    with sides.running(_NAMES) as (broker, found):
        create_topic(broker.bootstrap, TOPIC, _PARTITIONS)
        for number in range(rounds):
            for side in random.sample(found, len(found)):
                row = _measure(side, f"latency-{side.name.replace(' ', '-')}-{number}", seconds)
                say(f"{side.name}: " + ", ".join(f"{name} {value:,.1f}" for name, value in row.items()))
                rows.append({"side": side.name, **row})
    return {"records_a_second": RECORDS_A_SECOND, "rows": rows}


def _measure(side: Side, group: str, seconds: int) -> dict[str, float]:
    producing = _processes.Process(target=produce, args=(side.upstream, seconds + _WARM_UP_S + 10))
    producing.start()
    try:
        with _member(side, group) as poll:
            began = time.monotonic_ns()
            while not poll():
                pass
            first = time.monotonic_ns()
            waited: list[int] = []
            start = first + int(_WARM_UP_S * 1e9)
            with sides.watch(side) as spent:
                while (now := time.monotonic_ns()) < start + seconds * 10**9:
                    messages = poll()
                    now = time.monotonic_ns()
                    if now >= start:
                        waited += [now - _INSTANT.unpack_from(message.value() or b"")[0] for message in messages]
    finally:
        producing.kill()
        producing.join()
    waited.sort()
    if len(waited) < seconds * RECORDS_A_SECOND * 0.9:
        raise RuntimeError(f"{side.name}: {len(waited)} records in {seconds} s")
    quantiles = {f"{name}_ms": waited[int(len(waited) * q)] / 1e6 for name, q in _QUANTILES.items()}
    return {
        **quantiles,
        "first_record_ms": (first - began) / 1e6,
        "server_cpu_s": spent[0].server / (seconds + _WARM_UP_S),
        "upstream_cpu_s": spent[0].upstream / (seconds + _WARM_UP_S),
    }


@contextmanager
def _member(side: Side, group: str) -> Iterator[Callable[[], list[Message]]]:
    """A member of a consumer group or of a share group; gives the call that takes what is there."""
    settings: dict[str, Any] = {"bootstrap.servers": side.bootstrap, "group.id": group, "log_level": 0}
    if side.name == "A":
        plain = Consumer({**settings, "auto.offset.reset": "latest"})
        plain.subscribe([TOPIC])
        try:
            # `consume` waits until it has as many as it may give; `poll` gives the first that comes.
            yield lambda: [message] if (message := plain.poll(_POLL_S)) is not None else []
        finally:
            plain.close()
        return
    configure_group(side.bootstrap, group, **{"share.auto.offset.reset": "latest"})
    sharing = ShareConsumer(settings)
    sharing.subscribe([TOPIC])
    try:
        yield lambda: [message for message in sharing.poll(_POLL_S) if message.error() is None]
    finally:
        sharing.close()


def produce(upstream: str, seconds: float) -> None:
    """Produce evenly; each value begins with the instant."""
    producer = Producer({"bootstrap.servers": upstream, "linger.ms": 0, "log_level": 0})
    began = time.monotonic()
    for number in range(int(seconds * RECORDS_A_SECOND)):
        while (left := began + number / RECORDS_A_SECOND - time.monotonic()) > 0:
            time.sleep(left)
        producer.produce(TOPIC, _INSTANT.pack(time.monotonic_ns()).ljust(100, b"x"), partition=number % _PARTITIONS)
        producer.poll(0)
    producer.flush()
