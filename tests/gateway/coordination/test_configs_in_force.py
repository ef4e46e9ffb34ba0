"""Configuration in force for a group: what it has set, over the gateway's defaults, within the bounds of the broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from share_state.errors import StoreError
from share_state.gateway.group_configs import GroupConfigs

LOCK, LIMIT, LETTERS = "share.record.lock.duration.ms", "share.delivery.count.limit", "errors.deadletterqueue.topic.name"
BROKER = {"group.share.max.record.lock.duration.ms": "50000", "group.share.delivery.count.limit": "4"}


def made(path: Path, defaults: dict[str, str] | None = None) -> GroupConfigs:
    return GroupConfigs(path, defaults or {}, BROKER)


def in_force(configs: GroupConfigs, group: str) -> tuple[int, int, str]:
    found = configs.resolved(group)
    return found.record_lock_duration_ms, found.delivery_count_limit, found.dead_letter_queue_topic


def test_a_group_has_its_own_over_defaults_over_the_broker(tmp_path: Path) -> None:
    configs = made(tmp_path, {LOCK: "20000"})
    assert in_force(configs, "a") == (20_000, 4, "")
    configs.replace({"a": {LIMIT: "7"}})
    configs.replace({"b": {LOCK: "25000"}})
    assert [in_force(configs, group) for group in "abc"] == [(20_000, 7, ""), (25_000, 4, ""), (20_000, 4, "")]
    # It is another one only where it has changed.
    assert configs.resolved("b") is configs.resolved("b")
    configs.replace({"b": {LOCK: "26000", LIMIT: "3"}})
    assert [in_force(configs, group) for group in "abc"] == [(20_000, 7, ""), (26_000, 3, ""), (20_000, 4, "")]
    configs.replace({"b": {}})
    assert in_force(configs, "b") == (20_000, 4, "")
    assert (configs.names(), configs.set_by("a"), configs.set_by("b")) == (["a"], {LIMIT: "7"}, {})
    assert (configs.of("a"), configs.of("b")) == ({LOCK: "20000", LIMIT: "7"}, {LOCK: "20000"})


def test_what_is_remembered_of_groups_that_there_are_not_is_forgotten(tmp_path: Path) -> None:
    configs = made(tmp_path)
    for number in range(100):
        configs.resolved(f"{number}")
    kept = configs.resolved("7")
    configs.keep({"7", "none"})
    assert list(configs._resolved) == ["7"]
    assert configs.resolved("7") is kept


def test_values_beyond_the_bounds_of_the_broker_are_replaced(tmp_path: Path) -> None:
    configs = made(tmp_path, {LOCK: "60000"})
    assert in_force(configs, "a") == (50_000, 4, "")


def test_records_go_to_no_dead_letter_topic(tmp_path: Path) -> None:
    configs = made(tmp_path, {LETTERS: "dlq.all"})
    configs.replace({"a": {LETTERS: "dlq.a", LOCK: "20000"}})
    assert [in_force(configs, group) for group in "ab"] == [(20_000, 4, ""), (30_000, 4, "")]
    # But it is kept and told.
    assert configs.of("a") == {LETTERS: "dlq.a", LOCK: "20000"}


def test_nothing_changes_where_it_cannot_be_kept(tmp_path: Path) -> None:
    configs = made(tmp_path)
    configs.replace({"a": {LIMIT: "7"}})
    (tmp_path / "group-configs.json.new").mkdir()
    for settings in ({LIMIT: "8"}, {}):
        with pytest.raises(StoreError):
            configs.replace({"a": settings})
        assert (configs.set_by("a"), in_force(configs, "a")) == ({LIMIT: "7"}, (30_000, 7, ""))
    (tmp_path / "group-configs.json.new").rmdir()
    assert made(tmp_path).set_by("a") == {LIMIT: "7"}


def test_what_is_given_out_is_a_copy(tmp_path: Path) -> None:
    configs = made(tmp_path)
    configs.replace({"a": {LIMIT: "7"}})
    configs.set_by("a")[LIMIT] = "8"
    configs.of("a")[LIMIT] = "8"
    assert configs.set_by("a") == {LIMIT: "7"}
