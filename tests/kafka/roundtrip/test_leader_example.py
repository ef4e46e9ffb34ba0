"""The engine in front of a cluster: examples/leader_with_kafka is killed, started again, and fenced."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.kafka.broker import Broker
from tests.kafka.home import REPOSITORY
from tests.kafka.roundtrip.tools import described, share_groups
from tests.kafka.roundtrip.workload import create_topic

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(200)]

GROUP, TOPIC, RECORDS = "led-by-us", "led", 300


def test_a_leader_is_killed_goes_on_and_is_fenced(kafka_440: Broker) -> None:
    create_topic(kafka_440, TOPIC, 1)
    _produce(kafka_440, RECORDS)
    reset = ("--reset-offsets", "--group", GROUP, "--topic", TOPIC, "--to-earliest", "--execute")
    assert TOPIC in share_groups(kafka_440, *reset)

    with _leader(kafka_440, 1, "--die-after", "4") as first:
        *_, last = list(_lines(first))
        assert first.wait(60) == -signal.SIGKILL
    assert 0 < last["start_offset"] < RECORDS
    assert last["lag"] > 0
    assert described(kafka_440, GROUP) == {(TOPIC, 0): (str(last["start_offset"]), str(last["lag"]))}

    with _leader(kafka_440, 2) as second:
        lines = _lines(second)
        # What was settled right at the start offset is passed when the state is loaded.
        assert last["start_offset"] <= next(lines)["leading_from"] < RECORDS
        last = next(line for line in lines if line["lag"] == 0)
        assert described(kafka_440, GROUP) == {(TOPIC, 0): (str(last["start_offset"]), "0")}

        # A third leader reads the state; the second finds out at its next write.
        with _leader(kafka_440, 3) as third:
            assert "leading_from" in next(_lines(third))
            _produce(kafka_440, 20)
            assert list(lines)[-1] == {"fenced": True}
            assert second.wait(60) == 1
            last = next(line for line in _lines(third) if line["lag"] == 0)
            assert last["start_offset"] > RECORDS
            assert described(kafka_440, GROUP) == {(TOPIC, 0): (str(last["start_offset"]), "0")}


def _produce(broker: Broker, count: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for number in range(count):
        producer.produce(TOPIC, b"%d" % number)
    assert producer.flush(60) == 0


@contextmanager
def _leader(broker: Broker, leader_epoch: int, *options: str) -> Iterator[subprocess.Popen[str]]:
    command = ["examples.leader_with_kafka.leader", broker.bootstrap, GROUP, TOPIC, "--leader-epoch", str(leader_epoch)]
    process = subprocess.Popen(
        [sys.executable, "-m", *command, *options], cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    for line in process.stdout:
        yield json.loads(line)
