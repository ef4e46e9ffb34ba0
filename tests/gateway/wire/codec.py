"""Every message of every version as plain data, after kio's description of it.

kio's own readers refuse what they do not expect (an error code they have never heard of); a differential has to read it, and a
hostile server has to write it. So only kio's classes are used here, as the table of fields: a message is a ``dict`` with Kafka's
field names in JSON form (``topicId``, ``errorCode``), topic ids as hyphenated strings, times in milliseconds, records as bytes.
Tagged fields are ordinary entries, present when they were sent; what is left out on writing has its default.
"""

from __future__ import annotations

import dataclasses
import struct
import types
import typing
import uuid
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType

Message = dict[str, Any]
Writer = Callable[[bytearray, Any], None]
Reader = Callable[["Cursor"], Any]

_NUMBERS = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H", "float64": "d", "error_code": "h",
    "timedelta_i32": "i", "timedelta_i64": "q", "datetime_i64": "q",
}  # fmt: skip
_TEXT_OR_BYTES = {"string": ("h", True), "bytes": ("i", False), "records": ("i", False)}
_ZERO_ID = str(uuid.UUID(int=0))


class CodecError(Exception):
    """Bytes that are not the message, or data that does not fit into it."""


class Cursor:
    """A position in bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self, form: struct.Struct) -> Any:
        """The next number."""
        try:
            (value,) = form.unpack_from(self.data, self.at)
        except struct.error as error:
            raise CodecError(f"cut off at byte {self.at}") from error
        self.at += form.size
        return value

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if not 0 <= count <= len(self.data) - self.at:
            raise CodecError(f"{count} bytes at byte {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count : self.at]

    def uvarint(self) -> int:
        """The next unsigned variable-length number."""
        number = shift = 0
        while True:
            (byte,) = self.take(1)
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
            if shift > 28:
                raise CodecError(f"no number ends before byte {self.at}")


def write_uvarint(out: bytearray, number: int) -> None:
    """Append an unsigned variable-length number."""
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


class _Codec(NamedTuple):
    write: Writer
    read: Reader


@cache
def api_key(name: str) -> int:
    """The key of an API by Kafka's name: ``ShareFetch`` is 78."""
    wanted = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
    return next(key for key, known in api_key_map.items() if known == wanted)


@cache
def name_of(key: int) -> str:
    """Kafka's name of an API."""
    return "".join(part.capitalize() for part in api_key_map[key].split("_"))


@cache
def versions(key: int) -> range:
    """The versions that are described."""
    known = [version for version, found in schema_name_map[api_key_map[key]].items() if EntityType.request in found]
    return range(min(known), max(known) + 1)


@cache
def flexible(key: int, version: int) -> bool:
    """Returns true if a version has tagged fields and compact lengths."""
    return bool(load_request_schema(key, version).__flexible__)


def encode(key: int, version: int, message: Message, *, response: bool = False) -> bytes:
    """The bytes of a message without its header."""
    out = bytearray()
    try:
        _message(key, version, response).write(out, message)
    except (struct.error, TypeError, AttributeError, ValueError) as error:
        raise CodecError(f"{name_of(key)} v{version}: {error}") from error
    return bytes(out)


def decode(key: int, version: int, data: bytes, *, response: bool = False, complete: bool = True) -> Message:
    """A message without its header. Every byte belongs to it, unless ``complete`` is false: Kafka's readers ignore the rest."""
    cursor = Cursor(data)
    message: Message = _message(key, version, response).read(cursor)
    if complete and cursor.at != len(data):
        raise CodecError(f"{name_of(key)} v{version}: {len(data) - cursor.at} bytes too many")
    return message


@cache
def _message(key: int, version: int, response: bool) -> _Codec:
    return _entity(load_response_schema(key, version) if response else load_request_schema(key, version))


def _entity(schema: type[Any]) -> _Codec:
    hints = typing.get_type_hints(schema)
    plain: list[tuple[str, _Codec, Any]] = []
    tagged: dict[int, tuple[str, _Codec]] = {}
    compact = bool(schema.__flexible__)
    for field in dataclasses.fields(schema):
        codec = _field(hints[field.name], field.metadata.get("kafka_type"), compact=compact)
        name = _json_name(field.name, field.metadata.get("kafka_type"))
        if (tag := field.metadata.get("tag")) is None:
            default = _zero(hints[field.name], field) if field.default in {dataclasses.MISSING, None} else _plain(field.default)
            plain.append((name, codec, default))
        else:
            tagged[tag] = (name, codec)
    known = frozenset(name for name, *_ in plain) | {name for name, _ in tagged.values()}

    def write(out: bytearray, message: Message) -> None:
        if not message.keys() <= known:
            raise CodecError(f"{schema.__name__} has no {sorted(message.keys() - known)}")
        for name, codec, default in plain:
            codec.write(out, message.get(name, default))
        if compact:
            present = [(tag, *tagged[tag]) for tag in sorted(tagged) if tagged[tag][0] in message]
            write_uvarint(out, len(present))
            for tag, name, codec in present:
                inner = bytearray()
                codec.write(inner, message[name])
                write_uvarint(out, tag)
                write_uvarint(out, len(inner))
                out += inner

    def read(cursor: Cursor) -> Message:
        message = {name: codec.read(cursor) for name, codec, _ in plain}
        if compact:
            for _ in range(cursor.uvarint()):
                tag = cursor.uvarint()
                data = cursor.take(cursor.uvarint())
                if tag in tagged:
                    name, codec = tagged[tag]
                    message[name] = codec.read(Cursor(data))
                else:
                    message[f"tag {tag}"] = data
        return message

    return _Codec(write, read)


def _field(hint: Any, kind: str | None, *, compact: bool) -> _Codec:
    inner = [option for option in typing.get_args(hint) if option is not types.NoneType]
    nullable = isinstance(hint, types.UnionType | typing._UnionGenericAlias) and len(inner) < len(typing.get_args(hint))  # type: ignore[attr-defined]
    if nullable and len(inner) == 1:
        hint = inner[0]
    if typing.get_origin(hint) is tuple:
        return _array(_field(typing.get_args(hint)[0], kind, compact=compact), compact=compact)
    if kind is None:
        entity = _entity(hint)
        return _nullable(entity) if nullable else entity
    if kind in _NUMBERS:
        return _number(_NUMBERS[kind])
    if kind == "uuid":
        return _Codec(
            lambda out, value: out.extend(uuid.UUID(value or _ZERO_ID).bytes),
            lambda cursor: str(uuid.UUID(bytes=cursor.take(16))),
        )
    form, text = _TEXT_OR_BYTES[kind]
    return _sized(form, text=text, compact=compact)


def _number(form: str) -> _Codec:
    packed = struct.Struct(f">{form}")
    return _Codec(lambda out, value: out.extend(packed.pack(value)), lambda cursor: cursor.number(packed))


def _sized(form: str, *, text: bool, compact: bool) -> _Codec:
    length = struct.Struct(f">{form}")

    def write(out: bytearray, value: str | bytes | None) -> None:
        data = value.encode() if isinstance(value, str) else value
        if compact:
            write_uvarint(out, 0 if data is None else len(data) + 1)
        else:
            out += length.pack(-1 if data is None else len(data))
        out += data or b""

    def read(cursor: Cursor) -> str | bytes | None:
        count = cursor.uvarint() - 1 if compact else cursor.number(length)
        if count == -1:
            return None
        data = cursor.take(count)
        return data.decode("utf-8", "replace") if text else data

    return _Codec(write, read)


def _array(element: _Codec, *, compact: bool) -> _Codec:
    length = struct.Struct(">i")

    def write(out: bytearray, values: list[Any] | None) -> None:
        if compact:
            write_uvarint(out, 0 if values is None else len(values) + 1)
        else:
            out += length.pack(-1 if values is None else len(values))
        for value in values or ():
            element.write(out, value)

    def read(cursor: Cursor) -> list[Any] | None:
        count = cursor.uvarint() - 1 if compact else cursor.number(length)
        if count > len(cursor.data) - cursor.at:
            raise CodecError(f"{count} elements at byte {cursor.at} of {len(cursor.data)}")
        return None if count < 0 else [element.read(cursor) for _ in range(count)]

    return _Codec(write, read)


def _nullable(entity: _Codec) -> _Codec:
    """Puts a byte before it: -1 for null, 1 otherwise."""

    def write(out: bytearray, value: Message | None) -> None:
        out += b"\xff" if value is None else b"\x01"
        if value is not None:
            entity.write(out, value)

    def read(cursor: Cursor) -> Message | None:
        return entity.read(cursor) if cursor.take(1) == b"\x01" else None

    return _Codec(write, read)


def _json_name(name: str, kind: str | None) -> str:
    first, *rest = name.split("_")
    unit = "Ms" if kind is not None and kind.startswith("timedelta") else ""
    return first + "".join(part.capitalize() for part in rest) + unit


def _plain(value: Any) -> Any:
    """A default of kio's as plain data."""
    if hasattr(value, "total_seconds"):
        return round(value.total_seconds() * 1000)
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    if dataclasses.is_dataclass(value):
        return {}
    return getattr(value, "value", value)


def _zero(hint: Any, field: dataclasses.Field[Any]) -> Any:
    if typing.get_origin(hint) is tuple:
        return []
    if types.NoneType in typing.get_args(hint):
        # A time that is not given is -1 on the wire.
        return {"uuid": _ZERO_ID, "datetime_i64": -1}.get(field.metadata.get("kafka_type", ""))
    kind = field.metadata.get("kafka_type")
    return {"string": "", "bytes": b"", "uuid": _ZERO_ID, None: {}}.get(kind, 0)
