"""The table of properties from Python. Its rules are tested in Rust, and beside a broker in ``tests/kafka``."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from share_state._core import (
    GroupConfig,
    alter_group_config,
    broker_config_entries,
    check_broker_config,
    check_group_config,
    effective_group_config,
    group_config_entries,
)
from share_state.errors import ArgumentTypeError, ArgumentValueError, ConfigError

SESSION = "share.session.timeout.ms"
OF_BROKER = "group.share.session.timeout.ms"


def test_an_entry_has_what_describe_configs_answers() -> None:
    (entry,) = (
        entry
        for entry in group_config_entries(MappingProxyType({SESSION: "050000"}), {OF_BROKER: "46000"})
        if entry["name"] == SESSION
    )
    assert entry.pop("documentation").endswith("in ms.")
    assert entry == {
        "name": SESSION,
        "value": "50000",
        "readOnly": False,
        "configSource": 8,
        "isSensitive": False,
        "configType": 3,
        "synonyms": [
            {"name": SESSION, "value": "50000", "source": 8},
            {"name": OF_BROKER, "value": "46000", "source": 4},
            {"name": OF_BROKER, "value": "45000", "source": 5},
        ],
    }
    entries = {entry["name"]: entry for entry in broker_config_entries({OF_BROKER: "46000"})}
    assert (entries[OF_BROKER]["value"], entries[OF_BROKER]["configSource"], entries[OF_BROKER]["readOnly"]) == ("46000", 4, True)
    assert entries["group.share.assignors"]["configType"] == 7


def test_what_is_in_force_is_typed_and_clamped() -> None:
    group = {SESSION: "50000", "share.renew.acknowledge.enable": "false"}
    in_force = effective_group_config(group, {"group.share.max.session.timeout.ms": "46000"})
    assert in_force[SESSION] == 46_000
    assert in_force["share.renew.acknowledge.enable"] is False
    assert in_force["share.auto.offset.reset"] == "latest"
    assert len(in_force) == 12


def test_an_alteration_makes_a_new_configuration() -> None:
    group = {SESSION: "50000"}
    changes = [(SESSION, 1, None), ("share.isolation.level", 0, "read_committed")]
    assert alter_group_config(group, changes, {}, name="g") == {"share.isolation.level": "read_committed"}
    assert group == {SESSION: "50000"}


#: Refused values: the call, the code, field, value, minimum and maximum of the error, and its text.
_REFUSED: list[tuple[Callable[[], object], tuple[object, ...], str]] = [
    (
        lambda: check_group_config(SESSION, "44999", {}),
        (40, SESSION, "44999", 45_000, 60_000),
        f"{SESSION} must be in the range 45000 to 60000 inclusive.",
    ),
    (
        lambda: check_group_config("unknown.key", "1", {}),
        (40, "unknown.key", None, None, None),
        "Unknown group config name: unknown.key",
    ),
    (
        lambda: alter_group_config({}, [(SESSION, 0, None)], {}, name="g"),
        (42, SESSION, None, None, None),
        f"Null value not supported for : {SESSION}",
    ),
    (
        lambda: alter_group_config({}, [(SESSION, 9, "1")], {}, name="g"),
        (42, SESSION, None, None, None),
        f"There is no operation 9, asked for {SESSION}",
    ),
    (
        lambda: check_broker_config({"group.share.max.size": "0"}),
        (40, "group.share.max.size", "0", 1, 1_000),
        "Invalid value 0 for configuration group.share.max.size: Value must be at least 1",
    ),
    (
        lambda: effective_group_config({SESSION: "soon"}, {}),
        (40, SESSION, "soon", None, None),
        f"Invalid value soon for configuration {SESSION}: Not a number of type INT",
    ),
]


@pytest.mark.parametrize(("call", "facts", "text"), _REFUSED)
def test_a_refusal_says_in_attributes_what_it_says_in_its_text(
    call: Callable[[], object], facts: tuple[object, ...], text: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    error = caught.value
    assert (error.kafka_code, error.field, error.value, error.minimum, error.maximum) == facts
    assert str(error) == text


def test_a_broker_is_told_what_is_no_property_of_share_groups() -> None:
    assert check_broker_config({}) == []
    known = {"group.share.max.size": "300", "group.share.assignor.offload.enable": "false"}
    assert check_broker_config({**known, "num.partitions": "3", "group.share.typo": "1"}) == [
        "group.share.typo",
        "num.partitions",
    ]


READERS: list[Callable[[Any], object]] = [
    GroupConfig.from_kafka,
    lambda texts: GroupConfig.from_kafka({}, texts),
    lambda texts: check_group_config(SESSION, "50000", texts),
    lambda texts: group_config_entries({}, {}, texts),
    lambda texts: alter_group_config(texts, [], {}, name="g"),
    check_broker_config,
]


@pytest.mark.parametrize("read", READERS)
def test_a_mapping_of_text_is_needed(read: Callable[[Any], object]) -> None:
    for wrong in ("text", 5, [(SESSION, "50000")], {SESSION}):
        with pytest.raises(ArgumentTypeError, match="expected a mapping of text by name") as refused:
            read(wrong)
        assert isinstance(refused.value, TypeError)
    for number in (45_000, None, True, b"45000", ["45000"]):
        with pytest.raises(ArgumentTypeError, match=f"{SESSION} is of type .*; expected text") as refused:
            read({SESSION: number})
        assert refused.value.field == SESSION
    with pytest.raises(ArgumentTypeError, match="expected text"):
        read({5: "45000"})
    for lone in ({SESSION: "a\ud800"}, {"a\udfff": "5"}):
        with pytest.raises(ArgumentValueError, match="expected text without lone surrogates"):
            read(lone)


def test_a_value_is_in_force_as_a_broker_reads_it() -> None:
    read = GroupConfig.from_kafka(
        {
            "share.renew.acknowledge.enable": " FALSE\t",
            "share.auto.offset.reset": " earliest ",
            "share.isolation.level": "\nread_committed",
            "share.delivery.count.limit": " +007 ",
            "errors.deadletterqueue.topic.name": " dlq.a ",
            "consumer.session.timeout.ms": "of another kind of group",
        },
        {"group.share.partition.max.record.locks": " 3000 ", "num.partitions": "3"},
    )
    assert read == GroupConfig(
        renew_acknowledge_enable=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        delivery_count_limit=7,
        dead_letter_queue_topic="dlq.a",
        partition_max_record_locks=3_000,
    )
    assert GroupConfig.from_kafka({"share.renew.acknowledge.enable": "TRUE"}).renew_acknowledge_enable is True


@pytest.mark.parametrize(
    ("group", "broker", "field", "expected"),
    [
        ({"share.auto.offset.resett": "earliest"}, {}, "share.auto.offset.resett", "a property of share groups"),
        ({"errors.deadletterqueue.topic": "x"}, {}, "errors.deadletterqueue.topic", "a property of share groups"),
        ({"group.share.max.size": "9"}, {}, "group.share.max.size", "a property of share groups"),
        ({}, {"group.share.record.lock.duration.msx": "1"}, "group.share.record.lock.duration.msx", "a property of share groups"),
        ({}, {SESSION: "50000"}, SESSION, "a property of share groups"),
        ({SESSION: "soon"}, {}, SESSION, "a whole number, 1 to 2147483647"),
        ({"share.renew.acknowledge.enable": "yes"}, {}, "share.renew.acknowledge.enable", "true or false"),
        ({}, {"group.share.max.size": "1001"}, "group.share.max.size", "1 to 1000"),
        ({}, {"group.share.assignors": "range"}, "group.share.assignors", "simple"),
    ],
)
def test_what_is_no_configuration_is_refused_by_name(
    group: dict[str, str], broker: dict[str, str], field: str, expected: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        GroupConfig.from_kafka(group, broker)
    assert (refused.value.field, str(refused.value).endswith(f"; expected {expected}")) == (field, True)


def test_some_parts_of_a_configuration_are_changed() -> None:
    config = GroupConfig(delivery_count_limit=7, auto_offset_reset="earliest")
    assert config.replace() == config
    changed = config.replace(delivery_count_limit=3, max_lock_timeouts_per_call=5)
    assert changed == GroupConfig(delivery_count_limit=3, auto_offset_reset="earliest", max_lock_timeouts_per_call=5)
    assert config.delivery_count_limit == 7
    assert changed.replace(max_lock_timeouts_per_call=None).max_lock_timeouts_per_call is None
    assert config.__replace__(isolation_level="read_committed").isolation_level == "read_committed"
    with pytest.raises(ConfigError) as refused:
        config.replace(delivery_count_limit=0)
    assert refused.value.field == "delivery_count_limit"
    with pytest.raises(TypeError, match="no_such"):
        config.replace(no_such=1)  # type: ignore[call-arg]
