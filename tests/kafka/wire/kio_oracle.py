"""kio from PyPI, an independent codec, as an oracle: random messages of its classes, their bytes, and the same in Kafka's JSON.

The messages are drawn from kio's own schema: a field that our table lacks, or has at another place, shows at once.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import importlib
import io
import random
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

ZERO = uuid.UUID(int=0)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MS = dt.timedelta(milliseconds=1)
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


class Shape(NamedTuple):
    """Message of one version."""

    api_key: int
    name: str
    version: int
    response: bool

    @property
    def entity(self) -> type[Any]:
        """kio's class for it."""
        package = "".join(f"_{c.lower()}" if c.isupper() else c for c in self.name).lstrip("_")
        kind = "response" if self.response else "request"
        module = importlib.import_module(f"kio.schema.{package}.v{self.version}.{kind}")
        entity: type[Any] = getattr(module, self.name + kind.capitalize())
        return entity


def shape_id(shape: Shape) -> str:
    return f"{shape.name}-v{shape.version}-{'response' if shape.response else 'request'}"


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def plain(value: Any) -> Any:
    """Form that we give the same message: Kafka's JSON. A tagged field with its default is not written."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    out: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        inner, name = getattr(value, field.name), field.name
        if field.metadata.get("tag") is not None and inner == field.default:
            continue
        kafka_type = str(field.metadata.get("kafka_type"))
        if kafka_type.startswith(("timedelta", "datetime")):
            name = f"{name}_ms"
        out[camel(name)] = _plain_field(kafka_type, inner)
    return out


def _plain_field(kafka_type: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return bytes(item & 0xFF for item in value) if kafka_type == "int8" else [plain(item) for item in value]
    spelled = _SPELLED.get(kafka_type, plain)
    return spelled(value)


_SPELLED: dict[str, Callable[[Any], Any]] = {
    "uuid": lambda value: base64.urlsafe_b64encode((value or ZERO).bytes).decode().rstrip("="),
    "error_code": lambda value: int(value.value),
    "timedelta_i32": lambda value: value // _MS,
    "timedelta_i64": lambda value: value // _MS,
    "datetime_i64": lambda value: -1 if value is None else (value - _EPOCH) // _MS,
}


def kio_bytes(message: Any) -> bytes:
    buffer = io.BytesIO()
    entity_writer(type(message))(buffer, message)
    return buffer.getvalue()


def kio_read(entity: type[Any], data: bytes) -> Any:
    read, size = entity_reader(entity)(data, 0)
    assert size == len(data)
    return read


def seeded(name: str) -> random.Random:
    return random.Random(name)  # noqa: S311  the same messages in every run


def drawn(entity: type[Any], chance: random.Random) -> Any:
    """Any instance of a class of kio."""
    hints = typing.get_type_hints(entity)
    values = {}
    for field in dataclasses.fields(entity):
        # Half of the tagged fields keep their default, which nobody writes.
        if field.metadata.get("tag") is None or chance.random() < 0.5:
            values[field.name] = _drawn_field(str(field.metadata.get("kafka_type")), hints[field.name], chance)
    return entity(**values)


def _drawn_field(kafka_type: str, hint: Any, chance: random.Random) -> Any:
    if isinstance(hint, types.UnionType):
        if chance.random() < 0.25:
            return None
        hint = next(part for part in typing.get_args(hint) if part is not types.NoneType)
    if typing.get_origin(hint) is tuple:
        element = typing.get_args(hint)[0]
        return tuple(_drawn_one(kafka_type, element, chance) for _ in range(chance.choice((0, 1, 2, 3))))
    return _drawn_one(kafka_type, hint, chance)


def _drawn_one(kafka_type: str, hint: Any, chance: random.Random) -> Any:
    if dataclasses.is_dataclass(hint):
        return drawn(typing.cast("type[Any]", hint), chance)
    if kafka_type in BITS:
        return _integer(BITS[kafka_type], chance)
    return _SCALARS[kafka_type](chance)


def _integer(bits: int, chance: random.Random) -> int:
    half = 1 << (bits - 1)
    return chance.choice((0, 1, -1, half - 1, -half, chance.randrange(-half, half)))


def _text(chance: random.Random) -> str:
    return "".join(chance.choice("abcxyz-._ é∂\U0001f980\0") for _ in range(chance.choice((0, 1, 5, 20, 200))))


_SCALARS: dict[str, Callable[[random.Random], Any]] = {
    "bool": lambda chance: chance.random() < 0.5,
    "string": _text,
    "bytes": lambda chance: chance.randbytes(chance.choice((0, 1, 20, 300))),
    "records": lambda chance: chance.randbytes(chance.choice((0, 1, 20, 300))),
    "error_code": lambda chance: chance.choice(list(ErrorCode)),
    # kio reads zeros as null.
    "uuid": lambda chance: uuid.UUID(int=chance.randrange(1, 1 << 128)),
    "timedelta_i32": lambda chance: _MS * _integer(32, chance),
    "timedelta_i64": lambda chance: _MS * _integer(40, chance),
    "datetime_i64": lambda chance: _EPOCH + _MS * chance.randrange(1 << 40),
}
