"""Settings of a gateway: the file with properties, and what no gateway can begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from share_state.errors import ConfigError
from share_state.gateway.options import GatewayOptions, read_properties, split_properties
from share_state.kafka.peers import Address

PROPERTIES = r"""
# a comment = none
! another: one
  first = 1
second:2
third.with = a:b = c
empty =
bare
long = one,\
       two,\
   # three
ends = with a backslash\\
last=x"""


def test_properties_are_read_as_java_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "gateway.properties"
    path.write_text(PROPERTIES, encoding="utf-8")
    assert read_properties(path) == {
        "first": "1",
        "second": "2",
        "third.with": "a:b = c",
        "empty": "",
        "bare": "",
        "long": "one,two,# three",
        "ends": "with a backslash\\\\",
        "last": "x",
    }


def test_a_line_without_a_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gateway.properties"
    path.write_text("a=1\n\n = 2\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=":3: a line without a key") as refused:
        read_properties(path)
    assert (refused.value.field, refused.value.value) == ("config", 3)


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "gateway.properties"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"gateway\.properties cannot be read") as refused:
        read_properties(path)
    assert (refused.value.field, refused.value.value) == ("config", str(path))


def test_settings_of_brokers_and_of_groups_are_told_apart() -> None:
    broker = {
        "group.share.max.size": "9",
        "share.coordinator.state.topic.num.partitions": "3",
        "errors.deadletterqueue.auto.create.topics.enable": "true",
        "fetch.max.bytes": "1",
    }
    groups = {
        "share.record.lock.duration.ms": "15000",
        "errors.deadletterqueue.topic.name": "d",
        "errors.deadletterqueue.copy.record.enable": "true",
    }
    assert split_properties({**groups, **broker}) == (broker, groups)
    with pytest.raises(ConfigError, match=r"no\.such is not a configuration of the gateway") as refused:
        split_properties({"no.such": "1"})
    assert (refused.value.field, refused.value.value) == ("no.such", "1")


HERE = Address("127.0.0.1", 9092)


@pytest.mark.parametrize(
    ("field", "value", "wrong"),
    [
        ("upstream", None, {"upstream": ()}),
        ("relay", 2, {"upstream": (HERE, HERE), "relay": True}),
        ("on.truncation", "forget", {"on_truncation": "forget"}),
        ("node_id", -1, {"node_id": -1}),
    ],
)
def test_what_no_gateway_begins_with_is_named(tmp_path: Path, field: str, value: object, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as refused:
        GatewayOptions(**{"upstream": (HERE,), "path": tmp_path, **wrong})
    assert (refused.value.field, refused.value.value) == (field, value)


def test_what_is_at_the_edge_is_taken(tmp_path: Path) -> None:
    kept = GatewayOptions(upstream=(HERE,), path=tmp_path, relay=True, on_truncation="keep", node_id=0)
    assert (kept.relay, kept.on_truncation, kept.node_id) == (True, "keep", 0)
    assert GatewayOptions(upstream=(HERE, HERE), path=tmp_path).relay is False
