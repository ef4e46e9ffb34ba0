"""The commands on a cluster that asks who is there: settings from a file, by every way in, and who is kept out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from share_state import SharePartitionKey, WriteState
from share_state.cli.app import app
from share_state.kafka import KafkaPersister
from share_state.operate.analysis.anomaly import AnomalyConfig
from share_state.operate.reading import cluster
from tests.kafka import home
from tests.kafka.listeners import BEARER, CLERK, DESCRIBER, LEADER, READER, SCRAM_USER, USERS
from tests.kafka.real_broker import RealBroker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def broker(real_brokers: Callable[[str], RealBroker]) -> RealBroker:
    """A broker with principals, and with some state to be read."""
    real = real_brokers(home.JUDGE)
    real.make_principals_known()
    key = SharePartitionKey("read-in-secret", real.create_topic("read-in-secret", 1), 0)
    with KafkaPersister(real.bootstrap) as kafka:
        kafka.reset_state(key, 1, 0)
        # A count that stays below its terminal records is an anomaly for whoever sees the log.
        for count in range(AnomalyConfig().count_records):
            kafka.write_state(key, WriteState(1, 0, 3, 0, [(3, 4, 0, 1 + count), (5, 5, 2, 1)]))
    return real


def certificate(broker: RealBroker, name: str) -> list[str]:
    shown = broker.authority.client(name)
    return [
        "security.protocol=SSL",
        f"ssl.ca.location={broker.authority.root}",
        f"ssl.certificate.location={shown}",
        f"ssl.key.location={shown}",
    ]


#: Each sees all there is; the last has no right but READ on the state topic.
WAYS: dict[str, Callable[[RealBroker], list[str]]] = {
    "PLAIN": lambda broker: broker.password("PLAIN", "admin", USERS["admin"]),
    "SCRAM-SHA-256": lambda broker: broker.password("SCRAM-SHA-256", *SCRAM_USER),
    "SCRAM-SHA-512": lambda broker: broker.password("SCRAM-SHA-512", *SCRAM_USER),
    # The client makes the token itself.
    "OAUTHBEARER": lambda broker: broker.sasl(
        "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt=true", f"sasl.oauthbearer.config=principal={BEARER}"
    ),
    "certificate": lambda broker: certificate(broker, LEADER),
    "READ on the topic": lambda broker: broker.password("PLAIN", READER, USERS[READER]),
}
KEPT_OUT: dict[str, tuple[Callable[[RealBroker], list[str]], str]] = {
    "wrong password": (lambda broker: broker.password("PLAIN", "admin", "wrong"), "Invalid username or password"),
    "no right": (lambda broker: broker.password("PLAIN", CLERK, USERS[CLERK]), "the principal needs READ on the topic"),
    # It finds the topic and its ends, and gets no record.
    "DESCRIBE only": (lambda broker: broker.password("PLAIN", DESCRIBER, USERS[DESCRIBER]), "needs READ on the topic"),
    "no TLS": (lambda _: ["security.protocol=PLAINTEXT"], "it begins like TLS"),
}


#: Limits that a broker has of other tests' groups decide about anomalies, and not everybody may ask for them.
COMMANDS: dict[str, tuple[str, ...]] = {"state": (), "dump": (), "history": (), "anomalies": ("--group", "read-in-secret")}


def shown(command: str, address: str, *options: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, [command, address, *map(str, options), "--format", "jsonl"])
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.mark.parametrize("way", WAYS)
def test_who_may_sees_what_is_there(way: str, broker: RealBroker, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("\n".join(WAYS[way](broker)) + "\n", encoding="utf-8")
    port = broker.ports.mutual if way == "certificate" else broker.ports.secured
    for command, choice in COMMANDS.items():
        plain = shown(command, f"kafka://{broker.bootstrap}", *choice)
        assert plain[2] == ""
        assert "read-in-secret" in plain[1]
        secured = shown(command, f"kafka://127.0.0.1:{port}", *choice, "--command-config", file)
        if command != "state":
            is_warned = command == "anomalies" and way == "READ on the topic"
            # What `anomalies` asks of topics and groups takes rights of its own.
            expected = plain[1].replace('"topic":"read-in-secret"', '"topic":null') if is_warned else plain[1]
            assert secured[:2] == (plain[0], expected)
            assert all(line.startswith("share-state: warning: ") for line in secured[2].splitlines())
            assert bool(secured[2]) == is_warned
            continue
        lags, seen = _without_lag(plain[1]), _without_lag(secured[1])
        assert (secured[0], secured[2], seen.rest) == (plain[0], plain[2], lags.rest)
        # Where the topic of the records may not be described, its lag alone is not known.
        assert seen.lags == ([None] * len(lags.lags) if way == "READ on the topic" else lags.lags)
        # Other tests have left states of topics that are gone, which have no lag.
        known = [lag for row, lag in zip(lags.rest, lags.lags, strict=True) if row["group"] == "read-in-secret"]
        assert known
        assert None not in known


class _Rows(NamedTuple):
    lags: list[int | None]
    rest: list[dict[str, Any]]


def _without_lag(lines: str) -> _Rows:
    rows = [json.loads(line) for line in lines.splitlines()]
    lags = [row.pop("lag") for row in rows]
    for row, lag in zip(rows, lags, strict=True):
        behind = row["log_end_offset"] and row["log_end_offset"] - row["start_offset"] - row["delivery_complete_count"]
        assert lag is None or lag == max(0, behind)
        del row["log_end_offset"]
    return _Rows(lags, rows)


@pytest.mark.parametrize("who", KEPT_OUT)
def test_who_may_not_is_told_why(who: str, broker: RealBroker, tmp_path: Path) -> None:
    lines, why = KEPT_OUT[who]
    file = tmp_path / "client.properties"
    file.write_text("\n".join(lines(broker)) + "\n", encoding="utf-8")
    code, out, err = shown("state", f"kafka://127.0.0.1:{broker.ports.secured}", "--command-config", file)
    assert (code, out) == (3, "")
    assert why in err
    assert "secret" not in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("who", [CLERK, DESCRIBER])
def test_the_right_that_is_missing_stands_in_the_error(who: str, broker: RealBroker) -> None:
    settings = dict(line.split("=", 1) for line in broker.password("PLAIN", who, USERS[who]))
    scan = cluster.ClusterScan(f"kafka://127.0.0.1:{broker.ports.secured}", settings)
    with pytest.raises(cluster.ReadNotAllowedError) as refused:
        list(scan)
    assert (refused.value.kafka_code, refused.value.operation, refused.value.topic) == (29, "READ", "__share_group_state")
