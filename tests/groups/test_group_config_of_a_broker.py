"""A broker and our table of properties: the same names, values, types, synonyms, and the same words of refusal."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from kio.schema.describe_configs.v4 import request as describe
from kio.schema.describe_configs.v4.response import DescribeConfigsResponse
from kio.schema.incremental_alter_configs.v1 import request as alter
from kio.schema.incremental_alter_configs.v1.response import IncrementalAlterConfigsResponse
from kio.static.primitive import i8

from share_state._core import alter_group_config, broker_config_entries, check_group_config, group_config_entries
from share_state.errors import ConfigError
from tests.kafka.broker import Broker
from tests.kafka.raw_requests import ask

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

GROUP, BROKER = 32, 4
SET, DELETE, APPEND, SUBTRACT = range(4)

#: Prefixes of the groups that a gateway does not have.
_OTHER_GROUPS = ("consumer.", "streams.")

_NUMBERS = {
    "share.session.timeout.ms": ("45000", "44999", "60000", "60001", "0", "-1"),
    "share.heartbeat.interval.ms": ("5000", "4999", "15000", "15001", "0"),
    "share.record.lock.duration.ms": ("1000", "999", "60000", "60001"),
    "share.delivery.count.limit": ("2", "1", "10", "11"),
    "share.partition.max.record.locks": ("100", "99", "4000", "4001"),
    "share.assignment.interval.ms": ("0", "-1", "15000", "15001"),
}
_NO_NUMBERS = ("", "abc", "5e4", "0x10", "99999999999", "1.0", "1 000")
_WORDS = {
    "share.renew.acknowledge.enable": ("true", "FALSE", " True ", " yes", "", "1"),
    "errors.deadletterqueue.copy.record.enable": ("true", "no"),
    "share.assignor.offload.enable": ("false", "maybe"),
    "share.isolation.level": ("read_committed", " read_uncommitted ", "READ_COMMITTED", "x", ""),
    "errors.deadletterqueue.topic.name": ("", "dlq.x", "__x", " __x", "a name!"),
    "share.auto.offset.reset": (
        *("earliest", "latest", " latest", "Earliest", "none", ""),
        *("by_duration:PT1H", "by_duration:pt1h", "by_duration:P1DT2H3M4.5S", "by_duration:PT1,5S", "by_duration:+PT1S"),
        *("by_duration:-PT-5S", "by_duration:P+1D", "by_duration:PT5.S", "by_duration:PT1H-30M", "by_duration:PT0S"),
        *("by_duration:PT9223372036854775807S", "by_duration:PT-0.5S", "by_duration:PT9223372036854775808S"),
        *("by_duration:", "by_duration:P", "by_duration:PT", "by_duration:P1DT", "by_duration:1h", "by_duration:P1Y"),
        *("by_duration:-PT1H", "by_duration:PT1.5H", "by_duration:PT.5S", "by_duration:PT5.1234567899S"),
        *("by_duration:PT1S1M", "by_duration:P99999999999999999D", "BY_DURATION:PT1H", "by_duration:PT1H-61M"),
    ),
    "unknown.key": ("1",),
    "group.share.session.timeout.ms": ("45000",),
    "": ("1",),
}
VALUES = [
    (name, value)
    for name, values in [
        *((name, (*values, *_NO_NUMBERS, f" +{values[0]}\t")) for name, values in _NUMBERS.items()),
        *_WORDS.items(),
    ]
    for value in values
]


def properties(broker: Broker) -> dict[str, str]:
    """Properties of share groups in the broker's property file."""
    lines = [line.partition("=") for line in broker.properties.read_text(encoding="utf-8").splitlines()]
    return {name: value for name, _, value in lines if name.startswith(("group.share.", "errors.", "share.fetch."))}


def described(broker: Broker, kind: int, name: str) -> dict[str, dict[str, Any]]:
    """The entries of a resource that a gateway shows, by name, documentation aside."""
    resource = describe.DescribeConfigsResource(resource_type=i8(kind), resource_name=name, configuration_keys=None)
    request = describe.DescribeConfigsRequest(resources=(resource,), include_synonyms=True, include_documentation=True)
    (result,) = ask(broker.bootstrap, request, DescribeConfigsResponse).results
    assert result.error_code == 0
    return {
        entry.name: {
            "value": entry.value,
            "readOnly": entry.read_only,
            "configSource": entry.config_source,
            "isSensitive": entry.is_sensitive,
            "synonyms": [{"name": s.name, "value": s.value, "source": s.source} for s in entry.synonyms],
            "configType": entry.config_type,
        }
        for entry in result.configs
        if not entry.name.startswith(_OTHER_GROUPS)
    }


def ours(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    assert all(entry["documentation"] for entry in entries)
    return {
        entry["name"]: {key: value for key, value in entry.items() if key not in {"name", "documentation"}} for entry in entries
    }


def altered(
    broker: Broker, group: str, changes: Sequence[tuple[str, int, str | None]], *, validate_only: bool = False
) -> tuple[int, str | None]:
    """Code and words of the broker's answer to an alteration."""
    configs = tuple(alter.AlterableConfig(name=name, config_operation=i8(op), value=value) for name, op, value in changes)
    resource = alter.AlterConfigsResource(resource_type=i8(GROUP), resource_name=group, configs=configs)
    request = alter.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=validate_only)
    (result,) = ask(broker.bootstrap, request, IncrementalAlterConfigsResponse).responses
    return int(result.error_code), result.error_message


def our_answer(broker: Broker, changes: Sequence[tuple[str, int, str | None]]) -> tuple[int, str | None]:
    """The same of ours, for a group that has set nothing."""
    try:
        alter_group_config({}, list(changes), properties(broker), name="g")
    except ConfigError as error:
        return error.kafka_code or -1, str(error)
    return 0, None


def test_a_group_shows_the_same_before_and_after_it_is_altered(kafka_440: Broker) -> None:
    group = f"altered-{uuid.uuid4()}"
    broker = properties(kafka_440)
    assert "group.share.min.record.lock.duration.ms" in broker
    shown = described(kafka_440, GROUP, group)
    assert len(shown) == 11
    assert ours(group_config_entries({}, broker)) == shown
    changes: list[tuple[str, int, str | None]] = [
        ("share.session.timeout.ms", SET, " +50000 "),
        ("share.renew.acknowledge.enable", SET, " FALSE "),
        ("share.auto.offset.reset", SET, " earliest "),
        ("errors.deadletterqueue.topic.name", SET, " a b "),
        ("share.delivery.count.limit", SET, "007"),
        ("share.assignor.offload.enable", SET, "false"),
    ]
    assert altered(kafka_440, group, changes) == (0, None)
    ours_altered = alter_group_config({}, changes, broker, name="g")
    expected = ours(group_config_entries(ours_altered, broker))
    assert len(expected) == 12
    # The broker has the alteration once its metadata has come round.
    while (shown := described(kafka_440, GROUP, group))["share.delivery.count.limit"]["configSource"] != 8:
        pass
    assert shown == expected
    assert altered(kafka_440, group, [("share.session.timeout.ms", DELETE, None), ("nobody.knows", DELETE, None)]) == (0, None)
    while (shown := described(kafka_440, GROUP, group))["share.session.timeout.ms"]["configSource"] == 8:
        pass
    deleted: list[tuple[str, int, str | None]] = [("share.session.timeout.ms", DELETE, None), ("nobody.knows", DELETE, None)]
    assert ours(group_config_entries(alter_group_config(ours_altered, deleted, broker, name="g"), broker)) == shown


def test_the_broker_shows_the_same_of_share_groups(kafka_440: Broker) -> None:
    shown = described(kafka_440, BROKER, "1")
    entries = ours(broker_config_entries(properties(kafka_440)))
    assert len(entries) == 24
    for name, entry in entries.items():
        # Some of a broker's can be altered while it runs, and none of a gateway's.
        assert {**entry, "readOnly": shown[name]["readOnly"]} == shown[name], name
    left = {name for name in shown if name.startswith("group.share.")} - entries.keys()
    assert left == set()


def test_values_are_taken_and_refused_alike_in_the_same_words(kafka_440: Broker) -> None:
    broker = properties(kafka_440)
    refused = 0
    for name, value in VALUES:
        answer = altered(kafka_440, "any", [(name, SET, value)], validate_only=True)
        assert our_answer(kafka_440, [(name, SET, value)]) == answer, (name, value)
        if answer[0]:
            refused += 1
            with pytest.raises(ConfigError) as caught:
                check_group_config(name, value, broker)
            assert (caught.value.kafka_code, str(caught.value), caught.value.field) == (*answer, name)
        else:
            check_group_config(name, value, broker)
    assert (len(VALUES), refused) == (131, 89)


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [("share.session.timeout.ms", SET, None)],
        [("share.session.timeout.ms", SET, "46000"), ("share.session.timeout.ms", SET, "46000")],
        [("share.session.timeout.ms", SET, "46000"), ("share.session.timeout.ms", DELETE, None)],
        [("share.session.timeout.ms", APPEND, "1")],
        [("share.session.timeout.ms", SUBTRACT, "1")],
        [("unknown.key", APPEND, "1")],
        [("share.session.timeout.ms", APPEND, None)],
        [("share.session.timeout.ms", DELETE, "46000")],
        [("share.session.timeout.ms", SET, "46000"), ("share.heartbeat.interval.ms", SET, "1")],
        [("share.session.timeout.ms", SET, "46000"), ("unknown.key", SET, "1")],
        [("share.session.timeout.ms", SET, "45000"), ("share.heartbeat.interval.ms", SET, "15000")],
    ],
)
def test_requests_out_of_form_are_refused_alike(kafka_440: Broker, changes: list[tuple[str, int, str | None]]) -> None:
    assert our_answer(kafka_440, changes) == altered(kafka_440, "any", changes, validate_only=True)
