"""kio from PyPI, an independent codec, as an oracle: its classes of our messages, their bytes, and the same in Kafka's JSON."""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import importlib
import io
import uuid
from typing import Any, NamedTuple

from kio.schema.errors import ErrorCode
from kio.serial import entity_writer

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
ZERO = uuid.UUID(int=0)


class Shape(NamedTuple):
    """One message of one version."""

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
    """What we make of the same message: Kafka's JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out = {}
        for field in dataclasses.fields(value):
            if field.metadata.get("tag") is not None:
                continue
            inner, name = getattr(value, field.name), field.name
            if field.metadata.get("kafka_type") == "uuid":
                inner = base64.urlsafe_b64encode((inner or ZERO).bytes).decode().rstrip("=")
            if isinstance(inner, dt.timedelta):
                inner, name = inner // dt.timedelta(milliseconds=1), f"{name}_ms"
            out[camel(name)] = plain(inner)
        return out
    if isinstance(value, tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, ErrorCode):
        return int(value.value)
    return value


def kio_bytes(message: Any) -> bytes:
    buffer = io.BytesIO()
    entity_writer(type(message))(buffer, message)
    return buffer.getvalue()
