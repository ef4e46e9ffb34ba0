"""Settings of a gateway: what holds where nothing is said, what is refused and how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from share_state.errors import ConfigError
from share_state.gateway import GatewayOptions, Limits
from share_state.gateway.options import split_properties
from share_state.kafka.client.peers import Address
from share_state.kafka.client.security import SecurityOptions

HERE = Address("127.0.0.1", 9092)
LIMIT = "share.delivery.count.limit"


def test_settings_that_nobody_gives(tmp_path: Path) -> None:
    made = GatewayOptions(upstream=(HERE,), path=tmp_path)
    assert (made.listen, made.advertised, made.node_id, made.sync) == (Address("127.0.0.1", 0), None, 1, "always")
    assert (made.repair, made.relay, made.broker, made.groups) == (False, False, {}, {})
    assert (made.upstream_security, made.ssl_context, made.users, made.tokens) == (SecurityOptions(), None, None, None)
    assert (made.limits, made.metrics, made.on_truncation) == (Limits(), None, "rewind")
    assert made.access.allows("User:anybody", None, None, "anything")  # type: ignore[arg-type]


def test_limits_that_nobody_sets() -> None:
    assert Limits() == Limits(
        frame=8_388_608,
        other_frame=1_048_576,
        elements=25_000,
        relayed_frame=104_857_600,
        queued=67_108_864,
        work=8_388_608,
        answers=268_435_456,
        answer=16_777_216,
        subscription=65_536,
        slice=0.005,
        connections=4000,
        address_connections=2000,
        principal_connections=2000,
        idle=600.0,
        frame_time=30.0,
        answer_time=60.0,
        login_time=20.0,
    )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"upstream": ()}, ("expected at least 1 upstream broker, got 0", "upstream", None, None, None)),
        ({"upstream": (HERE, HERE), "relay": True}, ("expected 1 upstream broker with the relay", "relay", 2, None, 1)),
        ({"on_truncation": "x"}, ("on.truncation is 'x'; expected rewind or keep", "on.truncation", "x", None, None)),
        ({"node_id": -1}, ("node_id is -1; expected at least 0", "node_id", -1, 0, None)),
    ],
)
def test_settings_that_are_refused(tmp_path: Path, wrong: dict[str, Any], told: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        GatewayOptions(**{"upstream": (HERE,), "path": tmp_path, **wrong})
    error = refused.value
    assert (str(error), error.field, error.value, error.minimum, error.maximum) == told


def test_what_is_at_the_edge_is_taken(tmp_path: Path) -> None:
    kept = GatewayOptions(upstream=(HERE,), path=tmp_path, relay=True, on_truncation="keep", node_id=0)
    assert (kept.relay, kept.on_truncation, kept.node_id) == (True, "keep", 0)
    assert GatewayOptions(upstream=(HERE, HERE), path=tmp_path).relay is False


def test_settings_of_brokers_and_of_groups_are_told_apart() -> None:
    broker = {"group.share.max.size": "9", "errors.deadletterqueue.auto.create.topics.enable": "true", "num.partitions": "3"}
    groups = {
        "share.record.lock.duration.ms": "15000",
        "errors.deadletterqueue.topic.name": "d",
        "errors.deadletterqueue.copy.record.enable": "true",
    }
    assert split_properties({**groups, **broker}) == (broker, groups)


@pytest.mark.parametrize(
    ("place", "name", "value", "told"),
    [
        ("groups", "share.auto.offset.reset", "earlest", "latest, earliest or by_duration"),
        ("groups", "share.session.timeout.ms", "soon", "a whole number"),
        ("groups", "share.renew.acknowledge.enable", "yes", "true or false"),
        ("groups", "share.delivery.count.limit", "1", "2 to 2147483647"),
        ("groups", "share.delivery.count.limit", "11", "in the range 2 to 10 inclusive"),
        ("groups", "share.record.lock.duration.ms", "60001", "in the range 15000 to 60000 inclusive"),
        ("groups", "share.auto.offset.resett", "earliest", "expected such as share.auto.offset.reset"),
        ("groups", "group.share.max.size", "9", "is not a configuration of the gateway"),
        ("groups", "consumer.session.timeout.ms", "50000", "is not a configuration of the gateway"),
        ("broker", "group.share.record.lock.duration.msx", "1", "expected such as group.share.record.lock.duration.ms"),
        ("broker", "share.delivery.count.limit", "5", "is not a configuration of the gateway"),
        ("broker", "group.share.persister.class.name", "x", "is not a configuration of the gateway"),
        ("broker", "num.partitions", "3", "is not a configuration of the gateway"),
        ("broker", "", "3", "is not a configuration of the gateway"),
        ("broker", "group.share.max.size", "1001", "1 to 1000"),
        ("broker", "group.share.assignors", "range", "expected simple"),
        ("broker", "group.share.max.heartbeat.interval.ms", "4999", "greater than or equal to group.share.min.heartbeat"),
    ],
)
def test_what_no_broker_begins_with_and_no_group_may_set_is_refused(
    tmp_path: Path, place: str, name: str, value: str, told: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        GatewayOptions(upstream=(HERE,), path=tmp_path, **{place: {name: value}})  # type: ignore[arg-type]
    assert refused.value.field == name
    assert (name in str(refused.value), told in str(refused.value)) == (True, True)


def test_every_value_of_a_broker_is_one_here(tmp_path: Path) -> None:
    groups = {"share.renew.acknowledge.enable": " FALSE\t", "share.auto.offset.reset": " earliest", LIMIT: "+007"}
    broker = {"group.share.assignor.offload.enable": "True", "group.share.initialize.retry.interval.ms": " 1 "}
    made = GatewayOptions(upstream=(HERE,), path=tmp_path, groups=groups, broker=broker)
    assert (made.groups, made.broker) == (groups, broker)
