"""Settings of a gateway: what holds where nothing is said, what is refused and how, and files of properties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from share_state.errors import ConfigError
from share_state.gateway import GatewayOptions, Limits
from share_state.gateway.options import read_properties, split_properties
from share_state.kafka.peers import Address
from share_state.kafka.security import SecurityOptions

HERE = Address("127.0.0.1", 9092)


def test_settings_that_nobody_gives(tmp_path: Path) -> None:
    made = GatewayOptions(upstream=(HERE,), path=tmp_path)
    assert (made.listen, made.advertised, made.node_id, made.sync) == (Address("127.0.0.1", 0), None, 1, "always")
    assert (made.repair, made.relay, made.broker, made.groups) == (False, False, {}, {})
    assert (made.upstream_security, made.ssl_context, made.users, made.tokens) == (SecurityOptions(), None, None, None)
    assert (made.limits, made.metrics, made.on_truncation) == (Limits(), None, "rewind")
    assert made.access.allows("User:anybody", None, None, "anything")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"upstream": ()}, ("expected at least 1 upstream broker, got 0", "upstream", None, None, None)),
        ({"upstream": (HERE, HERE), "relay": True}, ("expected 1 upstream broker with the relay", "relay", 2, None, 1)),
        ({"on_truncation": "x"}, ("on.truncation is 'x', neither rewind nor keep", "on.truncation", "x", None, None)),
        ({"node_id": -1}, ("node_id is -1; expected at least 0", "node_id", -1, 0, None)),
    ],
)
def test_settings_that_are_refused(tmp_path: Path, wrong: dict[str, Any], told: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        GatewayOptions(**{"upstream": (HERE,), "path": tmp_path, **wrong})
    error = refused.value
    assert (str(error), error.field, error.value, error.minimum, error.maximum) == told


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("a=b", {"a": "b"}),
        ("a:b\nc = d \n  e : f", {"a": "b", "c": "d", "e": "f"}),
        ("# a=b\n! c=d\n  # e=f\n\n   \ng=h", {"g": "h"}),
        ("a=b=c\nd:e=f\ng=h:i", {"a": "b=c", "d": "e=f", "g": "h:i"}),
        ("a=b\\\n   c\\\nd", {"a": "bcd"}),
        # A comment is one only where a line begins, and two backslashes are no continuation.
        ("a=b\\\n#c", {"a": "b#c"}),
        ("a=b\\\\\nc=d", {"a": "b\\\\", "c": "d"}),
        ("a=b\\\\\\\nc", {"a": "b\\\\c"}),
        ("a=b\na=c", {"a": "c"}),
        ("alone", {"alone": ""}),
        ("a=", {"a": ""}),
        ("a=é", {"a": "é"}),
    ],
)
def test_properties(tmp_path: Path, text: str, found: dict[str, str]) -> None:
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    assert read_properties(path) == found


@pytest.mark.parametrize(("text", "number"), [("=b", 1), ("a=b\n\n# c\n :d\ne=f", 4), (" = ", 1)])
def test_a_line_without_a_key_is_named_by_its_number(tmp_path: Path, text: str, number: int) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_properties(path)
    assert str(refused.value) == f"{path}:{number}: a line without a key"
    assert (refused.value.field, refused.value.value) == ("config", number)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(ConfigError) as refused:
        read_properties(path)
    assert str(refused.value) == f"{path} cannot be read: [Errno 2] No such file or directory: '{path}'"
    assert (refused.value.field, refused.value.value) == ("config", str(path))


@pytest.mark.parametrize("name", ["share.", "share.coordinator", "errors.deadletterqueue.topic.name", "share.session.timeout.ms"])
def test_defaults_of_groups(name: str) -> None:
    assert split_properties({name: "1"}) == ({}, {name: "1"})


@pytest.mark.parametrize(
    "name",
    ["group.share.max.size", "share.coordinator.x", "errors.deadletterqueue.topic.name.prefix", "errors.deadletterqueue.x"],
)
def test_configurations_of_brokers(name: str) -> None:
    assert split_properties({name: "1"}) == ({name: "1"}, {})


@pytest.mark.parametrize("name", ["", "group.max.size", "x.share.y", "fetch.max", "SHARE.x"])
def test_names_that_are_neither(name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        split_properties({"share.x": "0", name: "1"})
    assert str(refused.value) == f"{name} is not a configuration of the gateway"
    assert (refused.value.field, refused.value.value) == (name, "1")
