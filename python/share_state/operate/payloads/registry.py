"""Decodes by the schemas of a schema registry, through the client of confluent-kafka. Needs the extra `schema-registry`.

No rule of a data contract is applied: what is shown is what the record holds, and a field that is encrypted stays so.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from share_state.errors import ConfigError
from share_state.operate.payloads.decoding import Format, Origin
from share_state.util.extras import MissingPackageError, how_to_install

if TYPE_CHECKING:
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.serde import SchemaId
    from confluent_kafka.serialization import SerializationContext

__all__ = ["SchemaRegistry", "schema_registry"]

_FORMATS: Final = {"AVRO": Format.AVRO, "PROTOBUF": Format.PROTOBUF, "JSON": Format.JSON_SCHEMA}
#: The first bytes of what a serializer of a registry has written: with an id of four bytes, or with a GUID of 16.
_MAGIC: Final = {b"\x00": 5, b"\x01": 17}
_IN_HEADERS: Final = {True: "__key_schema_id", False: "__value_schema_id"}
#: Seconds of one request; a registry that is away is asked once.
_PATIENCE: Final = 5


def schema_registry(settings: Mapping[str, object]) -> SchemaRegistry:
    """Make what decodes by the registry with these settings, in the names of confluent-kafka's client, such as ``url``.

    Raises:
        MissingPackageError: a package of the extra is not installed.
        ConfigError: a setting cannot be used.
    """
    try:
        # A package that it imports warns of another one, whatever the filters say.
        with warnings.catch_warnings(record=True):
            from confluent_kafka.schema_registry import (  # noqa: F401, PLC0415  the same
                SchemaRegistryClient,
                avro,
                json_schema,
                protobuf,
            )
    except ImportError as error:
        text = f"a schema registry needs {error.name}: {how_to_install('schema-registry')}"
        raise MissingPackageError(text, field=error.name) from None
    asked = {"timeout": _PATIENCE, "max.retries": 0, **settings}
    try:
        # The cache of a client does not know in which form a schema was asked for, and Protobuf needs another one.
        return SchemaRegistry(SchemaRegistryClient.new_client(asked), SchemaRegistryClient.new_client(asked))
    except (ValueError, TypeError) as error:
        raise ConfigError(f"the schema registry's settings: {error}", field="schema_registry") from None


class SchemaRegistry:
    """Decodes by schemas, each asked for once.

    Args:
        client: a client of the registry.
        serialized: another one, for schemas of Protobuf.
    """

    def __init__(self, client: SchemaRegistryClient, serialized: SchemaRegistryClient) -> None:
        from confluent_kafka.schema_registry.avro import AvroDeserializer  # noqa: PLC0415  only for who has a registry
        from confluent_kafka.schema_registry.json_schema import JSONDeserializer  # noqa: PLC0415  the same

        self._client = client
        #: Without a subject, no rule is looked for and none is applied.
        no_subject = {"subject.name.strategy": lambda *_: None}
        read: Any = AvroDeserializer
        self._avro = read(client, conf=no_subject)
        read = JSONDeserializer
        # What does not satisfy its schema is shown as well.
        self._json = read(None, schema_registry_client=client, conf={**no_subject, "validate": False})
        self._protobuf = _protobuf_reader(serialized)
        self._away: Exception | None = None

    def format_of(self, data: bytes, origin: Origin) -> Format | None:
        """Return the kind of the schema that the bytes name; None where they name none that the registry knows.

        Raises:
            Exception: the registry does not answer.
        """
        from confluent_kafka.schema_registry.error import SchemaRegistryError  # noqa: PLC0415  only for who has a registry

        named_in_header = any(name == _IN_HEADERS[origin.is_key] for name, _ in origin.record.headers)
        if not named_in_header and len(data) < _MAGIC.get(data[:1], len(data) + 1):
            return None
        if self._away is not None:
            raise self._away
        identity, _ = _identity(data, origin, "AVRO")
        try:
            schema = (
                self._client.get_schema_by_guid(str(identity.guid))
                if identity.id is None
                else self._client.get_schema(identity.id)
            )
        except SchemaRegistryError as error:
            if error.http_status_code == 404:  # noqa: PLR2004  HTTP's own number
                return None
            raise
        except Exception as error:
            self._away = error
            raise
        return _FORMATS.get(schema.schema_type or "AVRO")

    def tree(self, data: bytes, origin: Origin, how: Format) -> object:
        """Decode; any exception means that the bytes, or the schema, cannot be read."""
        if self.format_of(data, origin) is None:
            raise LookupError("it names no schema that the registry knows")
        if how is Format.PROTOBUF:
            return self._protobuf(data, origin)
        return (self._avro if how is Format.AVRO else self._json)(data, _context(origin))


def _context(origin: Origin) -> SerializationContext:
    from confluent_kafka.serialization import MessageField, SerializationContext  # noqa: PLC0415  only for who has a registry

    field = MessageField.KEY if origin.is_key else MessageField.VALUE
    headers: Any = list(origin.record.headers)
    return SerializationContext(origin.record.topic, field, headers)


def _identity(data: bytes, origin: Origin, kind: str) -> tuple[SchemaId, Any]:
    """Read which schema the bytes, or the headers, name; return it and the rest of the bytes."""
    from confluent_kafka.schema_registry import dual_schema_id_deserializer  # noqa: PLC0415  only for who has a registry
    from confluent_kafka.schema_registry.serde import SchemaId  # noqa: PLC0415  the same

    identity = SchemaId(kind)
    return identity, dual_schema_id_deserializer(data, _context(origin), identity)


def _protobuf_reader(client: SchemaRegistryClient) -> Any:  # noqa: ANN401  a function of bytes and their origin
    from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer  # noqa: PLC0415  only for who has a registry
    from google.protobuf.empty_pb2 import Empty  # noqa: PLC0415  the same
    from google.protobuf.json_format import MessageToDict  # noqa: PLC0415  the same
    from google.protobuf.message_factory import GetMessageClass  # noqa: PLC0415  the same

    class Reader(ProtobufDeserializer):
        """Makes the class of a message of its schema: the client's own deserializer wants one that was generated."""

        def tree(self, data: bytes, origin: Origin) -> object:
            identity, rest = _identity(data, origin, "PROTOBUF")
            file, pool = self._get_parsed_schema(self._get_writer_schema(identity, fmt="serialized"))
            indexes = identity.message_indexes or [0]
            message = GetMessageClass(self._get_message_desc(pool, pool.FindFileByName(file.name), indexes))()
            message.ParseFromString(rest.read())
            return MessageToDict(message, preserving_proto_field_name=True)

    made: Any = Reader
    return made(Empty, {"use.deprecated.format": False}, client).tree
