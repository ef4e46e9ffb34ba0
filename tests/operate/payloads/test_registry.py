"""Records by the schemas of a registry: Avro, Protobuf and JSON, and what happens where it does not know or does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from share_state.errors import ConfigError
from share_state.operate.payloads import Format, Payload, Redaction, Showing, Shown
from share_state.operate.payloads.decoding import Registry
from share_state.operate.payloads.registry import SchemaRegistry, schema_registry
from tests.operate.payloads import registries

JSON_VALUE = registries.framed(registries.JSON, b'{"pan":"4111"}')


@pytest.fixture(scope="module")
def over_http() -> Iterator[tuple[SchemaRegistry, registries.Asked]]:
    with registries.registry_over_http() as (url, asked):
        yield schema_registry({"url": url}), asked


@pytest.fixture(scope="module")
def registry(over_http: tuple[SchemaRegistry, registries.Asked]) -> SchemaRegistry:
    return over_http[0]


def shown(value: bytes, registry: Registry, how: Format = Format.AUTO, *rules: str, key: bytes | None = None) -> Shown:
    record = Payload("orders", 0, 7, None, key, value, ())
    return Showing(Format.AUTO, how, 1024, Redaction.of(rules), registry).record(record).value


VALUES = {
    Format.AVRO: (registries.avro_value("4111"), '{"id":7,"pan":"4111","paid":"12.50","raw":"0001"}'),
    Format.PROTOBUF: (registries.protobuf_value("4111"), '{"id":7,"pan_code":"4111"}'),
    # It does not satisfy its schema, and is shown.
    Format.JSON_SCHEMA: (JSON_VALUE, '{"pan":"4111"}'),
}


@pytest.mark.parametrize("how", VALUES)
def test_each_kind_of_schema_is_read(registry: SchemaRegistry, how: Format) -> None:
    value, text = VALUES[how]
    for asked in (Format.AUTO, how):
        found = shown(value, registry, asked)
        assert (found.format, found.text, found.reason, found.size) == (how, text, None, len(value))


@pytest.mark.parametrize("how", VALUES)
def test_members_are_hidden_by_their_path(registry: SchemaRegistry, how: Format) -> None:
    value, text = VALUES[how]
    found = shown(value, registry, Format.AUTO, "value:$.pan", "value:$.pan_code")
    assert (found.text, found.redacted) == (text.replace("4111", "<redacted>"), True)


def test_a_schema_is_asked_for_once(over_http: tuple[SchemaRegistry, registries.Asked]) -> None:
    registry, asked = over_http
    value, _ = VALUES[Format.AVRO]
    shown(value, registry)
    before = list(asked)
    assert shown(value, registry, Format.AVRO).reason is None
    assert asked == before


def test_a_key_has_a_schema_of_its_own(registry: SchemaRegistry) -> None:
    record = Payload("orders", 0, 7, None, registries.avro_value("1"), b"text", ())
    found = Showing(registry=registry).record(record)
    assert (found.key.format, found.value.format) == (Format.AVRO, Format.UTF_8)


@pytest.mark.parametrize(
    "value",
    [
        registries.framed(registries.AVRO, b""),
        registries.framed(registries.AVRO, b"\xff" * 20),
        registries.framed(registries.PROTOBUF, b"\x02\x08\x00"),
        registries.framed(registries.PROTOBUF, b"\x00\xff"),
        registries.framed(registries.JSON, b"{"),
    ],
)
def test_what_does_not_fit_to_its_schema_is_hexadecimal(registry: SchemaRegistry, value: bytes) -> None:
    found = shown(value, registry)
    assert (found.format, found.text) == (Format.HEX, value.hex())
    assert found.reason is not None


def test_what_names_no_schema_is_shown_as_without_a_registry(registry: SchemaRegistry) -> None:
    assert shown(b'{"a":1}', registry).format is Format.JSON
    assert shown(b"\x00\x01", registry) == Shown(Format.HEX, "0001", 2)
    unknown = registries.framed(99, b"abc")
    assert shown(unknown, registry) == Shown(Format.HEX, unknown.hex(), 8)
    asked = shown(unknown, registry, Format.AVRO)
    assert asked.reason == "it cannot be read as avro: LookupError: it names no schema that the registry knows"


def test_a_schema_may_be_named_in_a_header() -> None:
    module = registries.quiet()
    client = module.SchemaRegistryClient.new_client({"url": "mock://"})
    told = client.register_schema_full_response("orders-value", module.Schema(registries.schemas()[1]["schema"], "AVRO"))
    value = registries.avro_value("4111")[5:]
    identity = module.serde.SchemaId("AVRO", guid=told.guid).guid_to_bytes()
    record = Payload("orders", 0, 7, None, None, value, (("__value_schema_id", identity),))
    found = Showing(registry=SchemaRegistry(client, client)).record(record)
    assert (found.value.format, found.value.text) == (Format.AVRO, VALUES[Format.AVRO][1])
    assert found.headers[0].value.format is Format.HEX


def test_a_registry_that_is_away_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing listens on the port of tcpmux.
    registry = schema_registry({"url": "http://127.0.0.1:1"})
    asked: list[int] = []
    ask = registry._client.get_schema

    def counted(schema_id: int) -> Any:
        asked.append(schema_id)
        return ask(schema_id)

    monkeypatch.setattr(registry._client, "get_schema", counted)
    for how in (Format.AUTO, Format.AVRO, Format.PROTOBUF):
        found = shown(VALUES[Format.AVRO][0], registry, how)
        assert found.format is Format.HEX
        assert found.reason is not None
        assert "Connection refused" in found.reason
    assert asked == [registries.AVRO]
    # Records without a schema need none.
    assert shown(b"text", registry).format is Format.UTF_8


def test_a_setting_that_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^the schema registry's settings: ") as refused:
        schema_registry({"url": "nowhere"})
    assert refused.value.field == "schema_registry"
    with pytest.raises(ConfigError):
        schema_registry({})
