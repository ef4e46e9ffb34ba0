"""The table of properties from Python. Its rules are tested in Rust, and beside a broker in ``tests/kafka``."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import pytest

from share_state._core import (
    alter_group_config,
    broker_config_entries,
    check_broker_config,
    check_group_config,
    effective_group_config,
    group_config_entries,
)
from share_state.errors import ConfigError

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


#: What is refused: the call, the code, field, value, minimum and maximum of the error, and its text.
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
        (40, "group.share.max.size", "0", 1, None),
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


def test_a_mapping_of_text_is_needed() -> None:
    with pytest.raises(TypeError):
        check_group_config(SESSION, "50000", {OF_BROKER: 45_000})  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        group_config_entries([SESSION], {})  # type: ignore[arg-type]
