"""`peek` and `trace` on a cluster that asks who is there: who may reads the records, who may not is told what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from share_state import SharePartitionKey, WriteState
from share_state.kafka import KafkaPersister
from tests.cli_in_process import Ran, run_here
from tests.gateway.records import produce
from tests.kafka import home
from tests.kafka.listeners import LEADER, READER, SCRAM_USER, USERS
from tests.kafka.real_broker import RealBroker
from tests.kafka.roundtrip.test_secured_source import certificate

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

TOPIC = "records-in-secret"


@pytest.fixture(scope="module")
def broker(real_brokers: Callable[[str], RealBroker]) -> RealBroker:
    """A broker with principals, a record and what a group did with it."""
    real = real_brokers(home.JUDGE)
    real.make_principals_known()
    key = SharePartitionKey("secretive", real.create_topic(TOPIC, 1), 0)
    produce(real.bootstrap, TOPIC, [b"first", b"second"])
    with KafkaPersister(real.bootstrap) as kafka:
        kafka.reset_state(key, 1, 0)
        kafka.write_state(key, WriteState(1, 0, 0, 0, [(0, 0, 0, 2)]))
    return real


def shown(broker: RealBroker, directory: Path, command: str, lines: list[str], *arguments: str, port: int | None = None) -> Ran:
    file = directory / "client.properties"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    address = f"kafka://127.0.0.1:{port or broker.ports.secured}"
    return run_here(command, address, "secretive", TOPIC, *arguments, "--command-config", file, "--format", "jsonl")


@pytest.mark.parametrize("way", ["PLAIN", "SCRAM-SHA-512", "certificate"])
def test_who_may_sees_the_record(way: str, broker: RealBroker, tmp_path: Path) -> None:
    port = broker.ports.mutual if way == "certificate" else None
    lines = {
        "PLAIN": broker.password("PLAIN", "admin", USERS["admin"]),
        "SCRAM-SHA-512": broker.password("SCRAM-SHA-512", *SCRAM_USER),
        "certificate": certificate(broker, LEADER),
    }[way]
    peeked = shown(broker, tmp_path, "peek", lines, port=port)
    assert (peeked.returncode, peeked.stderr) == (0, "")
    row = json.loads(peeked.stdout)
    assert (row["offset"], row["value"]["text"], row["delivery_count"]) == (0, "first", 2)
    traced = shown(broker, tmp_path, "trace", lines, "0", "0", port=port)
    assert (traced.returncode, traced.stderr) == (0, "")
    assert json.loads(traced.stdout)["produced_timestamp"] == row["timestamp"]


def test_who_may_not_is_told_what_is_missing(broker: RealBroker, tmp_path: Path) -> None:
    lines = broker.password("PLAIN", READER, USERS[READER])
    for command, arguments in (("peek", ()), ("trace", ("0", "0"))):
        ran = shown(broker, tmp_path, command, lines, *arguments)
        assert (ran.returncode, ran.stdout) == (3, "")
        assert ran.stderr.endswith(f": DESCRIBE on the topic {TOPIC} is missing\n")
        assert "secret=" not in ran.stderr
